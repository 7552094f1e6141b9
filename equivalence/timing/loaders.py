"""Rows per second of two loaders as they stand, with their workers: never a verdict.

A round begins an epoch, waits for its first batch, and counts the rows that follow for some time.
The sides take turns, and none reads while the other one is timed.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equivalence.errors import EquivalenceError
from equivalence.loaders.stages import Loader
from equivalence.output import tell
from equivalence.own import data
from equivalence.timing.steps import REFERENCE, aligned, machine, milliseconds

CANDIDATE = "MindSpore"

ROUNDS = 5
"""Rounds of each side that are timed; one before them is left out."""

PATIENCE = 2.0
"""Seconds after which a round ends."""


@dataclass(frozen=True)
class Throughput:
    """One side.

    first: seconds of each round until its first batch was there, workers started.
    rates: rows per second of each round from then on.
    workers: processes of the loader; 0: none but the one that trains.
    batches: seconds between two batches, in each round.
    """

    first: Sequence[float]
    rates: Sequence[float]
    workers: int
    batches: Sequence[float] = ()


def command(time: bool, **compared: Any) -> int:
    """`equivalence data`: compare two loaders, and time them if wanted.

    compared: the arguments of `own.data.command`.
    """
    return data.command(**compared, more=timed if time else None)


def timed(reference: Loader, candidate: Loader) -> data.AlsoAsked:
    """The rows per second of both, as a table and every single one."""
    tell("timing both")
    found = measure({REFERENCE: reference, CANDIDATE: candidate})
    rates = {name: [*side.rates] for name, side in found.items()}
    each = {name: [*side.batches] for name, side in found.items()}
    return data.AlsoAsked(
        [machine("cpu"), "", *table(found), *waits(found)],
        {"rows_per_second": rates, "seconds_per_batch": each},
    )


def measure(
    sides: Mapping[str, Loader],
    patience: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Throughput]:
    """Time both by turns.

    patience: seconds after which a round ends; None: PATIENCE.

    Raises EquivalenceError for a loader whose epoch has one batch, after which nothing is timed.
    """
    rounds: dict[str, list[tuple[float, float, float]]] = {name: [] for name in sides}
    for _ in range(ROUNDS + 1):
        for name, loader in sides.items():
            rounds[name].append(_round(name, loader, patience or PATIENCE, clock))
    return {
        name: Throughput(
            [first for first, _, _ in found[1:]],
            [rate for _, rate, _ in found[1:]],
            sides[name].workers,
            [batch for _, _, batch in found[1:]],
        )
        for name, found in rounds.items()
    }


def _round(
    name: str, loader: Loader, patience: float, clock: Callable[[], float]
) -> tuple[float, float, float]:
    """Seconds until the first batch; from then on rows per second, and seconds for each batch."""
    begun = clock()
    batches = loader.rows()
    next(batches, None)
    started = now = clock()
    counted = several = 0
    for rows in batches:
        counted, several, now = counted + rows, several + 1, clock()
        if now - started >= patience:
            break
    if not counted:
        raise EquivalenceError(
            f"an epoch of {name}'s loader has one batch, and the first one is not timed; give more"
        )
    return started - begun, counted / (now - started), (now - started) / several


def waits(sides: Mapping[str, Throughput]) -> list[str]:
    """From which step on a training waits for its data, as a line.

    >>> waits({"PyTorch": Throughput([0.5], [100.0], 2, [0.04])})
    ['a step waits for data if it takes less than 40 ms (PyTorch)']
    """
    each = [
        f"{milliseconds(float(np.median(side.batches)))} ms ({name})"
        for name, side in sides.items()
        if side.batches
    ]
    return [f"a step waits for data if it takes less than {' or '.join(each)}"] if each else []


def table(sides: Mapping[str, Throughput]) -> list[str]:
    """In Markdown: median and quartiles of the rows per second, times the reference's median.

    >>> made = {"PyTorch": Throughput([0.5], [100.0], 2), "MindSpore": Throughput([1.0], [50.0], 4)}
    >>> print(*table(made), sep="\\n")
    | rows per second: | median (quartiles) | times PyTorch | first batch, s | workers |
    | ---------------- | ------------------ | ------------- | -------------- | ------- |
    | PyTorch          | 100 (100-100)      | 1.00          | 0.50           | 2       |
    | MindSpore        | 50 (50-50)         | 0.50          | 1.00           | 4       |
    """
    titles = [
        "rows per second:",
        "median (quartiles)",
        f"times {REFERENCE}",
        "first batch, s",
        "workers",
    ]
    medians = {name: float(np.median(side.rates)) for name, side in sides.items()}
    body = [
        [
            name,
            "{1:.0f} ({0:.0f}-{2:.0f})".format(*np.percentile(side.rates, (25, 50, 75))),
            f"{medians[name] / medians[REFERENCE]:.2f}",
            f"{np.median(side.first):.2f}",
            str(side.workers),
        ]
        for name, side in sides.items()
    ]
    return aligned(titles, body)
