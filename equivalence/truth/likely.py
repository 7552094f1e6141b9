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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Flip
from equivalence.kinks.choices import CHOICES, Choice
from equivalence.kinks.operators import (
    CHOOSING,
    COMPARISONS,
    KINKS,
    AtKinks,
    Kink,
    elements,
)
from equivalence.sample import Perturbed, Sample
from equivalence.seeds import stream
from equivalence.stream.observer import installed
from equivalence.stream.torch_stream import Call, in_backward
from equivalence.truth.flips import ChosenBranches, Copied
from equivalence.truth.measurement import Measurement

DRAWN = 8
"""Random directions that tell how large the change by each flip is, to about a third."""

PART = 0.1
"""The least part of a flip's change that a run must show to have made it. The size of a change is
known to about a third, and a flip that was made shows all of it but for what other flips hide."""

STEP = 2.0**-30
"""How far inputs and weights are moved, relative to their norm."""

aten = torch.ops.aten


class Moved(Perturbed):
    """A sample in float64 whose inputs and weights are moved, each by values of its own.

    inputs: name of an input, see `Arguments.names` -> what is added to it.
    weights: name of a weight -> what is added to it.
    """

    @property
    def rounding(self) -> None:
        """None: constants are as they were."""
        return None

    def __init__(
        self, sample: Sample, inputs: Mapping[str, np.ndarray], weights: Mapping[str, np.ndarray]
    ):
        super().__init__(sample, 0, 0.0)
        self._inputs, self._weights = inputs, weights

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        """The inputs; those that are not moved are as they were."""
        inputs = self.sample.inputs(step)
        return [
            np.asarray(x + self._inputs[name]) if name in self._inputs else x
            for name, x in zip(self.arguments.names, inputs, strict=True)
        ]

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The weight, also a single number, as an array; one that is not moved is as it was."""
        weight = self.sample.weight(name, shape)
        return np.asarray(weight + self._weights[name]) if name in self._weights else weight


class Reached(AtKinks):
    """Keeps what goes into operators at chosen activations, and the cotangent that reaches each.

    near: the activations. quantities: what goes in; of a window one entry less the other; of
    a comparison what comes through where it is true, less what does where it is false. gains: by
    how much the slope is larger where the kink quantity is positive. cotangents: NaN where the
    backward pass of the operator was not seen. All are (near,).
    """

    def __init__(self, near: Sequence[Flip]):
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
        # What is kept, or the address of a factor -> the place, and where its cotangent is told.
        self._kept: dict[tuple, tuple[int, int]] = {}
        self._factors: dict[int, tuple[int, int]] = {}
        # The address of what a comparison has given, or of its copy as numbers -> its place, and
        # the mask itself: no other tensor may come to lie there.
        self._masks: dict[int, tuple[int, torch.Tensor]] = {}
        self._shapes: dict[int, torch.Size] = {}
        self._copied = Copied()

    def before(self, call: Call) -> None:
        """Keep what goes into an operator."""
        super().before(call)
        place = self.number
        self._here = None if place is None else self._numbers.get(place)
        if place is None or self._here is None:
            return
        if isinstance(self.bend, Kink):
            within = elements(call.args, self._indices[place])
            self.quantities[self._here] = _in_float64(within[0] - _point(self.bend, within))
            self.gains[self._here] = self.bend.gain(within)
        else:
            self.quantities[self._here] = self._gaps(place, call.args[0])

    def after(self, call: Call, result: Any) -> Any:
        """Know what the backward pass of an operator will be given, and meet it."""
        func, args, place = call.function, call.args, self.number
        if self._here and place is not None and self.bend is not None:
            results = result if isinstance(result, tuple) else (result,)
            self._shapes[place] = results[0].shape
            if func in COMPARISONS:
                self._masks[result.data_ptr()] = place, result
            else:
                kept = _kept_by(self.bend, args, results, self._copied.of(args[0]))
                self._kept[kept] = place, self.bend.cotangent
        self._copied.meet(func, args, result)
        self._meet(func, args, result)
        if self._masks and (func in THROUGH or func is aten._to_copy.default):
            self._meet_mask(func, args, result)
        return result

    def _meet(self, func, args: tuple, result: Any) -> None:
        """Keep the cotangents if this is the backward pass of an operator with a kink."""
        told = None
        if func in FACTORS:
            if here := self._kept.get(_key(func, args[0])):
                self._factors[result.data_ptr()] = here
        elif func in FACTOR_OF and torch.is_tensor(factor := args[FACTOR_OF[func]]):
            told = self._factors.pop(factor.data_ptr(), None)
        elif func in BACKWARD:
            told = self._kept.get(_key(func, args[BACKWARD[func]]))
        if told:
            place, cotangent = told
            self._keep(place, args[cotangent])

    def _meet_mask(self, func, args: tuple, result: Any) -> None:
        """Keep what the result of a comparison lets through, forward and backward."""
        given = [arg for arg in args if torch.is_tensor(arg)]
        mask = next((each for each in given if each.data_ptr() in self._masks), None)
        if mask is None:
            return
        (place, _), shape = self._masks[mask.data_ptr()], mask.shape
        if func is aten._to_copy.default:
            self._masks[result.data_ptr()] = place, result
        elif in_backward():
            cotangent = next((x for x in given if x is not mask and x.shape == shape), None)
            if cotangent is not None:
                del self._masks[mask.data_ptr()]  # the backward pass begins with the last use
                self._keep(place, cotangent)
        else:
            through = torch.broadcast_to(THROUGH[func](mask, *args), shape)
            self.quantities[self._numbers[place]] = _in_float64(through[self._indices[place]])

    def _gaps(self, place: int, x: torch.Tensor) -> np.ndarray:
        """One entry of each window's branches less the other, whichever is larger."""
        flips = [self.near[number] for number in self._numbers[place]]
        entries = [[flip.taken for flip in flips], [flip.other for flip in flips]]
        one, two = (x[np.unravel_index(flat, x.shape)] for flat in entries)
        return _in_float64(one - two)

    def _keep(self, place: int, cotangent: torch.Tensor) -> None:
        # A reduction's has axes of one entry that the result lacks.
        every = cotangent.reshape(self._shapes[place])[self._every[place]]
        sums = np.add.reduceat(_in_float64(every).reshape(-1), self._starts[place])
        self.cotangents[self._numbers[place]] = sums


