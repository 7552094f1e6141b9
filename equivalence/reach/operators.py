"""The decisions that PyTorch's operators take, as splits of their elements. Loads torch.

A split is measured in one run, below autograd, and changes nothing. Its quantity, such as the
input of a clamp less its bound, is a tensor of the run: what moves it to the other side of zero
reaches the decision.
"""

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from equivalence.reach.decision import Decision, Key
from equivalence.reach.words import EPSILON, KINDS, MASKED_ROW

aten = torch.ops.aten

OVERFLOWS = math.log(torch.finfo(torch.float32).max)
"""Where an exponential leaves float32."""

MASKING = -1e4
"""A logit below this is masked."""


FINE = 1e-2
"""A number that is smaller is a guard, one that is larger a value."""

OTHER = 10.0
"""The mistake that people make: another power of ten."""


class EpsilonGuard(NamedTuple):
    """An epsilon in a call.

    epsilon: its value.
    beside: what it is added to.
    source: gives the same from the call's arguments, so that it can be differentiated after the
        run; None where it does not depend on them.
    """

    epsilon: float
    beside: Tensor
    source: Callable[[], Tensor] | None = None

    def moves(self, missed: float) -> Tensor:
        """Which elements another epsilon would move by more than the judge may miss: booleans.

        missed: how large a relative change that is.
        """
        change = (OTHER - 1.0) * abs(self.epsilon)
        return change > (self.beside + self.epsilon).abs() * missed

    def near(self, missed: float) -> float:
        """Below which value beside it another epsilon moves the sum by more than that."""
        return (OTHER - 1.0) * abs(self.epsilon) / missed - self.epsilon


def _added(args: tuple, result: Any) -> EpsilonGuard | None:
    number = args[1]
    if not isinstance(number, float) or not 0.0 < abs(number) < FINE:
        return None
    x = args[0]
    return EpsilonGuard(number, result - number, lambda: x - number if x is result else x)


def _by_deviation(args: tuple, result: Any, rows: Callable[[], Tensor]) -> EpsilonGuard:
    """Of a norm that gives 1 / sqrt(variance + epsilon). rows: gives what each variance is of."""
    epsilon = float(args[-1])
    beside = result[2].square().reciprocal() - epsilon
    return EpsilonGuard(epsilon, beside, lambda: rows().var(1, correction=0))


def _layer_norm(args: tuple, result: Any) -> EpsilonGuard:
    x, axes = args[0], len(args[1])
    return _by_deviation(args, result, lambda: x.reshape(-1, x.shape[-axes:].numel()))


def _group_norm(args: tuple, result: Any) -> EpsilonGuard:
    x, batch, groups = args[0], args[3], args[6]
    return _by_deviation(args, result, lambda: x.reshape(batch * groups, -1))


def _batch_norm(args: tuple, result: Any) -> EpsilonGuard | None:
    if not args[5]:  # by its statistics
        return EpsilonGuard(float(args[7]), args[4])
    x = args[0]
    return _by_deviation(args, result, lambda: x.transpose(0, 1).reshape(x.shape[1], -1))


EPSILONS: dict[Any, Callable[[tuple, Any], EpsilonGuard | None]] = {
    **dict.fromkeys((aten.add, aten.add_), _added),
    aten.native_layer_norm: _layer_norm,
    aten.native_group_norm: _group_norm,
    aten.native_batch_norm: _batch_norm,
}
"""Operator -> the epsilon of a call, by its arguments and its result."""


def epsilon_of(func: Any, args: tuple, result: Any) -> EpsilonGuard | None:
    """The epsilon of a call that has run; None where it has none."""
    found = EPSILONS.get(func.overloadpacket)
    if found is None or not torch.is_tensor(args[0]) or not args[0].is_floating_point():
        return None
    return found(args, result)


