"""A small network whose calls are watched while it runs, some of them in a way of their own."""

import torch
import torch.nn.functional as F
from torch import nn


class Small(nn.Module):
    """A tensor B,C,L -> a list of its parts, changed."""

    def __init__(self, channels: int):
        super().__init__()
        self.norm = nn.LayerNorm(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        low = torch.floor(x)
        high = torch.ceil(x)
        both = torch.cat((low, high), 2)
        kept = F.relu(both[:, :, 1:] * 2.0)
        names = {"sizes": (2, 3)}
        first = names["sizes"][0]
        return self.norm(kept.transpose(1, 2)) if first else torch.round(kept)


def run() -> None:
    """The network on random data."""
    Small(4)(torch.randn(2, 4, 5))
