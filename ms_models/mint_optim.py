"""Training steps by the optimisers of `mindspore.mint.optim`, whose batch is the gradient.

They have PyTorch's names, arguments and defaults. In PyNative mode a CPU makes none of their
updates: see the findings of `mint.optim`.
"""

from collections.abc import Callable
from typing import Any

from mindspore import mint, nn

from ms_models.given import GivenGradients
from ms_models.optim import decay_groups, one_group
from ms_models.steps import TrainStep


def _step(optimizer: Callable[..., nn.Cell], decaying: Callable, learning_rate: float, **told: Any):
    network = GivenGradients()
    groups = decaying(network, told.pop("weight_decay", 0.0))
    return TrainStep(network, optimizer(groups, lr=learning_rate, **told))


def _decayed(network: nn.Cell, weight_decay: float) -> list[dict]:
    """The groups of AdamW, in the order in which it wants gradients."""
    return decay_groups(network, weight_decay)[:2]


def sgd(**hyperparameters: Any) -> nn.Cell:
    """Updates by `mint.optim.SGD`, decay on every parameter."""
    return _step(mint.optim.SGD, one_group, **hyperparameters)


def adam(**hyperparameters: Any) -> nn.Cell:
    """Updates by `mint.optim.Adam`, with the L2 penalty of every parameter in its gradient."""
    return _step(mint.optim.Adam, one_group, **hyperparameters)


def adamw(**hyperparameters: Any) -> nn.Cell:
    """Updates by `mint.optim.AdamW`, decay by groups."""
    return _step(mint.optim.AdamW, _decayed, **hyperparameters)


def fused_adamw(**hyperparameters: Any) -> nn.Cell:
    """Updates by `mint.optim.FusedAdamW`, decay by groups."""
    return _step(mint.optim.FusedAdamW, _decayed, **hyperparameters)
