"""How near a sample is to the kinks of a network, and how far rounding moves it.

A ReLU has a kink at zero, a ReLU6 at zero and at six, a max pooling and a maximum along an axis
where the two largest entries are equal. Rounding can push an activation near a kink to the other
branch on one side only; gradients then jump although both sides are right. `KinkWatch` measures
every operator with a kink in a PyTorch run, module or function, below autograd.
"""

from typing import Any

import torch

from equivalence.errors import IllPosedError
from equivalence.kinks.choices import POOL
from equivalence.kinks.operators import STEPS, AtKinks, kink_of, quantity_of
from equivalence.stream.torch_stream import Call

SAFE = 8.0
"""An activation nearer to its kink than SAFE spreads counts as near. The spread is its change by
one noisy run. Other such runs move one in 600,000 activations by seven spreads, and PyTorch's own
run moves one by five, since one spread holds for a whole channel."""

FAR = 16.0
"""Spreads. An activation that is farther than this from its kink takes no other branch."""

MARGIN = 11.0
"""How many spreads from its kink an activation is moved; more than SAFE, since spreads vary."""

MANY = 64
"""From this many elements near a kink on, the perturbed runs flip some of them themselves. Their
jumps are then part of the sensitivity, and nothing is settled. Typical of float16."""

TIES = 1024
"""Elements of an operator that may be exactly at a kink, at most. If more are, they count as copies
of it, such as the white of a picture."""

EXACT = 2.0**-48
"""The share of a kink's place by which float64 misses it where it is computed, at most."""

OTHER_OPERATORS = (
    "rounding alone decides which operators the reference runs: a condition of its code is met "
    "exactly; draw other inputs"
)

aten = torch.ops.aten


class KinkWatch(AtKinks):
    """Keeps the kink quantities of a forward pass, one tensor for each operator, in order.

    against: the watch of another run of the same network, or None. With it, this watch keeps the
    spreads between the two runs instead; after several runs, the largest.
    quantities: the kink quantity of each operator.
    exact: the elements of each operator that are at a kink other than zero, but for the rounding of
        float64: booleans; None if there is none, or more than `TIES`.
    spreads: the spread of each operator; `spreads[i]` broadcasts over `quantities[i]`.
    """

    def __init__(self, against: "KinkWatch | None" = None):
        self.against = against
        self.quantities: list[torch.Tensor] = []
        self.exact: list[torch.Tensor | None] = []
        self._still: dict[int, torch.Tensor] = {}
        self.spreads: list[torch.Tensor] = []
        self._rounded: dict[int, torch.Tensor] = {}
        self._pools: list[tuple[int, torch.Tensor]] = []
        self._kernels: dict[tuple[int, ...], torch.Tensor] = {}

    def clear(self) -> None:
        """Forget a run that has failed."""
        for kept in (self.quantities, self.exact, self._pools, self._rounded, self._kernels):
            kept.clear()

    def before(self, call: Call) -> None:
        """Keep how far the arguments of an operator with kinks are from these."""
        super().before(call)
        if self.number is None:
            return
        func, args, number = call.function, call.args, self.number
        quantity = quantity_of(func, args)
        if self.against is None:
            shape = tuple(args[0].shape)
            if func is POOL and shape in self._kernels:
                self._pools.append((number, self._kernels[shape]))
            self.exact.append(_exact(func, args, quantity))
            self.quantities.append(quantity.clone() if quantity is args[0] else quantity)
            return
        if number >= len(self.against.quantities):
            raise IllPosedError(OTHER_OPERATORS)
        change = quantity - self.against.quantities[number]
        if func in STEPS:
            change -= change.round()  # the middle between two steps is near neither
        spread = _spread(change)
        if number == len(self.spreads):
            self.spreads.append(spread)
        else:
            self.spreads[number] = torch.maximum(self.spreads[number], spread)
        self.against._leave_out(number, quantity)

    def after(self, call: Call, result: Any) -> Any:
        """Take the steps of the first run in all others."""
        if self.number is not None and call.function in STEPS:
            if self.against is None:
                self._rounded[self.number] = result.clone()
            else:
                result.copy_(self.against._rounded[self.number])
        if call.function is aten.convolution.default:
            self._kernels[tuple(result.shape)] = call.args[1]
        return result

    def _leave_out(self, operator: int, quantity: torch.Tensor) -> None:
        """Leave out what is zero in another run, too, as after another ReLU: no side flips it.

        Of elements at another kink note those that are there in that run, too.
        """
        first, exact = self.quantities[operator], self.exact[operator]
        still = (first == 0) & (quantity == 0)
        if exact is not None:
            self._still[operator] = self._still.get(operator, exact) & still
            still &= ~exact
        first.masked_fill_(still, torch.inf)

    def has_still(self) -> bool:
        """Whether any element was exactly at a kink in this run and in all others."""
        return any(bool(still.any()) for still in self._still.values())

    def leave_out_still(self) -> None:
        """Leave out the elements that were exactly at a kink in this run and in all others."""
        for operator, still in self._still.items():
            self.quantities[operator].masked_fill_(still, torch.inf)

    def near(self, spreads: list[torch.Tensor]) -> list[int]:
        """For each operator, how many elements are within SAFE spreads of their kink.

        Those that are exactly at one do not count, since no other sample moves them off it.
        """
        return [self._count(operator, spread) for operator, spread in enumerate(spreads)]

    def rounds_many(self, spreads: list[torch.Tensor]) -> bool:
        """Whether perturbed runs would themselves take other steps of some rounding."""
        return any(self._count(place, spreads[place]) >= MANY for place in self._rounded)

    def _count(self, operator: int, spread: torch.Tensor) -> int:
        return int(self._within(operator, SAFE * spread).sum())

    def _within(self, operator: int, reach: torch.Tensor) -> torch.Tensor:
        """The elements no farther from their kink than that, but not exactly at it: booleans."""
        near, exact = self.quantities[operator].abs() <= reach, self.exact[operator]
        return near if exact is None else near & ~exact

    def is_exact(self, place: tuple[int, tuple[int, ...]]) -> bool:
        """Whether (operator, index) is exactly at a kink: no other sample moves it off."""
        operator, index = place
        exact = self.exact[operator]
        return exact is not None and bool(exact[index])

    def nearest(
        self,
        spreads: list[torch.Tensor],
        most: int = MANY,
        wider: list[torch.Tensor] | None = None,
    ) -> list[tuple[int, tuple[int, ...]]]:
        """(operator, index) of the elements near a kink, in the order of the forward pass.

        Operators with MANY near elements are left out. Where more than `most` elements remain, only
        the nearest are returned. Those that are exactly at a kink come besides, all of them.

        wider: spreads that are no smaller. With them, elements within `FAR` of these count, in the
            same operators.
        """
        near, ties, reach = [], [], SAFE if wider is None else FAR
        for operator, exact in enumerate(self.exact):
            quantity, spread = self.quantities[operator], (wider or spreads)[operator]
            if exact is not None:
                here = exact & torch.isfinite(quantity)
                ties += [(operator, tuple(index)) for index in here.nonzero().tolist()]
            if self._count(operator, spreads[operator]) < MANY:
                within = self._within(operator, reach * spread)
                distances = quantity[within].abs() / spread.expand_as(quantity)[within]
                rows = zip(distances.tolist(), within.nonzero().tolist(), strict=True)
                near += [(distance, operator, tuple(index)) for distance, index in rows]
        return sorted([(operator, index) for _, operator, index in sorted(near)[:most]] + ties)

    def ties(
        self, spreads: list[torch.Tensor], names: dict[int, str]
    ) -> list[tuple[str, list[int]]]:
        """(name of a kernel, its channels) for each max pooling with a few windows near a tie.

        The kernel is that of the latest convolution whose output has the shape of the pooling's
        input. A shift of its bias would not help: it moves all entries of a window equally.

        names: address of a weight -> its name.
        """
        kernels = []
        for operator, kernel in self._pools:
            windows = (self.quantities[operator].abs() <= SAFE * spreads[operator]).nonzero()
            if few(len(windows)) and kernel.data_ptr() in names:
                kernels.append((names[kernel.data_ptr()], windows[:, 1].unique().tolist()))
        return kernels