def _point(kink: Kink, args: tuple) -> float | torch.Tensor:
    """A tensor to which the first one is compared; 0 where it is compared to numbers."""
    return kink.points(args)[0] if kink.varies(args) else 0.0


def _without_infinities(values: np.ndarray) -> np.ndarray:
    """The values with zeros for what is not finite; overwrites them."""
    return np.nan_to_num(values, copy=False, nan=0.0, posinf=0.0, neginf=0.0)


def _in_float64(values: torch.Tensor) -> np.ndarray:
    return values.double().cpu().numpy()


FACTORS = (aten.sgn.default, aten.ge.Scalar, aten.le.Scalar, aten.eq.Tensor)
"""Backward passes of several operators begin with them: a factor or a mask of the cotangent."""

FACTOR_OF = {aten.mul.Tensor: 1, aten.where.self: 0}
"""Operator that uses a factor or a mask -> the position of it."""

THROUGH: dict[Any, Callable[..., Any]] = {
    aten.mul.Tensor: lambda mask, one, two: two if one is mask else one,
    aten.where.self: lambda _, __, one, two: one - two,
    aten.masked_fill.Scalar: lambda _, x, __, value: value - x,
}
"""Operator that uses the result of a comparison -> what it gives where that is true, less what it
gives where it is false. Its own arguments follow the comparison's result."""

_BENDS: tuple[Kink | Choice, ...] = (*KINKS.values(), *CHOICES.values())
BACKWARD = {
    each.backward: each.position
    for each in _BENDS
    if each.backward and each.backward not in FACTORS
}
"""Backward operator -> the position of the argument that the forward operator kept for it."""


def _kept_by(bent: Kink | Choice, args: tuple, results: tuple, copy: torch.Tensor) -> tuple:
    """What tells the tensor that an operator keeps for its backward pass.

    copy: of an input that is overwritten.
    """
    if isinstance(bent, Choice):
        return _key(bent.backward, results[bent.made])
    kept = {"input": args[0], "result": results[0], "copy": copy}[bent.keeps]
    return _key(bent.backward, kept)


def _key(func, tensor: torch.Tensor) -> tuple:
    """A view of all elements, such as one with an axis more, has the same one."""
    return func, tensor.data_ptr(), tensor.numel()


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

        Those of which less than `PART` shows are left out: their changes are large, so that chance
        alone makes them point somewhere.

        trace: a run that made flips. chosen: the numbers of flips that are known; none of them is
        returned. Takes a run and a pass forward, and `DRAWN` more of these the first time.
        """
        here, flipped = Reached(self.near), [number in chosen for number in range(len(self.near))]
        run = self.measurement.run(watch=_within(self.near, flipped, here))
        apart = {
            name: _without_infinities((trace[name].astype(np.float64) - run[name]) / unit)
            for name, unit in self.units.items()
            if np.shape(trace[name]) == run[name].shape
        }
        products, squares = self._products(apart, here, flipped), self._squares(run, here, flipped)
        # The share of the squared difference that is along the flip's change.
        explained = products**2 / np.maximum(squares, 1.0)
        explained[~((products > 0.0) & (products >= PART * squares))] = 0.0
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
        rises = [f.operator not in CHOOSING and f.other > f.taken for f in self.near]
        slopes = (moved.quantities - here.quantities) / step
        return np.where(rises, 1.0, -1.0) * here.gains * slopes * here.cotangents

    def _split(self, along: Mapping[str, np.ndarray]) -> tuple[Trace, Trace]:
        """How inputs, and how weights are moved along the gradients, each by its own name.

        Overwrites `along`.
        """
        inputs = {tensors.input_gradient(n): n for n in self.measurement.sample.arguments.names}
        prefix = tensors.parameter_gradient("")
        moves: tuple[Trace, Trace] = ({}, {})
        for name, values in along.items():
            of_weight = name not in inputs
            own = name.removeprefix(prefix) if of_weight else inputs[name]
            moves[of_weight][own] = values = np.asarray(values)
            values /= self.units[name]
        return moves


def _within(
    near: Sequence[Flip], flipped: Sequence[bool], reached: Reached
) -> contextlib.AbstractContextManager[None]:
    """The context of a run with these flips that `reached` watches."""
    taken = list(itertools.compress(near, flipped))
    return installed(reached, ChosenBranches(taken, [True] * len(taken)))


def _norm(arrays: Iterable[np.ndarray]) -> float:
    """The Euclidean norm of all elements."""
    return math.hypot(*(float(np.linalg.norm(np.asarray(each).reshape(-1))) for each in arrays))
