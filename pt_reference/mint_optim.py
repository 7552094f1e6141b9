"""Training steps of `torch.optim`, whose batch is the gradient, every parameter in one group."""

from torch import nn, optim

from pt_reference.given import GivenGradients
from pt_reference.steps import TrainStep


def step(optimizer: str, **hyperparameters) -> nn.Module:
    """Updates of every parameter by the optimiser of this name."""
    network = GivenGradients()
    return TrainStep(network, getattr(optim, optimizer)(network.parameters(), **hyperparameters))


def adam(**hyperparameters) -> nn.Module:
    return step("Adam", **hyperparameters)


def adamw(**hyperparameters) -> nn.Module:
    return step("AdamW", **hyperparameters)


def sgd(**hyperparameters) -> nn.Module:
    return step("SGD", **hyperparameters)
