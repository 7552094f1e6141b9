"""Data pipelines side by side: what is compared, and the comparison. Imports no framework.

Both sides read the same files, which are made from the base seed. A side is a callable
`f(folder, **arguments)` that returns an object with

    stages   names in order, the first `read` (a sample as its file has it), the last `batch`
    run(s)   what comes out of stage s, in order: dicts of `image` and `label` as NumPy arrays,
             single samples before `batch`

and the reference's `run(s, dtype, perturb)` also computes in float64, from a first floating array
that `perturb` changes. Stages of the same name do the same; either side may have others between.
"""

import contextlib
import itertools
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from equivalence.declare.declaration import Configured, demanding, is_whole, shown, stem
from equivalence.errors import EquivalenceError, SideError
from equivalence.judge import precision
from equivalence.judge.norms import distance
from equivalence.judge.tensors import Trace
from equivalence.judge.verdict import Expected, Judgement, in_roundings, judge
from equivalence.sample import stream
from equivalence.targets import build, resolve

if TYPE_CHECKING:
    from equivalence.twins.check import Outcome

Items = Sequence[Mapping[str, np.ndarray]]

READ, BATCH = "read", "batch"

UNIT_ROUNDOFF = precision.UNIT_ROUNDOFF["float32"]

PROBES = 3
"""Perturbed runs of the reference whose largest change is the sensitivity."""


@dataclass(frozen=True)
class Pipeline:
    """A MindSpore data pipeline and the PyTorch pipeline that it must equal.

    `files` names the callable that fills an empty folder from a seed; configuration keys in
    capitals are its arguments, in small letters, and not passed to the sides. With `num_shards` in
    a configuration and no `shard_id`, every rank's part is compared. `differs` declares a known
    difference, as a twin's does: the stage, then the cause.
    """

    name: str
    reference: str
    candidate: str
    files: str
    configs: Sequence[Mapping[str, Any]] = ({},)
    level: str = "gate"
    differs: str | None = None
    raises: ClassVar[None] = None

    def __post_init__(self) -> None:
        demand = demanding("pipeline", self, ("reference", "candidate", "files"))
        demand.text("differs")
        for config in self.configs:
            demand("folder" not in config, "configs name 'folder', which each side is given anyway")
            ranks, rank = config.get("num_shards", 1), config.get("shard_id", 0)
            right = is_whole(ranks) and ranks > 0
            demand(right, f"configs have the num_shards {shown(ranks)}; write a number of ranks")
            right = is_whole(rank) and 0 <= rank < ranks
            demand(right, f"configs have the shard_id {shown(rank)}; write a rank below {ranks}")


@dataclass(frozen=True)
class PipelineCase(Configured):
    """One comparison: a pipeline under one configuration. The CPU runs it, on every host."""

    twin: Pipeline
    config: Mapping[str, Any]
    execution: ClassVar[str] = "pipeline"
    device: ClassVar[str] = "cpu"
    parts: ClassVar[str] = "stage"  # what a diagnosis goes through

    @property
    def sample_name(self) -> str:
        """Names what is drawn."""
        return stem(self.twin.name, self.config)

    @property
    def ranks(self) -> list[dict[str, int]]:
        """The further arguments of each rank."""
        if "num_shards" not in self.config or "shard_id" in self.config:
            return [{}]
        return [{"shard_id": rank} for rank in range(self.config["num_shards"])]

    def check(self, seed: int) -> "Outcome":
        """Run both sides on the files of base seed `seed`, and judge them.

        Raises EquivalenceError where no comparison can be made.
        """
        from equivalence.twins.check import Outcome

        return Outcome(self, seed, compare(self, seed).judgement)

    def diagnose(self, seed: int, every: bool) -> tuple[list[str], list[str]]:  # noqa: ARG002
        """The first stage that differs, and why: the same few lines in brief and in full."""
        from equivalence.pipelines.diagnose import diagnose

        lines = diagnose(self, seed).lines()
        return lines, [self.name, "", *lines]


