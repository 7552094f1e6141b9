"""The candidates of `pooled_pt`: a right one, and one whose mean is too large."""

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
