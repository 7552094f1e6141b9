"""Whether a step waits for its data: what is counted, with loaders that only move a clock."""

import pytest

from equivalence.errors import DeclarationError
from equivalence.timing import waiting
from equivalence.timing.waiting import Waits


class Clock:
    now = 0.0

    def __call__(self):
        return self.now

    def takes(self, seconds):
        def step():
            self.now += seconds

        return step


class Timed:
    """A loader whose batches take some ticks; the first of an epoch takes more."""

    workers = 0

    def __init__(self, clock, ticks, batches=4):
        self.clock, self.ticks, self.batches = clock, ticks, batches

    def rows(self):
        for place in range(self.batches):
            self.clock.now += self.ticks if place else 100.0
            yield 8


def measured(ticks, step, **more):
    clock = Clock()
    return waiting.measure({"MindSpore": (Timed(clock, ticks, **more), clock.takes(step))}, clock)


def test_the_queue_is_empty_where_a_batch_is_not_there_at_once(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 1e9)
    waits = measured(0.5, 1.0)["MindSpore"]
    assert waits.waits == (0.5,) * waiting.STEPS  # the first of each epoch is left out
    assert waits.steps == (1.0,) * waiting.STEPS
    assert waits.empty == waiting.STEPS
    assert measured(0.0625, 1.0)["MindSpore"].empty == 0


def test_slow_steps_are_timed_a_few_times_only():
    assert len(measured(0.0, waiting.PATIENCE)["MindSpore"].waits) == waiting.FEWEST


def test_an_epoch_of_one_batch_is_refused():
    with pytest.raises(DeclarationError, match="an epoch of MindSpore's loader has one batch"):
        measured(1.0, 1.0, batches=1)


def test_the_table_tells_the_share_and_batches_of_another_size():
    sides = {"PyTorch": Waits([1.0, 3.0], [2.0, 2.0], [8, 8])}
    *_, row, told = waiting.table(sides, 4)
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        "PyTorch",
        "2000 (1500-2500)",
        "50 %",
        "at 2 of 2 steps",
    ]
    assert told == "a batch has 8 rows, and the inputs of the step 4: give --input as many"
    assert len(waiting.table(sides, 8)) == 3
