"""The first stage of a data pipeline that goes wrong, and why as far as pictures tell.

In this order: which samples are read, and in which order; each stage that both sides have, in the
candidate's order and either layout; the layout after the last of them; the labels; the batches.
What comes after the first difference inherits it, and is not looked at.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from equivalence.judge import precision
from equivalence.judge.verdict import judge
from equivalence.pipelines import pictures
from equivalence.pipelines.compare import (
    BATCH,
    READ,
    UNIT_ROUNDOFF,
    Both,
    Items,
    PipelineCase,
    contents,
)
from equivalence.pipelines.pictures import channels_last
from equivalence.report.text import number
from equivalence.words import listed

ORDER, SHARD, LAYOUT, LABEL = "order", "shard", "layout", "label"

LISTED = 6
"""Samples that are listed before the rest are counted."""

END = "the last stage"


@dataclass
class Culprit:
    """What is to blame: a stage, or `order`, `shard`, `layout`, `label`."""

    reference: str
    causes: list[str]


@dataclass
class Diagnosis:
    """What was found: at most one culprit, and what each stage looked at came to."""

    culprits: list[Culprit] = field(default_factory=list)
    stages: dict[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The culprit with its causes, and the stages."""
        made = []
        for culprit in self.culprits:
            made += [f"culprit: {culprit.reference}", *(f"  {each}" for each in culprit.causes)]
        made = made or ["culprit: none; every stage is within the budget"]
        blamed = {culprit.reference for culprit in self.culprits}
        width = max(map(len, self.stages), default=0)
        for stage, result in self.stages.items():
            made.append(f"  {'>' if stage in blamed else ' '} {stage:{width}}  {result}")
        return made


def diagnose(case: PipelineCase, seed: int) -> Diagnosis:
    """Find the first stage that differs. Raises EquivalenceError where `check` does."""
    return _Search(case, seed).run()


