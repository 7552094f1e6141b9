"""Data parallel training under the frameworks' launchers, against the truth of one process.

Each rank trains on its part of the samples. The truth is the reference's network in one process,
in float64: each rank's loss with the rank's own buffers, and updates by the mean of the gradients.
Both the candidate under `msrun` and PyTorch's own data parallel training under `torchrun` must
equal it. Imports no framework.

The trace of a case has, for each rank, the losses, the gradients of the first update, the updates,
the buffers, and the numbers of the samples in the order of reading (`samples@rank1`). It also
counts the elements in which a rank's weights differ from the first rank's in any bit
(`apart:NAME@rank1`).
"""

import json
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from equivalence import files
from equivalence.declare.data_parallel import RUNS, DataParallelCase
from equivalence.distributed import launch
from equivalence.distributed.rank import SAMPLES, RankJob, of_rank
from equivalence.errors import SideError, TorchMissingError, blaming
from equivalence.host import environment
from equivalence.judge import precision, tensors
from equivalence.judge.expected import Expected
from equivalence.judge.outcome import Outcome
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Truth
from equivalence.judge.verdict import Judgement, demand_values, judge
from equivalence.sample import Sample, resolve_inputs
from equivalence.structure.weights import UNSAVED, Slot

if TYPE_CHECKING:
    from equivalence.distributed.rank_torch import SingleProcess

UNIT_ROUNDOFF = precision.UNIT_ROUNDOFF["float32"]
"""The unit roundoff of all trainings, which compute in float32."""


class Sharded(Sample):
    """A data set, and the batches that all ranks of a training read from it in turns.

    Rank r of R reads the samples r, r + R, r + 2R, ... All ranks read equally many: where the
    samples do not suffice, the first ones come again (PyTorch's `DistributedSampler`).
    """

    def __init__(self, case: DataParallelCase, seed: int):
        draws = resolve_inputs(tuple(case.twin.inputs), case.config)
        super().__init__(case.sample_name, seed, draws, "float32")
        self.twin = case.twin

    @property
    def arrays(self) -> list[np.ndarray]:
        """The whole data set: an array for each input, with a sample in each row."""
        return super().inputs()

    def read(self, rank: int) -> list[np.ndarray]:
        """The numbers of the samples in each batch of a rank, step by step."""
        samples, ranks, size = len(self.arrays[0]), self.twin.ranks, self.twin.batch_size
        part = (rank + ranks * np.arange(math.ceil(samples / ranks))) % samples
        epoch = [part[first : first + size] for first in range(0, len(part), size)]
        return [epoch[step % len(epoch)] for step in range(self.twin.steps)]

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        """The batches of all ranks: an array for each input, the ranks along a new first axis."""
        numbers = [self.read(rank)[step - 1] for rank in range(self.twin.ranks)]
        return [values[np.stack(numbers)] for values in self.arrays]


@dataclass
class RanksReference:
    """The truth of a case.

    sample: the data set and the weights.
    slots: name -> shape and kind of each weight.
    expected: name -> truth of every array of the trace.
    process: the training that made it.
    """

    sample: Sharded
    slots: dict[str, Slot]
    expected: Truth
    process: "SingleProcess"


@dataclass
class RanksComparison:
    """All ranks of a case, run and judged.

    case: the case.
    reference: its truth.
    trace: the arrays of all ranks by name.
    judgement: the verdict on the trace.
    seconds: wall time of the run.
    """

    case: DataParallelCase
    reference: RanksReference
    trace: Trace
    judgement: Judgement
    seconds: float


_references: list[tuple[tuple, RanksReference]] = []
_comparisons: list[tuple[tuple, RanksComparison]] = []


def check(case: DataParallelCase, seed: int) -> Outcome:
    """Run all ranks from base seed `seed`, and judge them.

    Raises EquivalenceError where no comparison can be made, as when a rank fails or hangs.
    """
    return Outcome(case, seed, compare(case, seed).judgement)


