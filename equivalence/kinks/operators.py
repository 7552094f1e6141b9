"""Operators with kinks: where these are, how the slope jumps there, what their backward pass is.

A rounding has steps, which count as kinks: there the value itself jumps, and all that follows it.
ELU has no kink for an alpha of 1, and a clamp without bounds has none. A comparison of floats has
one where both sides are equal: activations are written with it, such as `x * (x > 0)`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from equivalence.kinks.choices import CHOICES, Choice, argument, choice_of, gap_of
from equivalence.stream.torch_stream import Call, Observer, in_backward, unseen

aten = torch.ops.aten


def _never(_: tuple) -> bool:
    return False


@dataclass(frozen=True)
class Kink:
    """The kinks of an operator by element.

    points: its arguments -> where its kinks are: one point, or two, the lower one first; () if
        there is none. A point is a number, or a tensor of one for each element.
    gain: its arguments -> the slope above the point, or between the two, less that on the other
        side. Of every tensor it gets the elements in question alone.
    backward: the operator of its backward pass. For abs and clamp it is the one that makes the
        factor or the mask of the cotangent; None for a comparison, whose result may be a mask, and
        for a step, which has no gradient.
    position: that of the argument of `backward` that the forward pass has kept.
    keeps: what the forward pass keeps: its "input", its "result", or a "copy" of the input that it
        overwrites.
    cotangent: the position of the cotangent among the arguments of `backward`, or of the operator
        that uses the factor or the mask.
    with_point: its arguments -> whether the slope at a point is that above it, or between the two.
        It is neither of `abs`, `maximum` and `minimum`, which counts as False.
    """

    points: Callable[[tuple], tuple[float | Tensor, ...]]
    gain: Callable[[tuple], float | Tensor]
    backward: Callable | None
    position: int
    keeps: str = "input"
    cotangent: int = 0
    with_point: Callable[[tuple], bool] = _never

    def is_above(self, quantity: Tensor, args: tuple) -> Tensor:
        """Whether elements take the branch above the point, or between the two: booleans.

        quantity: what `quantity_of` gives for these arguments.
        """
        return quantity >= 0 if self.with_point(args) else quantity > 0

    def varies(self, args: tuple) -> bool:
        """Whether its point differs by element, such as where two tensors are equal."""
        return any(map(torch.is_tensor, self.points(args)))


def _always(_: tuple) -> bool:
    return True


def _zero(_: tuple) -> tuple[float, ...]:
    return (0.0,)


def _bounds(args: tuple) -> tuple[float, ...]:
    """The bounds of a hardtanh, such as 0 and 6 of a ReLU6."""
    return argument(args, 1, -1.0), argument(args, 2, 1.0)


def _clamped(args: tuple) -> tuple[float, ...]:
    """The bounds of a clamp that it has; one of infinity is none."""
    return tuple(each for each in args[1:3] if each is not None and abs(each) != torch.inf)


def _elu_jump(args: tuple) -> float:
    alpha, scale, input_scale = (argument(args, position, 1.0) for position in (1, 2, 3))
    return scale * (1.0 - alpha * input_scale)


def _shrunk(args: tuple) -> tuple[float, ...]:
    bound = argument(args, 1, 0.5)
    return -bound, bound


def _other(args: tuple) -> tuple[Tensor, ...]:
    """The second of two tensors; none where both are broadcast."""
    x, other = args
    return (other,) if shape_of(args) in (x.shape, other.shape) else ()


RELU = Kink(_zero, lambda _: 1.0, aten.threshold_backward.default, 1, "result")
LEAKY_RELU = Kink(
    _zero, lambda args: 1.0 - argument(args, 1, 0.01), aten.leaky_relu_backward.default, 1
)
PRELU = Kink(_zero, lambda args: 1.0 - args[1], aten._prelu_kernel_backward.default, 1)
ELU = Kink(
    lambda args: _zero(args) if _elu_jump(args) else (), _elu_jump, aten.elu_backward.default, 5
)
ABS = Kink(_zero, lambda _: 2.0, aten.sgn.default, 0)
HARDTANH = Kink(_bounds, lambda _: 1.0, aten.hardtanh_backward.default, 1)
HARDSIGMOID = Kink(lambda _: (-3.0, 3.0), lambda _: 1.0 / 6.0, aten.hardsigmoid_backward.default, 1)
HARDSWISH = Kink(
    lambda _: (-3.0, 3.0), lambda args: 0.5 * args[0].sign(), aten.hardswish_backward.default, 1
)
SOFTSHRINK = Kink(_shrunk, lambda _: -1.0, aten.softshrink_backward.default, 1, with_point=_always)
CLAMP = Kink(
    _clamped,
    lambda args: -1.0 if args[1] == -torch.inf else 1.0,
    aten.ge.Scalar,
    0,
    cotangent=1,
    with_point=lambda args: args[1] != -torch.inf,
)
CLAMP_MAX = Kink(_clamped, lambda _: -1.0, aten.le.Scalar, 0, cotangent=1)
MAXIMUM = Kink(_other, lambda _: 1.0, aten.eq.Tensor, 0, cotangent=2)
MINIMUM = Kink(_other, lambda _: -1.0, aten.eq.Tensor, 0, cotangent=2)


def _bound(args: tuple) -> tuple[float | Tensor, ...]:
    """What the first tensor is compared to; infinity is no bound."""
    if torch.is_tensor(args[1]):
        return _other(args)
    return (args[1],) if abs(args[1]) != torch.inf else ()


ABOVE = Kink(_bound, lambda _: 1.0, None, 0)
BELOW = Kink(_bound, lambda _: -1.0, None, 0)
"""Comparisons, which are true above their bound or below it. By how much the slope jumps depends on
where their result is used."""

COMPARISONS = {
    getattr(getattr(aten, name), bound): kink
    for name, kink in (
        ("gt", ABOVE),
        ("ge", replace(ABOVE, with_point=_always)),
        ("lt", replace(BELOW, with_point=_always)),
        ("le", BELOW),
    )
    for bound in ("Scalar", "Tensor")
}
"""Comparison with a number or a tensor -> its kink."""


def _between_wholes(args: tuple) -> tuple[Tensor, ...]:
    return (args[0].floor() + 0.5,)


def _wholes(args: tuple) -> tuple[Tensor, ...]:
    return (args[0].round(),)


def _wholes_but_zero(args: tuple) -> tuple[Tensor, ...]:
    x = args[0]
    whole = x.round()
    return (torch.where(whole == 0.0, torch.ones_like(x).copysign(x), whole),)


def _step(points: Callable[[tuple], tuple], with_point: Callable[[tuple], bool] = _never) -> Kink:
    def unwatched(args: tuple) -> tuple:
        with unseen():  # it rounds, and an outer mode may count roundings
            return points(args)

    return Kink(unwatched, lambda _: 1.0, None, 0, with_point=with_point)


STEPS = {
    getattr(aten, name + place).default: kink
    for name, kink in (
        # Halves go to the even neighbour.
        ("round", _step(_between_wholes, lambda args: bool(args[0].floor() % 2 == 1))),
        ("floor", _step(_wholes, _always)),
        ("ceil", _step(_wholes)),
        ("trunc", _step(_wholes_but_zero, lambda args: bool(args[0] > 0))),
    )
    for place in ("", "_")
}
"""Operator whose values jump -> its steps. In a backward pass it has none. The sign of a number has
none either: optimisers update by it, and `truth/undecided.py` knows what rounding decides there."""


def _copying(kink: Kink) -> Kink:
    """The same for the operator that overwrites its input, of which autograd makes a copy."""
    return replace(kink, keeps="copy")


def _keeping_result(kink: Kink) -> Kink:
    """The same for the operator that overwrites its input and keeps the result, of like sign."""
    return replace(kink, keeps="result")


KINKS = {
    aten.relu.default: RELU,
    aten.relu_.default: RELU,
    aten.leaky_relu.default: LEAKY_RELU,
    aten.leaky_relu_.default: _keeping_result(LEAKY_RELU),
    aten._prelu_kernel.default: PRELU,
    aten.elu.default: ELU,
    aten.elu_.default: _keeping_result(ELU),
    aten.abs.default: ABS,
    aten.abs_.default: _copying(ABS),
    aten.hardtanh.default: HARDTANH,
    aten.hardtanh_.default: _copying(HARDTANH),
    aten.hardsigmoid.default: HARDSIGMOID,
    aten.hardsigmoid_.default: _copying(HARDSIGMOID),
    aten.hardswish.default: HARDSWISH,
    aten.hardswish_.default: _copying(HARDSWISH),
    aten.softshrink.default: SOFTSHRINK,
    aten.clamp.default: CLAMP,
    aten.clamp_.default: _copying(CLAMP),
    aten.clamp_min.default: CLAMP,
    aten.clamp_min_.default: _copying(CLAMP),
    aten.clamp_max.default: CLAMP_MAX,
    aten.clamp_max_.default: _copying(CLAMP_MAX),
    aten.maximum.default: MAXIMUM,
    aten.minimum.default: MINIMUM,
    **COMPARISONS,
    **STEPS,
}
"""Operator by element -> its kinks."""

CLAMPS = (aten.clamp.default, aten.clamp_.default)


def kink_of(func: Callable, args: tuple) -> Kink | None:
    """The kinks of a call of an operator by element; None if it has none.

    What has no gradient, such as a distance of two positions in whole numbers, has none, nor has
    a comparison or a step in a backward pass: it tells the branch that the forward pass took.
    """
    kink = KINKS.get(func)
    if kink is None or not args[0].is_floating_point() or not kink.points(args):
        return None
    if (func in COMPARISONS or func in STEPS) and in_backward():
        return None
    if func in CLAMPS and args[1] is None:
        return replace(CLAMP_MAX, keeps=kink.keeps)
    return kink


def bend_of(func: Callable, args: tuple) -> Kink | Choice | None:
    """The kinks of a call of an operator, by element or of what it chooses; None if it has none."""
    return choice_of(func, args) or kink_of(func, args)


def quantity_of(func: Callable, args: tuple) -> Tensor:
    """What is zero at a kink: the kink quantity, of the shape of the result, in its unit.

    It is how far an element is above the point, or between the two points; negative on the other
    side. Of an operator that chooses it is the gap. The operator has kinks.
    """
    if choice := choice_of(func, args):
        return gap_of(choice, args)
    x, points = args[0], KINKS[func].points(args)
    if len(points) == 2:
        low, high = points
        return torch.minimum(x - low, high - x)
    (point,) = points
    return x - point if torch.is_tensor(point) or point else x


def shape_of(args: tuple) -> torch.Size:
    """The shape of the result of an operator by element."""
    return torch.broadcast_shapes(*(arg.shape for arg in args if torch.is_tensor(arg)))


def elements(args: tuple, indices: Sequence) -> tuple:
    """The arguments of an operator by element, with these elements of every tensor."""
    shape = shape_of(args)
    return tuple(
        torch.broadcast_to(arg, shape)[indices] if torch.is_tensor(arg) else arg for arg in args
    )


def name_of(func: Any) -> str:
    """The name of an operator with kinks, as people know it."""
    name = func.overloadpacket.__name__.strip("_")
    return name.removesuffix("_kernel").removesuffix("_with_indices")


CHOOSING = frozenset(map(name_of, CHOICES))
"""The names of operators that choose an entry of each window."""


class AtKinks(Observer):
    """What sees the operators with kinks of a run, which it numbers in order.

    kinks: how many operators with kinks there were so far.
    bend: the kinks of the operator that runs now; None if it has none.
    number: its number from 0; None if it has none.

    A subclass that has a `begin` or a `before` of its own calls these first.
    """

    slot = "kinks"

    def begin(self) -> None:
        """Count from the beginning."""
        self.kinks = 0

    def before(self, call: Call) -> None:
        """Look for kinks."""
        self.bend, self.number = bend_of(call.function, call.args), None
        if self.bend is not None:
            self.number, self.kinks = self.kinks, self.kinks + 1
