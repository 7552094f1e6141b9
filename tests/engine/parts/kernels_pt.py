"""Networks with a tanh and a logarithm, in PyTorch; partners in `kernels_ms.py`."""

import math

import torch
from torch import nn


class Squashed(nn.Module):
    """Normalises, squashes and mixes."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.act = nn.Tanh()
        self.mix = nn.Linear(6, 6)

    def forward(self, x):
        return self.mix(self.act(self.norm(x)))


class Buckets(nn.Module):
    """Adds to each row what is learnt for the bucket of its distance, as T5 does."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(16, 6)

    def forward(self, x):
        distance = torch.arange(1, len(x) + 1)
        far = 8 + (torch.log(distance.float() / 8) / math.log(16) * 8).long()
        return x + self.table(torch.where(distance < 8, distance, far.clamp(max=15)))