class Split(NamedTuple):
    """How a call of an operator splits its elements.

    kind: the kind of the decision.
    yes: the elements that took the side which the kind names: booleans.
    no: those that took the other; None: all others.
    quantity: gives the values by which the sides part at the bound; None where nothing tells how
        near a side is.
    bound: the number that parts the sides.
    way: gives values that are above zero on the side which the kind names, where `quantity` does
        not tell; they can be differentiated after the run, as `quantity` can.
    """

    kind: str
    yes: Tensor
    no: Tensor | None = None
    quantity: Callable[[], Tensor] | None = None
    bound: float | None = None
    way: Callable[[], Tensor] | None = None

    def beyond(self) -> Tensor | None:
        """How far each element is on the side which the kind names; None where nothing tells."""
        if self.way is not None:
            return self.way()
        if self.quantity is None or self.bound is None:
            return None
        past = self.quantity() - self.bound
        return past if KINDS[self.kind].largest else -past

    def measured(self, key: Key) -> Decision:
        """What the call took, as a decision."""
        yes = int(self.yes.sum())
        no = int(self.no.sum()) if self.no is not None else self.yes.numel() - yes
        return Decision(key, yes, no, self.bound, None if yes and no else self._nearest(yes))

    def _nearest(self, yes: int) -> float | None:
        """The value that is nearest to the side that no element took."""
        if self.quantity is None:
            return None
        values = self.quantity()
        finite = values[torch.isfinite(values)]
        if not finite.numel():
            return None
        largest = KINDS[self.kind].largest != bool(yes)
        return float(finite.max() if largest else finite.min())


class OperatorCall(NamedTuple):
    """A call of an operator, whose first argument is a tensor."""

    args: tuple
    keywords: dict[str, Any]

    @property
    def x(self) -> Tensor:
        """The first argument."""
        return self.args[0]

    def given(self, at: int, name: str, default: Any = None) -> Any:
        """The argument at a place, or of a name."""
        return self.args[at] if len(self.args) > at else self.keywords.get(name, default)


Make = Callable[[], Split]
Splits = Iterator[tuple[str, Make]]
"""Kinds of decisions of a call, each with what makes its split."""


def _above(kind: str, x: Tensor, bound: Any) -> Make:
    """The split of what is above a bound, a number or a tensor."""
    return lambda: Split(kind, x > bound, None, *_parted(x, bound))


def _below(kind: str, x: Tensor, bound: Any) -> Make:
    return lambda: Split(kind, x < bound, None, *_parted(x, bound))


def _parted(x: Tensor, bound: Any) -> tuple[Callable[[], Tensor], float]:
    """What parts at a number; of two tensors their difference at zero."""
    if torch.is_tensor(bound):
        # A difference of whole numbers may be beyond their dtype.
        return (lambda: (x if x.is_floating_point() else x.double()) - bound), 0.0
    return (lambda: x), float(bound)


def _bounded(low: Any, high: Any, x: Tensor) -> Splits:
    if low is not None and not (isinstance(low, float | int) and low == -math.inf):
        yield "clamp low", _below("clamp low", x, low)
    if high is not None and not (isinstance(high, float | int) and high == math.inf):
        yield "clamp high", _above("clamp high", x, high)


def _clamp(call: OperatorCall) -> Splits:
    return _bounded(call.given(1, "min"), call.given(2, "max"), call.x)


def _hardtanh(call: OperatorCall) -> Splits:
    return _bounded(call.given(1, "", -1.0), call.given(2, "", 1.0), call.x)


def _kink(call: OperatorCall) -> Splits:
    x = call.x
    yield "kink", lambda: Split("kink", x > 0, x < 0, lambda: x, 0.0)


def _threshold(call: OperatorCall) -> Splits:
    yield "threshold", _above("threshold", call.x, call.args[1])


def _softplus(call: OperatorCall) -> Splits:
    beta, most = call.given(1, "beta", 1), call.given(2, "threshold", 20)
    yield "threshold", lambda: _above("threshold", call.x * beta, most)()
    yield "overflow", lambda: _above("overflow", call.x * beta, OVERFLOWS)()


def _shrink(call: OperatorCall) -> Splits:
    yield "threshold", lambda: _above("threshold", call.x.abs(), call.given(1, "lambd", 0.5))()


def _distance(call: OperatorCall) -> Splits:
    most = call.given(3, "beta", call.keywords.get("delta", 1.0))
    yield "threshold", lambda: _above("threshold", (call.x - call.args[1]).abs(), most)()


def _larger(call: OperatorCall) -> Splits:
    x, other, kind = call.x, call.args[1], "maximum"
    yield kind, lambda: Split(kind, x > other, x < other, *_parted(x, other))


def _smaller(call: OperatorCall) -> Splits:
    x, other, kind = call.x, call.args[1], "minimum"
    yield kind, lambda: Split(kind, x < other, x > other, *_parted(x, other))