class _Search:
    """Both sides of a case, walked from stage to stage."""

    def __init__(self, case: PipelineCase, seed: int):
        self.case, self.both, self.found = case, Both(case, seed), Diagnosis()
        self.theirs, self.ours = self.both.stages("reference"), self.both.stages("candidate")
        self.budget = precision.budget(case.twin.name)
        self._remembered: dict[tuple[str, str], list[Items]] = {}

    def run(self) -> Diagnosis:
        for step in (self._order, self._pictures, self._layout, self._labels, self._batches):
            step()
            if self.found.culprits:
                break
        return self.found

    def items(self, side: str, stage: str) -> list[Items]:
        """What comes out of a stage; the reference's in float64."""
        key = side, stage
        if key not in self._remembered:
            options = ("float64", None) if side == "reference" else ()
            self._remembered[key] = self.both.items(side, stage, *options)
        return self._remembered[key]

    def images(self, side: str, stage: str) -> list[np.ndarray]:
        """The pictures of all ranks after a stage, channels last."""
        return [channels_last(i["image"]) for rank in self.items(side, stage) for i in rank]

    def blame(self, culprit: str, *causes: str, stage: str | None = None) -> None:
        """Name a culprit; `stage` is where it shows."""
        self.found.culprits.append(Culprit(culprit, [*causes]))
        self.found.stages.setdefault(stage or culprit, "differs")

    # Which samples.

    def _order(self) -> None:
        theirs = [contents(rank) for rank in self.items("reference", READ)]
        ours = [contents(rank) for rank in self.items("candidate", READ)]
        if theirs == ours:
            self.found.stages[READ] = "equal"
            return
        number_of = self.both.numbers()
        wanted = [[number_of[sample] for sample in rank] for rank in theirs]
        read = [[number_of.get(sample, -1) for sample in rank] for rank in ours]
        if any(-1 in rank for rank in read):
            self._foreign(wanted, read)
        elif [sorted(rank) for rank in wanted] == [sorted(rank) for rank in read]:
            self.blame(ORDER, f"the same samples in another order: {_list(_flat(read))}")
        else:
            self.blame(SHARD if len(theirs) > 1 else ORDER, *_miscounted(wanted, read))

    def _foreign(self, wanted: list[list[int]], read: list[list[int]]) -> None:
        """The candidate has pictures that the reference does not."""
        foreign = sum(rank.count(-1) for rank in read)
        causes = [f"{foreign} of {len(_flat(read))} samples are none of the reference's"]
        if [len(rank) for rank in wanted] == [len(rank) for rank in read]:
            pairs = zip(self.images("candidate", READ), self.images("reference", READ), strict=True)
            wrong = [pair for pair, known in zip(pairs, _flat(read), strict=True) if known < 0]
            causes.append(pictures.explain(*zip(*wrong, strict=True)))
        self.blame(READ, *causes)

    # What becomes of their pictures.

    def _pictures(self) -> None:
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
        """Blame the first stage that comes after one that it is to come before."""
        ordered = sorted(common, key=self.theirs.index)
        for place, stage in enumerate(ordered):
            early = [s for s in common[: common.index(stage)] if s in ordered[place:]]
            if early:
                self.blame(stage, f"it comes after {_words(early)}, and is to come before")
                return True
        return False

    def _wrong(self, theirs: str, ours: str) -> tuple[list[int], str]:
        """Places of the samples whose pictures differ by more than rounding, in either layout,
        after a stage of each side; and the same in words."""
        expected = self.both.expected(theirs).expected
        recorded = self.both.recorded(ours)
        for known in expected.values():
            known.truth = channels_last(known.truth)
        recorded = {name: channels_last(values) for name, values in recorded.items()}
        names = [name for name in expected if name.startswith("image")]
        judged = judge(
            {name: expected[name] for name in names},
            {name: recorded[name] for name in names if name in recorded},
            UNIT_ROUNDOFF,
            self.budget,
        )
        wrong = {verdict.name for verdict in judged.differing}
        exact = expected[names[0]].truth.dtype.kind != "f"
        equal = "equal" if exact else f"{number(judged.needed)} roundings"
        places = [place for place, name in enumerate(names) if name in wrong]
        return places, f"{len(wrong)} of {len(names)} differ" if wrong else equal

    def _blame_between(self, last: str, stage: str, wrong: list[int]) -> None:
        """Blame `stage`, or what only one side has between it and the last that was right."""
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
        cause = self._normalization(stage, wrong)
        if missing and cause in (None, pictures.UNSCALED):
            self.blame(missing[0], *filter(None, ("the candidate has no such stage", cause)))
            return
        theirs, ours = (
            self._last(side) if stage == END else stage for side in ("reference", "candidate")
        )
        got, want = self.images("candidate", ours), self.images("reference", theirs)
        cause = cause or pictures.explain([got[p] for p in wrong], [want[p] for p in wrong])
        self.blame(ours, f"{cause} (in {len(wrong)} of {len(got)})")

    def _only(self, one: Sequence[str], two: Sequence[str], last: str, stage: str) -> list[str]:
        """Stages of one side that the other has not, after `last` and before `stage`."""
        start = 0 if last == READ else one.index(last) + 1
        stop = len(one) if stage == END else one.index(stage)
        return [name for name in one[start:stop] if name not in two]

    def _normalization(self, stage: str, wrong: list[int]) -> str | None:
        """What is wrong with the mean and deviation, if the stage is a normalisation: the same
        linear function of every picture's channel."""
        if stage == END:
            return None
        before = self.images("reference", (READ, *self.theirs)[self.theirs.index(stage)])
        got, want = self.images("candidate", stage), self.images("reference", stage)
        if before[0].dtype.kind != "f" or pictures.alike(want[0], before[0]):
            return None
        got, want, before = ([each[place] for place in wrong] for each in (got, want, before))
        ours, theirs = (pictures.normalization(before, after) for after in (got, want))
        if ours is None or theirs is None:
            return None
        return pictures.misnormalized(ours, theirs)

    def _layout(self) -> None:
        """The layout that the last stage leaves."""
        theirs, ours = (
            [i["image"] for rank in self.items(side, self._last(side)) for i in rank]
            for side in ("reference", "candidate")
        )
        wrong = [pair for pair in zip(ours, theirs, strict=True) if pair[0].shape != pair[1].shape]
        if wrong:
            self.blame(LAYOUT, pictures.explain(*zip(*wrong, strict=True)))

    # What goes with them.

    def _labels(self) -> None:
        theirs, ours = (
            np.array([int(i["label"]) for rank in self.items(s, self._last(s)) for i in rank])
            for s in ("reference", "candidate")
        )
        wrong = np.count_nonzero(theirs != ours)
        self.found.stages[LABEL] = f"{wrong} of {len(theirs)} differ" if wrong else "equal"
        if wrong:
            self.blame(LABEL, _relabelled(ours, theirs))

    def _batches(self) -> None:
        theirs, ours = (self.items(side, BATCH) for side in ("reference", "candidate"))
        sizes = [[[len(i["label"]) for i in rank] for rank in side] for side in (theirs, ours)]
        if sizes[0] != sizes[1]:
            self.blame(BATCH, _sizes(*next(p for p in zip(*sizes, strict=True) if p[0] != p[1])))
            return
        self.found.stages[BATCH] = "equal"
        expected, recorded = self.both.expected(BATCH).expected, self.both.recorded(BATCH)
        differing = judge(expected, recorded, UNIT_ROUNDOFF, self.budget).differing
        if differing:
            worst = differing[0]
            self.blame(BATCH, worst.problem or f"{worst.name}: {number(worst.needed)} roundings")