def cases(pipeline: Pipeline) -> Iterator[PipelineCase]:
    """All cases of a pipeline."""
    for config in pipeline.configs:
        yield PipelineCase(pipeline, config)


@dataclass
class Known:
    """The reference's part of a comparison. own: its run in float32."""

    expected: dict[str, Expected]
    own: Trace


@dataclass
class Compared:
    """Both sides of a case, run, and the verdict."""

    reference: Known
    recorded: Trace
    judgement: Judgement


def compare(case: PipelineCase, seed: int) -> Compared:
    """Run both sides of `case` to the end and judge the batches.

    Besides images and labels, `count:batches` and `count:samples` are compared per rank; of
    several ranks also `count:reads`, how often each sample is read by all of them together.
    Raises EquivalenceError when files cannot be made or a side raises.
    """
    both = Both(case, seed)
    known = both.expected(BATCH)
    recorded = both.recorded(BATCH)
    if len(case.ranks) > 1:
        theirs, ours = both.reads()
        known.expected["count:reads"] = Expected(theirs, str(theirs.dtype))
        known.own["count:reads"], recorded["count:reads"] = theirs, ours
    budget = precision.budget(case.twin.name)
    return Compared(known, recorded, judge(known.expected, recorded, UNIT_ROUNDOFF, budget))


class Both:
    """The sides of a case over the files of one seed, each rank built anew for each run."""

    def __init__(self, case: PipelineCase, seed: int):
        self.case, self.seed = case, seed
        self.folder = files(case, seed)

    def stages(self, side: str) -> tuple[str, ...]:
        """The names of a side's stages, without `read` and `batch`."""
        with _naming(side, self.case):
            return self._build(side, self.case.ranks[0]).stages[1:-1]

    def expected(self, until: str) -> Known:
        """The truth of what comes out of a stage, its sensitivity, and the reference's own."""
        truth = self._reference(until, "float64")
        own = self._reference(until, "float32")
        expected = {name: Expected(truth[name], str(own[name].dtype)) for name in truth}
        if any(values.dtype.kind == "f" for values in truth.values()):
            for probe in range(PROBES):
                perturbed = self._reference(until, "float64", self._perturbation(probe))
                for name, values in perturbed.items():
                    if values.dtype.kind == "f":
                        expected[name].widen(values)
        for name, known in expected.items():
            if known.truth.dtype.kind == "f":
                apart = distance(own[name], known.truth)
                known.own_error, known.own_worst = in_roundings(apart, known, UNIT_ROUNDOFF)
        return Known(expected, own)

    def recorded(self, until: str) -> Trace:
        """What comes out of a stage of the candidate."""
        return _trace(self.items("candidate", until))

    def items(self, side: str, until: str, *options: Any) -> list[Items]:
        """What comes out of a stage of a side, rank by rank."""
        made = []
        for rank in self.case.ranks:
            with _naming(side, self.case):
                made.append(_checked(self._build(side, rank).run(until, *options), side))
        return made

    def numbers(self) -> dict[bytes, int]:
        """A number for each sample of the reference: in the order in which ranks that take turns
        read them, then those that no rank reads. Where all is right, it is the data set's."""
        read = [contents(rank) for rank in self.items("reference", READ)]
        turns = itertools.chain(*itertools.zip_longest(*read))
        every = dict.fromkeys(sample for sample in turns if sample is not None)
        if len(read) > 1:
            with _naming("reference", self.case):
                whole = self._build("reference", {"num_shards": 1, "shard_id": 0}).run(READ)
            every |= dict.fromkeys(contents(whole))
        return {sample: number for number, sample in enumerate(every)}

    def reads(self) -> tuple[np.ndarray, np.ndarray]:
        """How often the reference and the candidate read each sample, by its number."""
        number = self.numbers()
        counts = np.zeros((2, len(number)), np.int64)
        for count, side in zip(counts, ("reference", "candidate"), strict=True):
            for rank in self.items(side, READ):
                read = [number[sample] for sample in contents(rank) if sample in number]
                np.add.at(count, read, 1)
        return counts[0], counts[1]

    def _reference(
        self, until: str, dtype: str, perturb: Callable[[np.ndarray], np.ndarray] | None = None
    ) -> Trace:
        return _trace(self.items("reference", until, dtype, perturb))

    def _perturbation(self, probe: int) -> Callable[[np.ndarray], np.ndarray]:
        """Multiplies every element by 1 + u or 1 - u, by coin toss, in the order of the calls."""
        coins = stream(self.seed, self.case.sample_name, "probe", probe)

        def perturb(values: np.ndarray) -> np.ndarray:
            signs = 2.0 * coins.integers(2, size=values.shape) - 1.0
            return values * (1.0 + UNIT_ROUNDOFF * signs)

        return perturb

    def _build(self, side: str, rank: Mapping[str, int]) -> Any:
        target = getattr(self.case.twin, side)
        return build(target, {"folder": self.folder, **self.case.arguments, **rank})


