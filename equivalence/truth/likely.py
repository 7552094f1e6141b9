"""Which activations near a kink took the other branch: those that point to where a run is off.

Gradients depend linearly on the slope of each activation. If the gradients of a candidate are off
by r, then the flip of activation i, which changes them by d_i, has the product <d_i, r>. For all
activations at once it is the cotangent that reaches the activation, times how fast the activation
moves when inputs and weights are moved along r. A flip that was taken has about |d_i|^2; others
have nothing, but for chance. So one run and a few passes forward tell which flips to try.
"""

import contextlib
import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
import torch

from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Flip
from equivalence.kinks.operators import KINKS, POOL, Kink, kink_of
from equivalence.kinks.watch import Uncompiled
from equivalence.sample import Moved
from equivalence.seeds import stream
from equivalence.truth.flips import POOLING, Branches, Copied
from equivalence.truth.measurement import Measurement

DRAWN = 8
"""Random directions that tell how large the change by each flip is, to about a third."""

STEP = 2.0**-30
"""How far inputs and weights are moved, relative to their norm."""

aten = torch.ops.aten


class Reached(Uncompiled):
    """Keeps what goes into operators at chosen activations, and the cotangent that reaches each.

    near: the activations. quantities: what goes in; of a window one entry less the other. gains: by
    how much the slope is larger where the kink quantity is positive. cotangents: NaN where the
    backward pass of the operator was not seen. All are (near,).
    """

    def __init__(self, near: Sequence[Flip]):
        super().__init__()
        self.near = near
        self.quantities = np.full(len(near), np.nan)
        self.gains = np.ones(len(near))
        self.cotangents = np.full(len(near), np.nan)
        self._numbers: dict[int, list[int]] = {}
        for number, flip in enumerate(near):
            self._numbers.setdefault(flip.place, []).append(number)
        self._indices = {
            place: tuple(np.transpose([near[number].index for number in numbers]))
            for place, numbers in self._numbers.items()
        }
        # A flip of several windows gets the cotangents of all of them.
        self._every = {
            place: tuple(np.transpose([index for n in numbers for index in near[n].indices]))
            for place, numbers in self._numbers.items()
        }
        self._starts = {
            place: np.cumsum([0, *(len(near[n].indices) for n in numbers[:-1])])
            for place, numbers in self._numbers.items()
        }
        self._kept: dict[tuple, int] = {}
        self._factors: dict[int, int] = {}
        self._copied = Copied()
        self._place = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        place, kink = None, kink_of(func, args)
        if kink or func is POOL:
            place, self._place = self._place, self._place + 1
        numbers = self._numbers.get(place)
        if numbers:
            self.quantities[numbers] = self._quantity(place, func, args[0])
        if numbers and kink:
            self.gains[numbers] = kink.gain(_elements(args, self._indices[place]))
        result = func(*args, **(kwargs or {}))
        if numbers:
            self._kept[_kept_by(kink, args, result, self._copied.of(args[0]))] = place
        self._copied.meet(func, args, result)
        self._meet(func, args, result)
        return result

    def _meet(self, func, args: tuple, result: object) -> None:
        """Keep the cotangents if this is the backward pass of an operator with a kink."""
        if func in FACTORS:
            if (place := self._kept.get(_key(func, args[0]))) is not None:
                self._factors[result.data_ptr()] = place
        elif func is aten.mul.Tensor and isinstance(args[1], torch.Tensor):
            self._keep(self._factors.pop(args[1].data_ptr(), None), args[0])
        elif func is aten.where.self:
            self._keep(self._factors.pop(args[0].data_ptr(), None), args[1])
        elif func in BACKWARD:
            self._keep(self._kept.get(_key(func, args[BACKWARD[func]])), args[0])

    def _quantity(self, place: int, func, x: torch.Tensor) -> np.ndarray:
        """What moves across the kink; of a window one entry of its branches less the other,
        whichever is larger.
        """
        if func is not POOL:
            return _at(x, self._indices[place])
        flips, planes = [self.near[n] for n in self._numbers[place]], self._indices[place][:-2]
        one, two = (
            x.flatten(-2)[(*planes, [getattr(flip, name) for flip in flips])]
            for name in ("taken", "other")
        )
        return (one - two).double().cpu().numpy()

    def _keep(self, place: int | None, cotangent: torch.Tensor) -> None:
        if place is not None:
            every = _at(cotangent, self._every[place])
            self.cotangents[self._numbers[place]] = np.add.reduceat(every, self._starts[place])


def _at(values: torch.Tensor, indices: tuple[np.ndarray, ...]) -> np.ndarray:
    return values[indices].double().cpu().numpy().reshape(-1)


def _elements(args: tuple, indices: tuple[np.ndarray, ...]) -> tuple:
    """The arguments of an operator by element, with these elements of every tensor."""
    x = args[0]
    return tuple(
        torch.broadcast_to(arg, x.shape)[indices].double().cpu() if torch.is_tensor(arg) else arg
        for arg in args
    )


POOL_BACKWARD = aten.max_pool2d_with_indices_backward.default

FACTORS = (aten.sgn.default, aten.ge.Scalar, aten.le.Scalar)
"""Backward passes of several operators begin with them: a factor or a mask of the cotangent."""

