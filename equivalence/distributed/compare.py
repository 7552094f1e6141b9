"""Data parallel training under the frameworks' launchers, beside the truth of one process.

Each rank trains on its part of the samples. The truth is the reference's network in one process,
in float64: the loss of every rank's part by buffers of the rank's own, and updates by the mean of
the gradients. Both the candidate under `msrun` and PyTorch's own data parallel training under
`torchrun` are held to it. Imports no framework.

The trace of a case has, for each rank, the losses, the first gradients that weights are updated
with, updates, buffers, and which samples were read in which order (`samples@rank1`). The elements
in which a rank's weights are not the first rank's, bit for bit, are counted (`apart:NAME@rank1`).
"""

import math
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from equivalence.declare.declaration import Configured, demanding, is_number, shown, stem
from equivalence.declare.draws import Draw
from equivalence.declare.twin import demand_fits, demand_inputs
from equivalence.distributed import launch
from equivalence.distributed.rank import SAMPLES, Job, of_rank
from equivalence.errors import SideError, TorchMissingError
from equivalence.host import environment
from equivalence.judge import precision, tensors
from equivalence.judge.tensors import Trace
from equivalence.judge.verdict import Expected, Judgement, judge
from equivalence.sample import Sample, resolve_inputs

if TYPE_CHECKING:
    from equivalence.distributed.rank_torch import SingleProcess
    from equivalence.judge.truth import Truth
    from equivalence.sides.weights import Slot
    from equivalence.twins.check import Outcome

RUNS = {
    "torchrun": ("reference", "torchrun"),
    "pynative": ("candidate", "msrun"),
    "graph": ("candidate", "msrun"),
}
"""Execution -> the side that runs, and its launcher."""

UNIT_ROUNDOFF = precision.UNIT_ROUNDOFF["float32"]


@dataclass(frozen=True)
class DataParallel:
    """A MindSpore training on several ranks and the PyTorch training that it must equal.

    Both callables build the training step of one rank: as those of a `Twin` with steps, and with a
    method `batches(arrays, batch_size)`, an epoch of the rank's part of arrays that have a sample
    in each row. MindSpore's keeps the gradients of its latest update as `averaged`, in the order of
    its `optimizer.parameters`; PyTorch's has `update()`, from gradients to new weights, and can be
    built where there are no other ranks.

    inputs: what the whole data set is drawn from, samples along the first axis.
    """

    name: str
    reference: str
    candidate: str
    inputs: Sequence[Draw]
    batch_size: int
    steps: int
    ranks: int = 2
    configs: Sequence[Mapping[str, Any]] = ({},)
    executions: Sequence[str] = tuple(RUNS)
    level: str = "gate"
    rename: Mapping[str, str] = field(default_factory=dict)
    limit: float = launch.LIMIT
    raises: ClassVar[None] = None
    differs: ClassVar[None] = None

    def __post_init__(self) -> None:
        demand = demanding("distributed", self, ("reference", "candidate"))
        demand_inputs(demand)
        demand(isinstance(self.inputs, tuple), "inputs are a pipeline's; write draws of samples")
        for field_name in ("batch_size", "steps", "ranks"):
            demand.whole(field_name)
        demand(self.batch_size > 0, "batch_size must be at least 1")
        demand(self.ranks > 1, "ranks: one rank is not distributed")
        demand(self.steps > 1, "steps: one step does not show whether the ranks stay together")
        demand.among("executions", tuple(RUNS))
        demand.paths("rename")
        right = is_number(self.limit) and self.limit > 0
        demand(right, f"limit is {shown(self.limit)}; write seconds, a number above zero")
        demand_fits(demand, self.configs)
        for config in self.configs:
            samples = sorted({(draw.resolve(config) or ())[:1] for draw in self.inputs})
            told = f"inputs have {shown(samples)} samples along the first axis; give all the same"
            demand(len(samples) == 1 and samples != [()], told)


@dataclass(frozen=True)
class DataParallelCase(Configured):
    """One comparison: a training under one configuration by one launcher, on the CPU."""

    twin: DataParallel
    config: Mapping[str, Any]
    execution: str
    device: ClassVar[str] = "cpu"
    parts: ClassVar[str] = "rank"  # what a diagnosis goes through

    @property
    def sample_name(self) -> str:
        """Names the sample and its truth, which all executions share."""
        return f"{stem(self.twin.name, self.config)}-ranks{self.twin.ranks}"

    def check(self, seed: int) -> "Outcome":
        """Run all ranks and judge them.

        Raises EquivalenceError where no comparison can be made: a rank that fails or hangs.
        """
        from equivalence.twins.check import Outcome

        return Outcome(self, seed, compare(self, seed).judgement)

    def diagnose(self, seed: int, every: bool) -> tuple[list[str], list[str]]:  # noqa: ARG002
        """What to blame in a few lines, and every rank's errors."""
        from equivalence.distributed import diagnose as distributed_causes

        found = compare(self, seed)
        brief = distributed_causes.brief(found)
        return brief, [self.name, "", *brief, "", *distributed_causes.full(found)]


def cases(declared: DataParallel) -> Iterator[DataParallelCase]:
    """All cases of a declaration; those that share a truth follow each other."""
    for config in declared.configs:
        for execution in declared.executions:
            yield DataParallelCase(declared, config, execution)


