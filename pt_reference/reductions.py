"""Reductions over some axes."""

import torch
from torch import nn


class ReduceLogSumExp(nn.Module):
    """`torch.logsumexp` under MindSpore's names for its arguments."""

    def __init__(self, axis: int | list[int] | tuple[int, ...], keep_dims: bool = False):
        super().__init__()
        self.axis, self.keep_dims = axis, keep_dims

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.logsumexp(x, self.axis, keepdim=self.keep_dims)
