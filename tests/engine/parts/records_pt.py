"""The reference of `records_ms.LargestAt`."""

from torch import nn


class LargestAt(nn.Module):
    """(N, C) -> itself, and the place of the largest entry of each row."""

    def __init__(self, off: int):  # noqa: ARG002
        super().__init__()

    def forward(self, x):
        return x * 1.0, x.argmax(1)
