"""Data pipelines, compared side by side: both run over the same files, stage by stage."""

import contextlib
import itertools
import math
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import files
from equivalence.declare.pipeline import Pictures, PipelineCase
from equivalence.errors import EquivalenceError, blaming
from equivalence.judge import precision
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET
from equivalence.judge.tensors import Trace
from equivalence.judge.verdict import Judgement, TensorVerdict, demand_values, judge
from equivalence.loaders import epochs, orders, workers
from equivalence.loaders.stages import (
    BATCH,
    IMAGE,
    LABEL,
    READ,
    TEXT,
    Loader,
    is_numbered,
    staged,
)
from equivalence.pipelines import drawn, laws, rows
from equivalence.pipelines.mirrored import Mirrors, Places, places
from equivalence.seeds import stream
from equivalence.targets import build, described, resolve
from equivalence.words import counted, listed

Items = Sequence[Mapping[str, np.ndarray]]
"""The samples or batches of one rank in order; each maps the names of its columns to arrays."""

View = Callable[[np.ndarray], np.ndarray]

UNIT_ROUNDOFF = precision.UNIT_ROUNDOFF["float32"]
"""The unit roundoff of all pipelines, which compute in float32."""

EPOCHS = 2
"""Epochs whose orders are compared, where both sides shuffle."""

PROBES = 3
"""Perturbed runs of the reference; the sensitivity is the largest change in them."""


@dataclass
class PipelineReference:
    """The reference's part of a comparison.

    expected: name -> truth, with its sensitivity and the reference's own error.
    own: name -> the reference's array in float32.
    """

    expected: dict[str, Expected]
    own: Trace


@dataclass
class PipelineComparison:
    """Both sides of a case, run and judged.

    reference: the truth, and the reference's own run.
    trace: the candidate's arrays by name.
    judgement: the verdict on the trace.
    """

    reference: PipelineReference
    trace: Trace
    judgement: Judgement


def compare(
    case: PipelineCase, seed: int, sides: "PipelineSides | None" = None
) -> PipelineComparison:
    """Run both sides of `case` to the end and judge the batches.

    sides: both sides where they are built already.

    Besides images and labels, `count:batches` and `count:samples` are compared for each rank. With
    several ranks `count:reads` is compared, too: how often all ranks together read each sample.
    Of other pictures than those of the folder, orders, laws and reads are not compared again.

    Raises EquivalenceError when files cannot be made or a side raises.
    """
    sides = sides or PipelineSides(case, seed)
    ends = sides.ends()
    if ends is None:
        return _by_laws(sides)
    reference, trace = sides.expected(ends[0]), sides.trace(ends[1])
    _demand_columns(reference.expected, trace)
    if ends != (BATCH, BATCH):
        _keep_main(sides, reference, trace)
    if len(case.ranks) > 1 and case.pictures is None:
        theirs, ours = sides.reads()
        reference.expected["count:reads"] = Expected(theirs, str(theirs.dtype))
        reference.own["count:reads"], trace["count:reads"] = theirs, ours
    judgement = judge(reference.expected, trace, UNIT_ROUNDOFF, replaceable=True)
    texts = {} if case.pictures else sides.texts(*ends)
    has_text = bool(texts) and sides.has_text()
    judgement = replace(judgement, hollow=False) if has_text else demand_values(judgement)
    told = texts if case.pictures else {**texts, **sides.epochs(), **sides.laws()}
    others = (in_words(name, problem) for name, problem in told.items())
    judgement = replace(judgement, verdicts=(*judgement.verdicts, *others))
    return PipelineComparison(reference, trace, judgement)


