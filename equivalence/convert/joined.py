"""Weights that one side joins, cuts, transposes or reshapes, from one side to the other.

TensorFlow keeps kernels with the inputs before the outputs, and the kernels of a depthwise
convolution by channel and multiplier. MindSpore's Conv1d has a fourth axis, of length one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from equivalence.checkpoints.formats import StoredWeight
from equivalence.errors import WeightError
from equivalence.structure.rearranged import Rearrangement


def to_candidate(
    group: Rearrangement, weights: Mapping[str, StoredWeight]
) -> dict[str, StoredWeight]:
    """The candidate's weights of a group, made of the reference's. Both are by name."""
    return _rearrange(group.to_candidate, group.reference, weights)


def to_reference(
    group: Rearrangement, weights: Mapping[str, StoredWeight]
) -> dict[str, StoredWeight]:
    """The reference's weights of a group, made of the candidate's. Both are by name."""
    return _rearrange(group.to_reference, group.candidate, weights)


def _rearrange(
    rearrange: Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]],
    names: Mapping[str, tuple[int, ...]],
    weights: Mapping[str, StoredWeight],
) -> dict[str, StoredWeight]:
    """Raises WeightError where weights of several dtypes are to be joined."""
    dtypes = list(dict.fromkeys(weights[name].dtype for name in names))
    if len(dtypes) > 1:
        raise WeightError(
            f"{', '.join(names)} belong together and have the dtypes {', '.join(dtypes)}; save "
            "them in one dtype"
        )
    arrays = rearrange({name: weights[name].values for name in names})
    return {name: StoredWeight(dtypes[0], values) for name, values in arrays.items()}


HWIO = {2: (1, 0), 3: (2, 1, 0), 4: (3, 2, 0, 1), 5: (4, 3, 0, 1, 2)}
"""Rank -> order of the axes: IO -> OI, WIO -> OIW, HWIO -> OIHW, DHWIO -> OIDHW."""


def transpose_kernels(
    weights: dict[str, StoredWeight], kernels: Iterable[str], depthwise: set[str]
) -> None:
    """Transpose TensorFlow's kernels, in place.

    kernels: names of the kernels; those that `weights` lacks are skipped.
    depthwise: names of kernels of convolutions with one group for each input channel. They have
    shape (H, W, C, multiplier) in TensorFlow's DepthwiseConv2D, and (H, W, 1, outputs) in its
    Conv2D.
    """
    for name in kernels:
        if name not in weights or len(weights[name].shape) not in HWIO:
            continue
        weight = weights[name]
        if name in depthwise and len(weight.shape) == 4 and weight.shape[2] > 1:
            height, width, channels, multiplier = weight.shape
            values = weight.values.transpose(2, 3, 0, 1)
            values = values.reshape(channels * multiplier, 1, height, width)
        else:
            values = weight.values.transpose(HWIO[len(weight.shape)])
        weights[name] = replace(weight, values=values.copy(order="C"))


def add_height(weight: StoredWeight) -> StoredWeight:
    """A kernel over one dimension in MindSpore's shape: (O, I, W) -> (O, I, 1, W)."""
    if len(weight.shape) != 3:
        return weight
    outputs, inputs, width = weight.shape
    return replace(weight, values=weight.values.reshape(outputs, inputs, 1, width))


def drop_height(weight: StoredWeight) -> StoredWeight:
    """A kernel over one dimension in PyTorch's shape: (O, I, 1, W) -> (O, I, W)."""
    if len(weight.shape) != 4 or weight.shape[2] != 1:
        return weight
    outputs, inputs, _, width = weight.shape
    return replace(weight, values=weight.values.reshape(outputs, inputs, width))
