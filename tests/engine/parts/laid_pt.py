"""Networks in PyTorch whose layers have other axes in `laid_ms.py`."""

import torch
from torch import nn


class Line(nn.Module):
    """Two convolutions along one axis: N,4,L -> N,6,L."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 8, 3, padding=1)
        self.norm = nn.BatchNorm1d(8)
        self.last = nn.Conv1d(8, 6, 3, padding=1)

    def forward(self, x):
        return self.last(torch.relu(self.norm(self.conv(x))))


class Pixels(nn.Module):
    """A convolution of one pixel before another one: N,4,H,W -> N,4,H,W."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Conv2d(4, 8, 1)
        self.conv = nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, x):
        return self.conv(torch.relu(self.mix(x)))
