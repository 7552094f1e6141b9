"""The candidates of `cloud_pt`: a right one, and one whose BatchNorm has another epsilon.

A BatchNorm1d of MindSpore takes rows.
"""

from mindspore import nn, ops


class Cloud(nn.Cell):
    """N,3,points -> N,4."""

    eps = 1e-5

    def __init__(self):
        super().__init__()
        layers = []
        for channels in (3, 32, 32):
            layers.append(nn.Conv1d(channels, 32, 1, has_bias=True))
            layers += [nn.BatchNorm1d(32, eps=self.eps), nn.ReLU()]
        self.features = nn.CellList(layers)
        self.classifier = nn.Dense(32, 4)

    def construct(self, x):
        for layer in self.features:
            if isinstance(layer, nn.BatchNorm1d):
                n, channels, points = x.shape
                rows = layer(x.transpose(0, 2, 1).reshape(n * points, channels))
                x = rows.reshape(n, points, channels).transpose(0, 2, 1)
            else:
                x = layer(x)
        return self.classifier(ops.amax(x, 2))


class Damped(Cloud):
    """Each BatchNorm adds more to the variance."""

    eps = 2e-5
