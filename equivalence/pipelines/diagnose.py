"""Finds the first stage of a data pipeline that goes wrong, and why, as far as pictures show it.

In this order: which samples are read, and in which order; each stage that both sides have, in the
candidate's order and in either layout; the layout after the last of them; the labels; the
batches. What comes after the first difference inherits it, and is not examined.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from equivalence.declare.pipeline import PipelineCase
from equivalence.judge.mistake import Mistake, Mistakes
from equivalence.judge.verdict import judge
from equivalence.loaders.stages import BATCH, READ, TEXT
from equivalence.pipelines import explained, pictures, rows
from equivalence.pipelines.compare import (
    UNIT_ROUNDOFF,
    Items,
    PipelineSides,
    contents,
    label,
    main_column,
    name,
    picture,
    samples_of,
)
from equivalence.pipelines.pictures import channels_last
from equivalence.words import listed, number, plain

ORDER, SHARD, LAYOUT, LABEL = "order", "shard", "layout", "label"
"""What is to blame where it is no stage."""

LISTED_SAMPLES = 6
"""At most this many samples are listed; the rest is counted."""

SIDES = ("reference", "candidate")

END = "the last stage"
"""Stands for the last stage of either side, whatever its name."""


DECODE = "Decode"
"""How the name of a stage begins that makes a picture of bytes."""


@dataclass
class StageCulprit:
    """What is to blame.

    reference: a stage, or `order`, `shard`, `layout`, `label`.
    causes: why, in words.
    """

    reference: str
    causes: list[str]


@dataclass
class PipelineDiagnosis:
    """The result of a diagnosis.

    culprits: the first stage that differs, and those that draw by another law.
    stages: each examined stage -> its result in words.
    """

    culprits: list[StageCulprit] = field(default_factory=list)
    stages: dict[str, str] = field(default_factory=dict)

    @property
    def mistakes(self) -> Mistakes:
        """What there is to mend, in plain words."""
        return Mistakes([Mistake(c.reference, tuple(map(plain, c.causes))) for c in self.culprits])

    def lines(self) -> list[str]:
        """The culprit with its causes, and the stages, as lines of text."""
        lines = []
        for culprit in self.culprits:
            lines += [f"culprit: {culprit.reference}", *(f"  {cause}" for cause in culprit.causes)]
        lines = lines or ["culprit: none; every stage is within the budget"]
        blamed = {culprit.reference for culprit in self.culprits}
        width = max(map(len, self.stages), default=0)
        for stage, result in self.stages.items():
            lines.append(f"  {'>' if stage in blamed else ' '} {stage:{width}}  {result}")
        return lines


def diagnose(
    case: PipelineCase, seed: int, sides: PipelineSides | None = None
) -> PipelineDiagnosis:
    """Find the first stage that differs, and all that draw by another law.

    sides: both sides where they are built already.

    Raises EquivalenceError where `check` does.
    """
    return _StageSearch(case, sides or PipelineSides(case, seed)).run()


class _StageSearch:
    """Both sides of a case, searched from stage to stage."""

    def __init__(self, case: PipelineCase, sides: PipelineSides):
        self.case, self.sides, self.found = case, sides, PipelineDiagnosis()
        self.theirs, self.ours = self.sides.stages("reference"), self.sides.stages("candidate")
        self._items: dict[tuple[str, str], list[Items]] = {}
        self.reading = READ
        self.reading = self._decoding()

    def _decoding(self) -> str:
        """The stage by which the candidate's samples are read: READ, or its first, if it decodes.

        A source of MindSpore may give the bytes of a file, which a data set of PyTorch decodes.
        """
        coded = [picture(self._flat(side, READ)[0]).ndim == 1 for side in SIDES]
        if coded == [False, True] and self.ours and self.ours[0].startswith(DECODE):
            first, self.ours = self.ours[0], self.ours[1:]
            self._items.clear()
            return first
        return READ

    def run(self) -> PipelineDiagnosis:
        self._epochs()
        steps = [self._order, self._pictures, self._layout, self._labels, self._batches]
        drawing = self.sides.drawing()
        if READ in drawing:
            steps = []
        elif BATCH in drawing:
            steps = steps[:3]  # columns may take their form in the batch
        for step in steps:
            if self.found.culprits:
                break
            step()
        self._laws()
        return self.found

    def items(self, side: str, stage: str) -> list[Items]:
        """What comes out of a stage, rank by rank; the reference's in float64."""
        if (side, stage) == ("candidate", READ):
            stage = self.reading
        key = side, stage
        if key not in self._items:
            options = ("float64", None) if side == "reference" else ()
            self._items[key] = self.sides.items(side, stage, *options)
        return self._items[key]

    def images(self, side: str, stage: str) -> list[np.ndarray]:
        """The pictures of all ranks after a stage, channels last."""
        return [channels_last(picture(i)) for rank in self.items(side, stage) for i in rank]

    def blame(self, culprit: str, *causes: str, stage: str | None = None) -> None:
        """Add a culprit; `stage` is the stage that shows it, by default the culprit itself."""
        self.found.culprits.append(StageCulprit(culprit, [*causes]))
        self.found.stages.setdefault(stage or culprit, "differs")

    # A whole epoch, and what draws.

    def _epochs(self) -> None:
        for kind, problem in self.sides.epochs().items():
            if problem:
                self.blame(ORDER if kind.startswith("samples:") else BATCH, problem)

    def _laws(self) -> None:
        """Each random stage of another law; one behind a stage that differs may follow from it."""
        first = next((c.reference for c in self.found.culprits if c.reference in self.ours), None)
        before = [] if first is None else self.ours[: self.ours.index(first) + 1]
        for each, problem in self.sides.laws().items():
            stage = each.partition(":")[2]
            if problem:
                behind = first is not None and stage not in before
                told = [f"it comes behind {first}, and may follow from that"] if behind else []
                self.blame(stage, problem, *told)
            else:
                self.found.stages[stage] = "draws by the same law"

    # The samples that are read.

    def _order(self) -> None:
        stages = (READ, READ)
        kinds = [{picture(i).dtype.kind for i in self._flat(s, READ)} for s in SIDES]
        if any(kind & {*TEXT} for kind in kinds) and kinds[0] != kinds[1]:
            stages = self._last("reference"), self._last("candidate")
            self.found.stages[READ] = "text on one side alone: compared as the stages leave it"
        theirs, ours = (
            [contents(rank) for rank in self.items(*each)]
            for each in zip(SIDES, stages, strict=True)
        )
        if theirs == ours:
            self.found.stages[stages[1]] = "equal"
            return
        number_of = self.sides.numbers(stages[0])
        expected = [[number_of[sample] for sample in rank] for rank in theirs]
        numbers = [[number_of.get(sample, -1) for sample in rank] for rank in ours]
        if any(-1 in rank for rank in numbers):
            self._blame_foreign(expected, numbers, stages)
        elif [sorted(rank) for rank in expected] == [sorted(rank) for rank in numbers]:
            self.blame(ORDER, f"the same samples in another order: {_list(_flat(numbers))}")
        else:
            self.blame(SHARD if len(theirs) > 1 else ORDER, *_count_differences(expected, numbers))

    def _blame_foreign(
        self, expected: list[list[int]], read: list[list[int]], stages: tuple[str, str]
    ) -> None:
        """Blame what is read: the candidate has samples that the reference does not have.

        expected, read: the numbers of each rank's samples; -1 stands for a foreign one.
        stages: the stage of either side after which they are compared; the candidate's is blamed.
        """
        foreign = sum(rank.count(-1) for rank in read)
        causes = [f"{foreign} of {len(_flat(read))} samples are none of the reference's"]
        if [len(rank) for rank in expected] == [len(rank) for rank in read]:
            pairs = zip(
                self.images("candidate", stages[1]),
                self.images("reference", stages[0]),
                strict=True,
            )
            wrong = [pair for pair, number in zip(pairs, _flat(read), strict=True) if number < 0]
            causes.append(explained.of_samples(wrong))
        self.blame(stages[1], *causes)

    # The pictures, stage by stage.

    def _flat(self, side: str, stage: str) -> list[Mapping[str, np.ndarray]]:
        return [item for rank in self.items(side, stage) for item in rank]

    def _is_text(self) -> bool:
        """Whether either side computes with text, which no norm compares."""
        return any(picture(self._flat(s, READ)[0]).dtype.kind in TEXT for s in SIDES)

    def _pictures(self) -> None:
        if self._is_text():
            return
        common = [stage for stage in self.ours if stage in self.theirs]
        in_the_end, _ = self._wrong(self._last("reference"), self._last("candidate"))
        if in_the_end and self._out_of_order(common):
            return
        last = READ
        for stage in common:
            wrong, result = self._wrong(stage, stage)
            self.found.stages[stage] = result
            if wrong and in_the_end:
                self._blame_between(last, stage, wrong)
                return
            last = stage
        if in_the_end:
            self._blame_between(last, END, in_the_end)

    def _last(self, side: str) -> str:
        return (READ, *(self.theirs if side == "reference" else self.ours))[-1]

    def _out_of_order(self, common: list[str]) -> bool:
        """Blame the first stage that stands after a stage which it must precede."""
        ordered = sorted(common, key=self.theirs.index)
        for position, stage in enumerate(ordered):
            early = [s for s in common[: common.index(stage)] if s in ordered[position:]]
            if early:
                self.blame(stage, f"it comes after {_join(early)}, and is to come before")
                return True
        return False

    def _wrong(self, theirs: str, ours: str) -> tuple[list[int], str]:
        """Which samples' pictures differ by more than rounding after a stage; and in words.

        theirs, ours: the stage of either side. The samples are positions in the order of all ranks.
        Either layout is right.
        """
        expected = self.sides.expected(theirs, channels_last).expected
        trace = self.sides.trace(self.reading if ours == READ else ours)
        trace = {name: channels_last(values) for name, values in trace.items()}
        column = main_column(self.items("reference", READ)[0][0])
        names = [name for name in expected if name.startswith(f"{column}[")]
        judged = judge(
            {name: expected[name] for name in names},
            {name: trace[name] for name in names if name in trace},
            UNIT_ROUNDOFF,
        )
        wrong = {verdict.name for verdict in judged.differing}
        exact = expected[names[0]].truth.dtype.kind != "f"
        equal = "equal" if exact else f"{number(judged.needed)} roundings"
        positions = [position for position, name in enumerate(names) if name in wrong]
        return positions, f"{len(wrong)} of {len(names)} differ" if wrong else equal

    def _blame_between(self, last: str, stage: str, wrong: list[int]) -> None:
        """Blame `stage`, or a stage that only one side has since `last`, the last right one."""
        for extra in self._only(self.ours, self.theirs, last, stage):
            before = (READ, *self.ours)[self.ours.index(extra)]
            got, want = self.images("candidate", extra), self.images("candidate", before)
            changed = [p for p in zip(got, want, strict=True) if not pictures.alike(*p)]
            if changed:
                which = f" in {len(changed)} of {len(got)}"
                cause = f"{pictures.explain(*zip(*changed, strict=True))}{which}"
                self.blame(extra, "the reference has no such stage", cause)
                return
        missing = self._only(self.theirs, self.ours, last, stage)
        scaled = self._normalization(stage, wrong)
        if missing and scaled in (None, pictures.UNSCALED):
            self.blame(missing[0], *filter(None, ("the candidate has no such stage", scaled)))
            return
        theirs, ours = (
            self._last(side) if stage == END else stage for side in ("reference", "candidate")
        )
        got, want = self.images("candidate", ours), self.images("reference", theirs)
        scaled = scaled or pictures.explain([got[p] for p in wrong], [want[p] for p in wrong])
        self.blame(ours, f"{scaled} (in {len(wrong)} of {len(got)})")

    def _only(self, one: Sequence[str], two: Sequence[str], last: str, stage: str) -> list[str]:
        """Stages of `one` that `two` does not have, after `last` and before `stage`."""
        start = 0 if last == READ else one.index(last) + 1
        stop = len(one) if stage == END else one.index(stage)
        return [name for name in one[start:stop] if name not in two]

    def _normalization(self, stage: str, wrong: list[int]) -> str | None:
        """What is wrong with mean and deviation, if the stage is a normalisation; else None.

        A normalisation is one linear function for each channel of every picture.
        """
        if stage == END:
            return None
        before = self.images("reference", (READ, *self.theirs)[self.theirs.index(stage)])
        got, want = self.images("candidate", stage), self.images("reference", stage)
        if before[0].dtype.kind != "f" or pictures.alike(want[0], before[0]):
            return None
        got, want, before = (
            [images[position] for position in wrong] for images in (got, want, before)
        )
        ours, theirs = (pictures.normalization(before, after) for after in (got, want))
        if ours is None or theirs is None:
            return None
        return pictures.misnormalized(ours, theirs)

    def _layout(self) -> None:
        """Compare the layouts after the last stages."""
        if self._is_text():
            return
        theirs, ours = (
            [picture(i) for rank in self.items(side, self._last(side)) for i in rank]
            for side in ("reference", "candidate")
        )
        wrong = [pair for pair in zip(ours, theirs, strict=True) if pair[0].shape != pair[1].shape]
        if wrong:
            self.blame(LAYOUT, explained.of_samples(wrong))

    # Labels and batches.

    def _labels(self) -> None:
        theirs, ours = (
            [label(i) for i in self._flat(s, self._last(s)) if len(i) > 1] for s in SIDES
        )
        if len(theirs) != len(ours) or not theirs:
            return
        wrong = sum(not np.array_equal(*pair) for pair in zip(theirs, ours, strict=True))
        self.found.stages[LABEL] = f"{wrong} of {len(theirs)} differ" if wrong else "equal"
        if wrong:
            single = all(each.size == 1 for each in (*theirs, *ours))
            numbers = [np.array([int(each.item()) for each in s]) for s in (ours, theirs) if single]
            self.blame(LABEL, *([_label_difference(*numbers)] if single else ()))

    def _batches(self) -> None:
        theirs, ours = (self.items(side, BATCH) for side in SIDES)
        sizes = [[[samples_of(i) for i in rank] for rank in side] for side in (theirs, ours)]
        if sizes[0] != sizes[1]:
            self.blame(
                BATCH, _size_difference(*next(p for p in zip(*sizes, strict=True) if p[0] != p[1]))
            )
            return
        differing = judge(
            self.sides.expected(BATCH).expected, self.sides.trace(BATCH), UNIT_ROUNDOFF
        ).differing
        causes = {v.name: v.problem or f"{number(v.needed)} roundings" for v in differing}
        causes |= {n: why for n, why in self.sides.texts(BATCH, BATCH).items() if why}
        if causes:
            self.blame(BATCH, *self._columns_that_differ(theirs, ours, causes))
        else:
            self.found.stages[BATCH] = "equal"

    def _columns_that_differ(
        self, theirs: list[Items], ours: list[Items], causes: Mapping[str, str]
    ) -> list[str]:
        """How each column of the batches differs, at the first batch in which it does.

        causes: the name of each tensor that differs -> what is wrong in plain figures.
        """
        first: dict[str, str] = {}
        for rank, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            for at, batches in enumerate(zip(one, other, strict=True)):
                for column in batches[0]:
                    tensor = name(column, at, rank if len(theirs) > 1 else None)
                    if column in first or tensor not in causes:
                        continue
                    told = None
                    if column in batches[1]:
                        told = rows.explain(batches[1][column], batches[0][column])
                    first[column] = f"{tensor}: {told or causes[tensor]}"
        return [*first.values()] or [f"{n}: {why}" for n, why in [*causes.items()][:1]]


