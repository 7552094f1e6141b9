"""What is known of the reference's side of a sample, wherever it comes from: run now or recorded.

Imports no framework: with a record, a host needs no torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from equivalence.judge.tensors import Trace
from equivalence.judge.verdict import Expected
from equivalence.sample import Sample
from equivalence.sides.weights import Slot
from equivalence.truth.undecided import Undecided

CLOSE = 4.0
"""Budgets up to which a tensor is off by little. Of one whose elements are conditioned very
unevenly, such as the scales of a BatchNorm over four pixels, few runs show too small a largest
change."""


@dataclass(frozen=True)
class Flip:
    """An activation near its kink, and the branch beyond it.

    layer: path of the innermost reference module that the operator runs in, "" for the root;
    call: which run of that operator there, from 1, or 0 where there is only one.
    index: of the activation, or of the window of a max pooling; value: its distance from the
    kink, in units of the activation. place: of the operator among the kinked ones of a run.
    taken, other: what the truth does and what a flip does: 1 above the kink and 0 below, or for a
    max pooling the flat place in the plane of the entry that wins.
    """

    layer: str
    call: int
    operator: str
    index: tuple[int, ...]
    value: float
    place: int
    taken: int
    other: int

    def __str__(self) -> str:
        call = f" ({_ordinal(self.call)} call)" if self.call else ""
        return f"{self.layer or self.operator}{call} at {self.index}"


def _ordinal(number: int) -> str:
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


class Truth(dict[str, Expected]):
    """What is expected of every tensor of the trace, by name.

    near: the few activations within rounding of a kink that no draw got rid of; a right candidate
    may take the other branch at any of them. Sensitivities hold none of their jumps.
    undecided: the elements of updates that rounding decides, by the tensor's name.
    """

    near: tuple[Flip, ...] = ()
    undecided: Mapping[str, Undecided] = MappingProxyType({})

    def decided(self, recorded: Trace) -> Trace:
        """A run's trace with the truth in place of what rounding decides."""
        return {
            name: self.undecided[name].decided(values) if name in self.undecided else values
            for name, values in recorded.items()
        }

    @property
    def pulled_back(self) -> dict[int, tuple[int, ...]]:
        """The shapes of the floating outputs, by position: those that get a cotangent."""
        return {
            int(name.removeprefix("output.")): known.shape
            for name, known in self.items()
            if name.startswith("output.") and known.truth.dtype.kind == "f"
        }


@dataclass
class Reference:
    """Everything of the reference that the executions and devices of a sample share.

    finer: with more exact sensitivities, made when a candidate is off by little; far: activations
    that may have taken the other branch, looked for when only gradients are off.
    record: "used" where all of it was read from a record, "stale" where a record was out of date
    and the reference was run instead, "written" where it has just been recorded.
    multiplies: whether it has convolutions or matrix products; known only of what is recorded.
    """

    sample: Sample
    slots: dict[str, Slot]
    random_layers: list[str]
    expected: Truth
    finer: Truth | None = None
    far: tuple[Flip, ...] | None = None
    record: str | None = None
    multiplies: bool | None = None
