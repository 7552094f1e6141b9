"""Which errors have grown over the runs, and since when.

An error has grown where all runs from one on are beyond the runs before that: by a quarter of their
median, and by more than they scatter. What is below a sixteenth of the budget, one rounding of 16,
is never said to have grown.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from equivalence.trend.history import History, PastResult, SuiteRun, key_of
from equivalence.words import number

FACTOR = 1.25
"""How many times the median of the runs before an error must be to have grown."""

SCATTER = 6.0
"""How many median absolute deviations of the runs before it must be above their median; for normal
noise, four standard deviations."""

FLOOR = 1 / 16
"""The share of the budget below which no error has grown."""

Series = list[tuple[SuiteRun, PastResult]]
"""The results of a case with one seed, in the order of time."""


class Growth(NamedTuple):
    """An error that has grown.

    was: the median error before.
    error: the latest one.
    before, since: the last run before it grew, and the first after.
    now: the latest result.
    """

    was: float
    error: float
    before: SuiteRun
    since: SuiteRun
    now: PastResult

    @property
    def key(self) -> str:
        """The key of its case."""
        return key_of(self.now.name, self.since.seed)

    @property
    def times(self) -> float:
        """How many times as large the error is."""
        return self.error / self.was if self.was else math.inf

    @property
    def told(self) -> str:
        """From what to what it grew, and since when."""
        times = f" ({number(self.times)} times)" if math.isfinite(self.times) else ""
        changes = [
            f"{name} {self.before.versions.get(name, 'absent')} -> {version}"
            for name, version in self.since.versions.items()
            if self.before.versions.get(name) != version
        ]
        return (
            f"{number(self.was)} -> {number(self.error)} of {number(self.now.budget or 0.0)} "
            f"{self.now.unit}{times}, {self.now.tensor}, since {self.since}; "
            f"the run before: {'; '.join([str(self.before), *changes])}"
        )

    def __str__(self) -> str:
        return f"{self.now.name}: {self.told}"


def series(history: History) -> Mapping[tuple[str, int], Series]:
    """(name of a case, seed) -> its results, in the order of time."""
    found: dict[tuple[str, int], Series] = {}
    for run, results in history.runs:
        for result in results:
            found.setdefault((result.name, run.seed), []).append((run, result))
    return found


def grown(history: History) -> list[Growth]:
    """The errors that have grown in a history, those that grew most first."""
    every = [growth_of(each) for each in series(history).values()]
    return sorted(filter(None, every), key=lambda each: (-each.times, each.now.name))


def growth_of(of_case: Series) -> Growth | None:
    """The growth of a case's error to what it is in the latest run; None where it has not grown.

    Of all runs from which on the error is beyond what was before, it began in the one that parts
    the series best: by least squares of its logarithms. Runs that compared another number of
    tensors compared something else; they and earlier runs without a number are passed over.
    """
    now = of_case[-1][1]
    if now.error is None or now.budget is None or now.error <= FLOOR * now.budget:
        return None
    alike = [
        (run, result)
        for run, result in of_case
        if (result.tensors, result.unit) == (now.tensors, now.unit)
        and (result is now or (result.error is not None and math.isfinite(result.error)))
    ]
    errors = [result.error for _, result in alike if result.error is not None]
    parts = [
        first for first in range(1, len(errors)) if min(errors[first:]) > _bound(errors[:first])
    ]
    if not parts:
        return None
    least, most = FLOOR * now.budget / 100, 1e9 * now.budget
    logarithms = [math.log(min(max(error, least), most)) for error in errors]
    first = max(parts, key=lambda each: _parted(logarithms, each))
    was = statistics.median(errors[:first])
    return Growth(was, now.error, alike[first - 1][0], alike[first][0], now)


def _bound(errors: Sequence[float]) -> float:
    """What later errors do not exceed if they are noise around these."""
    median = statistics.median(errors)
    scatter = statistics.median(abs(error - median) for error in errors)
    return max(FACTOR * median, median + SCATTER * scatter)


def _parted(values: Sequence[float], first: int) -> float:
    """How much of the squares of a series its means before and from `first` explain."""
    before, after = values[:first], values[first:]
    step = statistics.fmean(after) - statistics.fmean(before)
    return len(before) * len(after) * step**2