def _flat(ranks: Sequence[Sequence[int]]) -> list[int]:
    return [sample for rank in ranks for sample in rank]


def _count_differences(expected: list[list[int]], numbers: list[list[int]]) -> list[str]:
    """Which samples are missing or doubled in all, and what the first wrong rank reads."""
    due, actual = Counter(_flat(expected)), Counter(_flat(numbers))
    causes = []
    if due - actual:
        causes.append(f"missing: {_list(sorted((due - actual).elements()))}")
    if actual - due:
        causes.append(f"too often: {_list(sorted((actual - due).elements()))}")
    if len(expected) > 1:
        rank = next(r for r in range(len(expected)) if sorted(expected[r]) != sorted(numbers[r]))
        causes.append(f"rank {rank} reads {_list(numbers[rank])} for {_list(expected[rank])}")
    return causes


def _label_difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    """How labels differ: by a constant, by a rule, or without a rule."""
    difference = ours - theirs
    if (difference == difference[0]).all():
        return (
            f"{abs(difference[0])} {'more' if difference[0] > 0 else 'less'} than the reference's"
        )
    classes = {int(a): {int(b) for b in ours[theirs == a]} for a in np.unique(theirs)}
    if all(len(names) == 1 for names in classes.values()):
        rule = ", ".join(f"{min(names)} for {label}" for label, names in classes.items())
        share = next((s for s in range(2, 101) if (theirs // s == ours).all()), None)
        if share and ours.any():
            return f"the reference's divided by {share}: coarse labels for fine ones?"
        return f"other numbers of the classes: {rule}"
    at = int(np.flatnonzero(difference)[0])
    return f"sample {at} has {ours[at]} for {theirs[at]}"


def _size_difference(theirs: list[int], ours: list[int]) -> str:
    """How the sizes of a rank's batches differ."""
    if len(theirs) == len(ours) + 1 and theirs[:-1] == ours:
        return f"the last batch, of {theirs[-1]} where others have {theirs[0]}, is dropped"
    if len(ours) == len(theirs) + 1 and ours[:-1] == theirs:
        return f"the last batch, of {ours[-1]} where others have {ours[0]}, is kept"
    return f"batches of {_list(ours)} for {_list(theirs)}"


def _list(values: Sequence[int]) -> str:
    return listed(values, LISTED_SAMPLES)


def _join(names: Sequence[str]) -> str:
    return " and ".join(names)
