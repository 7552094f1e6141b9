"""Training steps whose batch is the gradient: an optimiser, and what leads to it, alone.

`GivenGradients` has parameters of every role and a loss that is linear in them, so that the rows
of its batch are the gradients of the rows' losses, and the batch's gradient is their mean.
"""

from collections.abc import Callable

import torch
from torch import nn, optim

import pt_reference.optim
from pt_reference import schedules, steps
from pt_reference.steps import TrainStep


class GivenGradients(nn.Module):
    """(gradients of N rows for each parameter, in order) -> the mean loss of the rows.

    The parameters: a kernel (8, 3, 3, 3), a scale and a shift (8,), a matrix (5, 8) and its
    bias (5,).
    """

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, bias=False)
        self.norm = nn.GroupNorm(2, 8)
        self.fc = nn.Linear(8, 5)

    def forward(self, *gradients: torch.Tensor) -> torch.Tensor:
        products = zip(gradients, self.parameters(), strict=True)
        return sum((g * p).sum() for g, p in products) / gradients[0].shape[0]


def _step(optimizer: Callable[..., optim.Optimizer], **hyperparameters) -> TrainStep:
    network = GivenGradients()
    return TrainStep(network, optimizer(network, **hyperparameters))


def momentum(**hyperparameters) -> TrainStep:
    """Updates by `optim.momentum`."""
    return _step(pt_reference.optim.momentum, **hyperparameters)


def sgd(**hyperparameters) -> TrainStep:
    """Updates by `optim.sgd`."""
    return _step(pt_reference.optim.sgd, **hyperparameters)


def adam(**hyperparameters) -> TrainStep:
    """Updates by `optim.adam`."""
    return _step(pt_reference.optim.adam, **hyperparameters)


def adamw(**hyperparameters) -> TrainStep:
    """Updates by `optim.adamw`."""
    return _step(pt_reference.optim.adamw, **hyperparameters)


def bert_adam(**hyperparameters) -> TrainStep:
    """Updates by `optim.bert_adam`."""
    return _step(pt_reference.optim.bert_adam, **hyperparameters)


def _momentum(network: nn.Module, learning_rate: float = 0.1) -> optim.Optimizer:
    return pt_reference.optim.momentum(network, learning_rate, 0.875, 0.1)


def scheduled(learning_rate: float, schedule: str, **shape) -> TrainStep:
    """Momentum under one of `schedules`, called with the arguments `shape`."""
    network = GivenGradients()
    optimizer = _momentum(network, learning_rate)
    return TrainStep(network, optimizer, getattr(schedules, schedule)(**shape)(optimizer))


def clipped(clip: str, limit: float, loss_scale: float = 1.0) -> TrainStep:
    """Momentum by gradients that are clipped by norm or by value, once they are unscaled."""
    network = GivenGradients()
    optimizer = _momentum(network)
    return TrainStep(network, optimizer, clip=getattr(steps, clip)(limit), loss_scale=loss_scale)


def fixed_loss_scale(loss_scale: float) -> TrainStep:
    """Momentum under a fixed loss scale."""
    network = GivenGradients()
    optimizer = _momentum(network)
    return TrainStep(network, optimizer, loss_scale=loss_scale)


def dynamic_loss_scale(loss_scale: float, window: int) -> TrainStep:
    """Momentum under a dynamic loss scale."""
    network = GivenGradients()
    optimizer = _momentum(network)
    return steps.DynamicLossScaleStep(network, optimizer, loss_scale, window)


def accumulating(size: int, every: int, clip: float | None = None) -> TrainStep:
    """Momentum by accumulated gradients, perhaps clipped by norm."""
    network = GivenGradients()
    optimizer = _momentum(network)
    limit = None if clip is None else steps.clip_norm(clip)
    return steps.AccumulatingStep(network, optimizer, size, every, limit)
