"""Stand-ins for operators that resize, unfold and spread maps."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from equivalence.stand_ins.layers import adaptive_avg_pool2d, avg_pool2d, conv2d, pair


def bilinear(x, output_size=None, scales=None, align_corners=False):
    """As `mint.nn.functional.interpolate` with mode "bilinear"."""
    return _resized(x, output_size, scales, align_corners, _linear, below=0.0)


def bicubic(x, output_size=None, scales=None, align_corners=False):
    """As `mint.nn.functional.interpolate` with mode "bicubic"."""
    return _resized(x, output_size, scales, align_corners, _cubic, below=-math.inf)


def _resized(x, output_size, scales, corners, kernel, below):
    """A map times a matrix for each of its two axes."""
    scales = scales or (None, None)
    sizes = output_size or [int(n * scale) for n, scale in zip(x.shape[2:], scales, strict=True)]
    down, across = (
        ms.Tensor(_weights(size, wanted, scale, corners, kernel, below), x.dtype)
        for size, wanted, scale in zip(x.shape[2:], sizes, scales, strict=True)
    )
    return ops.matmul(down, ops.matmul(x, across.swapaxes(0, 1)))


def _weights(size, wanted, scale, corners, kernel, below):
    """How much of each place of an axis goes to each place that is wanted."""
    if corners:
        at = np.arange(wanted) * ((size - 1) / max(wanted - 1, 1))
    else:
        step = 1.0 / scale if scale else size / wanted
        at = np.maximum((np.arange(wanted) + 0.5) * step - 0.5, below)
    first = np.floor(at)
    weights = np.zeros((wanted, size), np.float32)
    for near in (-1, 0, 1, 2):
        place = np.clip(first + near, 0, size - 1).astype(int)
        np.add.at(weights, (np.arange(wanted), place), kernel(np.abs(at - first - near)))
    return weights


def _linear(distance):
    return np.maximum(1.0 - distance, 0.0)


def _cubic(distance, a=-0.75):
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = a * (((distance - 5) * distance + 8) * distance - 4)
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


def unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    """As `mint.nn.functional.unfold`."""
    (rows, columns), (down, across) = pair(kernel_size), pair(dilation)
    (up, left), (step, stride_across) = pair(padding), pair(stride)
    x = ops.pad(x, (left, left, up, up))
    height = (x.shape[2] - down * (rows - 1) - 1) // step + 1
    width = (x.shape[3] - across * (columns - 1) - 1) // stride_across + 1
    patches = []
    for row in range(rows):
        for column in range(columns):
            lines = ops.range(0, height, 1) * step + row * down
            places = ops.range(0, width, 1) * stride_across + column * across
            patches.append(ops.gather(ops.gather(x, lines, 2), places, 3))
    return ops.stack(patches, 2).reshape((x.shape[0], -1, height * width))


def conv_transpose2d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """As `mint.nn.functional.conv_transpose2d`: a convolution of the map with zeros in between."""
    steps, around, more, apart = pair(stride), pair(padding), pair(output_padding), pair(dilation)
    x = input
    for axis, step in zip((2, 3), steps, strict=True):
        shape = x.shape
        spread = ops.expand_dims(x, axis + 1)
        zeros = [ops.fill(x.dtype, spread.shape, 0)] * (step - 1)
        x = ops.cat([spread, *zeros], axis + 1)
        x = x.reshape((*shape[:axis], shape[axis] * step, *shape[axis + 1 :]))
    ends = []
    for axis in (1, 0):
        before = apart[axis] * (weight.shape[2 + axis] - 1) - around[axis]
        ends += [before, before + more[axis] - steps[axis] + 1]
    x = _padded(x, ends)
    inside, out = weight.shape[0] // groups, weight.shape[1]
    turned = ops.flip(weight, (2, 3)).reshape((groups, inside, out, *weight.shape[2:]))
    turned = turned.swapaxes(1, 2).reshape((groups * out, inside, *weight.shape[2:]))
    return conv2d(x, turned, bias, 1, 0, apart, groups)


def _padded(x, ends):
    """A map with zeros around it, or cut where there are fewer than none."""
    x = ops.pad(x, tuple(max(end, 0) for end in ends))
    left, right, up, down = (max(-end, 0) for end in ends)
    return x[:, :, up : x.shape[2] - down, left : x.shape[3] - right]


def avg_pool1d(x, kernel, stride=None, padding=0, ceil_mode=False, counted=True):
    """As `mint.nn.functional.avg_pool1d`: a map of one row."""
    kernel, padding = _one(kernel), _one(padding)
    stride = kernel if stride in (None, ()) else _one(stride)
    flat = ops.expand_dims(x, -2)
    return ops.squeeze(
        avg_pool2d(flat, (1, kernel), (1, stride), (0, padding), ceil_mode, counted), -2
    )


def adaptive_avg_pool1d(x, size):
    """As `mint.nn.functional.adaptive_avg_pool1d`."""
    return ops.squeeze(adaptive_avg_pool2d(ops.expand_dims(x, -2), (1, _one(size))), -2)


def _one(value):
    return value if isinstance(value, int) else value[0]