def _without_text(loader: Loader, sample: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """A sample without columns of text, but for the one that the stages compute with."""
    main = loader.main(sample) if sample else ""
    return {n: v for n, v in sample.items() if n == main or v.dtype.kind not in TEXT}


def _keep_main(sides: "PipelineSides", reference: PipelineReference, trace: Trace) -> None:
    """Leave out the columns of samples that are made up to the batch, where their law is compared.

    A label may be a number until then on one side, and a row of shares on the other.
    """
    main = main_column(sides.items("reference", READ)[0][0])
    for tensors in (reference.expected, reference.own, trace):
        for each in [n for n in tensors if not n.startswith((f"{main}[", "count:"))]:
            del tensors[each]


def _by_laws(sides: "PipelineSides") -> PipelineComparison:
    """A comparison of what draws in each of its samples: nothing of it has one value."""
    told = {**sides.epochs(), **sides.laws()}
    verdicts = tuple(in_words(name, problem) for name, problem in told.items())
    return PipelineComparison(PipelineReference({}, {}), {}, Judgement(verdicts))


def in_words(name: str, problem: str | None) -> TensorVerdict:
    """The verdict on what no norm tells: right, or a problem."""
    error = 0.0 if problem is None else math.inf
    return TensorVerdict(name, BUDGET, error=error, worst=error, problem=problem)


class PipelineSides:
    """Both sides of a case over the files of one seed.

    Each rank is built anew for each run. A loader as it stands is built once, and taken apart.
    """

    def __init__(self, case: PipelineCase, seed: int):
        self.case, self.seed = case, seed
        self.folder = fill_folder(case, seed) if case.twin.files is not None else None
        self._mirrors = self._mirrored() if case.pictures else None
        self._loaders: dict[tuple[str, str], Loader] = {}
        self._names: dict[tuple[str, str, bool], list[str]] = {}
        self._laws: dict[str, str | None] | None = None
        self._drawing: tuple[str | None, ...] | None = None
        self._built = False

    def _mirrored(self) -> Mirrors:
        """The folders of other pictures. Raises UnmirroredError where a side holds no folder."""
        if self.folder is not None:
            one = Places(None, {"folder": self.folder}, {})
            held = {"reference": one, "candidate": one}
        else:
            held = {
                side: places(getattr(self.case.twin, side), self.case.arguments)
                for side in ("reference", "candidate")
            }
        return Mirrors(held, Pictures.read(self.case.pictures or ""), self.seed)

    def reading(self) -> contextlib.AbstractContextManager[None]:
        """A context in which both sides read the pictures of the case."""
        return self._mirrors.reading() if self._mirrors else contextlib.nullcontext()

    def stages(self, side: str) -> tuple[str, ...]:
        """The names of a side's stages, except `read` and `batch`."""
        with blaming(side, self.case.name, _error_words):
            return self._build(side, self.case.ranks[0]).stages[1:-1]

    def expected(self, until: str, view: View = np.asarray) -> PipelineReference:
        """The truth after a stage, with its sensitivity and the reference's own error.

        view: what is compared of each array, such as the array with channels last.
        """

        def run(dtype: str, perturb: View | None = None) -> Trace:
            trace = _trace(self.items("reference", until, dtype, perturb))
            return {name: view(values) for name, values in trace.items()}

        truth, own = run("float64"), run("float32")
        expected = {name: Expected.whole(values) for name, values in truth.items()}
        if any(values.dtype.kind == "f" for values in truth.values()):
            for probe in range(PROBES):
                perturbed = run("float64", self._perturbation(probe))
                for name, values in perturbed.items():
                    if values.dtype.kind == "f":
                        expected[name].widen(values)
        for name, tensor in expected.items():
            tensor.dtype = str(own[name].dtype)
            if tensor.truth.dtype.kind == "f":
                _measure_own(tensor, own[name])
        return PipelineReference(expected, own)

    def ends(self) -> tuple[str, str] | None:
        """The last stage of either side that draws nothing; None where what is read does."""
        both = self.loaders()
        if both is None or not any(self.drawing()):
            return BATCH, BATCH
        if READ in self.drawing():
            return None
        return both[0].stages[-2], both[1].stages[-2]

    def drawing(self) -> tuple[str | None, ...]:
        """Where the reference, and the candidate, draw beside their stages; see `drawn`."""
        if self._drawing is None:
            found = []
            for role, side in zip(("reference", "candidate"), self.loaders() or (), strict=False):
                with blaming(role, self.case.name, _error_words):
                    found.append(drawn.level_of(side, self.seed))
            self._drawing = tuple(found)
        return self._drawing

    def trace(self, until: str) -> Trace:
        """The candidate's arrays after a stage, by name."""
        return _trace(self.items("candidate", until))

    def items(self, side: str, until: str, *options: Any) -> list[Items]:
        """What comes out of a stage of a side, rank by rank."""
        by_rank = []
        for rank in self.case.ranks:
            with blaming(side, self.case.name, _error_words):
                built = self._build(side, rank)
                items = self._with_names(side, rank, until, built.run(until, *options))
                by_rank.append(_demand_items(items, side, until))
        return by_rank

    def numbers(self, stage: str = READ) -> dict[bytes, int]:
        """A number for each sample of the reference, by its content after a stage.

        First come the samples that the ranks read, in turns; then those that no rank reads. Where
        all is right, these are the numbers of the data set.
        """
        contents_by_rank = [contents(rank) for rank in self.items("reference", stage)]
        turns = itertools.chain(*itertools.zip_longest(*contents_by_rank))
        samples = dict.fromkeys(sample for sample in turns if sample is not None)
        if len(contents_by_rank) > 1:
            with blaming("reference", self.case.name, _error_words):
                whole = self._build("reference", {"num_shards": 1, "shard_id": 0}).run(stage)
            samples |= dict.fromkeys(contents(whole))
        return {sample: number for number, sample in enumerate(samples)}

    def reads(self) -> tuple[np.ndarray, np.ndarray]:
        """How often the reference and the candidate read each sample, by its number."""
        number = self.numbers()
        counts = np.zeros((2, len(number)), np.int64)
        for count, side in zip(counts, ("reference", "candidate"), strict=True):
            for rank in self.items(side, READ):
                numbers = [number[sample] for sample in contents(rank) if sample in number]
                np.add.at(count, numbers, 1)
        return counts[0], counts[1]

    def _perturbation(self, probe: int) -> View:
        """A function that multiplies each element by 1 + u or 1 - u, by coin toss.

        The coins are tossed in the order of the calls.
        """
        coins = stream(self.seed, self.case.sample_name, "probe", probe)

        def perturb(values: np.ndarray) -> np.ndarray:
            signs = 2.0 * coins.integers(2, size=values.shape) - 1.0
            return values * (1.0 + UNIT_ROUNDOFF * signs)

        return perturb

    def loaders(self) -> tuple[Loader, Loader] | None:
        """Both sides of the first rank, where both are loaders as they stand; else None."""
        rank = self.case.ranks[0]
        for side in ("reference", "candidate") if not self._built else ():
            with blaming(side, self.case.name, _error_words):
                self._build(side, rank)
        self._built = True
        keys = [(side, str(rank)) for side in ("reference", "candidate")]
        if not all(key in self._loaders for key in keys):
            return None
        return self._loaders[keys[0]], self._loaders[keys[1]]

    def epochs(self) -> dict[str, str | None]:
        """What is compared of a whole epoch -> what differs, in words; None where nothing does."""
        both = self.loaders()
        if both is None:
            return {}
        theirs, ours = both
        told = {"samples:order": orders.difference(theirs.order, ours.order, ours.samples)}
        if theirs.order.drawn and ours.order.drawn:
            told |= self._repetition(theirs, ours)
        for name in ("samples", "batches"):
            want, got = getattr(theirs, name), getattr(ours, name)
            if want is not None and got is not None:
                problem = None if want == got else f"{got} in an epoch, expected {want}"
                told[f"count:all {name}"] = problem
        return told

    def _repetition(self, theirs: Loader, ours: Loader) -> dict[str, str | None]:
        """Whether one side alone repeats its order in a second epoch."""
        found = []
        for role, side in zip(("reference", "candidate"), (theirs, ours), strict=True):
            with blaming(role, self.case.name, _error_words):
                found.append(side.orders(EPOCHS))
        if found[0] is None or found[1] is None:
            return {}
        return {"samples:epochs": epochs.repetition(found[0], found[1]) or None}

    def laws(self) -> dict[str, str | None]:
        """`stage:NAME` of each random stage -> how its law differs, in words; None where not."""
        if self._laws is None:
            both = self.loaders()
            found: dict[str, str | None] = {}
            if both and any(self.drawing()):
                found |= drawn.compare_drawn(*both, self.drawing(), self.seed)
            if both and READ not in self.drawing():
                found |= laws.compare_laws(*both, self.seed)
            if both and (found or any(each.random for each in both)):
                found |= workers.compare_workers(*both)
            self._laws = {f"stage:{name}": problem for name, problem in found.items()}
        return self._laws

    def texts(self, theirs: str, ours: str) -> dict[str, str | None]:
        """The columns of text of a stage of either side -> how they differ; None: they do not."""
        if (theirs, ours) != (BATCH, BATCH):
            return {}
        one, other = (
            _named(self.items(side, until), texts=True)
            for side, until in (("reference", theirs), ("candidate", ours))
        )
        found: dict[str, str | None] = {}
        for name in [*one, *(n for n in other if n not in one)]:
            if name not in one or name not in other:
                side = "candidate" if name in one else "reference"
                found[name] = f"the {side} has no text there"
            else:
                same = rows.same_text(other[name], one[name])
                found[name] = None if same else rows.explain(other[name], one[name])
        return found

    def has_text(self) -> bool:
        """Whether the batches of the reference have a text with a character in it."""
        columns = _named(self.items("reference", BATCH), texts=True).values()
        return any((values != values.dtype.type()).any() for values in columns)

    def _with_names(self, side: str, rank: Mapping[str, int], until: str, items: Any) -> Any:
        """The items with names of columns that pair with those of the other side.

        Of batches: the candidate's names where the reference gives only numbers. Of samples, where
        the sides have other columns, only the one that the stages compute with, as it is called in
        the reference.

        Raises EquivalenceError where batches have only numbers, and more or fewer than the other
        side's.
        """
        loader = self._loaders.get((side, str(rank)))
        if loader is None:
            return items
        if until != BATCH:
            items = [_without_text(loader, item) for item in items]
        names = self._columns(side, rank, until)
        role = "candidate" if side == "reference" else "reference"
        self._build(role, rank)
        if (role, str(rank)) not in self._loaders:
            others: Sequence[str] = [IMAGE, LABEL][: len(names)]
        else:
            others = self._columns(role, rank, until)
        if {*names} == {*others}:
            return items
        numbered = [all(map(is_numbered, each)) for each in (names, others)]
        if len(names) == len(others) and any(numbered):
            if not numbered[0]:
                return items
            named = dict(zip(names, others, strict=True))
            return [{named[name]: values for name, values in item.items()} for item in items]
        if until != BATCH:
            return [{IMAGE: item[loader.main(item)]} for item in items]
        if any(numbered):
            raise EquivalenceError(
                f"a batch of the {side} has {counted(len(names), 'column')}, and the other side's "
                f"has {listed(others, 9)}; give both as many"
            )
        return items

    def _columns(self, side: str, rank: Mapping[str, int], until: str) -> list[str]:
        """The names of the columns of a stage of a loader."""
        key = side, str(rank), until == BATCH
        if key not in self._names:
            loader = self._loaders[key[:2]]
            with blaming(side, self.case.name, _error_words):
                first = next(iter(loader.run(until)), {})
            self._names[key] = [*(first if until == BATCH else _without_text(loader, first))]
        return self._names[key]

    def _build(self, side: str, rank: Mapping[str, int]) -> Any:
        key = side, str(rank)
        if key in self._loaders:
            return self._loaders[key]
        target = getattr(self.case.twin, side)
        folder = {} if self.folder is None else {"folder": self.folder}
        others = self._mirrors.arguments(side) if self._mirrors else {}
        built = build(target, {**folder, **self.case.arguments, **rank, **others})
        side_of = staged(built, self.case.batches)
        if side_of is not built:
            self._loaders[key] = side_of
        return side_of


def _measure_own(tensor: Expected, own: np.ndarray) -> None:
    """Set the errors of the reference's own run.

    For faint elements it counts as one more noisy run: in a pixel close to the mean, little is left
    when the mean is subtracted.
    """
    if tensor.faint:
        tensor.faint.widen(own)
    for part in tensor.parts:
        part.own_error, part.own_worst = part.part_errors(own, UNIT_ROUNDOFF)


def contents(items: Items) -> list[bytes]:
    """The bytes that distinguish samples; the width of whole numbers does not count."""
    return [_content(picture(item)) for item in items]


def _content(values: np.ndarray) -> bytes:
    if values.dtype.kind in TEXT:
        return str(values.tolist()).encode()
    wide = values.dtype.kind in "iu" and values.dtype != np.uint8
    return (values.astype(np.int64) if wide else values).tobytes()


def picture(item: Mapping[str, np.ndarray]) -> np.ndarray:
    """What the stages compute with: the image, or the largest column."""
    return item[main_column(item)]


def main_column(item: Mapping[str, np.ndarray]) -> str:
    """The name of the column of `picture`; a text is as large as it has characters."""
    return "image" if "image" in item else max(item, key=lambda name: (_size(item[name]), name))


def _size(values: np.ndarray) -> int:
    return len(_content(values)) if values.dtype.kind in TEXT else values.size


def label(item: Mapping[str, np.ndarray]) -> np.ndarray:
    """The labels of an item, or the smallest column of numbers."""
    if "label" in item:
        return item["label"]
    numbers = [name for name, values in item.items() if values.dtype.kind not in TEXT]
    return item[min(numbers or item, key=lambda name: (item[name].size, name))]


def _trace(ranks: Sequence[Items]) -> Trace:
    """The arrays of all ranks by name, and the counts.

    Integers of any type become int64, but those of pictures.
    """
    trace = {
        each: values.astype(np.int64)
        if not each.startswith("image") and values.dtype.kind in "iu"
        else values
        for each, values in _named(ranks, texts=False).items()
    }
    trace["count:batches"] = np.array([len(items) for items in ranks])
    trace["count:samples"] = np.array([sum(samples_of(i) for i in items) for items in ranks])
    return trace


def _named(ranks: Sequence[Items], texts: bool) -> Trace:
    """The columns of all ranks by name, those of text or all others."""
    return {
        name(part, number, rank if len(ranks) > 1 else None): values
        for rank, items in enumerate(ranks)
        for number, item in enumerate(items)
        for part, values in item.items()
        if (values.dtype.kind in TEXT) == texts
    }


def samples_of(batch: Mapping[str, np.ndarray]) -> int:
    """How many samples a batch has; a sample is one."""
    first = label(batch)
    return len(first) if first.ndim else 1


def name(part: str, number: int, rank: int | None = None) -> str:
    """The name of a tensor: `image[3]`, and with several ranks `image[3]@rank1`."""
    return f"{part}[{number}]" if rank is None else f"{part}[{number}]@rank{rank}"


def _demand_items(items: Iterable[Mapping[str, np.ndarray]], side: str, until: str) -> Items:
    results = list(items)
    if not results:
        raise EquivalenceError(f"the {side} gives no samples, so nothing would be compared")
    for item in results:
        columns = item.values() if isinstance(item, Mapping) else ()
        if not columns or not all(isinstance(v, np.ndarray | np.generic) for v in columns):
            raise EquivalenceError(
                f"the {side} gives {described(item)} after {until!r}; give dicts from the names of "
                "columns to arrays of NumPy, such as {'image': ..., 'label': ...}"
            )
    return results


def _demand_columns(theirs: Iterable[str], ours: Iterable[str]) -> None:
    """Demand that columns have the same names where both sides have as many.

    theirs, ours: the names of the tensors of either side.
    """
    one, two = (list(dict.fromkeys(n.partition("[")[0] for n in s)) for s in (theirs, ours))
    one, two = ([n for n in s if not n.startswith("count:")] for s in (one, two))
    if len(one) == len(two) and {*one} != {*two}:
        raise EquivalenceError(
            f"the reference has the columns {listed(one)}, and the candidate {listed(two)}; give "
            "both the same names"
        )


def _error_words(error: Exception) -> str:
    """The message of a pipeline's error: MindSpore's `[ERROR]` lines, or its first paragraph."""
    lines = re.findall(r"^\[ERROR\] (.*)", str(error), re.MULTILINE)
    return " ".join(lines) or str(error).strip().split("\n\n")[0]


_folders: dict[str, tuple[tuple, tempfile.TemporaryDirectory]] = {}


def fill_folder(case: PipelineCase, seed: int) -> Path:
    """Fill a temporary folder with a case's files, and return it.

    The latest folder of each function that makes files is kept until the process ends.

    Raises EquivalenceError when the files cannot be made.
    """
    target = case.twin.files or ""
    arguments = {key.lower(): value for key, value in case.config.items() if key.isupper()}
    key = (tuple(arguments.items()), seed)
    if target not in _folders or _folders[target][0] != key:
        if target in _folders:
            _folders.pop(target)[1].cleanup()
        folder = files.temporary()
        try:
            resolve(target)(Path(folder.name), seed, **arguments)
        except Exception as error:
            folder.cleanup()
            raise EquivalenceError(f"{case.name}: no files: {target}: {error}") from error
        _folders[target] = key, folder
    return Path(_folders[target][1].name)
