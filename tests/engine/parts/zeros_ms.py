"""Its twin, and a wrong one."""

from mindspore import nn

from ms_models.optim import corrected_adam
from ms_models.steps import TrainStep, WithLoss


class Normalised(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Dense(4, 6), nn.BatchNorm1d(6)
        self.last = nn.Dense(6, 3)
        self.sigmoid = nn.Sigmoid()

    def construct(self, x):
        return self.last(self.sigmoid(self.norm(self.first(x))))


def step(optimiser: str, rate: float = 1.0) -> TrainStep:
    network = WithLoss(Normalised(), nn.CrossEntropyLoss())
    weights = network.trainable_params()
    if optimiser == "adam":
        return TrainStep(network, corrected_adam(network, 1e-3 * rate, weight_decay=0.0))
    return TrainStep(network, nn.SGD(weights, 0.05 * rate))


def faster(optimiser: str) -> TrainStep:
    """A learning rate that is larger by one part in a thousand."""
    return step(optimiser, 1.001)