def _flat(ranks: Sequence[Sequence[int]]) -> list[int]:
    return [sample for rank in ranks for sample in rank]


def _miscounted(wanted: list[list[int]], read: list[list[int]]) -> list[str]:
    """Which samples are missing or doubled in all, and what the first wrong rank reads."""
    due, done = Counter(_flat(wanted)), Counter(_flat(read))
    causes = []
    if due - done:
        causes.append(f"missing: {_list(sorted((due - done).elements()))}")
    if done - due:
        causes.append(f"too often: {_list(sorted((done - due).elements()))}")
    if len(wanted) > 1:
        rank = next(r for r in range(len(wanted)) if sorted(wanted[r]) != sorted(read[r]))
        causes.append(f"rank {rank} reads {_list(read[rank])} for {_list(wanted[rank])}")
    return causes


def _relabelled(ours: np.ndarray, theirs: np.ndarray) -> str:
    """How labels differ: by a constant, by a rule, or at random."""
    apart = ours - theirs
    if (apart == apart[0]).all():
        return f"{abs(apart[0])} {'more' if apart[0] > 0 else 'less'} than the reference's"
    classes = {int(a): {int(b) for b in ours[theirs == a]} for a in np.unique(theirs)}
    if all(len(names) == 1 for names in classes.values()):
        rule = ", ".join(f"{min(names)} for {label}" for label, names in classes.items())
        share = next((s for s in range(2, 101) if (theirs // s == ours).all()), None)
        if share and ours.any():
            return f"the reference's divided by {share}: coarse labels for fine ones?"
        return f"other numbers of the classes: {rule}"
    at = int(np.flatnonzero(apart)[0])
    return f"sample {at} has {ours[at]} for {theirs[at]}"


def _sizes(theirs: list[int], ours: list[int]) -> str:
    """How the sizes of the batches of a rank differ."""
    if len(theirs) == len(ours) + 1 and theirs[:-1] == ours:
        return f"the last batch, of {theirs[-1]} where others have {theirs[0]}, is dropped"
    if len(ours) == len(theirs) + 1 and ours[:-1] == theirs:
        return f"the last batch, of {ours[-1]} where others have {ours[0]}, is kept"
    return f"batches of {_list(ours)} for {_list(theirs)}"


def _list(values: Sequence[int]) -> str:
    return listed(values, LISTED)


def _words(names: Sequence[str]) -> str:
    return " and ".join(names)
