"""The loaders of two trainings: which of the original's draw, and whether the port's are the same.

They are compared as `equivalence data` does: what draws by its law, all else by its numbers, in the
order of the data. The order of a training, and how many batches it has, show in the training.
Imports no framework.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from equivalence.declare.pipeline import Pipeline, PipelineCase
from equivalence.errors import EquivalenceError
from equivalence.judge.outcome import Outcome
from equivalence.loaders import reads
from equivalence.loaders.reads import Reading
from equivalence.loaders.stages import BATCH, Item, staged
from equivalence.pipelines.compare import Items, PipelineSides, compare
from equivalence.pipelines.diagnose import diagnose
from equivalence.targets import offered
from equivalence.words import plain, raised

SEED = 0
"""Of what is drawn."""

MOST = 4
"""Batches of a loader that are compared by their numbers, in the order of the data."""


@dataclass(frozen=True)
class Apart:
    """How a loader of the port differs.

    reading: of the port. theirs: the original's. stage: what is to blame; "" where none is known.
    told: what differs, as a sentence without a subject.
    """

    reading: Reading
    theirs: Reading
    stage: str
    told: str


def note_drawing(readings: Sequence[Reading]) -> list[str]:
    """Find what the original's loaders draw; gives a sentence on each that cannot be seen."""
    lost = []
    for each in readings:
        if not each.longest:
            continue
        try:
            each.drawn, each.stages = reads.drawing(staged(each.loader), SEED)
        except Exception as error:  # of a data set of the script's own, say
            told = raised(error).partition("\n")[0]
            lost.append(f"whether a loader draws could not be seen: {told} ({each.key})")
    return lost


def apart(theirs: Sequence[Reading], ours: Sequence[Reading]) -> list[Apart]:
    """How the port's loaders differ from those of the original that draw."""
    found = []
    for one, other in reads.pairs(theirs, ours):
        if one.drawn:
            try:
                told = _differences(one, other)
            except EquivalenceError as error:
                told = [("", f"cannot be compared: {error}")]
            found += [Apart(other, one, *each) for each in told]
    return found


class _Trained(PipelineSides):
    """Both loaders, but for what the training itself shows.

    Batches may have their channels last: what the loop makes of them is what its network gets.
    """

    def items(self, side: str, until: str, *options: Any) -> list[Items]:
        """See `PipelineSides`; batches of the candidate have the layout of the reference's."""
        found = super().items(side, until, *options)
        if (side, until) != ("candidate", BATCH):
            return found
        return [
            [_laid_out(*each) for each in itertools.zip_longest(ours, theirs[: len(ours)])]
            for ours, theirs in zip(found, super().items("reference", BATCH), strict=True)
        ]

    def epochs(self) -> dict[str, str | None]:
        """Nothing: orders and numbers of batches are those of the training."""
        return {}


def _laid_out(ours: Item, theirs: Item | None) -> Item:
    """A batch in the layout of another one."""
    made = dict(ours)
    for name, values in (theirs or {}).items():
        if name in made and (fit := reads.fitted(made[name], values)) is not None:
            made[name] = fit
    return made


def _differences(theirs: Reading, ours: Reading) -> list[tuple[str, str]]:
    """The stages that differ, and how."""
    loaders = [(lambda each=each: each.loader) for each in (theirs, ours)]
    with offered(loaders[0], "loader") as one, offered(loaders[1], "loader") as two:
        case = PipelineCase(Pipeline("loader", one, two), {}, min(len(theirs.longest), MOST))
        sides = _Trained(case, SEED)
        judgement = compare(case, SEED, sides).judgement
        if Outcome(case, SEED, judgement).passed:
            return []
        culprits = diagnose(case, SEED, sides).culprits
    told = [(each.reference, plain("; ".join(each.causes) or "it differs")) for each in culprits]
    return told or [("", judgement.ill_posed or "gives other batches than the original's")]
