"""Cells whose shapes or branches depend on data: bounds, counts, axes and masks are inputs.

Indices come out as int64, PyTorch's type; MindSpore's own is often int32.
"""

import mindspore as ms
from mindspore import nn, ops

from ms_models.conv import conv3x3
from ms_models.norm import batch_norm2d


class Slice(nn.Cell):
    """x[start:stop] with bounds that are tensors: N,C -> stop - start,C."""

    def construct(self, x, start, stop):
        return x[start:stop]


class TopK(nn.Cell):
    """The k largest of each row in descending order, and their places: R,N -> R,k twice."""

    def construct(self, x, k):
        values, places = ops.topk(x, k)
        return values, places.astype(ms.int64)


class Gather(nn.Cell):
    """Rows by their numbers, repeated or left out: N,C and M -> M,C."""

    def construct(self, x, rows):
        return ops.gather(x, rows, 0)


class SegmentReductions(nn.Cell):
    """Sum, largest, smallest and product of the rows of each segment: N,C -> segments,C."""

    def construct(self, x, segments, count):
        count = int(count)  # UnsortedSegmentMax takes no tensor, UnsortedSegmentMin constants alone
        # Of no rows MindSpore's largest is the lowest number, and PyTorch's what it began with: 0.
        empty = ops.unsorted_segment_sum(ops.ones_like(x), segments, count) == 0
        return (
            ops.unsorted_segment_sum(x, segments, count),
            ops.unsorted_segment_max(x, segments, count).masked_fill(empty, 0.0),
            -ops.unsorted_segment_max(-x, segments, count).masked_fill(empty, 0.0),
            ops.unsorted_segment_prod(x, segments, count),
        )


class Reductions(nn.Cell):
    """Sum and mean without the axis, largest and smallest with it kept; the axis is a tensor."""

    def __init__(self):
        super().__init__()
        self.sum, self.mean = ops.ReduceSum(), ops.ReduceMean()
        self.max, self.min = ops.ReduceMax(keep_dims=True), ops.ReduceMin(keep_dims=True)

    def construct(self, x, axis):
        return self.sum(x, axis), self.mean(x, axis), self.max(x, axis), self.min(x, axis)


class Transpose(nn.Cell):
    """The axes of A,B,C in an order that is a tensor of three numbers."""

    def construct(self, x, order):
        return ops.transpose(x, (order[0], order[1], order[2]))


class Unique(nn.Cell):
    """The different values in ascending order, and for each element the place of its own."""

    def construct(self, x):
        values, places = ops.unique(x)  # in the order of their first appearance
        values, order = ops.sort(values.astype(ms.float32))
        ranks = ops.argsort(order.astype(ms.float32))
        return values.astype(ms.int64), ops.gather(ranks, places, 0).astype(ms.int64)


class MaskedSelect(nn.Cell):
    """The positive elements, one after the other."""

    def construct(self, x):
        return ops.masked_select(x, x > 0)


class NonZero(nn.Cell):
    """The indices of the positive elements, a row each, and how many of them are in each row."""

    def construct(self, x):
        return ops.nonzero(x > 0), (x > 0).astype(ms.int64).sum(1)


class Sampler(nn.Cell):
    """The rows whose score is positive, and all rows with the others set to their negative."""

    def construct(self, x, scores):
        rows = ops.nonzero(scores > 0)[:, 0]
        kept = ops.where((scores > 0).expand_dims(1), x, -x)
        return ops.gather(x, rows, 0), kept


class Branch(nn.Cell):
    """The elements above a limit where there are any, otherwise zeros: another length each way."""

    def construct(self, x, limit):
        if (x > limit).any():
            return ops.masked_select(x, x > limit)
        return ops.zeros_like(x)


class Halved(nn.Cell):
    """x, halved until the sum of its squares is at most one: a loop of unknown length."""

    def construct(self, x):
        while (x * x).sum() > 1.0:
            x = 0.5 * x
        return x


class ConvBlock(nn.Cell):
    """Convolution, BatchNorm, ReLU, mean of the map and a linear layer: N,3,H,W -> N,classes."""

    def __init__(self, planes: int, classes: int):
        super().__init__()
        self.conv, self.bn = conv3x3(3, planes, 2), batch_norm2d(planes)
        self.relu, self.fc = nn.ReLU(), nn.Dense(planes, classes)

    def construct(self, x):
        x = self.relu(self.bn(self.conv(x)))
        return self.fc(x.mean((2, 3)))


class Encoder(nn.Cell):
    """A layer of a Transformer's encoder: N,L,width and the N lengths -> N,L,width.

    Attention leaves out what is beyond a sequence's length.
    """

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.width, self.heads = width, heads
        self.query, self.key = nn.Dense(width, width), nn.Dense(width, width)
        self.value, self.out = nn.Dense(width, width), nn.Dense(width, width)
        self.norm1 = nn.LayerNorm([width], epsilon=1e-5)
        self.norm2 = nn.LayerNorm([width], epsilon=1e-5)
        self.linear1, self.linear2 = nn.Dense(width, 2 * width), nn.Dense(2 * width, width)
        self.gelu = nn.GELU(approximate=False)

    def split(self, x):
        """N,L,width -> N,heads,L,width of a head."""
        rows, length = x.shape[:2]
        return x.reshape(rows, length, self.heads, -1).swapaxes(1, 2)

    def construct(self, x, lengths):
        query, key = self.split(self.query(x)), self.split(self.key(x))
        scores = ops.matmul(query, key.swapaxes(2, 3)) * (self.width // self.heads) ** -0.5
        beyond = ops.arange(x.shape[1]) >= lengths.expand_dims(1)
        scores = scores.masked_fill(beyond.expand_dims(1).expand_dims(1), -1e9)
        mixed = ops.matmul(ops.softmax(scores, -1), self.split(self.value(x)))
        x = self.norm1(x + self.out(mixed.swapaxes(1, 2).reshape(x.shape)))
        return self.norm2(x + self.linear2(self.gelu(self.linear1(x))))
