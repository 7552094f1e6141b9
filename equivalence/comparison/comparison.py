"""The comparison of a case: both sides after their runs, and the verdict."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from equivalence.comparison import sides
from equivalence.declare.twin import TwinCase
from equivalence.errors import blaming
from equivalence.host import devices
from equivalence.judge import tensors
from equivalence.judge.expected import Expected
from equivalence.judge.outcome import Findings
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.judge.tensors import Trace
from equivalence.judge.verdict import Judgement, demand_values, judge
from equivalence.record import truths
from equivalence.sample import Sample
from equivalence.sides.feed import Feed
from equivalence.sides.protocols import CandidateSide
from equivalence.structure.weights import Partners
from equivalence.truth.known import Reference

if TYPE_CHECKING:
    from equivalence.truth.measurement import Measurement


_multiplying: dict[str, bool] = {}
"""Whether a reference multiplies, by the declaration of its case."""


DOUBLE = 2.0**-45
"""The unit roundoff by which float64 is judged. Its own is 2^-53, as is that of the truth, which
has to be far more exact than the unit."""


def unit_roundoff(case: TwinCase) -> float:
    """The unit roundoff by which a case is judged: that of the dtype in which it computes."""
    return DOUBLE if case.computed == "float64" else UNIT_ROUNDOFF[case.computed]


def of_products(case: TwinCase, seed: int) -> float:
    """The unit roundoff of the products of a case, with base seed `seed`; without any, its own.

    If the compute mode is coarser than the dtype, this reads a record or runs the reference.
    Raises EquivalenceError, as `check` does, if there is neither a record nor torch.
    """
    own, mode = unit_roundoff(case), _of_mode(case)
    return mode if mode > own and _multiplies(case.sizes[0], seed) else own


def _of_mode(case: TwinCase) -> float:
    """The unit roundoff of matrix products on the device."""
    return UNIT_ROUNDOFF[devices.place(case.device).computes(case.computed)]


def _multiplies(case: TwinCase, seed: int) -> bool:
    """Whether the reference has convolutions or matrix products, by a record or by a run."""
    library = truths.active() if truths.recordable(case) else None
    run = functools.partial(reference_multiplies, case, seed)
    each = (unit_roundoff(case), _of_mode(case))
    return library.multiplies(case, seed, each, run) if library else run()


def reference_multiplies(case: TwinCase, seed: int) -> bool:
    """Whether a run of the reference has convolutions or matrix products.

    Returns False for a case that must raise, since none of its tensors is judged. The result is
    kept for all seeds, executions and devices, since it does not depend on values.
    """
    if case.twin.raises:
        return False
    key = repr((case.shared, case.twin.reference, case.twin.inputs))
    if key not in _multiplying:
        with blaming("reference", case.name):
            network = sides.build_reference(case)
            from equivalence.truth.overflow import multiplies  # torch is there

            _multiplying[key] = multiplies(network, sides.draw(case, seed), case.phase)
    return _multiplying[key]


class CaseAtSeed:
    """A case, its base seed, and the precision by which it is judged.

    case: the case, of one size.
    seed: the base seed of its sample.
    """

    def __init__(self, case: TwinCase, seed: int):
        self.case, self.seed = case, seed

    @property
    def unit_roundoff(self) -> float:
        """The unit roundoff by which the case is judged."""
        return unit_roundoff(self.case)

    @cached_property
    def products(self) -> float:
        """The unit roundoff of its convolutions and matrix products."""
        return of_products(self.case, self.seed)

    def judge(self, expected: Mapping[str, Expected], trace: Trace) -> Judgement:
        """The verdict on a candidate's trace, by the precision of the case."""
        alone = self.case.alone
        return judge(
            expected,
            trace,
            self.unit_roundoff,
            BUDGET,
            self.products > self.unit_roundoff,
            replaceable=alone,
            by_value=not alone,
            degenerate=self.case.twin.degenerate,
        )

    def sample(self) -> Sample:
        """The sample, drawn anew."""
        return sides.draw(self.case, self.seed)

    def measurement(self, sample: Sample) -> "Measurement":
        """A new reference on a sample of this case. Raises TorchMissingError without torch."""
        network = sides.build_reference(self.case)
        from equivalence.truth.measurement import Measurement  # torch is there

        case, twin = self.case, self.case.twin
        units_of = self.unit_roundoff, self.products
        return Measurement(network, sample, case.phase, *units_of, case.alone, twin.degenerate)


@dataclass
class Comparison(Findings):
    """Both sides of one case after their runs, and what their comparison has found so far.

    case: the case; of all sizes, where they are joined.
    reference: the reference's side.
    candidate: the candidate.
    partners: candidate name -> reference name of every weight.
    trace: the candidate's trace, in which the truth replaces undecided elements.
    raw: the candidate's trace as it is.
    judgement: the verdict.
    """

    case: TwinCase
    reference: Reference
    candidate: CandidateSide
    partners: Partners
    trace: Trace
    raw: Trace
    judgement: Judgement

    @property
    def feed(self) -> Feed:
        """What the candidate was fed with."""
        known = self.reference
        return Feed(known.sample, self.partners, self.case.phase, known.expected.pulled_back)

    def rejudged(self, raw: Trace, at_seed: CaseAtSeed) -> "Comparison":
        """The comparison by another trace of the candidate."""
        trace = self.reference.expected.replace_undecided(raw)
        judgement = at_seed.judge(self.reference.expected, trace)
        return replace(self, trace=trace, raw=raw, judgement=judgement)


Part = tuple[Judgement, Callable[[str], str]]
"""A judgement, and what tells the name of one of its tensors from that of another part's."""


def joined(parts: Sequence[Part], degenerate: bool = False) -> Judgement:
    """One judgement of all parts of a case: their verdicts as they are.

    It is ill-posed as the first part is that is, or where all parts compare structure alone.

    degenerate: whether that is meant.
    """
    ill_posed = (name(own.ill_posed) for own, name in parts if own.ill_posed)
    whole = Judgement(
        tuple(
            v if v.name == tensors.DRAWS else replace(v, name=name(v.name))
            for own, name in parts
            for v in own.verdicts
        ),
        next(ill_posed, None),
        coarse=any(own.coarse for own, _ in parts),
        undecidable=tuple(name(each) for own, name in parts for each in own.undecidable),
        hollow=bool(parts) and all(own.hollow for own, _ in parts),
        forward_only=any(own.forward_only for own, _ in parts),
        by_order=next((own.by_order for own, _ in parts if own.by_order), ""),
    )
    return whole if degenerate else demand_values(whole)
