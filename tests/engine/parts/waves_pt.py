"""Layers that hand complex numbers to each other."""

import torch
from torch import nn


class Waves(nn.Module):
    """N,L -> N,L/2+1, complex."""

    def forward(self, x):
        return torch.fft.rfft(x)


class Signal(nn.Module):
    """N,L/2+1, complex -> N,L."""

    def forward(self, waves, length):
        return torch.fft.irfft(waves, n=length)


class Filter(nn.Module):
    """N,8 -> N,8: between two matrices, twice the waves."""

    def __init__(self):
        super().__init__()
        self.before = nn.Linear(8, 8)
        self.waves = Waves()
        self.signal = Signal()
        self.behind = nn.Linear(8, 8)

    def forward(self, x):
        return self.behind(self.signal(2 * self.waves(self.before(x)), 8))
