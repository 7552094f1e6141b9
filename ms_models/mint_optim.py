"""Training steps of `mindspore.mint.optim`, whose batch is the gradient."""

from mindspore import mint, nn

from ms_models.given import GivenGradients
from ms_models.steps import TrainStep


def step(optimizer: str, **hyperparameters) -> nn.Cell:
    """Updates of every parameter by the optimiser of this name, in one group."""
    network = GivenGradients()
    built = getattr(mint.optim, optimizer)(network.trainable_params(), **hyperparameters)
    return TrainStep(network, built)


def adam(**hyperparameters) -> nn.Cell:
    return step("Adam", **hyperparameters)


def adamw(**hyperparameters) -> nn.Cell:
    return step("AdamW", **hyperparameters)


def fused_adamw(**hyperparameters) -> nn.Cell:
    return step("FusedAdamW", **hyperparameters)


def sgd(**hyperparameters) -> nn.Cell:
    return step("SGD", **hyperparameters)
