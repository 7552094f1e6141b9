"""Rows per second: what is counted, by turns, and a loader of one batch."""

import pytest

from equivalence.errors import EquivalenceError
from equivalence.timing import loaders


class Timed:
    """A loader that takes some ticks for each batch."""

    def __init__(self, clock, ticks, batches=100, workers=0):
        self.clock, self.ticks, self.batches, self.workers = clock, ticks, batches, workers

    def rows(self):
        for _ in range(self.batches):
            self.clock.now += self.ticks
            yield 4


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_rows_are_counted_from_the_first_batch_on():
    clock = Clock()
    sides = {"PyTorch": Timed(clock, 0.5), "MindSpore": Timed(clock, 0.25, workers=2)}
    found = loaders.measure(sides, patience=5.0, clock=clock)
    assert found["PyTorch"].rates == [8.0] * 5
    assert found["MindSpore"].rates == [16.0] * 5
    assert found["PyTorch"].first == [0.5] * 5
    assert found["PyTorch"].batches == [0.5] * 5
    assert loaders.waits(found) == [
        "a step waits for data if it takes less than 500 ms (PyTorch) or 250 ms (MindSpore)"
    ]
    assert "| MindSpore        | 16 (16-16)         | 2.00 " in "\n".join(loaders.table(found))


def test_an_epoch_of_one_batch_is_not_timed():
    clock = Clock()
    with pytest.raises(EquivalenceError, match="an epoch of PyTorch's loader has one batch"):
        loaders.measure({"PyTorch": Timed(clock, 1.0, batches=1)}, clock=clock)
