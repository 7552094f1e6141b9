"""Stand-ins for poolings, unfoldings and paddings of series, maps and volumes.

What all axes have in common is done axis by axis: a window is a stretch of an axis, a padding says
which place of an axis each new place has its value from.
"""

import mindspore as ms
from mindspore import ops

from equivalence.stand_ins.making import per_axis, strides, wide


def _adaptive(length, count):
    """Where adaptive windows begin and end on an axis."""
    return [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def _sliding(length, kernel, stride, padding, ceil_mode):
    """Where sliding windows begin and end on an axis, padding included, and cut at its end."""
    over = length + 2 * padding - kernel
    count = (-(-over // stride) if ceil_mode else over // stride) + 1
    if ceil_mode and (count - 1) * stride >= length + padding:
        count -= 1
    starts = [i * stride - padding for i in range(count)]
    return [(start, min(start + kernel, length + padding)) for start in starts]


def _inside(windows, length):
    """The windows without the padding."""
    return [(max(start, 0), min(end, length)) for start, end in windows]


def _sums(x, axis, windows):
    """The sum of each window of an axis."""
    parts = [ops.narrow(x, axis, start, end - start).sum(axis) for start, end in windows]
    return ops.stack(parts, axis)


def _averaged(x, windows, counted, divisor=None):
    """Averages over the products of the windows of the last axes.

    counted: the windows whose lengths are what is divided by.
    """
    full = wide(x)
    first = x.ndim - len(windows)
    for at, spans in enumerate(windows):
        full = _sums(full, first + at, _inside(spans, x.shape[first + at]))
        if divisor is None:
            lengths = [float(end - start) for start, end in counted[at]]
            shape = (len(lengths),) + (1,) * (x.ndim - first - at - 1)
            full = full / ms.Tensor(lengths, full.dtype).reshape(shape)
    return ops.cast(full if divisor is None else full / divisor, x.dtype)


def _avg_pool(x, count, kernel, stride, padding, ceil_mode, counted, divisor=None):
    stride = strides(stride, kernel, count)
    kernel, padding = per_axis(kernel, count), per_axis(padding, count)
    sides = x.shape[-count:]
    windows = [
        _sliding(sides[i], kernel[i], stride[i], padding[i], ceil_mode) for i in range(count)
    ]
    inside = [_inside(windows[i], sides[i]) for i in range(count)]
    return _averaged(x, windows, windows if counted else inside, divisor)


def avg_pool1d(x, kernel, stride=None, padding=0, ceil_mode=False, counted=True):
    """As `mint.nn.functional.avg_pool1d`."""
    return _avg_pool(x, 1, kernel, stride, padding, ceil_mode, counted)


def avg_pool3d(x, kernel, stride=None, padding=0, ceil_mode=False, counted=True, divisor=None):
    """As `mint.nn.functional.avg_pool3d`."""
    return _avg_pool(x, 3, kernel, stride, padding, ceil_mode, counted, divisor)


def _adaptive_avg_pool(x, sizes):
    sides = x.shape[-len(sizes) :]
    windows = []
    for i in range(len(sizes)):
        kept = sizes[i] is None or sizes[i] < 0
        windows.append(_adaptive(sides[i], sides[i] if kept else sizes[i]))
    return _averaged(x, windows, windows)


def adaptive_avg_pool1d(x, size):
    """As `mint.nn.functional.adaptive_avg_pool1d`."""
    return _adaptive_avg_pool(x, per_axis(size, 1))


def adaptive_avg_pool3d(x, size):
    """As `mint.nn.functional.adaptive_avg_pool3d`."""
    return _adaptive_avg_pool(x, per_axis(size, 3))


def adaptive_max_pool1d(x, size):
    """As `mint.nn.functional.adaptive_max_pool1d`: the largest values, and where they are."""
    values, places = [], []
    for start, end in _adaptive(x.shape[-1], per_axis(size, 1)[0]):
        window = ops.narrow(x, -1, start, end - start)
        at = ops.expand_dims(ops.argmax(window, -1), -1)
        values.append(ops.gather_elements(window, -1, at))
        places.append(at + start)
    return ops.cat(values, -1), ops.cast(ops.cat(places, -1), ms.int64)


def max_unpool2d(x, places, kernel, stride=None, padding=0, size=None):
    """As `mint.nn.functional.max_unpool2d`: zeros, but for values at given places of a map."""
    stride = strides(stride, kernel, 2)
    kernel, padding = per_axis(kernel, 2), per_axis(padding, 2)
    if size in (None, ()):
        size = [(x.shape[i - 2] - 1) * stride[i] - 2 * padding[i] + kernel[i] for i in range(2)]
    flat = (*x.shape[:-2], x.shape[-2] * x.shape[-1])
    zeros = ops.zeros((*x.shape[:-2], size[-2] * size[-1]), x.dtype)
    filled = ops.tensor_scatter_elements(zeros, places.reshape(flat), x.reshape(flat), x.ndim - 2)
    return filled.reshape((*x.shape[:-2], size[-2], size[-1]))


def unfold(x, kernel, dilation=1, padding=0, stride=1):
    """As `mint.nn.functional.unfold`."""
    settings = [per_axis(value, 2) for value in (kernel, dilation, padding, stride)]
    if x.ndim == 3:
        return ops.squeeze(ops.unfold(ops.expand_dims(x, 0), *settings), 0)
    return ops.unfold(x, *settings)


def fold(x, size, kernel, dilation=1, padding=0, stride=1):
    """As `mint.nn.functional.fold`."""
    kernel = per_axis(kernel, 2)
    alone = x.ndim == 2
    if alone:
        x = ops.expand_dims(x, 0)
    batch, rows, columns = x.shape
    area = kernel[0] * kernel[1]
    x = x.reshape((batch, rows // area, area, columns))
    settings = [per_axis(value, 2) for value in (dilation, padding, stride)]
    out = ops.fold(x, ms.Tensor(per_axis(size, 2), ms.int32), kernel, *settings)
    return ops.squeeze(out, 0) if alone else out


def _placed(x, padding, place):
    """The values of other places along the last axes, whose padding is told from the last on."""
    for at in range(len(padding) // 2):
        before, after = padding[2 * at], padding[2 * at + 1]
        axis = x.ndim - 1 - at
        length = x.shape[axis]
        places = [place(i, length) for i in range(-before, length + after)]
        x = ops.gather(x, ms.Tensor(places, ms.int64), axis)
    return x


def _mirrored(place, length):
    return length - 1 - abs(length - 1 - abs(place))


def _nearest(place, length):
    return min(max(place, 0), length - 1)


def reflection_pad(x, padding):
    """As `mint.nn.functional.pad` with `reflect`."""
    return _placed(x, padding, _mirrored)


def replication_pad(x, padding):
    """As `mint.nn.functional.pad` with `replicate`."""
    return _placed(x, padding, _nearest)
