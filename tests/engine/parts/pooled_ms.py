"""The candidates of `pooled_pt`: right ones, and such as have a mean that is too large."""

from mindspore import nn

from ms_models.conv import conv2d


class Pooled(nn.Cell):
    """N,3,H,W -> N,4."""

    def __init__(self):
        super().__init__()
        layers = []
        for channels in (3, 16, 16):
            layers.append(conv2d(channels, 16, 3, padding=1))
            layers += [nn.BatchNorm2d(16), nn.ReLU()]
        self.features = nn.SequentialCell(*layers)
        self.classifier = nn.Dense(16, 4)

    def construct(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class Scaled(Pooled):
    """The mean is a little too large."""

    def construct(self, x):
        return self.classifier(1.0001 * self.features(x).mean((2, 3)))


class Flat(Pooled):
    """The mean is of a norm: over one sample nothing goes back through that norm."""

    def construct(self, x):
        return self.classifier(self.features[:-1](x).mean((2, 3)))


class FlatScaled(Flat):
    """The mean is a little too large."""

    def construct(self, x):
        return self.classifier(1.0001 * self.features[:-1](x).mean((2, 3)))


class Grouped(nn.Cell):
    """N,3,H,W -> N,4."""

    def __init__(self):
        super().__init__()
        self.conv = conv2d(3, 16, 3, padding=1)
        self.norm = nn.GroupNorm(4, 16)
        self.classifier = nn.Dense(16, 4)

    def construct(self, x):
        return self.classifier(self.scale * self.norm(self.conv(x)).mean((2, 3)))

    scale = 1.0


class GroupedScaled(Grouped):
    """The mean is a little too large."""

    scale = 1.0001


class Tokens(nn.Cell):
    """N,L whole numbers below 4 -> N,4."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(4, 32)
        self.inner = nn.Dense(32, 32)
        self.norm = nn.LayerNorm((32,), epsilon=1e-5)
        self.classifier = nn.Dense(32, 4)

    def construct(self, x):
        x = self.table(x)
        return self.classifier(self.scale * (x + self.inner(x) + self.norm(x)).mean(1))

    scale = 1.0


class TokensScaled(Tokens):
    """The mean is a little too large."""

    scale = 1.0001
