"""Pooling over the whole map."""

from torch import nn


def global_mean_pool() -> nn.Module:
    """Mean of each channel: N,C,H,W -> N,C,1,1."""
    return nn.AdaptiveAvgPool2d((1, 1))


def global_max_pool() -> nn.Module:
    """Maximum of each channel: N,C,H,W -> N,C,1,1."""
    return nn.AdaptiveMaxPool2d((1, 1))
