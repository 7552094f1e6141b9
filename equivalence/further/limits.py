"""The limits of a port that its twin declares, and the further samples that lie beyond them.

A sample beyond a limit is compared as every other is. Where it differs, nothing is claimed of it,
and it is counted. A change of it that stays within all limits must be equal. Loads torch.
"""

import functools
from collections import Counter
from collections.abc import Mapping

from equivalence.declare.difference import UNWRITTEN
from equivalence.declare.twin import OTHER_BATCH, OTHER_SIZE, TwinCase
from equivalence.errors import DeclarationError
from equivalence.further.evidence import Evidence, judged
from equivalence.further.trial import Trials
from equivalence.further.variant import GivenInputs, Variant
from equivalence.reach.decision import CANDIDATE, Key, Reach
from equivalence.words import counted

UNCLAIMED = "nothing is claimed there"


class DeclaredLimits:
    """The limits of one case, and what the samples beyond them showed.

    inputs: the inputs that were given.
    trials: runs the reference on a variant.
    seed: the base seed.
    differing: name of a limit -> how many samples beyond it differ.
    """

    def __init__(self, inputs: GivenInputs, trials: Trials, seed: int):
        self._given, self._trials, self._seed = inputs, trials, seed
        self._declared: Mapping[str, str] = inputs.case.twin.without
        self._equal = Counter[str]()
        self.differing = Counter[str]()

    def claimed(
        self, found: Evidence, variant: Variant, case: TwinCase
    ) -> tuple[Evidence, Variant]:
        """What a sample says of what is claimed, and the sample that shows it.

        found: what it says of the candidate.
        """
        beyond = self.beyond(variant)
        if not beyond or found.outcome is None:
            return found, variant
        (self.differing if found.red else self._equal).update(beyond)
        if not found.red:
            return found, variant
        for simple in variant.simpler if variant.turns is None else ():
            if self.beyond(simple):
                continue
            within = judged(simple.case(case), self._seed, simple.at_ties)
            if within.red:
                return within, simple
        return Evidence(None, UNCLAIMED), variant

    def beyond(self, variant: Variant) -> list[str]:
        """The declared limits beyond which a variant lies.

        It has another batch or size than is given, or the reference takes a side of a decision of
        that kind which it does not take with the inputs that were given.
        """
        if not self._declared:
            return []
        shapes = [[draw.shape for draw in variant.draws]]
        if variant.turns is not None:
            twin = variant.turns
            shapes = [[draw.resolve(size) or () for draw in twin.draws] for size in twin.sizes]
        pairs = [pair for each in shapes for pair in zip(self._given.shapes, each, strict=True)]
        found = {key.kind for key in self._taken(variant) - self._met}
        found -= {OTHER_BATCH, OTHER_SIZE}
        if any(before[:1] != after[:1] for before, after in pairs):
            found.add(OTHER_BATCH)
        if any(before[1:] != after[1:] for before, after in pairs):
            found.add(OTHER_SIZE)
        return [name for name in self._declared if name in found]

    @functools.cached_property
    def _met(self) -> frozenset[Key]:
        return self._taken(Variant("", self._given.draws))

    def _taken(self, variant: Variant) -> frozenset[Key]:
        """The decisions of which the reference takes the side that their kind names."""
        reach = self._trials(Variant("", variant.draws), finite=False).reach or Reach()
        every = reach.decisions.items()
        return frozenset(key for key, each in every if each.yes and key.side != CANDIDATE)

    def demand_differing(self) -> None:
        """Raise DeclarationError where a limit shows in no sample, after all were tried.

        One of memory that nobody writes need not show: it may be right by chance.
        """
        steady = [n for n, why in self._declared.items() if not why.startswith(UNWRITTEN)]
        name = next((name for name in steady if not self.differing[name]), None)
        if name is None:
            return
        equal = self._equal[name]
        told = f"the port is right in {counted(equal, 'further sample')} beyond it"
        told = told if equal else "no further sample lies beyond it"
        raise DeclarationError(
            f"{self._given.case.name}: without names {name!r}, and {told}; take it out"
        )
