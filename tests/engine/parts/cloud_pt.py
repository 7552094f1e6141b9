"""Layers on each point of a cloud, with a BatchNorm, and the largest value over all points."""

from torch import nn


class Cloud(nn.Module):
    """N,3,points -> N,4."""

    def __init__(self):
        super().__init__()
        layers: list[nn.Module] = []
        for channels in (3, 32, 32):
            layers += [nn.Conv1d(channels, 32, 1), nn.BatchNorm1d(32), nn.ReLU()]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(32, 4)

    def forward(self, x):
        return self.classifier(self.features(x).amax(2))
