"""Layers whose weights are orthogonal matrices at first."""

from mindspore import nn
from mindspore.common.initializer import Orthogonal


def dense(in_features: int, out_features: int, gain: float = 1.0) -> nn.Dense:
    """A dense layer without bias, of orthogonal rows or columns."""
    return nn.Dense(in_features, out_features, Orthogonal(gain), has_bias=False)
