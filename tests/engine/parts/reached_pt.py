"""A PyTorch network that takes a decision of each kind in code, and whose operators take others."""

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, width), nn.ReLU6())
        self.scale = None

    def forward(self, x):
        y = self.body(x)
        if self.scale is not None:
            y = y * self.scale
        return x + y


class Net(nn.Module):
    def __init__(self, width=8, window=4, most=50.0):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(3))
        self.window, self.most = window, most

    def forward(self, x):
        window = min(self.window, x.shape[0])
        for block in self.blocks:
            x = block(x)
        return torch.clamp(x, max=self.most)[:window]


class Clamped(nn.Module):
    def __init__(self, most):
        super().__init__()
        self.most = most

    def forward(self, x):
        return functional.hardtanh(x, -0.5, self.most)
