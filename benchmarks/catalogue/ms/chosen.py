"""A PointNet, channel and spatial attention (CBAM), and a network of maxout units."""

from mindspore import nn, ops

from ms_models.conv import conv2d


class RowNorm(nn.BatchNorm1d):
    """A BatchNorm of N,C,points by rows, which are all that MindSpore's takes."""

    def construct(self, x):
        n, channels, points = x.shape
        rows = super().construct(x.transpose(0, 2, 1).reshape(n * points, channels))
        return rows.reshape(n, points, channels).transpose(0, 2, 1)


class PointNet(nn.Cell):
    """N,3,points -> N,40.

    reduce: "max" or "amax": what takes the largest value over all points.
    """

    def __init__(self, reduce: str):
        super().__init__()
        layers = []
        for into, out in ((3, 64), (64, 128), (128, 256)):
            layers += [nn.Conv1d(into, out, 1, has_bias=True), RowNorm(out), nn.ReLU()]
        self.features, self.reduce = nn.SequentialCell(*layers), reduce
        self.classifier = nn.Dense(256, 40)

    def construct(self, x):
        x = self.features(x)
        return self.classifier(ops.amax(x, 2) if self.reduce == "amax" else ops.max(x, 2)[0])


class CBAM(nn.Cell):
    """N,3,H,W -> N,10."""

    def __init__(self, channels: int):
        super().__init__()
        self.stages = nn.CellList([Attended(into, channels) for into in (3, channels, channels)])
        self.classifier = nn.Dense(channels, 10)

    def construct(self, x):
        for stage in self.stages:
            x = stage(x)
        return self.classifier(x.mean((2, 3)))


class Attended(nn.Cell):
    """A convolution whose result is weighted by channel, and then by position."""

    def __init__(self, into: int, channels: int):
        super().__init__()
        self.conv = conv2d(into, channels, 3, padding=1, bias=True)
        self.norm = nn.BatchNorm2d(channels)
        self.squeeze = nn.Dense(channels, channels // 8)
        self.excite = nn.Dense(channels // 8, channels)
        self.spatial = conv2d(2, 1, 7, padding=3, bias=True)

    def _by_channel(self, pooled):
        return self.excite(ops.relu(self.squeeze(pooled)))

    def construct(self, x):
        x = ops.silu(self.norm(self.conv(x)))
        weights = self._by_channel(x.mean((2, 3))) + self._by_channel(ops.amax(x, (2, 3)))
        x = x * ops.sigmoid(weights).expand_dims(2).expand_dims(3)
        both = x.mean(1, keep_dims=True), ops.max(x, 1, keepdims=True)[0]
        return x * ops.sigmoid(self.spatial(ops.cat(both, 1)))


class Maxout(nn.Cell):
    """N,3,H,W -> N,10."""

    def __init__(self, channels: int):
        super().__init__()
        wide = 2 * channels
        into = (3, channels, channels, channels)
        self.convs = nn.CellList([conv2d(each, wide, 3, padding=1, bias=True) for each in into])
        self.norms = nn.CellList([nn.BatchNorm2d(wide) for _ in into])
        self.classifier = nn.Dense(channels, 10)

    def construct(self, x):
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = ops.maximum(*ops.chunk(norm(conv(x)), 2, 1))
        return self.classifier(x.mean((2, 3)))
