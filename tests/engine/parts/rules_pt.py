"""A training step with an optimiser whose rule is another one in MindSpore."""

from torch import nn, optim

from pt_reference.steps import TrainStep


class Squares(nn.Module):
    """N,6 -> the mean square of a linear layer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 3)

    def forward(self, x):
        return self.layer(x).pow(2).mean()


def rms_prop():
    network = Squares()
    return TrainStep(network, optim.RMSprop(network.parameters(), 0.01))
