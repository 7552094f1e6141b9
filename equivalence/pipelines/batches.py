"""The batches of a data pipeline as the inputs of a twin."""

from collections.abc import Mapping, Sequence

import numpy as np

from equivalence.declare.batches import Batches
from equivalence.errors import DeclarationError
from equivalence.loaders.stages import BATCH
from equivalence.nesting import Arguments
from equivalence.pipelines.compare import PipelineSides, label
from equivalence.sample import Sample


def draw(
    batches: Batches, name: str, seed: int, dtype: str, given: Mapping[str, np.ndarray]
) -> "BatchSample":
    """The reference pipeline's batches as a sample, whose weights are drawn unless given.

    name: the name of the sample.
    seed: the base seed of the files and the weights.
    given: the weights that are not drawn, as of a `Sample`.
    """
    (items,) = PipelineSides(batches.case, seed).items("reference", BATCH, "float32")
    items_by_step = [
        (*(v for v in item.values() if v is not label(item)), _as_given(label(item)))
        for item in items
    ]
    if (size := batches.together) is not None:
        whole = len(items_by_step) // size * size
        items_by_step = [
            tuple(np.stack(part) for part in zip(*items_by_step[i : i + size], strict=True))
            for i in range(0, whole, size)
        ]
    return BatchSample(name, seed, items_by_step, dtype, given)


def _as_given(label: np.ndarray) -> np.ndarray:
    """Labels as a loss takes them: classes as int32, boxes as they are."""
    return label if label.dtype.kind == "f" else label.astype(np.int32)


class BatchSample(Sample):
    """A sample whose inputs are given, one batch for each step; all else is drawn.

    A batch ends with its labels, which have no gradient and are not perturbed: classes are exact.

    DeclarationError for a step that has no batch.
    """

    def __init__(
        self,
        name: str,
        seed: int,
        batches: Sequence[tuple],
        dtype: str,
        given: Mapping[str, np.ndarray] | None = None,
    ):
        called = Arguments.plain(len(batches[0]) if batches else 0)
        super().__init__(name, seed, [], dtype, called, given)
        self.batches = batches

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        if step > len(self.batches):
            raise DeclarationError(
                f"{self.name}: step {step} has no batch; the pipeline gives {len(self.batches)}"
            )
        return [self._round(values) for values in self.batches[step - 1]]

    @property
    def differentiable(self) -> list[int]:
        return [i for i, values in enumerate(self.batches[0][:-1]) if values.dtype.kind == "f"]

    @property
    def exact(self) -> list[int]:
        return [len(self.batches[0]) - 1]