def _where(call: OperatorCall) -> Splits:
    yield "where", lambda: Split("where", call.x != 0)


def _masked(call: OperatorCall) -> Splits:
    mask = call.args[1]
    yield "mask", lambda: Split("mask", mask != 0)


def _indexed(call: OperatorCall) -> Splits:
    for index in call.args[1]:
        if index is not None and index.dtype == torch.bool:
            yield "where", functools.partial(Split, "where", index)


def _compared(holds: Callable, ordered: int) -> Callable[[OperatorCall], Splits]:
    """ordered: 1 where it holds for what is larger, -1 for what is smaller, 0 where for neither."""

    def compared(call: OperatorCall) -> Splits:
        x, other = call.x, call.args[1]
        tensor = torch.is_tensor(other)
        if not ordered and (other is x or (not tensor and math.isinf(other))):  # `isfinite`
            yield from _not_finite(call)
            return
        numbers = ordered and x.dtype != torch.bool and (tensor or not math.isinf(other))
        way = (lambda: ordered * (x - other)) if numbers else None
        bound = None if tensor else float(other)
        alike = None if ordered else bound
        yield "comparison", lambda: Split("comparison", holds(x, other), bound=alike, way=way)
        if numbers:
            yield "tie", lambda: Split("tie", x == other, _any(x), bound=bound)

    return compared


def _any(x: Tensor) -> Tensor:
    """One element that is true, where a side need not be taken."""
    return torch.ones(1, dtype=torch.bool, device=x.device)


def _first_of(extreme: Callable) -> Callable[[OperatorCall], Splits]:
    """Whether the extreme of a row is there twice: PyTorch says that its first index counts."""

    def first(call: OperatorCall) -> Splits:
        x, axis = call.x, call.given(1, "dim")
        if axis is None:
            x, axis = x.reshape(-1), 0
        if x.numel():
            yield "tie", lambda: Split("tie", twice(x, axis), _any(x))

    def twice(x: Tensor, axis: int) -> Tensor:
        return (x == extreme(x, axis, keepdim=True)).sum(axis) > 1

    return first


def _along(extreme: Callable) -> Callable[[OperatorCall], Splits]:
    """As `_first_of`, of an operator that gives indices only along an axis."""
    first = _first_of(extreme)
    return lambda call: first(call) if isinstance(call.given(1, "dim"), int) else iter(())


def _rounded(call: OperatorCall) -> Splits:
    x = call.x
    yield "step", lambda: Split("step", x - x.floor() == 0.5, _any(x))


def _stepped(call: OperatorCall) -> Splits:
    x = call.x
    yield "step", lambda: Split("step", x == x.round(), _any(x))


def _signed(call: OperatorCall) -> Splits:
    x = call.x
    yield "step", lambda: Split("step", x == 0, _any(x), bound=0.0)


def _wrapped(call: OperatorCall) -> Splits:
    """Of a remainder: what is not beyond its divisor stays; below zero, two kinds of it part."""
    x, divisor = call.x, call.args[1]
    size = divisor.abs() if torch.is_tensor(divisor) else abs(divisor)
    yield "threshold", lambda: _above("threshold", x.abs(), size)()
    if x.is_floating_point():
        yield from _kink(call)


def _angle(call: OperatorCall) -> Splits:
    """Of an angle: below zero, it is that of the quotient and half a turn."""
    yield from _kink(OperatorCall(call.args[1:], {}))


def _zero(call: OperatorCall) -> Splits:
    yield "zero", lambda: Split("zero", call.x == 0, _any(call.x), bound=0.0)


def _multiplied(call: OperatorCall) -> Splits:
    yield from _zero(call)
    yield from _kink(call)


def _length(call: OperatorCall) -> Splits:
    x, axes = call.x, call.given(2, "dim") or list(range(call.x.ndim))
    if x.numel() and x.ndim:
        yield "zero", lambda: Split("zero", x.abs().amax(axes) == 0, _any(x), bound=0.0)


def _sampled(call: OperatorCall) -> Splits:
    yield "threshold", lambda: _above("threshold", call.args[1].abs(), 1.0)()


def _not_finite(call: OperatorCall) -> Splits:
    yield "not finite", lambda: Split("not finite", ~torch.isfinite(call.x))


