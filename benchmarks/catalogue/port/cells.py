"""Rules for layers: class of a PyTorch layer -> the MindSpore cell with the same arguments."""

from collections.abc import Callable
from typing import Any

from mindspore import mint, nn


def pair(value: int | tuple[int, int]) -> tuple[int, int]:
    """A number for height and width, or both."""
    return (value, value) if isinstance(value, int) else tuple(value)


def conv2d(m: Any) -> nn.Cell:
    height, width = pair(m.padding)
    return nn.Conv2d(
        m.in_channels,
        m.out_channels,
        m.kernel_size,
        stride=m.stride,
        pad_mode="pad",
        padding=(height, height, width, width),
        dilation=m.dilation,
        group=m.groups,
        has_bias=m.bias is not None,
    )


def max_pool2d(m: Any) -> nn.Cell:
    return nn.MaxPool2d(
        m.kernel_size,
        m.stride,
        pad_mode="pad",
        padding=m.padding,
        dilation=m.dilation,
        ceil_mode=m.ceil_mode,
    )


def avg_pool2d(m: Any) -> nn.Cell:
    return nn.AvgPool2d(
        m.kernel_size,
        m.stride,
        pad_mode="pad",
        padding=m.padding,
        ceil_mode=m.ceil_mode,
        count_include_pad=m.count_include_pad,
    )


def multihead_attention(m: Any) -> nn.Cell:
    has_bias = m.in_proj_bias is not None
    return nn.MultiheadAttention(
        m.embed_dim, m.num_heads, m.dropout, has_bias, batch_first=m.batch_first
    )


CELLS: dict[str, Callable[[Any], nn.Cell]] = {
    "AdaptiveAvgPool2d": lambda m: nn.AdaptiveAvgPool2d(m.output_size),
    "AvgPool2d": avg_pool2d,
    # MindSpore's momentum is the weight of the old statistics, PyTorch's that of the new ones.
    "BatchNorm2d": lambda m: nn.BatchNorm2d(m.num_features, eps=m.eps, momentum=1.0 - m.momentum),
    "Conv2d": conv2d,
    "Dropout": lambda m: nn.Dropout(p=m.p),
    "Flatten": lambda m: mint.nn.Flatten(m.start_dim, m.end_dim),
    "GELU": lambda m: nn.GELU(approximate=m.approximate == "tanh"),
    "Hardsigmoid": lambda _: nn.HSigmoid(),
    "Hardswish": lambda _: nn.HSwish(),
    "Identity": lambda _: nn.Identity(),
    "LayerNorm": lambda m: nn.LayerNorm(m.normalized_shape, epsilon=m.eps),
    "Linear": lambda m: nn.Dense(m.in_features, m.out_features, has_bias=m.bias is not None),
    "MaxPool2d": max_pool2d,
    "MultiheadAttention": multihead_attention,
    "ReLU": lambda _: nn.ReLU(),
    "ReLU6": lambda _: nn.ReLU6(),
    "SiLU": lambda _: nn.SiLU(),
    "Sigmoid": lambda _: nn.Sigmoid(),
    "Tanh": lambda _: nn.Tanh(),
}
"""Name of the class -> the cell for a layer of it. Names and weights pair by the standard renames.
"""
