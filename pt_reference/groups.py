"""Training steps of which one group of parameters has settings of its own, or a common clip."""

from torch import nn, optim

from pt_reference.given import GivenGradients
from pt_reference.steps import TrainStep


def head_apart(
    learning_rate: float, weight_decay: float, head_rate: float, head_decay: float
) -> TrainStep:
    """SGD with momentum; the head `fc` has a learning rate and a weight decay of its own."""
    network = GivenGradients()
    head = {id(parameter) for parameter in network.fc.parameters()}
    groups = [
        {"params": [p for p in network.parameters() if id(p) not in head]},
        {"params": network.fc.parameters(), "lr": head_rate, "weight_decay": head_decay},
    ]
    return TrainStep(network, optim.SGD(groups, learning_rate, 0.875, weight_decay=weight_decay))


def clipped_together(learning_rate: float, limit: float) -> TrainStep:
    """SGD with momentum by gradients that are scaled until their common norm is `limit`."""
    network = GivenGradients()
    optimizer = optim.SGD(network.parameters(), learning_rate, 0.875)

    def clip(parameters) -> None:
        nn.utils.clip_grad_norm_(parameters, limit)

    return TrainStep(network, optimizer, clip=clip)