def _exponential(call: OperatorCall) -> Splits:
    yield "overflow", _above("overflow", call.x, OVERFLOWS)


def _saturated(call: OperatorCall) -> Splits:
    """Of a function that is written with an exponential, and is finite beyond it."""
    yield "overflow", lambda: _above("overflow", call.x.abs(), OVERFLOWS)()


def _bent_exponential(call: OperatorCall) -> Splits:
    """Of an exponential below zero: one that is computed above it, too, leaves float32 there."""
    yield from _kink(call)
    yield from _exponential(call)


def _softmax(call: OperatorCall) -> Splits:
    yield from _exponential(call)
    axis = call.args[1][0] if isinstance(call.args[1], list | tuple) else call.args[1]
    yield from _rows(call.x, axis)


def _rows(logits: Tensor, axis: int) -> Splits:
    """Whether a row of logits is masked as a whole, where some of them are masked."""
    if not logits.numel() or not logits.ndim or not bool(logits.amin() < MASKING):
        return
    yield MASKED_ROW, lambda: Split(MASKED_ROW, logits.amax(axis) < MASKING)


def _attention(call: OperatorCall) -> Splits:
    mask: Any = call.keywords.get("attn_mask", call.keywords.get("attn_bias"))
    if torch.is_tensor(mask):
        yield "mask", lambda: Split("mask", mask < MASKING)
        yield from _rows(mask, -1)


def _labels(call: OperatorCall) -> Splits:
    label, ignored = call.args[1], call.args[4]
    kind = "ignored label"
    yield kind, lambda: Split(kind, label == ignored, None, None, float(ignored))


def _embedding(call: OperatorCall) -> Splits:
    index, rows = call.args[1], call.x.shape[0]

    def of_row(kind: str, row: float) -> Split:
        return Split(kind, index == row, _any(index), index.double, row)

    for kind, row in (("first index", 0), ("last index", rows - 1)):
        yield kind, functools.partial(of_row, kind, float(row))
    padding = call.given(2, "padding_idx", -1)
    if padding >= 0:
        kind = "padding index"
        yield kind, lambda: Split(kind, index == padding, None, None, float(padding))


def _convolved(call: OperatorCall) -> Splits:
    kernel, stride, padding, dilation, transposed = call.args[1].shape[2:], *call.args[3:7]
    if not transposed:
        yield from _strided(call.x.shape[2:], kernel, stride, padding, dilation)


def _pooled(call: OperatorCall) -> Splits:
    kernel = call.args[1]
    stride = call.given(2, "stride") or kernel
    padding = call.given(3, "padding", [0])
    yield from _strided(call.x.shape[-len(kernel) :], kernel, stride, padding, [1])


