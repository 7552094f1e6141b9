"""The candidates of `cloud_pt`: a right one, and one whose BatchNorm has another epsilon."""

from mindspore import nn, ops

from benchmarks.catalogue.ms.chosen import RowNorm


class Cloud(nn.Cell):
    """N,3,points -> N,4."""

    eps = 1e-5

    def __init__(self):
        super().__init__()
        layers = []
        for channels in (3, 32, 32):
            layers.append(nn.Conv1d(channels, 32, 1, has_bias=True))
            layers += [RowNorm(32, eps=self.eps), nn.ReLU()]
        self.features = nn.SequentialCell(*layers)
        self.classifier = nn.Dense(32, 4)

    def construct(self, x):
        return self.classifier(ops.amax(self.features(x), 2))


class Damped(Cloud):
    """Each BatchNorm adds more to the variance."""

    eps = 2e-5
