"""Layers with a BatchNorm, and a mean over all positions: its gradient is the same at each."""

from torch import nn


class Pooled(nn.Module):
    """N,3,H,W -> N,4."""

    def __init__(self):
        super().__init__()
        layers: list[nn.Module] = []
        for channels in (3, 16, 16):
            layers.append(nn.Conv2d(channels, 16, 3, padding=1, bias=False))
            layers += [nn.BatchNorm2d(16), nn.ReLU()]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(16, 4)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class Flat(Pooled):
    """The mean is of a norm: over one sample nothing goes back through that norm."""

    def forward(self, x):
        return self.classifier(self.features[:-1](x).mean((2, 3)))
