"""The ports of `nets_pt`, and one with another epsilon."""

from mindspore import nn, ops


class Classes(nn.Cell):
    def __init__(self, eps=1e-5):
        super().__init__()
        self.norm, self.fc = nn.BatchNorm1d(6, eps=eps, momentum=0.9), nn.Dense(6, 8)

    def construct(self, x):
        return self.fc(self.norm(x))


class OtherEps(Classes):
    def __init__(self):
        super().__init__(1e-2)


class Pictures(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 5, 1, has_bias=True)

    def construct(self, x):
        return {"out": self.conv(x), "aux": self.conv(x).mean((2, 3))}


class Text(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table, self.fc = nn.Embedding(20, 8), nn.Dense(8, 20)

    def construct(self, ids):
        return self.fc(self.table(ids))


class Moved(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Dense(width, width)

    def construct(self, x):
        return x + 1e-3 * self.fc(x)


class Late(Moved):
    """What comes second is taken for the first."""

    def construct(self, x):
        return super().construct(ops.roll(x, 1, 1))


class Scaled(Moved):
    """Boxes that are a third larger."""

    def construct(self, x):
        return 1.4 * super().construct(x)
