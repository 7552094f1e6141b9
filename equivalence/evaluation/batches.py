"""A data loader of the user's, as it is: its batches as inputs and labels."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from equivalence import nesting
from equivalence.errors import DeclarationError
from equivalence.nesting import Arguments, Position
from equivalence.own.live import array_of
from equivalence.sample import Sample

LABELS = ("labels", "label", "targets", "target")
"""The keys by which a batch that is a mapping has its labels."""


class Batch(Sample):
    """A sample whose inputs are given: one batch of a data set, forward only.

    Every batch of an evaluation has the same weights, which are drawn by the name unless given.
    """

    def __init__(
        self,
        name: str,
        seed: int,
        dtype: str,
        called: Arguments,
        arrays: list[np.ndarray],
        given: Mapping[str, np.ndarray] | None = None,
    ):
        super().__init__(name, seed, [], dtype, called, given)
        self.arrays = arrays

    def inputs(self, step: int = 1) -> list[np.ndarray]:  # noqa: ARG002
        """The arrays of the batch, floats in the case's dtype."""
        return [self._round(values) for values in self.arrays]

    @property
    def differentiable(self) -> list[int]:
        """None: forward passes alone are compared."""
        return []

    exact = narrow = differentiable


def read(
    batches: Any, most: int | None = None
) -> Iterator[tuple[Arguments, list[np.ndarray], np.ndarray | None]]:
    """How the networks are called, the arrays that they get, and the labels of each batch.

    batches: an iterable, or a function that returns one. A batch is a tuple or list whose last item
        is the labels; a mapping whose `LABELS` are the labels, and whose other keys are keywords of
        the networks; or a single array, which has no labels.
    most: how many batches are read; None: all.

    Raises DeclarationError for what is no such thing, and for no batch at all.
    """
    every = batches() if callable(batches) else batches
    try:
        iterator = iter(every)
    except TypeError:
        raise DeclarationError(
            f"the data is a {type(every).__name__}; name an iterable of batches, such as a "
            "DataLoader, or a function that returns one"
        ) from None
    number = 0
    for number, batch in enumerate(itertools.islice(iterator, most), 1):
        yield _parts(batch, number)
    if not number:
        raise DeclarationError("the data has no batch")


def _parts(batch: Any, number: int) -> tuple[Arguments, list[np.ndarray], np.ndarray | None]:
    inputs, labels = _split(batch)
    arrays: list[np.ndarray] = []

    def place(leaf: Any) -> Any:
        values = array_of(leaf)
        if values is None:
            return leaf
        if values.dtype == np.int64:  # as everywhere: PyTorch gets int64, MindSpore int32
            values = values.astype(np.int32)
        arrays.append(values)
        return Position(len(arrays) - 1)

    if isinstance(inputs, Mapping):
        called = Arguments((), nesting.transform(dict(inputs), place))
    else:
        called = Arguments(tuple(nesting.transform([*inputs], place)))
    if not arrays:
        raise DeclarationError(
            f"batch {number} has no array or tensor among its inputs, but {type(batch).__name__}; "
            "give (inputs, labels), a mapping with labels, or an array"
        )
    return called, arrays, None if labels is None else _labels(labels, number)


def _split(batch: Any) -> tuple[Any, Any]:
    """The inputs, and the labels or None."""
    if isinstance(batch, Mapping):
        key = next((key for key in LABELS if key in batch), None)
        rest = {name: value for name, value in batch.items() if name != key}
        return rest, None if key is None else batch[key]
    if isinstance(batch, tuple | list):
        return (batch[:-1], batch[-1]) if len(batch) > 1 else (batch, None)
    return (batch,), None


def _labels(labels: Any, number: int) -> np.ndarray:
    values = array_of(labels)
    if values is None:
        try:
            values = np.asarray(labels)
        except ValueError:
            values = np.asarray(None)
    if values.dtype.kind not in "iufb":
        raise DeclarationError(
            f"the labels of batch {number} are no array of numbers, but {type(labels).__name__}; "
            "let the last item of a batch be its labels"
        )
    return values
