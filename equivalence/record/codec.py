"""A reference as a record holds it: arrays by name, and the rest as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from equivalence.judge.expected import Expected, Faint
from equivalence.judge.sketch import Sketch
from equivalence.judge.truth import Flip, Truth, Undecided
from equivalence.randomness.layers import RandomLayer
from equivalence.reach import decision
from equivalence.reach.decision import REFERENCE, Reach
from equivalence.sample import Sample
from equivalence.structure.weights import Slot
from equivalence.truth.known import Reference

Arrays = dict[str, np.ndarray]
TRUTH, SHIFT, FAINT = "truth", "shift", "faint"
"""Ends of the names of arrays."""

UNDECIDED = ("at", "low", "high", "truth")
"""Fields of `Undecided` that are arrays."""

FIGURES = ("spread", "spread_peak", "own_error", "own_worst")
"""Fields of `Expected` and of `Faint` that are written as one list."""

OLDER = "its record is older"
"""Why the reach of a recorded reference is not known."""


def encode(reference: Reference) -> tuple[Arrays, dict[str, Any]]:
    """The arrays of a reference, named "TENSOR/FIELD", and everything else as JSON."""
    sample, expected = reference.sample, reference.expected
    arrays = {f"{name}/{TRUTH}": each.truth for name, each in expected.items()}
    arrays |= {f"{name}/{SHIFT}": np.asarray(shift) for name, shift in sample.shifts.items()}
    for name, undecided in expected.undecided.items():
        arrays |= {f"{name}/undecided.{field}": getattr(undecided, field) for field in UNDECIDED}
    tensors = {}
    for name, each in expected.items():
        tensors[name] = {"dtype": each.dtype, "figures": _figures(each)}
        if each.sketch:
            tensors[name]["sketch"] = [each.sketch.shape, each.sketch.key]
        if each.faint:
            arrays[f"{name}/{FAINT}"] = each.faint.at
            tensors[name]["faint"] = _figures(each.faint)
    return arrays, {
        "redraw": sample.redraw,
        "rows": sample.rows_redrawn,
        "slots": {name: [slot.shape, slot.kind] for name, slot in reference.slots.items()},
        "random_layers": reference.random_layers,
        "multiplies": reference.multiplies,
        "tensors": tensors,
        "undecided": {name: each.shape for name, each in expected.undecided.items()},
        "near": [asdict(flip) for flip in expected.near],
    } | _optional(reference)


def _optional(reference: Reference) -> dict[str, Any]:
    """What not every record has."""
    expected = reference.expected
    told: dict[str, Any] = {"forward_only": True} if expected.forward_only else {}
    if reference.written:
        told["written"] = reference.written
    if expected.reach is not None:
        told["reach"] = decision.encode(expected.reach)
    return told


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
    expected = Truth()
    for name, tensor in rest["tensors"].items():
        sketch = tensor.get("sketch")
        if sketch:
            sketch = Sketch(tuple(sketch[0]), tuple(sketch[1]))
        values = arrays[f"{name}/{TRUTH}"]
        faint = None
        if "faint" in tensor:
            faint = _faint(values, arrays[f"{name}/{FAINT}"], tensor["faint"])
        figures = _named(tensor["figures"])
        expected[name] = Expected(values, tensor["dtype"], sketch=sketch, faint=faint, **figures)
    expected.near = tuple(map(_flip, rest["near"]))
    expected.forward_only = rest.get("forward_only", False)
    older = Reach.of((), **{REFERENCE: OLDER})
    expected.reach = decision.decode(rest["reach"]) if "reach" in rest else older
    expected.undecided = {
        name: Undecided(
            **{field: arrays[f"{name}/undecided.{field}"] for field in UNDECIDED},
            shape=tuple(shape),
        )
        for name, shape in rest["undecided"].items()
    }
    return Reference(
        sample,
        slots,
        [RandomLayer(*each) for each in rest["random_layers"]],
        expected,
        written=tuple(rest.get("written", ())),
    )


def _figures(part: Expected) -> list[float]:
    return [getattr(part, figure) for figure in FIGURES]


def _named(figures: Sequence[float]) -> dict[str, Any]:
    """Figures by their names. Raises ValueError for too many or too few."""
    return dict(zip(FIGURES, figures, strict=True))


def _flip(fields: Mapping[str, Any]) -> Flip:
    also = tuple(map(tuple, fields.get("also", ())))
    return Flip(**{**fields, "index": tuple(fields["index"]), "also": also})


def _faint(truth: np.ndarray, at: np.ndarray, figures: Sequence[float]) -> Faint:
    """The faint elements of a tensor. Raises IndexError where the tensor has no such element."""
    values = truth.reshape(-1)[at]
    return Faint(values, str(truth.dtype), at=at, whole_shape=truth.shape, **_named(figures))
