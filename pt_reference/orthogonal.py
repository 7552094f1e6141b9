"""Layers whose weights are orthogonal matrices at first."""

from torch import nn


def dense(in_features: int, out_features: int, gain: float = 1.0) -> nn.Linear:
    """A linear layer without bias, of orthogonal rows or columns."""
    layer = nn.Linear(in_features, out_features, bias=False)
    nn.init.orthogonal_(layer.weight, gain)
    return layer
