"""Attention in functional code, in PyTorch; partners in `attending_ms.py`."""

import torch
from torch import nn

WIDTH, HEADS = 16, 4


class Attending(nn.Module):
    """Attends; the result is small, where an inaccurate kernel loses digits."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).reshape(b, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1)
        weights = (scores / 2.0).softmax(-1)
        y = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return torch.expm1(1e-4 * self.out(y))


class Twice(nn.Module):
    """Two of them."""

    def __init__(self):
        super().__init__()
        self.one, self.two = Attending(), Attending()

    def forward(self, x):
        return self.two(x + self.one(x))
