"""Networks that compute in half precision in part, with weights, inputs and outputs in float32.

Each of them leaves float64 alone: autocast does so by itself.
"""

import torch
from torch import nn
from torch.nn import functional as F

from pt_reference.optim import momentum
from pt_reference.small import SmallNetwork
from pt_reference.steps import TrainStep, WithLoss


class Autocast(nn.Module):
    """A network under torch.autocast on the CPU in float16; its output is made float32."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.float16):
            result = self.network(x)
        return widened(result)


def widened(values: torch.Tensor) -> torch.Tensor:
    """float16 to float32."""
    return values.float() if values.dtype == torch.float16 else values


def narrowed(values: torch.Tensor) -> torch.Tensor:
    """float32 to float16."""
    return values.half() if values.dtype == torch.float32 else values


def mixed(level: str) -> nn.Module:  # noqa: ARG001
    """The small network under autocast, whatever MindSpore's level."""
    return Autocast(SmallNetwork())


class HalfConv2d(nn.Conv2d):
    """A convolution in float16 of weights in float32."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return widened(self._conv_forward(narrowed(x), narrowed(self.weight), None))


def half_convolutions() -> nn.Module:
    """The small network with its convolutions, and nothing else, in float16."""
    network = SmallNetwork()
    for convolution in (network.conv1, network.conv2):
        convolution.__class__ = HalfConv2d
    return network


class HalfEnergy(nn.Module):
    """The squares of all elements in float16, in units of 1024: infinite beyond 256."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.half() * x.half()).float() / 1024


class HandCastAttention(nn.Module):
    """Self-attention with one head, N,L,C -> N,L,C, whose products are cast to float16 by hand.

    The softmax and what is returned are in float32, and so are the weights, C,C each.
    """

    def __init__(self, width: int):
        super().__init__()
        for name in ("query", "key", "value"):
            setattr(self, name, nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, width))))
        self.scale = width**-0.5

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            narrowed(x) @ narrowed(weight) for weight in (self.query, self.key, self.value)
        )
        scores = (query * self.scale) @ key.transpose(1, 2)
        return widened(narrowed(F.softmax(widened(scores), -1)) @ value)


class WeightedLoss(nn.Module):
    """The cross entropy in float32, times a weight: logits N,C and labels N -> a scalar."""

    def __init__(self, weight: float):
        super().__init__()
        self.weight = weight

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(logits, labels) * self.weight


def scaled_step(learning_rate: float, loss_weight: float, loss_scale: float) -> TrainStep:
    """A step of dense layers under autocast, 12 -> 10 -> 5, whose loss has a weight."""
    layers = nn.Sequential(nn.Linear(12, 10), nn.Tanh(), nn.Linear(10, 5))
    network = WithLoss(Autocast(layers), WeightedLoss(loss_weight))
    optimizer = momentum(network, learning_rate / loss_weight, 0.9, 0.0)
    return TrainStep(network, optimizer, loss_scale=loss_scale)


def model_step(learning_rate: float, loss_scale: float) -> TrainStep:
    """A step under autocast with a fixed loss scale."""
    network = WithLoss(mixed("O2"), nn.CrossEntropyLoss())
    optimizer = momentum(network, learning_rate, 0.9, 0.0)
    return TrainStep(network, optimizer, loss_scale=loss_scale)