def _exact(func, args: tuple, quantity: torch.Tensor) -> torch.Tensor | None:
    """The elements at a kink that is a number other than zero, as in `KinkWatch.exact`.

    Such an element was computed, as the largest of `x / x.abs().max()` is, or it was copied. At
    zero it may be behind another ReLU.
    """
    kink = kink_of(func, args)
    if kink is None or kink.varies(args):
        return None
    farthest = max(map(abs, kink.points(args)))
    if not farthest:
        return None
    exact = (quantity.abs() <= EXACT * farthest) & (args[0] != 0)
    return exact if 0 < int(exact.sum()) <= TIES else None


def few(near: int) -> bool:
    """Whether some elements are near a kink, but too few for the perturbed runs to flip them."""
    return 0 < near < MANY


Margins = list[torch.Tensor | None]
"""For each operator with a kink, the distance that its channels must keep; None: it is skipped."""


def margins_of(spreads: list[torch.Tensor], near: list[int]) -> Margins:
    """The distances that a shift keeps. Operators with `MANY` near elements are skipped.

    Those without near elements are not, as they can get some when activations before them move.

    near: what `KinkWatch.near` gives.
    """
    pairs = zip(spreads, near, strict=True)
    return [MARGIN * spread if count < MANY else None for spread, count in pairs]


def _spread(change: torch.Tensor) -> torch.Tensor:
    """The root mean square of a change, in each channel or in all, whichever is larger.

    The result has the shape (1, C, 1, ...) for C channels, or () for tensors of less than two axes.
    Channels differ: a BatchNorm over few elements amplifies the rounding of an almost constant
    channel far more than that of others.
    """
    squares = torch.nan_to_num_(change, nan=0.0, posinf=0.0, neginf=0.0).square_()
    if not squares.numel():
        return change.new_zeros(())
    total = squares.mean()
    if change.ndim < 2:
        return total.sqrt()
    others = [axis for axis in range(change.ndim) if axis != 1]
    return torch.maximum(squares.mean(others, keepdim=True), total).sqrt()
