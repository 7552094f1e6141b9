"""One case and its base seed, which all steps of a comparison share."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from equivalence.declare.twin import TwinCase
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET
from equivalence.judge.tensors import Trace
from equivalence.judge.verdict import Judgement, judge
from equivalence.runs import sides, units
from equivalence.sample import Sample

if TYPE_CHECKING:
    from equivalence.truth.measurement import Measurement


class Drawn:
    """A case, its base seed, and the precision by which it is judged.

    case: the case, of one size.
    seed: the base seed of its sample.
    """

    def __init__(self, case: TwinCase, seed: int):
        self.case, self.seed = case, seed

    @property
    def unit_roundoff(self) -> float:
        """The unit roundoff by which the case is judged."""
        return units.unit_roundoff(self.case)

    @cached_property
    def products(self) -> float:
        """The unit roundoff of its convolutions and matrix products."""
        return units.of_products(self.case, self.seed)

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
