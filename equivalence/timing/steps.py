"""Times the steps of several sides by turns, so that what else the machine does hits them alike."""

import importlib.metadata
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

WARM_UP = 2
"""Rounds that are run and left out."""

ROUNDS, FEWEST = 50, 5
"""Rounds that are timed, and how many are when they take long."""

PATIENCE = 20.0
"""Seconds after which no round but the fewest is begun."""

REFERENCE = "PyTorch"

Step = Callable[[], object]
"""Does one step, and returns when all of its results are there."""


@dataclass(frozen=True)
class Times:
    """One side of a row.

    first: seconds until the first step was done, with building, loading and, for a graph,
        compiling.
    steps: seconds of each timed step.
    compiling: seconds of `first` in which a graph was compiled.
    """

    first: float
    steps: Sequence[float]
    compiling: float = 0.0

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile, interpolated linearly."""
        low, middle, high = np.percentile(self.steps, (25, 50, 75))
        return float(low), float(middle), float(high)


@dataclass(frozen=True)
class Row:
    """A step, and the times of every side."""

    name: str
    sides: Mapping[str, Times]


class Spent(Protocol):
    """A context that adds up the seconds of something that happens in it."""

    seconds: float

    def __enter__(self) -> "Spent": ...

    def __exit__(self, *_: object) -> None: ...


class Nothing:
    """A context in which nothing is added up."""

    seconds = 0.0

    def __init__(self, _: Callable[[], float]): ...

    def __enter__(self) -> "Nothing":
        return self

    def __exit__(self, *_: object) -> None: ...


def measured(
    builders: Mapping[str, Callable[[], Step]],
    clock: Callable[[], float] = time.perf_counter,
    compiling: Callable[[Callable[[], float]], Spent] = Nothing,
) -> dict[str, Times]:
    """Time sides by turns; the first rounds are left out.

    builders: each makes its side ready and gives what does one step.
    compiling: of a clock, gives what adds up the seconds that compiling takes.
    """
    steps, first, compiled = {}, {}, {}
    for side, build in builders.items():
        started = clock()
        with compiling(clock) as spent:
            steps[side] = build()
            steps[side]()
        first[side], compiled[side] = clock() - started, spent.seconds
    taken: dict[str, list[float]] = {side: [] for side in steps}
    begun = clock()
    for number in range(WARM_UP + ROUNDS):
        if number >= WARM_UP + FEWEST and clock() - begun > PATIENCE:
            break
        for side, step in steps.items():
            started = clock()
            step()
            elapsed = clock() - started
            if number >= WARM_UP:
                taken[side].append(elapsed)
    return {side: Times(first[side], taken[side], compiled[side]) for side in steps}


def table(rows: Sequence[Row]) -> list[str]:
    """In Markdown: median and quartiles in milliseconds, times PyTorch's median, first step."""
    sides = list(dict.fromkeys(side for row in rows for side in row.sides))
    titles = ["step, ms: median (quartiles)", *sides]
    titles += [f"{side} / {REFERENCE}" for side in sides if side != REFERENCE]
    titles += [f"first step of {side}, s" for side in sides] + ["rounds"]
    return aligned(titles, [[row.name, *_cells(row, sides)] for row in rows])


def by_side(row: Row) -> list[str]:
    """One step in Markdown, a line for each side: narrow enough for a terminal."""
    titles = [row.name, "ms: median (quartiles)", f"times {REFERENCE}"]
    titles += ["first step, s", "of it compiling", "rounds"]
    body = [
        [
            side,
            spread(times),
            f"{_median(row, side) / _median(row, REFERENCE):.2f}",
            f"{times.first:.1f}",
            f"{times.compiling:.1f}" if times.compiling else "-",
            str(len(times.steps)),
        ]
        for side, times in row.sides.items()
    ]
    return aligned(titles, body)


def every_time(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Every single time, in seconds, as JSON."""
    return [
        {
            "step": row.name,
            "side": side,
            "first": times.first,
            "compiling": times.compiling,
            "seconds": [*times.steps],
            "median": times.quartiles[1],
            "quartiles": [times.quartiles[0], times.quartiles[2]],
        }
        for row in rows
        for side, times in row.sides.items()
    ]


def aligned(titles: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown whose columns stand below each other.

    >>> print(*aligned(["a", "bc"], [["1", "2"]]), sep="\\n")
    | a | bc |
    | - | -- |
    | 1 | 2  |
    """
    widths = [max(map(len, column)) for column in zip(titles, *body, strict=True)]
    lines = [
        "| " + " | ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True))
        for cells in (titles, ["-" * width for width in widths], *body)
    ]
    return [f"{line} |" for line in lines]


def _cells(row: Row, sides: Sequence[str]) -> Iterable[str]:
    nothing = "-"
    for side in sides:
        yield spread(row.sides[side]) if side in row.sides else nothing
    for side in sides:
        if side != REFERENCE:
            both = side in row.sides and REFERENCE in row.sides
            yield f"{_median(row, side) / _median(row, REFERENCE):.2f}" if both else nothing
    for side in sides:
        yield f"{row.sides[side].first:.1f}" if side in row.sides else nothing
    yield str(min(len(times.steps) for times in row.sides.values()))


def _median(row: Row, side: str) -> float:
    return row.sides[side].quartiles[1]


def spread(times: Times) -> str:
    """The median and the quartiles, in milliseconds.

    >>> spread(Times(0.5, [0.001, 0.002, 0.003]))
    '2 (1.5-2.5)'
    """
    low, middle, high = map(milliseconds, times.quartiles)
    return f"{middle} ({low}-{high})"


def milliseconds(seconds: float) -> str:
    """Three digits, or all before the point.

    >>> milliseconds(0.0012345), milliseconds(12.3456)
    ('1.23', '12346')
    """
    value = 1e3 * seconds
    return f"{value:.0f}" if value >= 100.0 else f"{value:.3g}"


def machine(device: str) -> str:
    """On what it was measured: versions, device, cores, processor and load."""
    found = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        found = next((x.partition(":")[2].strip() for x in lines if "model name" in x), found)
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("mindspore", "torch")
    )
    cores, load = os.cpu_count(), os.getloadavg()[0]
    return f"{versions}; {device}; {cores} cores, {found}, load {load:.1f}; one thread each"
