"""Networks that draw random numbers while they are trained."""

from mindspore import nn, ops


class Classifier(nn.Cell):
    """A convolution and two dense layers, with dropout of channels, in a function, in a layer."""

    def __init__(self, channels: int = 6, width: int = 10, p: float = 0.3):
        super().__init__()
        self.p = p
        self.conv = nn.Conv2d(3, channels, 3, pad_mode="pad", padding=1, has_bias=True)
        self.drop_channels = nn.Dropout2d(p)
        self.hidden = nn.Dense(channels, width)
        self.drop = nn.Dropout(p=p)
        self.head = nn.Dense(width, 5)

    def construct(self, x):
        x = self.drop_channels(self.conv(x)).mean((2, 3))
        x = self.drop_hidden(ops.sigmoid(self.hidden(x)))
        return self.head(self.drop(x))

    def drop_hidden(self, x):
        """Dropout as a function."""
        return ops.dropout(x, 0.5 * self.p, self.training)


class DropPath(nn.Cell):
    """Zeroes the whole of some samples, and divides the others by the share that is kept."""

    def __init__(self, p: float):
        super().__init__()
        self.p = p

    def construct(self, x):
        if not self.training:
            return x
        keep = 1.0 - self.p
        mask = ops.rand((x.shape[0],) + (1,) * (x.ndim - 1)) < keep
        return x * mask.astype(x.dtype) / keep


class Residual(nn.Cell):
    """Two branches of a sigmoid layer, each of which a sample may skip."""

    def __init__(self, width: int = 8, p: float = 0.2):
        super().__init__()
        self.first, self.second = nn.Dense(width, width), nn.Dense(width, width)
        self.path1, self.path2 = DropPath(p), DropPath(0.5 * p)

    def construct(self, x):
        x = x + self.path1(ops.sigmoid(self.first(x)))
        return x + self.path2(ops.sigmoid(self.second(x)))


class MaskedResidual(Residual):
    """Skips by the dropout of a mask of ones, one for each sample."""

    def __init__(self, width: int = 8, p: float = 0.2):
        super().__init__(width, p)
        self.path1, self.path2 = nn.Dropout(p=p), nn.Dropout(p=0.5 * p)

    def construct(self, x):
        ones = ops.ones((x.shape[0],) + (1,) * (x.ndim - 1), x.dtype)
        x = x + ops.sigmoid(self.first(x)) * self.path1(ones)
        return x + ops.sigmoid(self.second(x)) * self.path2(ones)
