"""Layers initialised as recipes initialise them."""

import math

import torch
from torch import nn
from torch.nn import init as initialise


def _lecun_normal_(weight: torch.Tensor) -> None:
    """A normal distribution cut off at two standard deviations and rescaled to 1/sqrt(fan_in).

    0.8796 is the standard deviation of the standard normal distribution cut off there.
    """
    fan_in = weight[0].numel()
    std = math.sqrt(1 / fan_in) / 0.87962566
    initialise.trunc_normal_(weight, std=std, a=-2 * std, b=2 * std)


INITIALIZERS = {
    "he_normal": lambda w: initialise.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"),
    "he_uniform": lambda w: initialise.kaiming_uniform_(w, a=math.sqrt(5)),
    "xavier_normal": initialise.xavier_normal_,
    "xavier_uniform": initialise.xavier_uniform_,
    "truncated_normal": lambda w: initialise.trunc_normal_(w, std=0.02, a=-0.04, b=0.04),
    "truncated_normal_in_values": lambda w: initialise.trunc_normal_(w, std=0.02),
    "truncated_normal_default": initialise.trunc_normal_,
    "lecun_normal": _lecun_normal_,
    "variance_scaling": _lecun_normal_,
    "normal": lambda w: initialise.normal_(w, std=0.01),
    "ones": initialise.ones_,
    "zeros": initialise.zeros_,
}


def dense(in_features: int, out_features: int, init: str) -> nn.Linear:
    """A dense layer with bias whose kernel is drawn by a row of INITIALIZERS."""
    layer = nn.Linear(in_features, out_features)
    INITIALIZERS[init](layer.weight)
    return layer


def conv(
    in_planes: int, out_planes: int, kernel_size: int, init: str, groups: int = 1
) -> nn.Conv2d:
    """A convolution with bias whose kernel is drawn by a row of INITIALIZERS."""
    layer = nn.Conv2d(in_planes, out_planes, kernel_size, padding="same", groups=groups)
    INITIALIZERS[init](layer.weight)
    return layer