def contents(items: Items) -> list[bytes]:
    """What tells the samples of a `read` stage apart."""
    return [item["image"].tobytes() for item in items]


def _trace(ranks: Sequence[Items]) -> Trace:
    """The arrays of all ranks by name, and how many there are. Labels of any integer are alike."""
    trace: Trace = {}
    for rank, items in enumerate(ranks):
        for place, item in enumerate(items):
            for part, values in item.items():
                whole = part == "label" and values.dtype.kind in "iu"
                trace[name(part, place, rank if len(ranks) > 1 else None)] = (
                    values.astype(np.int64) if whole else values
                )
    trace["count:batches"] = np.array([len(items) for items in ranks])
    trace["count:samples"] = np.array([sum(i["label"].size for i in items) for items in ranks])
    return trace


def name(part: str, place: int, rank: int | None = None) -> str:
    """The name of a tensor: `image[3]`, with several ranks `image[3]@rank1`."""
    return f"{part}[{place}]" if rank is None else f"{part}[{place}]@rank{rank}"


def _checked(items: Iterable[Mapping[str, np.ndarray]], side: str) -> Items:
    made = list(items)
    if not made:
        raise EquivalenceError(f"the {side} gives no samples, so nothing would be compared")
    return made


@contextlib.contextmanager
def _naming(side: str, case: PipelineCase) -> Iterator[None]:
    """Turn what a side raises into a sentence that names it."""
    try:
        yield
    except EquivalenceError:
        raise
    except Exception as error:
        told = re.findall(r"^\[ERROR\] (.*)", str(error), re.MULTILINE)  # in MindSpore's frames
        message = " ".join(told) or str(error).strip().split("\n\n")[0]
        raise SideError(
            f"{case.name}: the {side} raised {type(error).__name__}: {message}"
        ) from error


_made: dict[str, tuple[tuple, tempfile.TemporaryDirectory]] = {}


def files(case: PipelineCase, seed: int) -> Path:
    """The folder of a case's files. The latest of each kind are kept until the process ends."""
    target = case.twin.files
    arguments = {key.lower(): value for key, value in case.config.items() if key.isupper()}
    wanted = (tuple(arguments.items()), seed)
    if target not in _made or _made[target][0] != wanted:
        if target in _made:
            _made.pop(target)[1].cleanup()
        folder = tempfile.TemporaryDirectory(prefix="equivalence-files-")
        try:
            resolve(target)(Path(folder.name), seed, **arguments)
        except Exception as error:
            folder.cleanup()
            raise EquivalenceError(f"{case.name}: no files: {target}: {error}") from error
        _made[target] = wanted, folder
    return Path(_made[target][1].name)
