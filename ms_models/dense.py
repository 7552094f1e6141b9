"""Fully connected layers."""

from mindspore import nn


def dense(in_features: int, out_features: int, bias: bool = True) -> nn.Dense:
    """`torch.nn.Linear`: ...,in_features -> ...,out_features."""
    return nn.Dense(in_features, out_features, has_bias=bias)