def compare(case: DataParallelCase, seed: int) -> RanksComparison:
    """Run all ranks of `case` and judge their traces; the last comparison is kept.

    Raises EquivalenceError as `check` does.
    """
    for other, comparison in _comparisons:
        if other == (case, seed):
            return comparison
    truth = reference(case, seed)
    started = time.monotonic()
    trace = _run(case, truth)
    seconds = time.monotonic() - started
    buffers = [tensors.buffer(n) for n, slot in truth.slots.items() if slot.kind == UNSAVED]
    unsaved = {of_rank(name, rank) for name in buffers for rank in range(case.twin.ranks)}
    expected = {n: each for n, each in truth.expected.items() if n in trace or n not in unsaved}
    expected |= _exact_truths(truth, trace)
    judgement = demand_values(judge(expected, trace, UNIT_ROUNDOFF))
    comparison = RanksComparison(case, truth, trace, judgement, seconds)
    _comparisons[:] = [((case, seed), comparison)]
    return comparison


def reference(case: DataParallelCase, seed: int) -> RanksReference:
    """The truth, kept until a case with another sample comes. Raises TorchMissingError."""
    twin = case.twin
    about = (
        case.sample_name,
        case.config,
        twin.inputs,
        twin.batch_size,
        twin.steps,
        twin.statistics,
    )
    key = (*about, twin.reference, seed, *(draw.identity for draw in twin.inputs))
    for other, truth in _references:
        if other == key:
            return truth
    if not environment.installed("torch"):
        raise TorchMissingError(f"{case.name}: its truth needs torch, which is not installed")
    from equivalence.distributed.rank_torch import SingleProcess
    from equivalence.truth.compute import compute as measure
    from equivalence.truth.measurement import Measurement

    sample = Sharded(case, seed)
    with blaming("reference", case.name):
        first = twin.statistics == "first"
        process = SingleProcess(twin.reference, case.arguments, twin.steps, twin.ranks, first)
        expected = measure(Measurement(process, sample, "train", UNIT_ROUNDOFF))
    truth = RanksReference(sample, process.slots(), expected, process)
    _references[:] = [(key, truth)]
    return truth


def _run(case: DataParallelCase, reference: RanksReference) -> Trace:
    """The traces of all ranks, with the rank in each name, and the counts of differing elements."""
    twin, sample = case.twin, reference.sample
    side, launcher = RUNS[case.execution]
    job = RankJob(
        launcher,
        getattr(twin, side),
        case.arguments,
        case.execution,
        twin.rename,
        {name: (slot.shape, slot.kind) for name, slot in reference.slots.items()},
        sample.name,
        sample.seed,
        twin.batch_size,
        twin.steps,
    )
    weights = {name: sample.weight(name, slot.shape) for name, slot in reference.slots.items()}
    with files.temporary() as temporary:
        run = launch.RanksRun(case.name, launcher, twin.ranks, Path(temporary), twin.limit)
        run(job.write(run.folder, sample.arrays, weights))
        traces = [_read(case.name, rank) for rank in run.ranks]
    trace = {
        of_rank(name, rank): values
        for rank, rank_trace in enumerate(traces)
        for name, values in rank_trace.items()
    }
    last = tensors.update(twin.steps, "")
    for name, values in traces[0].items():
        if name.startswith(last):
            for rank, rank_trace in enumerate(traces[1:], 1):
                count_name = of_rank(f"apart:{name.removeprefix(last)}", rank)
                trace[count_name] = np.array(_count_differing(values, rank_trace.get(name)))
    return trace


def _read(case: str, rank: launch.Rank) -> Trace:
    """The trace in a rank's result; SideError where the file is damaged."""
    try:
        with rank.file("npz").open("rb") as file, np.load(file, allow_pickle=False) as stored:
            trace = dict(stored)
        sys.audit("equivalence.reached", json.loads(rank.file("reached").read_text()))
        return trace
    except Exception as error:
        raise SideError(f"{case}: the result of rank {rank.number} is damaged: {error}") from error


def _count_differing(first: np.ndarray, other: np.ndarray | None) -> int:
    """How many elements of a weight differ in any bit; all of them where shape or dtype differs."""
    if other is None or other.shape != first.shape or other.dtype != first.dtype:
        return first.size
    bits = f"u{first.itemsize}"
    return int((first.view(bits) != other.view(bits)).sum())


def _exact_truths(reference: RanksReference, trace: Trace) -> dict[str, Expected]:
    """The truths that allow no rounding: the samples of each rank, and no differing weights."""
    read = {
        of_rank(SAMPLES, rank): np.concatenate(reference.sample.read(rank)).astype(np.int64)
        for rank in range(reference.sample.twin.ranks)
    }
    no_differences = {name: np.array(0) for name in trace if name.startswith("apart:")}
    return {
        name: Expected(values, str(values.dtype))
        for name, values in (read | no_differences).items()
    }
