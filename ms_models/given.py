"""Training steps whose batch is the gradient: an optimiser, and what leads to it, alone.

`GivenGradients` has parameters of every role and a loss that is linear in them, so that the rows
of its batch are the gradients of the rows' losses, and the batch's gradient is their mean.
"""

from collections.abc import Callable

from mindspore import nn

import ms_models.optim
from ms_models import schedules, steps
from ms_models.conv import conv2d
from ms_models.steps import TrainStep


class GivenGradients(nn.Cell):
    """(gradients of N rows for each parameter, in order) -> the mean loss of the rows.

    The parameters: a kernel (8, 3, 3, 3), a scale and a shift (8,), a matrix (5, 8) and its
    bias (5,).
    """

    def __init__(self):
        super().__init__()
        self.conv = conv2d(3, 8, 3, padding=0)
        self.norm = nn.GroupNorm(2, 8)
        self.fc = nn.Dense(8, 5)

    def construct(self, conv, gamma, beta, weight, bias):
        total = (conv * self.conv.weight).sum()
        total = total + (gamma * self.norm.gamma).sum() + (beta * self.norm.beta).sum()
        total = total + (weight * self.fc.weight).sum() + (bias * self.fc.bias).sum()
        return total / conv.shape[0]


def _step(optimizer: Callable[..., nn.Cell], **hyperparameters) -> nn.Cell:
    network = GivenGradients()
    return TrainStep(network, optimizer(network, **hyperparameters))


def momentum(**hyperparameters) -> nn.Cell:
    """Updates by `optim.momentum`."""
    return _step(ms_models.optim.momentum, **hyperparameters)


def nesterov_momentum(**hyperparameters) -> nn.Cell:
    """Updates by `optim.nesterov_momentum`."""
    return _step(ms_models.optim.nesterov_momentum, **hyperparameters)


def sgd(**hyperparameters) -> nn.Cell:
    """Updates by `optim.sgd`."""
    return _step(ms_models.optim.sgd, **hyperparameters)


def adam(**hyperparameters) -> nn.Cell:
    """Updates by `optim.adam`."""
    return _step(ms_models.optim.adam, **hyperparameters)


def ungrouped_adam(**hyperparameters) -> nn.Cell:
    """Updates by `optim.ungrouped_adam`."""
    return _step(ms_models.optim.ungrouped_adam, **hyperparameters)


def corrected_adam(**hyperparameters) -> nn.Cell:
    """Updates by `optim.corrected_adam`."""
    return _step(ms_models.optim.corrected_adam, **hyperparameters)


def adamw(**hyperparameters) -> nn.Cell:
    """Updates by `optim.adamw`."""
    return _step(ms_models.optim.adamw, **hyperparameters)


def bert_adam(**hyperparameters) -> nn.Cell:
    """Updates by `optim.bert_adam`."""
    return _step(ms_models.optim.bert_adam, **hyperparameters)


def one_step_cell(**hyperparameters) -> nn.Cell:
    """`optim.momentum` in the cell that `Model.train` makes."""
    network = GivenGradients()
    return nn.TrainOneStepCell(network, ms_models.optim.momentum(network, **hyperparameters))


def _momentum(network: nn.Cell, learning_rate=0.1, loss_scale: float = 1.0) -> nn.Optimizer:
    return ms_models.optim.momentum(network, learning_rate, 0.875, 0.1, loss_scale=loss_scale)


def scheduled(learning_rate: float, schedule: str, **shape) -> nn.Cell:
    """Momentum under one of `schedules`, a list or a cell, called with the arguments `shape`."""
    network = GivenGradients()
    rates = getattr(schedules, schedule)(learning_rate, **shape)
    return TrainStep(network, _momentum(network, rates))


def computed_warmup_cosine(learning_rate: float, schedule: str, **shape) -> nn.Cell:
    """As `scheduled` with "warmup_cosine", by the schedule cell."""
    if schedule != "warmup_cosine":
        raise ValueError(f"there is no cell for the schedule {schedule!r}")
    return scheduled(learning_rate, "WarmUpCosine", **shape)


def clipped(clip: str, limit: float, loss_scale: float = 1.0) -> nn.Cell:
    """Momentum by gradients that are clipped by norm or by value, once they are unscaled."""
    network = GivenGradients()
    return TrainStep(network, _momentum(network), getattr(steps, clip)(limit), loss_scale)


def fixed_loss_scale(loss_scale: float) -> nn.Cell:
    """Momentum under a fixed loss scale, divided out by the step."""
    network = GivenGradients()
    return TrainStep(network, _momentum(network), loss_scale=loss_scale)


def managed_loss_scale(loss_scale: float) -> nn.Cell:
    """The same as `Model.train` makes it of a fixed scale manager: the optimiser divides."""
    network = GivenGradients()
    optimizer = _momentum(network, loss_scale=loss_scale)
    return nn.TrainOneStepCell(network, optimizer, sens=loss_scale)


def dynamic_loss_scale(loss_scale: float, window: int) -> nn.Cell:
    """Momentum under a dynamic loss scale."""
    network = GivenGradients()
    return steps.DynamicLossScaleStep(network, _momentum(network), loss_scale, window)


def accumulating(size: int, every: int, clip: float | None = None) -> nn.Cell:
    """Momentum by accumulated gradients, perhaps clipped by norm."""
    network = GivenGradients()
    limit = steps.kept if clip is None else steps.clip_norm(clip)
    return steps.AccumulatingStep(network, _momentum(network), size, every, limit)
