"""What a record holds of a reference: arrays by name, and the rest as JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from equivalence.judge.sketch import Sketch
from equivalence.judge.truth import Flip, Reference, Truth
from equivalence.judge.verdict import Expected
from equivalence.sample import Sample
from equivalence.sides.weights import Slot
from equivalence.truth.undecided import Undecided

Arrays = dict[str, np.ndarray]
TRUTH, SHIFT = "truth", "shift"
UNDECIDED = ("at", "low", "high", "truth")

FIGURES = ("dtype", "spread", "spread_peak", "own_error", "own_worst", "cancelled")


def encode(known: Reference) -> tuple[Arrays, dict[str, Any]]:
    """A reference's arrays, each as "TENSOR/what", and everything else of it."""
    sample, expected, finer = known.sample, known.expected, known.finer
    arrays = {f"{name}/{TRUTH}": each.truth for name, each in expected.items()}
    arrays |= {f"{name}/{SHIFT}": np.asarray(shift) for name, shift in sample.shifts.items()}
    for name, here in expected.undecided.items():
        arrays |= {f"{name}/undecided.{what}": getattr(here, what) for what in UNDECIDED}
    tensors = {}
    for name, each in expected.items():
        tensors[name] = {figure: getattr(each, figure) for figure in FIGURES}
        if each.sketch:
            tensors[name]["sketch"] = [each.sketch.shape, each.sketch.key]
        if finer:
            tensors[name]["finer"] = [finer[name].spread, finer[name].spread_peak]
    return arrays, {
        "redraw": sample.redraw,
        "rows": sample.rows_redrawn,
        "slots": {name: [slot.shape, slot.kind] for name, slot in known.slots.items()},
        "random_layers": known.random_layers,
        "multiplies": known.multiplies,
        "tensors": tensors,
        "undecided": {name: here.shape for name, here in expected.undecided.items()},
        "near": [asdict(flip) for flip in expected.near],
    }


def decode(arrays: Mapping[str, np.ndarray], rest: Mapping[str, Any], sample: Sample) -> Reference:
    """The reference again; `sample` is freshly drawn, and brought to where the reference's was.

    Raises KeyError, TypeError or ValueError where something is missing or of another kind.
    """
    slots = {name: Slot(tuple(shape), kind) for name, (shape, kind) in rest["slots"].items()}
    ending = f"/{SHIFT}"
    sample.restore(
        rest["redraw"],
        [(name, slots[name].shape, rows, number) for name, rows, number in rest["rows"]],
        {n.removesuffix(ending): values for n, values in arrays.items() if n.endswith(ending)},
    )
    expected, finer = Truth(), Truth()
    for name, told in rest["tensors"].items():
        sketch = told.get("sketch")
        if sketch:
            sketch = Sketch(tuple(sketch[0]), tuple(sketch[1]))
        figures = {figure: told[figure] for figure in FIGURES}
        expected[name] = Expected(arrays[f"{name}/{TRUTH}"], **figures, sketch=sketch)
        if "finer" in told:
            figures["spread"], figures["spread_peak"] = told["finer"]
            finer[name] = Expected(arrays[f"{name}/{TRUTH}"], **figures, sketch=sketch)
    for each in (expected, finer):
        each.near = tuple(Flip(**{**f, "index": tuple(f["index"])}) for f in rest["near"])
        each.undecided = {
            name: Undecided(
                *(arrays[f"{name}/undecided.{what}"] for what in UNDECIDED), tuple(shape)
            )
            for name, shape in rest["undecided"].items()
        }
    return Reference(sample, slots, rest["random_layers"], expected, finer or None)
