"""A reference as a record holds it: arrays by name, and the rest as JSON."""

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from equivalence.judge.expected import Expected, Faint
from equivalence.judge.sketch import Sketch
from equivalence.judge.truth import Flip, Truth, Undecided
from equivalence.randomness.layers import RandomLayer
from equivalence.sample import Sample
from equivalence.structure.weights import Slot
from equivalence.truth.known import Nearby, Reference

Arrays = dict[str, np.ndarray]
TRUTH, SHIFT, FAINT = "truth", "shift", "faint"
"""Ends of the names of arrays."""

UNDECIDED = ("at", "low", "high", "truth")
"""Fields of `Undecided` that are arrays."""

NUMBERS = ("spread", "spread_peak", "own_error", "own_worst")
"""Fields of `Expected` and of `Faint` that are written as JSON."""

FIGURES = ("dtype", *NUMBERS, "cancelled")
"""Fields of `Expected` that are written as JSON."""


def encode(reference: Reference) -> tuple[Arrays, dict[str, Any]]:
    """The arrays of a reference, named "TENSOR/FIELD", and everything else as JSON."""
    sample, expected, finer = reference.sample, reference.expected, reference.finer
    arrays = {f"{name}/{TRUTH}": each.truth for name, each in expected.items()}
    arrays |= {f"{name}/{SHIFT}": np.asarray(shift) for name, shift in sample.shifts.items()}
    for name, undecided in expected.undecided.items():
        arrays |= {f"{name}/undecided.{field}": getattr(undecided, field) for field in UNDECIDED}
    tensors = {}
    for name, each in expected.items():
        tensors[name] = {"dtype": each.dtype, "cancelled": each.cancelled} | _numbers(each)
        if each.sketch:
            tensors[name]["sketch"] = [each.sketch.shape, each.sketch.key]
        if each.faint:
            arrays[f"{name}/{FAINT}"] = each.faint.at
            tensors[name]["faint"] = _numbers(each.faint)
        if reference.nearby:
            tensors[name]["nearby"] = reference.nearby[name]
        if finer:
            whole, *faint = [[part.spread, part.spread_peak] for part in finer[name].parts]
            tensors[name] |= {"finer": whole, "finer_faint": faint}
    return arrays, {
        "redraw": sample.redraw,
        "rows": sample.rows_redrawn,
        "slots": {name: [slot.shape, slot.kind] for name, slot in reference.slots.items()},
        "random_layers": reference.random_layers,
        "multiplies": reference.multiplies,
        "tensors": tensors,
        "undecided": {name: each.shape for name, each in expected.undecided.items()},
        "near": [asdict(flip) for flip in expected.near],
    }


def decode(arrays: Mapping[str, np.ndarray], rest: Mapping[str, Any], sample: Sample) -> Reference:
    """The reference of a record.

    sample: a freshly drawn sample; it is moved to where the recorded reference had it.

    Raises IndexError, KeyError, TypeError or ValueError if a part is missing or of another type.
    """
    slots = {name: Slot(tuple(shape), kind) for name, (shape, kind) in rest["slots"].items()}
    ending = f"/{SHIFT}"
    sample.restore(
        rest["redraw"],
        [(name, slots[name].shape, rows, number) for name, rows, number in rest["rows"]],
        {n.removesuffix(ending): values for n, values in arrays.items() if n.endswith(ending)},
    )
    expected, finer = Truth(), Truth()
    for name, tensor in rest["tensors"].items():
        sketch = tensor.get("sketch")
        if sketch:
            sketch = Sketch(tuple(sketch[0]), tuple(sketch[1]))
        figures = {figure: tensor[figure] for figure in FIGURES}
        values = arrays[f"{name}/{TRUTH}"]
        faint = None
        if "faint" in tensor:
            faint = _faint(values, arrays[f"{name}/{FAINT}"], tensor["faint"])
        whole = Expected(values, **figures, sketch=sketch, faint=faint)
        for part, told in zip(whole.parts, (tensor, tensor.get("faint")), strict=False):
            part.unrounded = _unrounded(part, told.get("unrounded"))
        expected[name] = whole
        if "finer" in tensor:
            finer[name] = whole.unprobed
            spreads = [tensor["finer"], *tensor.get("finer_faint", [])]
            for part, own in zip(finer[name].parts, spreads, strict=True):
                part.spread, part.spread_peak = own
    for each in (expected, finer):
        each.near = tuple(map(_flip, rest["near"]))
        each.undecided = {
            name: Undecided(
                *(arrays[f"{name}/undecided.{field}"] for field in UNDECIDED), tuple(shape)
            )
            for name, shape in rest["undecided"].items()
        }
    return Reference(
        sample,
        slots,
        [RandomLayer(*each) for each in rest["random_layers"]],
        expected,
        finer or None,
        nearby={n: Nearby(*t["nearby"]) for n, t in rest["tensors"].items() if "nearby" in t},
    )


def _numbers(part: Expected) -> dict[str, Any]:
    """The figures of a part, also those without the rounding of results, where that moves it."""
    numbers = {number: getattr(part, number) for number in NUMBERS}
    if part.unrounded and not part.cancelled:
        numbers["unrounded"] = {number: getattr(part.unrounded, number) for number in NUMBERS}
    return numbers


def _flip(fields: Mapping[str, Any]) -> Flip:
    also = tuple(map(tuple, fields.get("also", ())))
    return Flip(**{**fields, "index": tuple(fields["index"]), "also": also})


def _faint(truth: np.ndarray, at: np.ndarray, told: Mapping[str, Any]) -> Faint:
    """The faint elements of a tensor. Raises IndexError where the tensor has no such element."""
    numbers = {number: told[number] for number in NUMBERS}
    values = truth.reshape(-1)[at]
    return Faint(values, str(truth.dtype), at=at, whole_shape=truth.shape, **numbers)


def _unrounded(part: Expected, told: Mapping[str, float] | None) -> Expected | None:
    """The part as the rounding of results does not move it; None where it moves nothing.

    A gradient that cancels to zero is moved by that rounding alone.
    """
    if part.cancelled:
        return replace(part, spread=0.0, spread_peak=0.0, own_error=math.inf)
    return replace(part, faint=None, **told) if told else None
