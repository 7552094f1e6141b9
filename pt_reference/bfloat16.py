"""Networks in bfloat16, with the islands of float32 that they need; float64 is left alone."""

import torch
from torch import nn
from torch.nn import functional as F

from pt_reference.optim import momentum
from pt_reference.steps import TrainStep, WithLoss


def widened(values: torch.Tensor) -> torch.Tensor:
    """bfloat16 to float32."""
    return values.float() if values.dtype == torch.bfloat16 else values


def narrowed(values: torch.Tensor) -> torch.Tensor:
    """float32 to bfloat16."""
    return values.bfloat16() if values.dtype == torch.float32 else values


class RootMeanSquareNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) in float32, rounded to the input's dtype, then times a weight."""

    def __init__(self, width: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = widened(x)
        scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * (wide * scale).to(x.dtype)


class Rotary(nn.Module):
    """Rotates pairs of channels, N,L,C, by the cosines and sines of angles, L,C each."""

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        left, right = x.chunk(2, -1)
        return x * cos + torch.cat((-right, left), -1) * sin


class Perceptron(nn.Module):
    """Two dense layers in bfloat16 and GELU between them; weights and result are in float32."""

    def __init__(self, width: int, hidden: int, classes: int):
        super().__init__()
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in (self.up, self.down):
            x = F.gelu(x, approximate="tanh") if layer is self.down else x
            x = F.linear(narrowed(x), narrowed(layer.weight), narrowed(layer.bias))
        return widened(x)


class Attention(nn.Module):
    """Self-attention with one head whose products are in bfloat16, its softmax in float32."""

    def __init__(self, width: int):
        super().__init__()
        for name in ("query", "key", "value"):
            setattr(self, name, nn.Parameter(torch.empty(width, width)))
        self.scale = width**-0.5

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            narrowed(x) @ narrowed(weight) for weight in (self.query, self.key, self.value)
        )
        scores = widened(query @ key.transpose(1, 2)) * self.scale
        return widened(narrowed(F.softmax(scores, -1)) @ value)


def step(learning_rate: float) -> TrainStep:
    """A step of the perceptron, 12 -> 10 -> 5, with weights in float32 and no loss scale."""
    network = WithLoss(Perceptron(12, 10, 5), nn.CrossEntropyLoss())
    return TrainStep(network, momentum(network, learning_rate, 0.9, 0.0))
