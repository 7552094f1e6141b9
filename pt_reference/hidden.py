"""Networks and training steps with settings that no tensor shows.

The inputs of the normalisations are large, so that no epsilon shows. The inputs of the activations
are between 0 and 1, where some do nothing. In evaluation neither a momentum, nor dropout, nor the
loss counts.
"""

import torch
from torch import nn

from pt_reference import optim, schedules, steps
from pt_reference.given import GivenGradients
from pt_reference.steps import TrainStep


class RMSNorm(nn.Module):
    """x / sqrt(mean of squares + eps), scaled."""

    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps)


class Norms(nn.Module):
    """Vectors of 12 to one of the normalisations after the other, each of large inputs."""

    def __init__(
        self,
        layer_eps: float = 1e-5,
        group_eps: float = 1e-5,
        rms_eps: float = 1e-5,
        batch_eps: float = 1e-5,
        momentum: float = 0.1,
    ):
        super().__init__()
        self.layer = nn.LayerNorm(12, layer_eps)
        self.group = nn.GroupNorm(3, 12, group_eps)
        self.rms = RMSNorm(12, rms_eps)
        self.batch = nn.BatchNorm1d(12, batch_eps, momentum)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.rms(1e3 * self.group(1e3 * self.layer(1e3 * x)))
        return self.batch(x) if self.training else x


class Activations(nn.Module):
    """Vectors to all activations of values between 0 and 1, and to a loss in training."""

    def __init__(
        self,
        slope: float = 0.01,
        least: float = -1.0,
        most: float = 2.0,
        p: float = 0.1,
        smoothing: float = 0.1,
        ignored: int = -100,
    ):
        super().__init__()
        self.leaky = nn.LeakyReLU(slope)
        self.elu = nn.ELU()
        self.hard = nn.Hardtanh(least, most)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(p)
        self.loss = nn.CrossEntropyLoss(label_smoothing=smoothing, ignore_index=ignored)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = torch.sigmoid(x)
        x = self.dropout(self.leaky(x) + self.elu(x) + self.relu(x) + self.hard(x))
        return self.loss(x, labels) if self.training else x


def fine_tuning(
    learning_rate: float, weight_decay: float, eps: float = 1e-8, limit: float = 1e4
) -> TrainStep:
    """AdamW at a rate at which its decay does not show, with a clip that never bites."""
    network = GivenGradients()
    optimizer = optim.adamw(network, learning_rate, eps=eps, weight_decay=weight_decay)
    return TrainStep(network, optimizer, clip=steps.clip_norm(limit))


def long_run(learning_rate: float, warmup_steps: int, total_steps: int) -> TrainStep:
    """Momentum under a schedule of which a few steps show little."""
    network = GivenGradients()
    optimizer = optim.momentum(network, learning_rate, 0.875, 0.1)
    schedule = schedules.warmup_cosine(warmup_steps, total_steps)
    return TrainStep(network, optimizer, schedule(optimizer))


def dropping(learning_rate: float, milestone: int, total_steps: int) -> TrainStep:
    """Momentum at a rate that is a tenth from a late step on."""
    network = GivenGradients()
    optimizer = optim.momentum(network, learning_rate, 0.875, 0.1)
    assert milestone < total_steps
    return TrainStep(network, optimizer, schedules.milestones((milestone,), 0.1)(optimizer))
