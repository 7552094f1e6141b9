"""The reference's side of a case, from a run or from a record.

Imports no framework: a host that reads a record needs no torch.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from equivalence.judge.expected import Expected
from equivalence.judge.sketch import WHOLE_SIZE, Sketch
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Flip, Truth
from equivalence.randomness.layers import RandomLayer
from equivalence.randomness.replay import Drawn
from equivalence.sample import Sample
from equivalence.structure.layers import Layer
from equivalence.structure.tables import Tables
from equivalence.structure.weights import Slot


@dataclass
class Reference:
    """The reference's side, which all executions and devices of a sample share.

    sample: the sample, moved off kinks.
    slots: the shape and kind of each weight, by its name.
    random_layers: every draw of random numbers in a run, in order.
    expected: the truth of every tensor.
    may_flip: the activations that may have taken the other branch; None until gradients differ
        alone.
    record: "used" for a reference from a record; "stale" for one that was run since its record is
        out of date; "written" for one that has just been recorded; None without records.
    layers: its layers with their settings; None where it was read from a record.
    drawn: the draws of a run in which each gets its numbers, in order.
    refused: what draws in it without getting numbers, in words.
    written: the names of its constants that a run has written.
    tables: its constants as data, but for those; None where it was read from a record.
    multiplies: whether the reference has convolutions or matrix products; None if it is not
        recorded in this run.
    """

    sample: Sample
    slots: dict[str, Slot]
    random_layers: list[RandomLayer]
    expected: Truth
    may_flip: tuple[Flip, ...] | None = None
    record: str | None = None
    layers: list[Layer] | None = None
    multiplies: bool | None = None
    drawn: tuple[Drawn, ...] = ()
    refused: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    tables: Tables | None = None

    def __post_init__(self) -> None:
        self.sample.forgets = not self.slots.keys() >= {*self.written}

    def without(self, buffers: Iterable[str]) -> "Reference":
        """A copy of the reference without the buffers of these names."""
        return replace(self, expected=self.expected.without(buffers))


def sketch_large(sample: Sample) -> Callable[[Trace], Truth]:
    """The function that makes a record's truth of a trace: it sketches large tensors.

    Small tensors are kept whole, and so is a tensor with a value that is not finite, since its
    sums would not be finite either.
    """

    def expected(name: str, values: np.ndarray) -> Expected:
        summable = values.dtype.kind in "fiub" and np.isfinite(values).all()
        if values.size <= WHOLE_SIZE or not summable:
            return Expected.whole(values)
        sketch = Sketch(values.shape, (sample.seed, sample.name, name))
        return Expected(sketch.of(values), str(values.dtype), sketch=sketch)

    return lambda trace: Truth({name: expected(name, values) for name, values in trace.items()})
