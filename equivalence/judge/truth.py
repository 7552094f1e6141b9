"""The truth of a whole case, and the elements whose value rounding decides."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from equivalence.judge.expected import CHUNK, Expected
from equivalence.judge.tensors import Trace, beside, buffer, is_none, jumps
from equivalence.reach.decision import Reach

STEPPING = frozenset({"round", "floor", "ceil", "trunc"})
"""Operators whose values jump, not only their slope."""


@dataclass(frozen=True)
class Flip:
    """An activation near its kink, and its two branches.

    layer: the path of the innermost reference module that runs the operator; "" for the root.
    call: the number of the operator's call in that module, from 1; 0 if it is the only call.
    operator: the operator's name, such as "relu".
    index: the index of the activation, or of the window of a max pooling.
    value: the distance of the activation from the kink, in the activation's own unit.
    place: the position of the call among all calls of operators with kinks in a run, from 0.
    taken: the branch of the truth: 1 above the kink, 0 below; for a hardtanh, 1 within its bounds,
        0 outside; for a max pooling, the flat index of the largest entry in its plane.
    other: the branch of a flip, written like `taken`.
    also: further windows of the same max pooling that have the same two largest entries. Which of
        these is the larger is decided once, so that all of the windows flip together.
    """

    layer: str
    call: int
    operator: str
    index: tuple[int, ...]
    value: float
    place: int
    taken: int
    other: int
    also: tuple[tuple[int, ...], ...] = ()

    @property
    def indices(self) -> tuple[tuple[int, ...], ...]:
        """The index of the activation, or of each window."""
        return (self.index, *self.also)

    def __str__(self) -> str:
        call = f" ({_ordinal(self.call)} call)" if self.call else ""
        further = f" and {len(self.also)} more" if self.also else ""
        return f"{self.layer or self.operator}{call} at {self.index}{further}"


def _ordinal(number: int) -> str:
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


@dataclass(frozen=True)
class Undecided:
    """The undecided elements of one update: rounding decides their value.

    at: their flat indices, (n,).
    low: the least value that each may have, (n,).
    high: the greatest value that each may have, (n,).
    truth: their values in the truth, (n,).
    shape: the shape of the whole update.
    """

    at: np.ndarray
    low: np.ndarray
    high: np.ndarray
    truth: np.ndarray
    shape: tuple[int, ...]

    def replace(self, values: np.ndarray) -> np.ndarray:
        """A copy of `values` in which the truth replaces these elements.

        An element out of its range keeps its distance from the range. Values of another shape are
        returned as they are.
        """
        if values.shape != self.shape:
            return values
        copy, elements = values.copy().reshape(-1), values.reshape(-1)[self.at]
        allowed = np.clip(elements, self.low, self.high)
        copy[self.at] = self.truth + (elements - allowed)
        return copy.reshape(values.shape)


def nothing_to_compare(expected: Mapping[str, Expected]) -> str | None:
    """Why a trace compares nothing: its floating tensors, or all outputs, hold no finite number.

    None if it compares something. NaN equals NaN, and an infinity one of its sign, whatever either
    side computes; beside them, some tensor must have a number.
    """
    floating = {n: t.truth for n, t in expected.items() if t.truth.dtype.kind == "f" and t.size}
    outputs = [name for name in expected if name.startswith("output.")]
    outputs = [n for n in outputs if not is_none(expected[n].truth.dtype, expected[n].shape)]
    for names in (list(floating), outputs):
        if names and not any(n not in floating or _any_finite(floating[n]) for n in names):
            return f"the truth has no finite number in {', '.join(names)}: it compares nothing"
    return None


def _any_finite(values: np.ndarray) -> bool:
    """Whether some element is finite; stops at the first chunk that has one."""
    flat = values.reshape(-1)
    return any(np.isfinite(flat[at : at + CHUNK]).any() for at in range(0, flat.size, CHUNK))


class PulledBack(dict[str, tuple[int, ...]]):
    """Name -> shape of each output that gets a cotangent.

    every: the names of all outputs of the reference that are not None, in order.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], every: Iterable[str]):
        super().__init__(shapes)
        self.every = tuple(every)


class Truth(dict[str, Expected]):
    """The truth of every tensor of the trace, by name.

    near: the few activations that stay within rounding of a kink in every draw of the sample. A
        right candidate may take the other branch at any of them. Sensitivities include none of
        the jumps that this causes.
    undecided: the undecided elements of updates, by the tensor's name.
    forward_only: whether the reference runs under `torch.no_grad`, so that it gives no gradients.
    reach: the decisions that the reference's own run took, and those of the sample; None where none
        was watched, as for an operator, or where a record is older.
    precisions: operator -> the dtype of what it gives in the reference's own run, call by call;
        empty where none is in half precision, or nobody looked.
    carried: the names of the attributes that a run writes from what earlier ones have written.
    """

    near: tuple[Flip, ...] = ()
    undecided: Mapping[str, Undecided] = MappingProxyType({})
    forward_only = False
    reach: Reach | None = None
    precisions: Mapping[str, Sequence[str]] = MappingProxyType({})
    carried: frozenset[str] = frozenset()

    def like(self, other: "Truth") -> "Truth":
        """This truth, with all that `other` tells besides its tensors."""
        self.near, self.undecided = other.near, other.undecided
        self.forward_only, self.reach = other.forward_only, other.reach
        self.precisions, self.carried = other.precisions, other.carried
        return self

    def jumps(self, name: str, steps: int = 1) -> bool:
        """Whether another branch at an activation near its kink may make the tensor jump.

        Gradients jump, and what follows them; at a step of a rounding everything does.

        steps: the number of steps of a training.
        """
        return jumps(name, steps) or any(flip.operator in STEPPING for flip in self.near)

    def copy(self) -> "Truth":
        """A copy whose sensitivities can be raised without changing those of this one."""
        return Truth({name: replace(tensor) for name, tensor in self.items()}).like(self)

    def replace_undecided(self, trace: Trace) -> Trace:
        """A copy of a run's trace in which the truth replaces all undecided elements."""
        return {
            name: self.undecided[name].replace(values) if name in self.undecided else values
            for name, values in trace.items()
        }

    def without(self, buffers: Iterable[str]) -> "Truth":
        """A copy of the truth without the buffers of these names."""
        left_out = set(map(buffer, buffers))
        return Truth({n: each for n, each in self.items() if n not in left_out}).like(self)

    def among(self, names: Container[str]) -> "Truth":
        """A copy of the truth; of what is told beside results it has what is among these names."""
        kept = {n: each for n, each in self.items() if n in names or not beside(n)}
        return Truth(kept).like(self)

    def known(self, trace: Trace) -> Trace:
        """A run's trace without what is told beside results and the truth does not have."""
        return {n: each for n, each in trace.items() if n in self or not beside(n)}

    @property
    def pulled_back(self) -> PulledBack:
        """The shapes of the floating outputs, by name; each of these gets a cotangent.

        None does where the reference gives no gradients.
        """
        outputs = {
            name.removeprefix("output."): tensor
            for name, tensor in self.items()
            if name.startswith("output.")
        }
        floating = {
            name: tensor.shape
            for name, tensor in outputs.items()
            if tensor.truth.dtype.kind == "f" and not self.forward_only
        }
        every = (n for n, each in outputs.items() if not is_none(each.dtype, each.shape))
        return PulledBack(floating, every)
