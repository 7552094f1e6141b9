"""One candidate that meets several further samples, one after the other. Loads no framework.

What it keeps of one size, such as a mask or a table, shows at the next one. A difference that a new
candidate does not have is shown once more by a twin that declares both as `sizes`.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from equivalence import kinds
from equivalence.comparison.check import outcome_of
from equivalence.comparison.compare import compare_size
from equivalence.declare.declaration import stem
from equivalence.declare.draws import Draw
from equivalence.declare.twin import TwinCase
from equivalence.errors import EquivalenceError
from equivalence.further import evidence
from equivalence.further.evidence import Evidence
from equivalence.further.variant import GivenInputs, Variant
from equivalence.judge.outcome import Outcome
from equivalence.sides.protocols import CandidateSide

REPEATS = 4
"""So many pairs of samples are tried, at most, to repeat what a port has kept."""

STATE = "the port differs after other calls, which could not be repeated"


class Turns:
    """Judges further samples of one case.

    given: the inputs of the case.
    seed: its base seed.
    """

    def __init__(self, inputs: GivenInputs, seed: int):
        self._given, self._case, self._seed = inputs, inputs.case, seed
        self._candidate: CandidateSide | None = None
        self._first = Variant("the inputs that were given", inputs.draws)
        self._met: list[Variant] = []

    def judged(self, variant: Variant) -> tuple[Evidence, Variant]:
        """What a further sample says, and the sample that shows it."""
        case, fresh = variant.case(self._case), self._candidate is None
        met = self._met if not fresh else []
        found = evidence.of(case, lambda: self._compared(case), self._seed, variant.at_ties)
        self._met = [*met, variant]
        if not found.red:
            return found, variant
        self._candidate = None
        again = evidence.judged(case, self._seed, variant.at_ties)
        if again.red or fresh or again.reason:
            return again, variant
        return self._repeated(met, variant)

    def _compared(self, case: TwinCase) -> evidence.Outcome:
        if case.twin.replays:
            return kinds.check(case, self._seed)
        comparison = compare_size(case, self._seed, self._candidate)
        if case.execution == "pynative":
            self._candidate = comparison.candidate
        return outcome_of(case, self._seed, comparison)

    def _repeated(self, met: Sequence[Variant], variant: Variant) -> tuple[Evidence, Variant]:
        """Two samples for one candidate, as sizes of one twin, of which the second differs.

        The first is one that it has met, the latest first; the second is the variant, or, where
        the two differ by more than sizes, the inputs that were given.
        """
        pairs = itertools.product(reversed(met), (variant, self._first))
        cases = ((in_turn(self._case, a.draws, b.draws), a, b) for a, b in pairs)
        known = ((case, a, b) for case, a, b in cases if case is not None)
        for case, first, second in itertools.islice(known, REPEATS):
            outcome: Outcome | None
            try:
                outcome = kinds.check(case, self._seed)
            except EquivalenceError as error:
                outcome = evidence.raised(case, self._seed, error)
            ill_posed = outcome and outcome.judgement and outcome.judgement.ill_posed
            if outcome is not None and not (outcome.passed or ill_posed):
                told = f"{second.told}, after {first.told}"
                return Evidence(outcome), replace(second, told=told, turns=case.twin)
        return Evidence(None, STATE), variant


def in_turn(case: TwinCase, first: Sequence[Draw], second: Sequence[Draw]) -> TwinCase | None:
    """A case with both as sizes; None where they differ by more than sizes."""
    sizes: tuple[dict[str, int], dict[str, int]] = ({}, {})
    draws = []
    for a, b in zip(first, second, strict=True):
        alike = (
            replace(a, shape=()) == replace(b, shape=()) if "file" not in (a.kind, b.kind) else 0
        )
        if not alike or len(a.shape) != len(b.shape) or a.kind == "given":
            return None
        shape: list[int | str] = []
        for pair in zip(a.shape, b.shape, strict=True):
            name = f"SIZE_{pair[0]}_{pair[1]}" if pair[0] != pair[1] else pair[0]
            shape.append(name)
            if isinstance(name, str):
                for size, each in zip(sizes, pair, strict=True):
                    if isinstance(each, int):
                        size[name] = each
        draws.append(replace(a, shape=tuple(shape)))
    if stem("", sizes[0]) == stem("", sizes[1]):
        return None
    return Variant("", tuple(draws)).case(case, sizes)
