"""Weights that have another shape on the other side.

TensorFlow keeps its kernels with the inputs in front of the outputs, and those of a depthwise
convolution by channel and multiplier. MindSpore's Conv1d has a fourth dimension, of size one.
"""

from collections.abc import Iterable
from dataclasses import replace

from equivalence.convert.formats import Weight

# Rank -> axes: IO -> OI, WIO -> OIW, HWIO -> OIHW, DHWIO -> OIDHW.
HWIO = {2: (1, 0), 3: (2, 1, 0), 4: (3, 2, 0, 1), 5: (4, 3, 0, 1, 2)}


def turn(weights: dict[str, Weight], kernels: Iterable[str], depthwise: set[str]) -> None:
    """Turn TensorFlow's kernels, in place.

    depthwise: those of convolutions with a group per input channel, H,W,C,multiplier where they
    are TensorFlow's DepthwiseConv2D, and H,W,1,outputs where they are its Conv2D with groups.
    """
    for name in kernels:
        if name not in weights or len(weights[name].shape) not in HWIO:
            continue
        weight = weights[name]
        if name in depthwise and len(weight.shape) == 4 and weight.shape[2] > 1:
            height, width, channels, multiplier = weight.shape
            turned = weight.values.transpose(2, 3, 0, 1)
            turned = turned.reshape(channels * multiplier, 1, height, width)
        else:
            turned = weight.values.transpose(HWIO[len(weight.shape)])
        weights[name] = replace(weight, values=turned.copy(order="C"))


def unflattened(weight: Weight) -> Weight:
    """A kernel over one dimension as MindSpore has it: O,I,W -> O,I,1,W."""
    if len(weight.shape) != 3:
        return weight
    outputs, inputs, width = weight.shape
    return replace(weight, values=weight.values.reshape(outputs, inputs, 1, width))


def flattened(weight: Weight) -> Weight:
    """A kernel over one dimension as PyTorch has it: O,I,1,W -> O,I,W."""
    if len(weight.shape) != 4 or weight.shape[2] != 1:
        return weight
    outputs, inputs, _, width = weight.shape
    return replace(weight, values=weight.values.reshape(outputs, inputs, width))
