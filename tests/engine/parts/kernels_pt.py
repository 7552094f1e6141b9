"""Networks with a tanh and a logarithm, in PyTorch; partners in `kernels_ms.py`."""

import torch
from torch import nn

from pt_reference import language


class Squashed(nn.Module):
    """Normalises, squashes and mixes."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.act = nn.Tanh()
        self.mix = nn.Linear(6, 6)

    def forward(self, x):
        return self.mix(self.act(2.0 * self.norm(x)))


class Buckets(nn.Module):
    """Adds to each row what is learnt for the bucket of its distance, as T5 does."""

    def __init__(self):
        super().__init__()
        self.buckets = language.Buckets(16, 128, bidirectional=False)
        self.table = nn.Embedding(16, 6)

    def forward(self, x):
        return x + self.table(self.buckets(-torch.arange(1, len(x) + 1)))
