"""The references of `records_ms`."""

import torch
from torch import nn


class LargestAt(nn.Module):
    """(N, C) -> itself, and the place of the largest entry of each row."""

    def __init__(self, off: int):  # noqa: ARG002
        super().__init__()

    def forward(self, x):
        return x * 1.0, x.argmax(1)


class Beside(nn.Module):
    """(N, C) -> (N, 2 C): its elements a million times as large, and as they are."""

    def forward(self, x):
        return torch.cat([1e6 * x, x], 1)
