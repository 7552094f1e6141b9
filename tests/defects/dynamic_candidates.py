"""Cells of dynamic shapes with a mistake; most are right at the size that was tried first."""

import mindspore as ms
from mindspore import nn, ops

from ms_models import dynamic, substitutions


class BoundFromZero(dynamic.Slice):
    """Bounds from the end are taken for zero."""

    def construct(self, x, start, stop):
        return x[ops.maximum(start, ops.zeros_like(start)) : stop]


class CountOfFirst(dynamic.TopK):
    """k is the number that was exported."""

    def construct(self, x, _):
        values, places = ops.topk(x, 3)
        return values, places.astype(ms.int64)


class Ascending(dynamic.TopK):
    def construct(self, x, k):
        values, places = super().construct(x, k)
        return ops.flip(values, (1,)), ops.flip(places, (1,))


class DistinctRows(dynamic.Gather):
    """Each row once, in their order."""

    def construct(self, x, rows):
        return super().construct(x, ops.unique(rows)[0])


class LastSegments(dynamic.SegmentReductions):
    """What lies beyond the segments of the first size goes to the last of them."""

    def construct(self, x, segments, count):
        return super().construct(x, ops.minimum(segments, ops.full_like(segments, 3)), count)


class SortedSegments(dynamic.SegmentReductions):
    """The numbers of the segments in ascending order, the rows as they were."""

    def construct(self, x, segments, count):
        ordered = ops.sort(segments.astype(ms.float32))[0].astype(ms.int32)
        return super().construct(x, ordered, count)


class AxisOfFirst(dynamic.Reductions):
    def construct(self, x, axis):
        return super().construct(x, ops.zeros_like(axis))


class MeanOfFirst(dynamic.Reductions):
    """The mean divides by the length of the first size's axis."""

    def construct(self, x, axis):
        total, _, largest, smallest = super().construct(x, axis)
        return total, total / 3, largest, smallest


class InverseOrder(dynamic.Transpose):
    def construct(self, x, order):
        return super().construct(x, ops.argsort(order.astype(ms.float32)))


class FirstAppearance(dynamic.Unique):
    """The values in the order of their first appearance, as MindSpore's operator has them."""

    def construct(self, x):
        values, places = ops.unique(x)
        return values.astype(ms.int64), places.astype(ms.int64)


class NotSelected(dynamic.MaskedSelect):
    def construct(self, x):
        return ops.masked_select(x, x <= 0)


class SelectedInPlace(dynamic.MaskedSelect):
    """Of fixed length: what is not selected is zero."""

    def construct(self, x):
        return ops.where(x > 0, x, 0 * x).reshape(-1)


class IndicesByColumn(dynamic.NonZero):
    """A row for each axis, as NumPy's."""

    def construct(self, x):
        places, counts = super().construct(x)
        return places.T, counts


class BranchesExchanged(dynamic.Sampler):
    def construct(self, x, scores):
        chosen, _ = super().construct(x, scores)
        return chosen, ops.where((scores > 0).expand_dims(1), -x, x)


class AllForAny(dynamic.Branch):
    def construct(self, x, limit):
        if (x > limit).all():
            return ops.masked_select(x, x > limit)
        return ops.zeros_like(x)


class TracedLoop(dynamic.Halved):
    """As often as the loop ran when the network was traced."""

    def construct(self, x):
        for _ in range(1):
            x = 0.5 * x
        return x


class ConstantMap(dynamic.ConvBlock):
    """Divides by the size that the map had first."""

    def construct(self, x):
        x = self.relu(self.bn(self.conv(x)))
        return self.fc(x.sum((2, 3)) / 12)


class KeptMean(nn.Cell):
    """The mean over a map of the size that comes first."""

    size = None

    def construct(self, x):
        if self.size is None:
            self.size = x.shape[2] * x.shape[3]
        return x.sum((2, 3)) / self.size


class KeptMap(dynamic.ConvBlock):
    def __init__(self, planes: int, classes: int):
        super().__init__(planes, classes)
        self.mean = KeptMean()

    def construct(self, x):
        return self.fc(self.mean(self.relu(self.bn(self.conv(x)))))


class AttendsPadding(dynamic.Encoder):
    """All of a batch are as long as the longest."""

    def construct(self, x, lengths):
        return super().construct(x, ops.full_like(lengths, 100))


class LengthOfFirst(dynamic.Encoder):
    """The mask of the first sequence for all."""

    def construct(self, x, lengths):
        return super().construct(x, ops.zeros_like(lengths) + lengths[0])


class ScaledByLength(dynamic.Encoder):
    """Scores are divided by the root of the length, not of the head's width."""

    def split(self, x):
        return super().split(x) * (self.width / self.heads / x.shape[1]) ** 0.25


# Substitutions that are not equivalent.


class TurnedSort(substitutions.SortByTopK):
    def construct(self, x):
        values, places = ops.topk(x, x.shape[-1])
        return ops.flip(values, (1,)), ops.flip(places, (1,)).astype(ms.int64)


class FixedWindows(substitutions.AdaptiveMeanPool):
    """The rows and columns that are left over do not count."""

    def construct(self, x):
        down, across = self.output_size
        _, _, height, width = x.shape
        return super().construct(x[:, :, : height // down * down, : width // across * across])


class WindowsFirst(substitutions.Unfold):
    def construct(self, x):
        found = super().construct(x)
        rows, channels = x.shape[:2]
        split = found.reshape(rows, channels, -1, found.shape[-1])
        return split.swapaxes(1, 2).reshape(found.shape)


class Symmetric(substitutions.Padded):
    def construct(self, x):
        constant, _, *others = super().construct(x)
        left, right, top, bottom = self.padding
        sides = [x[..., :left].flip((3,)), x, x[..., x.shape[-1] - right :].flip((3,))]
        x = ops.cat(sides, 3)
        sides = [x[:, :, :top].flip((2,)), x, x[:, :, x.shape[2] - bottom :].flip((2,))]
        return constant, ops.cat(sides, 2), *others
