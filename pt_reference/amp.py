"""What MindSpore's levels and scalers of mixed precision do, spelled out."""

from torch import nn

from pt_reference.optim import momentum
from pt_reference.small import SmallNetwork
from pt_reference.steps import TrainStep, WithLoss


def plain(level: str) -> nn.Module:  # noqa: ARG001
    """The small network in float32, whatever MindSpore's level."""
    return SmallNetwork()


def static_scale(learning_rate: float, loss_scale: float) -> TrainStep:
    """A step of the small network whose loss scale never changes."""
    network = WithLoss(SmallNetwork(), nn.CrossEntropyLoss())
    return TrainStep(network, momentum(network, learning_rate, 0.9, 0.0), loss_scale=loss_scale)