class Sharded(Sample):
    """A data set, and the batches of all ranks that a training reads from it in turns.

    Rank r of R reads the samples r, r + R, r + 2R, ..., as many as every other: where they do not
    come out even, the first samples once more (PyTorch's `DistributedSampler`).
    """

    def __init__(self, case: DataParallelCase, seed: int):
        draws = resolve_inputs(tuple(case.twin.inputs), case.config)
        super().__init__(case.sample_name, seed, draws, "float32")
        self.twin = case.twin

    @property
    def arrays(self) -> list[np.ndarray]:
        """The whole data set: an array for each input, a sample in each row."""
        return super().inputs()

    def read(self, rank: int) -> list[np.ndarray]:
        """The numbers of the samples in each batch of a rank, for all steps."""
        samples, ranks, size = len(self.arrays[0]), self.twin.ranks, self.twin.batch_size
        part = (rank + ranks * np.arange(math.ceil(samples / ranks))) % samples
        epoch = [part[first : first + size] for first in range(0, len(part), size)]
        return [epoch[step % len(epoch)] for step in range(self.twin.steps)]

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        """Of each input, the batches of all ranks along a new first axis."""
        chosen = [self.read(rank)[step - 1] for rank in range(self.twin.ranks)]
        return [values[np.stack(chosen)] for values in self.arrays]


@dataclass
class Known:
    """The truth of a case, and what made it."""

    sample: Sharded
    slots: "dict[str, Slot]"
    expected: "Truth"
    process: "SingleProcess"


@dataclass
class Compared:
    """All ranks of a case, run, and the verdict. seconds: what the run took."""

    case: DataParallelCase
    reference: Known
    recorded: Trace
    judgement: Judgement
    seconds: float


_known: list[tuple[tuple, Known]] = []
_compared: list[tuple[tuple, Compared]] = []


def compare(case: DataParallelCase, seed: int) -> Compared:
    """Run all ranks of `case` and judge their traces; the last comparison is remembered.

    Raises EquivalenceError as `DataParallelCase.check` does.
    """
    for other, compared in _compared:
        if other == (case, seed):
            return compared
    known = reference(case, seed)
    started = time.monotonic()
    recorded = _run(case, known)
    seconds = time.monotonic() - started
    expected = {**known.expected, **_exact(known, recorded)}
    judgement = judge(expected, recorded, UNIT_ROUNDOFF, precision.budget(case.twin.name))
    compared = Compared(case, known, recorded, judgement, seconds)
    _compared[:] = [((case, seed), compared)]
    return compared


def reference(case: DataParallelCase, seed: int) -> Known:
    """The truth, kept until a case with another sample comes. Raises TorchMissingError."""
    twin = case.twin
    key = (case.sample_name, case.config, twin.inputs, twin.batch_size, twin.steps)
    key = (*key, twin.reference, seed)
    for other, known in _known:
        if other == key:
            return known
    if not environment.installed("torch"):
        raise TorchMissingError(f"{case.name}: its truth needs torch, which is not installed")
    from equivalence.distributed.rank_torch import SingleProcess
    from equivalence.truth import compute as truth
    from equivalence.twins.check import blaming

    sample = Sharded(case, seed)
    with blaming("reference", case):
        process = SingleProcess(twin.reference, case.arguments, twin.steps, twin.ranks)
        expected = truth.compute(process, sample, "train", UNIT_ROUNDOFF)
    known = Known(sample, process.slots(), expected, process)
    _known[:] = [(key, known)]
    return known


def _run(case: DataParallelCase, known: Known) -> Trace:
    """The traces of all ranks, their names with the rank, and what is compared between ranks."""
    twin, sample = case.twin, known.sample
    side, launcher = RUNS[case.execution]
    job = Job(
        launcher,
        getattr(twin, side),
        case.arguments,
        case.execution,
        twin.rename,
        {name: (slot.shape, slot.kind) for name, slot in known.slots.items()},
        sample.name,
        sample.seed,
        twin.batch_size,
        twin.steps,
    )
    weights = {name: sample.weight(name, slot.shape) for name, slot in known.slots.items()}
    with tempfile.TemporaryDirectory(prefix="equivalence-ranks-") as temporary:
        run = launch.Run(case.name, launcher, twin.ranks, Path(temporary), twin.limit)
        run(job.write(run.folder, sample.arrays, weights))
        traces = [_read(case.name, rank) for rank in run.ranks]
    recorded = {
        of_rank(name, rank): values
        for rank, each in enumerate(traces)
        for name, values in each.items()
    }
    last = tensors.update(twin.steps, "")
    for name, values in traces[0].items():
        if name.startswith(last):
            for rank, each in enumerate(traces[1:], 1):
                apart = of_rank(f"apart:{name.removeprefix(last)}", rank)
                recorded[apart] = np.array(_apart(values, each.get(name)))
    return recorded


def _read(case: str, rank: launch.Rank) -> Trace:
    """The trace that a rank has left."""
    try:
        with rank.file("npz").open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return dict(stored)
    except Exception as error:
        raise SideError(f"{case}: the result of rank {rank.number} is damaged: {error}") from error


def _apart(first: np.ndarray, other: np.ndarray | None) -> int:
    """How many elements of a weight are not the same, bit for bit."""
    if other is None or other.shape != first.shape or other.dtype != first.dtype:
        return first.size
    bits = f"u{first.itemsize}"
    return int((first.view(bits) != other.view(bits)).sum())


def _exact(known: Known, recorded: Trace) -> dict[str, Expected]:
    """What is equal or is not: the samples that each rank reads, and weights among the ranks."""
    read = {
        of_rank(SAMPLES, rank): np.concatenate(known.sample.read(rank)).astype(np.int64)
        for rank in range(known.sample.twin.ranks)
    }
    none = {name: np.array(0) for name in recorded if name.startswith("apart:")}
    return {name: Expected(values, str(values.dtype)) for name, values in (read | none).items()}
