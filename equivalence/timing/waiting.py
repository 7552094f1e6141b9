"""Whether a step waits for its data: what a training spends until the next batch is there.

Each side reads its loader as it stands, with its workers, and makes its step after each batch, on
the inputs of the comparison: the data is read while it computes, as in a training. One side is
timed after the other, since a loader reads ahead while the other one computes.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equivalence.errors import DeclarationError
from equivalence.loaders.stages import Loader
from equivalence.timing.steps import Step, aligned, milliseconds

STEPS, PATIENCE = 50, 10.0
"""Steps of each side that are timed at most, and seconds after which none is begun."""

FEWEST = 5
"""Steps that are timed, however long they take."""

EMPTY = 0.1
"""A queue is empty at a step if its batch is waited for longer than this share of a median step."""


@dataclass(frozen=True)
class Waits:
    """One side, with a step after each batch.

    waits: seconds until each batch was there. steps: seconds of the step that follows it.
    rows: how many each batch has.
    """

    waits: Sequence[float]
    steps: Sequence[float]
    rows: Sequence[int]

    @property
    def empty(self) -> int:
        """At how many steps the batch was not there at once."""
        least = EMPTY * float(np.median(self.steps))
        return sum(wait > least for wait in self.waits)

    @property
    def share(self) -> float:
        """What part of the time is waited.

        >>> Waits([1.0, 1.0], [3.0, 3.0], [4, 4]).share
        0.25
        """
        return sum(self.waits) / (sum(self.waits) + sum(self.steps))

    @property
    def document(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {**{n: [*v] for n, v in vars(self).items()}, "empty": self.empty}


def measure(
    sides: Mapping[str, tuple[Loader, Step]],
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Waits]:
    """Time each side. The first batch of an epoch is left out: its workers start.

    Raises DeclarationError for a loader whose epoch has one batch.
    """
    taken: dict[str, list[tuple[float, float, int]]] = {name: [] for name in sides}
    for name, (loader, step) in sides.items():
        begun, batches = clock(), _epochs(name, loader)
        while len(taken[name]) < STEPS:
            if len(taken[name]) >= FEWEST and clock() - begun > PATIENCE:
                break
            asked = clock()
            rows, is_first = next(batches)
            there = clock()
            step()
            if not is_first:
                taken[name].append((there - asked, clock() - there, rows))
    return {name: Waits(*zip(*found, strict=True)) for name, found in taken.items()}


def _epochs(name: str, loader: Loader) -> Iterator[tuple[int, bool]]:
    """The rows of each batch, epoch after epoch, and whether it is an epoch's first."""
    while True:
        place = -1
        for place, rows in enumerate(loader.rows()):
            yield rows, place == 0
        if place < 1:
            raise DeclarationError(
                f"an epoch of {name}'s loader has one batch, and the first one is not timed; give "
                "more"
            )


def table(sides: Mapping[str, Waits], rows: int) -> list[str]:
    """In Markdown, and a line where batches are not as large as the inputs of the step.

    rows: those of the step's inputs.
    """
    titles = ["until the next batch, ms:", "median (quartiles)", "of the time", "queue empty"]
    body = [
        [
            name,
            "{1} ({0}-{2})".format(*map(milliseconds, np.percentile(each.waits, (25, 50, 75)))),
            f"{100 * each.share:.0f} %",
            f"at {each.empty} of {len(each.waits)} steps",
        ]
        for name, each in sides.items()
    ]
    found = sorted({max(each.rows) for each in sides.values()} - {rows})
    others = " and ".join(map(str, found))
    told = f"a batch has {others} rows, and the inputs of the step {rows}: give --input as many"
    return [*aligned(titles, body), *[told] * bool(found)]