def _strided(sizes: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Splits:
    """Whether a stride leaves a rest of a size: there the paddings and roundings of ports part."""

    def of(each: Any, axis: int) -> int:
        return each[axis] if len(each) > 1 else each[0]

    rests = [
        (size + 2 * of(padding, i) - of(dilation, i) * (of(kernel, i) - 1) - 1) % of(stride, i)
        for i, size in enumerate(sizes)
        if of(stride, i) > 1
    ]
    if rests:
        yield "remainder", lambda: Split("remainder", torch.tensor(rests) > 0)


BEFORE: dict[Any, Callable[..., Splits]] = {
    **dict.fromkeys((aten.clamp, aten.clamp_), _clamp),
    **dict.fromkeys(
        (aten.clamp_min, aten.clamp_min_), lambda call: _bounded(call.given(1, "min"), None, call.x)
    ),
    **dict.fromkeys(
        (aten.clamp_max, aten.clamp_max_), lambda call: _bounded(None, call.given(1, "max"), call.x)
    ),
    **dict.fromkeys((aten.hardtanh, aten.hardtanh_), _hardtanh),
    **dict.fromkeys(
        (aten.hardsigmoid, aten.hardsigmoid_, aten.hardswish, aten.hardswish_),
        lambda call: _bounded(-3.0, 3.0, call.x),
    ),
    **dict.fromkeys(
        (aten.relu, aten.relu_, aten.leaky_relu, aten.leaky_relu_, aten._prelu_kernel),
        _kink,
    ),
    **dict.fromkeys((aten.abs, aten.abs_), _kink),
    **dict.fromkeys((aten.elu, aten.elu_), _bent_exponential),
    **dict.fromkeys((aten.threshold, aten.threshold_), _threshold),
    aten.softplus: _softplus,
    **dict.fromkeys((aten.softshrink, aten.hardshrink), _shrink),
    **dict.fromkeys((aten.smooth_l1_loss, aten.huber_loss), _distance),
    **dict.fromkeys((aten.maximum, aten.fmax), _larger),
    **dict.fromkeys((aten.minimum, aten.fmin), _smaller),
    aten.where: _where,
    **dict.fromkeys(
        (aten.masked_fill, aten.masked_fill_, aten.masked_scatter, aten.masked_select), _masked
    ),
    aten.index: _indexed,
    aten.gt: _compared(torch.gt, 1),
    aten.ge: _compared(torch.ge, 1),
    aten.lt: _compared(torch.lt, -1),
    aten.le: _compared(torch.le, -1),
    aten.eq: _compared(torch.eq, 0),
    aten.ne: _compared(torch.ne, 0),
    **dict.fromkeys((aten.remainder, aten.remainder_, aten.fmod, aten.fmod_), _wrapped),
    aten.atan2: _angle,
    aten.xlogy: _zero,
    aten.cumprod: _multiplied,
    aten.linalg_vector_norm: _length,
    **dict.fromkeys((aten.grid_sampler_2d, aten.grid_sampler_3d), _sampled),
    aten.argmax: _first_of(torch.amax),
    aten.argmin: _first_of(torch.amin),
    aten.max: _along(torch.amax),
    aten.min: _along(torch.amin),
    **dict.fromkeys((aten.round, aten.round_), _rounded),
    **dict.fromkeys((aten.floor, aten.ceil, aten.trunc), _stepped),
    **dict.fromkeys((aten.sign, aten.sign_, aten.sgn, aten.sgn_, aten.heaviside), _signed),
    **dict.fromkeys((aten.isnan, aten.isinf, aten.nan_to_num, aten.nan_to_num_), _not_finite),
    **dict.fromkeys((aten.exp, aten.exp_), _exponential),
    **dict.fromkeys(
        (
            *(aten.sigmoid, aten.sigmoid_, aten.tanh, aten.tanh_, aten.log_sigmoid_forward),
            *(aten.silu, aten.silu_, aten.gelu, aten.gelu_, aten.mish, aten.mish_, aten.expm1),
            aten.binary_cross_entropy_with_logits,
        ),
        _saturated,
    ),
    **dict.fromkeys(
        (aten._softmax, aten._log_softmax, aten._safe_softmax, aten.logsumexp), _softmax
    ),
    **dict.fromkeys(
        (
            aten._scaled_dot_product_flash_attention_for_cpu,
            aten._scaled_dot_product_efficient_attention,
        ),
        _attention,
    ),
    **dict.fromkeys((aten.nll_loss_forward, aten.nll_loss2d_forward), _labels),
    aten.embedding: _embedding,
    aten.convolution: _convolved,
    **dict.fromkeys(
        (
            *(aten.max_pool2d_with_indices, aten.max_pool3d_with_indices),
            *(aten.avg_pool2d, aten.avg_pool3d),
        ),
        _pooled,
    ),
}
"""Operator -> its decisions by its arguments, which it may overwrite."""


def splits(func: Any, args: tuple, kwargs: dict) -> Splits:
    """The decisions of a call, before it runs; none where the operator takes none."""
    found = BEFORE.get(func.overloadpacket)
    if found is None or not args or not torch.is_tensor(args[0]) or args[0].is_complex():
        return
    yield from found(OperatorCall(args, kwargs))


def guards(func: Any, args: tuple, result: Any, missed: float) -> Splits:
    """The epsilons of a call, after it ran: whether another one would move its result.

    missed: how large a relative change the judge may miss.
    """
    guard = epsilon_of(func, args, result)
    if guard is not None and guard.epsilon:
        yield EPSILON, lambda: _moved(guard, missed)


def _moved(guard: EpsilonGuard, missed: float) -> Split:
    moved = guard.moves(missed)
    near = guard.near(missed)
    source = guard.source
    way = (lambda: near - source()) if source is not None else None
    return Split(EPSILON, moved, _any(moved), lambda: guard.beside, guard.epsilon, way)
