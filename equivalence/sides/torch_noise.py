"""One model of rounding: a float64 run in which every number is rounded once, at random.

Each element that an operator computes is multiplied by 1 + u or 1 - u, forward and backward, and so
is what an optimiser stores. This is Monte Carlo arithmetic (Parker, Monte Carlo Arithmetic, 1997),
for a network and for its gradients. A sum of n terms is rounded up to n times; its terms and its
result move by u sqrt(1 + n / 8) in the place of u: errors of random signs grow with the square root
(Higham and Mary, A new approach to probabilistic rounding error analysis, 2019), and kernels that
sum in blocks come to an eighth of the terms. `torch_sums` has the terms of each operator.

What has few bits is exact on both sides, and stays: whole numbers, halves, masks.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.nesting import of_kind
from equivalence.sample import EXACT_BITS
from equivalence.sides.torch_modes import MOVES, each_tensor, is_dense
from equivalence.sides.torch_sums import PRODUCT_FUNCTIONS, is_product, terms
from equivalence.stream.torch_stream import Call, Observer, in_backward, unseen

BLOCK = 8.0
"""The share of terms whose rounding shows: kernels sum in blocks, see above."""

DECISIONS = {"floor", "ceil", "round", "trunc", "fix", "sign", "sgn", "heaviside", "floor_divide"}
"""Operators whose floating result is a whole number that their argument decides."""

SHAPED = {
    *("zeros_like", "ones_like", "full_like", "empty_like"),
    *("new_zeros", "new_ones", "new_full", "new_empty", "new_empty_strided"),
}
"""Operators that take only the shape and the precision of their argument."""

LITERAL = {"lift", "lift_fresh"}
"""Operators that get numbers of the code as a tensor, or an array of NumPy. The storage of an array
cannot grow; it counts as an input, as those are that the sample draws."""

UPDATED = {"running_mean", "running_var"}
"""Arguments that a BatchNorm writes into, whatever its schema says."""

COINS = 1 << 18
"""Signs in the table; a tensor takes them from a random place on, a larger one again and again."""

LOOKED = 64
"""Elements of a tensor that tell whether it may have some of few bits."""

SUBNORMAL = {"float16": 2.0**-25}
"""Half the distance of two subnormal numbers, where a precision comes to them."""

Precision = tuple[float, float]
"""A unit roundoff, and by how much subnormal numbers are rounded."""

MEAN, SUM = 1, 2
"""How a loss is reduced, as PyTorch counts it."""

HUGE = 1e300
"""Beyond it a factor might make an element infinite."""

_coins: dict[torch.device, torch.Tensor] = {}


def _signs(device: torch.device) -> torch.Tensor:
    """The table of signs, (2 * COINS,) float64: any slice of COINS of them may be taken."""
    if device not in _coins:
        with unseen():
            drawn = torch.randint(
                0, 2, (COINS,), generator=torch.Generator().manual_seed(0), device="cpu"
            )
        signs = (2 * drawn - 1).to(device, torch.float64)
        _coins[device] = torch.cat([signs, signs])
    return _coins[device]


def _gelu(x: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
    if approximate == "none":
        return 0.5 * x * (1.0 + torch.erf(x * math.sqrt(0.5)))
    return 0.5 * x * (1.0 + torch.tanh(_inner(x)))


def _inner(x: torch.Tensor) -> torch.Tensor:
    return math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)


def _gelu_backward(
    gradient: torch.Tensor, x: torch.Tensor, *, approximate: str = "none"
) -> torch.Tensor:
    if approximate == "none":
        slope = x * (torch.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi))
        return gradient * (0.5 * (1.0 + torch.erf(x * math.sqrt(0.5))) + slope)
    tanh = torch.tanh(_inner(x))
    inner = math.sqrt(2.0 / math.pi) * (1.0 + 3.0 * 0.044715 * x * x)
    return gradient * (0.5 * (1.0 + tanh) + 0.5 * x * (1.0 - tanh * tanh) * inner)


def _log_softmax_backward(
    gradient: torch.Tensor, result: torch.Tensor, dim: int, _: torch.dtype
) -> torch.Tensor:
    """With the gradient of the maximum, which adds up to nothing but rounding.

    An implementation of single operators goes through the maximum that it subtracts.
    """
    terms = gradient - torch.exp(result) * gradient.sum(dim, keepdim=True)
    if not terms.numel():
        return terms
    nothing = terms.sum(dim, keepdim=True)
    return terms.scatter_add(dim, result.argmax(dim, keepdim=True), nothing)


def _log_softmax(x: torch.Tensor, dim: int, _: bool) -> torch.Tensor:
    if not x.numel():
        return x.clone()
    below = x - x.amax(dim, keepdim=True)
    return below - torch.log(torch.exp(below).sum(dim, keepdim=True))


def _softmax_backward(
    gradient: torch.Tensor, result: torch.Tensor, dim: int, _: torch.dtype
) -> torch.Tensor:
    return result * (gradient - (gradient * result).sum(dim, keepdim=True))


def _binary_cross_entropy(
    x: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    reduction: int = MEAN,
) -> torch.Tensor:
    """Of probabilities that rounding may move beyond 1, which the operator refuses."""
    x = x.clamp(0.0, 1.0)
    log, log_of_rest = torch.log(x).clamp(min=-100.0), torch.log1p(-x).clamp(min=-100.0)
    return _reduced((target - 1.0) * log_of_rest - target * log, weight, reduction)


def _binary_cross_entropy_with_logits(
    x: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    pos_weight: torch.Tensor | None = None,
    reduction: int = MEAN,
) -> torch.Tensor:
    """Of a logit far below zero and a target of zero, the logarithm is nearly the logit."""
    log = torch.ops.aten.log_sigmoid_forward(x)[0]
    log = log if pos_weight is None else log * ((pos_weight - 1.0) * target + 1.0)
    return _reduced((1.0 - target) * x - log, weight, reduction)


def _reduced(losses: torch.Tensor, weight: torch.Tensor | None, reduction: int) -> torch.Tensor:
    losses = losses if weight is None else losses * weight
    return losses.mean() if reduction == MEAN else losses.sum() if reduction == SUM else losses


def _binary_cross_entropy_backward(
    gradient: torch.Tensor,
    x: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    reduction: int = MEAN,
) -> torch.Tensor:
    x = x.clamp(0.0, 1.0)
    slopes = gradient * (x - target) / ((1.0 - x) * x).clamp(min=1e-12)
    slopes = slopes if weight is None else slopes * weight
    return slopes / x.numel() if reduction == MEAN else slopes


STEPS: Mapping[str, Callable[..., torch.Tensor]] = {
    "gelu": _gelu,
    "gelu_backward": _gelu_backward,
    "_log_softmax": _log_softmax,
    "_log_softmax_backward_data": _log_softmax_backward,
    "_softmax_backward_data": _softmax_backward,
    "binary_cross_entropy": _binary_cross_entropy,
    "binary_cross_entropy_backward": _binary_cross_entropy_backward,
    "binary_cross_entropy_with_logits": _binary_cross_entropy_with_logits,
}
"""Operators within which terms cancel, one step after the other: each step is rounded."""

Precisions = Mapping[str, Sequence[torch.dtype]]
"""Name of an operator -> the dtype of what it gives, call by call."""


class WatchedPrecision(Observer):
    """Takes note of the precision in which each operator of a run computes.

    forward: whether those of a backward pass are left out.
    precisions: what was seen.
    """

    slot = "calls"

    def __init__(self, forward: bool = False) -> None:
        self._forward = forward
        self.precisions: dict[str, list[torch.dtype]] = {}

    def after(self, call: Call, result: Any) -> Any:
        """Take note of the precision of what an operator gives."""
        counts = not (self._forward and in_backward())
        if counts and not _moves(call.function, call.args, call.kwargs):
            found = [value.dtype for value in of_kind(result, torch.Tensor) if _is_floating(value)]
            if found:
                self.precisions.setdefault(call.name, []).append(found[0])
        return result


NEED_FIRST = {"native_group_norm_backward"}
"""Operators that end the process where their first result is not asked for, but a later one is:
PyTorch's group norm does so with an input in channels_last, as behind an attention."""

