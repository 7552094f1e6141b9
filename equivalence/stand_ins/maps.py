"""Stand-ins for operators that resize maps."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops


def bilinear(x, output_size=None, scales=None, align_corners=False):
    """As `mint.nn.functional.interpolate` with mode "bilinear"."""
    return _resized(x, output_size, scales, align_corners, "linear", below=0.0)


def bicubic(x, output_size=None, scales=None, align_corners=False):
    """As `mint.nn.functional.interpolate` with mode "bicubic"."""
    return _resized(x, output_size, scales, align_corners, "cubic", below=-math.inf)


def _resized(x, output_size, scales, corners, kernel, below):
    """A map times a matrix for each of its two axes."""
    scales = scales or (None, None)
    matrices = []
    for axis in range(2):
        size, scale = x.shape[2 + axis], scales[axis]
        wanted = output_size[axis] if output_size else int(size * scale)
        weights = _weights(size, wanted, scale, corners, kernel, below)
        matrices.append(ops.cast(weights, x.dtype))
    return ops.matmul(matrices[0], ops.matmul(x, matrices[1].swapaxes(0, 1)))


@ops.constexpr
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
        np.add.at(weights, (np.arange(wanted), place), KERNELS[kernel](np.abs(at - first - near)))
    return ms.Tensor(weights)


def _linear(distance):
    return np.maximum(1.0 - distance, 0.0)


def _cubic(distance, a=-0.75):
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = a * (((distance - 5) * distance + 8) * distance - 4)
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


KERNELS = {"linear": _linear, "cubic": _cubic}
"""By name, since the compiler takes no function as a constant."""
