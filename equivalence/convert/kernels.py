"""Weights whose shape differs on the other side.

TensorFlow keeps kernels with the inputs before the outputs, and the kernels of a depthwise
convolution by channel and multiplier. MindSpore's Conv1d has a fourth axis, of length one.
"""

from collections.abc import Iterable
from dataclasses import replace

from equivalence.checkpoints.formats import Weight

HWIO = {2: (1, 0), 3: (2, 1, 0), 4: (3, 2, 0, 1), 5: (4, 3, 0, 1, 2)}
"""Rank -> order of the axes: IO -> OI, WIO -> OIW, HWIO -> OIHW, DHWIO -> OIDHW."""


def transpose_kernels(
    weights: dict[str, Weight], kernels: Iterable[str], depthwise: set[str]
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


def add_height(weight: Weight) -> Weight:
    """A kernel over one dimension in MindSpore's shape: (O, I, W) -> (O, I, 1, W)."""
    if len(weight.shape) != 3:
        return weight
    outputs, inputs, width = weight.shape
    return replace(weight, values=weight.values.reshape(outputs, inputs, 1, width))


def drop_height(weight: Weight) -> Weight:
    """A kernel over one dimension in PyTorch's shape: (O, I, 1, W) -> (O, I, W)."""
    if len(weight.shape) != 4 or weight.shape[2] != 1:
        return weight
    outputs, inputs, _, width = weight.shape
    return replace(weight, values=weight.values.reshape(outputs, inputs, width))