FOURIER = ("_fft_r2c", "_fft_c2c", "_fft_c2r")
"""Operators of which a kernel may compute zeros by terms that do not cancel."""


class Noise(Observer):
    """Rounds every number of a run once, at random.

    What depends on no input and on no weight, such as a table made from whole numbers, decides as
    it does without rounding: integers, booleans, and what a floor or its like gives. So a distance
    stays in its bucket, as an activation near a kink keeps its branch. For this, such a value has a
    twin that was not rounded. Such values are known by their storage, which their views share. A
    tensor that is neither made under this mode nor one of `constants` counts as an input, but for
    integers and booleans. In the backward pass everything depends on cotangents.

    unit_roundoff: u. seed: the seed of the places in the table of signs.
    dtype: the dtype of the case.
    constants: the constant buffers.
    precisions: those of the reference's own run, where some are shorter than that of the case, as
        under autocast: a call is rounded as that of the same number there.
    products: the unit roundoff of the factors of products, where a compute mode rounds them more
        than the rest; their sums are rounded as others are.
    """

    slot = "rounding"

    def __init__(
        self,
        unit_roundoff: float,
        seed: int,
        dtype: str = "float32",
        constants: Iterable[torch.Tensor] = (),
        precisions: Precisions | None = None,
        products: float = 0.0,
    ):
        self.products = products
        self._precisions = {name: iter(each) for name, each in (precisions or {}).items()}
        self.unit_roundoff, self.dtype = unit_roundoff, dtype
        self._bits = min(EXACT_BITS, round(-math.log2(unit_roundoff)))
        self._within: Precision | None = None
        self._one = torch.ones((), dtype=torch.float64, device="cpu")
        self._places = torch.Generator().manual_seed(seed)
        self._storages = set(map(_storage, filter(_is_floating, constants)))
        self._twins: dict[StorageWeakRef, torch.UntypedStorage] = {}

    def replace(self, call: Call) -> Any:
        """What an operator gives, rounded."""
        func, args, kwargs, name = call.function, call.args, call.kwargs, call.name
        if in_backward():
            return self._compute(func, args, kwargs)
        written = [*_written(func, args, kwargs)]
        literal = name in LITERAL and args[0].untyped_storage().resizable()
        asked = [] if literal or name in SHAPED else of_kind((args, kwargs), torch.Tensor)
        if not all(map(self._is_constant, asked)):
            self._forget(written)
            return self._compute(func, args, kwargs)
        return self._make_constant(func, args, kwargs, asked, written, literal)

    def _compute(self, func, args: tuple, kwargs: Mapping[str, Any]) -> Any:
        """What an operator gives of its arguments, rounded."""
        if _moves(func, args, kwargs):
            return func(*args, **kwargs)
        if func.overloadpacket.__name__ in STEPS:
            with self._inside(self._precision_of(func)):
                return STEPS[func.overloadpacket.__name__](*args, **kwargs)
        summed = terms(func, args, kwargs)
        if isinstance(summed, float | int):
            return self._sum(func, args, kwargs, summed, self._precision_of(func))
        precision = self._precision_of(func)
        # Each result has its own number of terms, and is computed by itself.
        *others, mask = args
        results = [None] * len(mask)
        for place, (asked, count) in enumerate(zip(mask, summed, strict=True)):
            if asked:
                first = func.overloadpacket.__name__ in NEED_FIRST
                alone = [each == place or (first and not each) for each in range(len(mask))]
                result = self._sum(func, (*others, alone), kwargs, count, precision)
                results[place] = result[place]
        return tuple(results)

    @contextlib.contextmanager
    def _inside(self, precision: Precision) -> Iterator[None]:
        """A context in which the steps of one operator are rounded, all as that operator is."""
        before, self._within = self._within, precision
        try:
            with self:
                yield
        finally:
            self._within = before

    def _precision_of(self, func) -> Precision:
        """The unit roundoff of the next call of an operator, and how subnormal numbers round."""
        if self._within is not None:
            return self._within
        called = self._precisions.get(func.overloadpacket.__name__)
        dtype = str(next(called, self.dtype) if called else self.dtype).removeprefix("torch.")
        return max(self.unit_roundoff, UNIT_ROUNDOFF.get(dtype, 0.0)), SUBNORMAL.get(dtype, 0.0)

    def cast(self, value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """A value as it is in a shorter precision: rounded to it at random, and so its gradient."""
        return _Cast.apply(value, self, UNIT_ROUNDOFF[str(dtype).removeprefix("torch.")])

    def factor(self, value: torch.Tensor) -> torch.Tensor:
        """A value as a product takes it, and gives it: rounded at random, and so its gradient."""
        return _Cast.apply(value, self, self.products)

    def _sum(
        self, func, args: tuple, kwargs: Mapping[str, Any], count: float, precision: Precision
    ) -> Any:
        """What an operator gives that sums `count` terms for each of its numbers."""
        aliased = any(returned.alias_info is not None for returned in func._schema.returns)
        unit_roundoff, subnormal = precision
        if count > 1:
            unit_roundoff *= (1.0 + count / BLOCK) ** 0.5
        coarse = self.products > unit_roundoff and is_product(func)
        if coarse:
            unit_roundoff = self.products
        bits = min(EXACT_BITS, round(-math.log2(unit_roundoff))) if coarse else EXACT_BITS
        if (count > 1 or coarse) and not aliased and not _is_exact(func, args, bits):
            names = [each.name for each in func._schema.arguments]
            args = tuple(
                each
                if name in UPDATED
                else each_tensor(lambda x: self._moved(x, unit_roundoff), each)
                for name, each in zip(names, args, strict=False)
            )
        result = func(*args, **kwargs)
        if not aliased:
            if func.overloadpacket.__name__ in FOURIER:
                value, dims, scaled = args[:3]
                _lift_zeros(result, value, dims, scaled, unit_roundoff)
            for value in of_kind(result, torch.Tensor):
                self._round(value, unit_roundoff, subnormal)
        else:
            for value in _written(func, args, kwargs):
                self._round(value, unit_roundoff, subnormal)
        return result

    def _moved(self, value: torch.Tensor, unit_roundoff: float) -> torch.Tensor:
        """A rounded copy of a term, whatever its bits; of integers, the value itself."""
        if not (_is_floating(value) and is_dense(value) and value.numel()):
            return value
        return self._round(torch.ops.aten.clone(value), unit_roundoff, of_sum=True)

    def _round(
        self,
        value: torch.Tensor,
        unit_roundoff: float,
        subnormal: float = 0.0,
        of_sum: bool = False,
    ) -> torch.Tensor:
        """Round a value in place; elements of few bits, too, if it is a term `of_sum`."""
        if not (is_dense(value) and value.numel() and _is_floating(value)):
            return value
        flat = _flat(torch.view_as_real(value) if value.is_complex() else value)
        if flat is None:  # its elements share memory, or do not lie side by side
            value.copy_(self._round(value.contiguous(), unit_roundoff, subnormal, of_sum))
            return value
        some = flat[:: max(flat.numel() // LOOKED, 1)].cpu()
        few = not of_sum and bool((_short(some, self._bits) & (some != 0.0)).any())
        huge = bool((some.abs() > HUGE).any())
        signs = _signs(value.device)
        for start in range(0, flat.numel(), COINS):
            part = flat[start : start + COINS]
            with unseen():
                place = int(torch.randint(0, COINS, (), generator=self._places, device="cpu"))
            factors = torch.add(self._one, signs[place : place + part.numel()], alpha=unit_roundoff)
            if few:
                factors.masked_fill_(_short(part, self._bits), 1.0)
            if huge:
                factors.masked_fill_(part.abs() > HUGE, 1.0)
            if subnormal:
                part.add_((factors - 1.0).sign_() * (part != 0.0), alpha=subnormal)
            part.mul_(factors)
        return value

    def _make_constant(
        self, func, args: tuple, kwargs: Mapping[str, Any], asked: list, written: list, literal
    ) -> Any:
        """What an operator gives of constants alone, rounded, with its twin."""
        name = func.overloadpacket.__name__
        exact = self._computed_by_twins(func, args, kwargs, asked, written)
        result = func(*args, **kwargs)
        decides = name.strip("_") in DECISIONS or "rounding_mode" in kwargs
        moves = _moves(func, args, kwargs)

        def kept(value: torch.Tensor, unrounded: torch.Tensor) -> torch.Tensor:
            if decides or not _is_floating(value):
                return unrounded
            if not moves:
                unrounded = torch.ops.aten.clone(value) if unrounded is value else unrounded
                self._round(value, self.unit_roundoff)
            self._add_twin(value, unrounded)
            return value

        views = any(returned.alias_info is not None for returned in func._schema.returns)
        if written:
            for value in written:
                if not isinstance(value, nn.Parameter):  # which the sample sets
                    self._write(value, moves, decides)
            made = result
        elif views and not literal:
            made = result
        else:
            made = each_tensor(kept, result, result if exact is None else exact)
        dense = filter(is_dense, filter(_is_floating, of_kind(made, torch.Tensor)))
        self._storages.update(map(_storage, dense))
        return made

    def _computed_by_twins(
        self, func, args: tuple, kwargs: Mapping[str, Any], asked: list, written: list
    ) -> Any:
        """What a call gives without rounding before it; None where there was none.

        It writes into twins what the call will write.
        """
        rounded = any(self._twin(value) is not value for value in asked)
        if not rounded or torch.Tag.nondeterministic_seeded in func.tags:
            return None
        for value in written:
            self._have_twin(value)
        named = {n: each_tensor(self._twin, v) for n, v in kwargs.items()}
        return func(*each_tensor(self._twin, args), **named)

    def _twin(self, value: torch.Tensor) -> torch.Tensor:
        """The value without rounding; itself if it has none. The bytes of floats have none."""
        storage = self._twins.get(_storage(value)) if is_dense(value) else None
        if storage is None or (not _is_floating(value) and _storage(value) in self._storages):
            return value
        twin = torch.empty(0, dtype=value.dtype, device=value.device)
        return twin.set_(storage, value.storage_offset(), value.size(), value.stride())

    def _have_twin(self, value: torch.Tensor) -> None:
        """Copy the storage of a value that has no twin so far, since it is not rounded so far."""
        if is_dense(value) and _storage(value) not in self._twins:
            self._twins[_storage(value)] = value.untyped_storage().clone()

    def _add_twin(self, value: torch.Tensor, unrounded: torch.Tensor) -> None:
        """Keep what a new value is without rounding."""
        if not is_dense(value) or _storage(value) == _storage(unrounded):
            return
        if value.stride() != unrounded.stride() or unrounded.storage_offset():
            unrounded = torch.empty_strided(value.size(), value.stride()).copy_(unrounded)
        for storage in [each for each in self._twins if each.expired()]:
            del self._twins[storage]
        self._twins[_storage(value)] = unrounded.untyped_storage()

    def _write(self, value: torch.Tensor, moves: bool, decides: bool) -> None:
        """Round in place what a call of constants has written."""
        if decides or not _is_floating(value):
            twin = self._twin(value)
            if twin is not value:
                value.copy_(twin)
        elif not moves:
            self._have_twin(value)
            self._round(value, self.unit_roundoff)

    def _forget(self, written: Iterable[torch.Tensor]) -> None:
        """Count values as inputs, since they depend on some now."""
        for storage in map(_storage, filter(is_dense, written)):
            self._storages.discard(storage)
            self._twins.pop(storage, None)

    def _is_constant(self, value: torch.Tensor) -> bool:
        known = is_dense(value) and _storage(value) in self._storages
        return known or not _is_floating(value)


class ProductFunctions(Observer):
    """Rounds the factors and the results of functions that other frameworks compute by products."""

    slot = "factors"

    def __init__(self, noise: Noise):
        self.noise = noise

    def before(self, call: Call) -> None:
        """Round the factors."""
        if call.function in PRODUCT_FUNCTIONS:
            call.args = each_tensor(self.noise.factor, call.args)

    def after(self, call: Call, result: Any) -> Any:
        """Round the result."""
        return self.noise.factor(result) if call.function in PRODUCT_FUNCTIONS else result


class _Cast(torch.autograd.Function):
    """The identity, rounded at random in both passes."""

    @staticmethod
    def forward(ctx, value, noise, unit_roundoff):
        ctx.noise, ctx.unit_roundoff = noise, unit_roundoff
        return _rounded_apart(value, noise, unit_roundoff)

    @staticmethod
    def backward(ctx, gradient):
        return _rounded_apart(gradient, ctx.noise, ctx.unit_roundoff), None, None


def _lift_zeros(
    result: torch.Tensor, value: torch.Tensor, dims: list[int], scaled: int, unit_roundoff: float
) -> None:
    """Give the zeros of a Fourier transform one rounding of the terms that they are sums of.

    A zero by structure, as the imaginary part of the first of a real transform, is a sum of numbers
    that a table of sines rounds. Each keeps its sign, since an angle is decided by it.

    scaled: whether each number is divided by the root of the number of terms (1), or by it (2).
    """
    count = math.prod(value.shape[dim] for dim in dims)
    size = torch.linalg.vector_norm(value, dim=dims, keepdim=True) * count ** (-0.5 * scaled)
    parts = torch.view_as_real(result) if result.is_complex() else result
    size = size.unsqueeze(-1) if result.is_complex() else size
    parts.copy_(torch.where(parts == 0.0, torch.copysign(size * unit_roundoff, parts), parts))


def _rounded_apart(value: torch.Tensor, noise: Noise, unit_roundoff: float) -> torch.Tensor:
    """A rounded copy, made unseen by the modes of a run."""
    with unseen():
        return noise._moved(value.clone(), unit_roundoff)


def _flat(value: torch.Tensor) -> torch.Tensor | None:
    """The elements in the order of the memory, which they share; None if they are not dense."""
    if value.is_contiguous():
        return value.view(-1)
    if not torch.ops.aten.is_non_overlapping_and_dense(value):
        return None
    return value.as_strided((value.numel(),), (1,), value.storage_offset())


def _is_exact(func, args: tuple, bits: int) -> bool:
    """Whether a sum or a product is exact, since all terms have few bits: whole numbers, say."""
    name = func.overloadpacket.__name__
    terms = [
        value
        for value in of_kind(args, torch.Tensor)
        if value.is_floating_point() and is_dense(value)
    ]
    if name.startswith(("upsample", "grid_sampler")) or any(not v.numel() for v in terms):
        return False  # the coordinates that they compute have many
    some = (value.reshape(-1)[:: max(value.numel() // LOOKED, 1)].cpu() for value in terms)
    return all(bool(_short(each, bits).all()) for each in some)


def _short(values: torch.Tensor, bits: int) -> torch.Tensor:
    """Which elements keep at most so many bits: zeros, whole numbers, halves, infinities."""
    if values.dtype != torch.float64:
        return _short(values.double(), bits)
    return (values.view(torch.int64) & ((1 << (53 - bits)) - 1)) == 0


def _moves(func, args: tuple, kwargs: Mapping[str, Any]) -> bool:
    """Whether a call computes nothing, see `MOVES`."""
    name = func.overloadpacket.__name__.rstrip("_")
    if name in ("scatter_reduce", "index_reduce"):
        return bool({"amax", "amin"} & {*map(str, args), *map(str, kwargs.values())})
    return name in MOVES


def _written(func, args: tuple, kwargs: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    """The tensors that a call changes in place."""
    for position, argument in enumerate(func._schema.arguments):
        if argument.is_write:
            given = args[position] if position < len(args) else kwargs.get(argument.name)
            yield from of_kind(given, torch.Tensor)


def _storage(value: torch.Tensor) -> StorageWeakRef:
    return StorageWeakRef(value.untyped_storage())


def _is_floating(value: torch.Tensor) -> bool:
    return value.is_floating_point() or value.is_complex()
