"""A training step in which the gradient of a bias is zero in truth."""

from torch import nn

from pt_reference.optim import adam, sgd
from pt_reference.steps import TrainStep, WithLoss


class Normalised(nn.Module):
    """The mean that `first.bias` shifts is taken away again."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Linear(4, 6), nn.BatchNorm1d(6)
        self.last = nn.Linear(6, 3)

    def forward(self, x):
        return self.last(self.norm(self.first(x)).sigmoid())


def step(optimiser: str) -> TrainStep:
    network = WithLoss(Normalised(), nn.CrossEntropyLoss())
    if optimiser == "adam":
        return TrainStep(network, adam(network, 1e-3))
    return TrainStep(network, sgd(network, 0.05))