BACKWARD = {
    kink.backward: kink.position for kink in KINKS.values() if kink.backward not in FACTORS
} | {POOL_BACKWARD: 7}
"""Backward operator -> the position of the argument that the forward operator kept for it."""


def _kept_by(kink: Kink | None, args: tuple, result: object, copy: torch.Tensor) -> tuple:
    """What tells the tensor that an operator keeps for its backward pass.

    kink: None for a max pooling. copy: of an input that is overwritten.
    """
    if kink is None:
        return _key(POOL_BACKWARD, result[1])
    kept = {"input": args[0], "result": result, "copy": copy}[kink.keeps]
    return _key(kink.backward, kept)


def _key(func, tensor: torch.Tensor) -> tuple:
    return func, tensor.data_ptr(), tuple(tensor.shape)


class Pointers:
    """What points to the flips that a run has made.

    measurement: the reference and its sample.
    near: the activations.
    units: name of a gradient -> its unit; products are taken in these.
    """

    def __init__(self, measurement: Measurement, near: Sequence[Flip], units: Mapping[str, float]):
        self.measurement, self.near = measurement, near
        self.units = {name: unit for name, unit in units.items() if unit}

    def first(self, trace: Trace, chosen: Collection[int], most: int) -> list[int]:
        """The numbers of the activations whose flips explain most of what is left, at most `most`.

        trace: a run that made flips. chosen: the numbers of flips that are known; none of them is
        returned. Takes a run and a pass forward, and `DRAWN` more of these the first time.
        """
        here, flipped = Reached(self.near), [number in chosen for number in range(len(self.near))]
        run = self.measurement.run(watch=_within(self.near, flipped, here))
        apart = {
            name: (trace[name].astype(np.float64) - run[name]) / unit
            for name, unit in self.units.items()
            if np.shape(trace[name]) == run[name].shape
        }
        for values in apart.values():
            values[~np.isfinite(values)] = 0.0
        products = self._products(apart, here, flipped)
        # The share of the squared difference that is along the flip's change.
        explained = products**2 / np.maximum(self._squares(run, here, flipped), 1.0)
        explained[~(products > 0.0)] = 0.0
        explained[flipped] = 0.0
        best = np.argsort(-explained, kind="stable")[:most]
        return [int(number) for number in best if explained[number] > 0.0]

    def _squares(self, run: Trace, here: Reached, flipped: Sequence[bool]) -> np.ndarray:
        """The squared norm of each flip's change, about: the mean of random products, squared."""
        if self._norms is None:
            found = np.zeros(len(self.near))
            for number in range(DRAWN):
                coins = stream("likely", number)
                drawn = {name: coins.standard_normal(run[name].shape) for name in self.units}
                found += self._products(drawn, here, flipped) ** 2 / DRAWN
            self._norms = found
        return self._norms

    _norms: np.ndarray | None = None

    def _products(
        self, along: Mapping[str, np.ndarray], here: Reached, flipped: Sequence[bool]
    ) -> np.ndarray:
        """The product of each flip's change with `along`, both in units of each gradient, (near,).

        It is NaN where the cotangent of the activation is not known. Overwrites `along`, which may
        be as large as all weights.
        """
        sample = self.measurement.sample
        inputs, weights = self._split(along)
        values = dict(zip(sample.arguments.names, sample.inputs(), strict=True))
        held = itertools.chain(
            (values[name] for name in inputs),
            (sample.weight(name, change.shape) for name, change in weights.items()),
        )
        changes = [*inputs.values(), *weights.values()]
        step = STEP * _norm(held) / (_norm(changes) or 1.0)
        for change in changes:
            change *= step
        moved = Reached(self.near)
        shifted = Moved(sample, inputs, weights)
        self.measurement.forward(shifted, _within(self.near, flipped, moved))
        # The flip of a window takes its gap away, whichever of the two entries comes first.
        rises = [f.operator != POOLING and f.other > f.taken for f in self.near]
        slopes = (moved.quantities - here.quantities) / step
        return np.where(rises, 1.0, -1.0) * here.gains * slopes * here.cotangents

    def _split(self, along: Mapping[str, np.ndarray]) -> tuple[Trace, Trace]:
        """How inputs, and how weights are moved along the gradients, each by its own name.

        Overwrites `along`.
        """
        inputs = {tensors.input_gradient(n): n for n in self.measurement.sample.arguments.names}
        prefix, moves = tensors.parameter_gradient(""), ({}, {})
        for name, values in along.items():
            of_weight = name not in inputs
            own = name.removeprefix(prefix) if of_weight else inputs[name]
            moves[of_weight][own] = values = np.asarray(values)
            values /= self.units[name]
        return moves


@contextlib.contextmanager
def _within(near: Sequence[Flip], flipped: Sequence[bool], reached: Reached) -> Iterator[None]:
    """The context of a run with these flips that `reached` watches."""
    taken = list(itertools.compress(near, flipped))
    with reached, Branches(taken, [True] * len(taken)):
        yield


def _norm(arrays: Iterable[np.ndarray]) -> float:
    """The Euclidean norm of all elements."""
    return math.hypot(*(float(np.linalg.norm(np.asarray(each).reshape(-1))) for each in arrays))
