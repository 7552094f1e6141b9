"""Layers of two axes for layers of one, and dense ones for convolutions; right and wrong."""

from mindspore import nn, ops


def _along(before: int, after: int, ahead: int, behind: int) -> nn.Conv2d:
    padding = (0, 0, ahead, behind)
    return nn.Conv2d(before, after, (1, 3), pad_mode="pad", padding=padding, has_bias=True)


class Line(nn.Cell):
    """N,4,L -> N,6,L. shift: of the first convolution; factor: of what its norm gives."""

    def __init__(self, shift: int = 0, factor: float = 1.0):
        super().__init__()
        self.conv, self.norm = _along(4, 8, 1 - shift, 1 + shift), nn.BatchNorm2d(8)
        self.last, self.factor = _along(8, 6, 1, 1), factor

    def construct(self, x):
        y = ops.relu(self.norm(self.conv(x[:, :, None])))
        return self.last(y * self.factor)[:, :, 0]


def shifted() -> Line:
    """The first convolution pads on one side alone."""
    return Line(shift=1)


def shifted_and_scaled() -> Line:
    """And what its norm gives is scaled."""
    return Line(shift=1, factor=1.25)


class Pixels(nn.Cell):
    """N,4,H,W -> N,4,H,W, with channels last in the first layer."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Dense(4, 8)
        self.conv = nn.Conv2d(8, 4, 3, pad_mode="pad", padding=1, has_bias=True)

    def construct(self, x):
        y = self.mix(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        return self.conv(ops.relu(y))


class Flat(Pixels):
    """The same, with all pixels in rows, and the wrong activation of a dense layer."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Dense(4, 8, activation="relu6")

    def construct(self, x):
        n, c, h, w = x.shape
        y = self.mix(x.transpose(0, 2, 3, 1).reshape(-1, c) * 4.0)
        return self.conv(ops.relu(y.reshape(n, h, w, 8).transpose(0, 3, 1, 2)))
