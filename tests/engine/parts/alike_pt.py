"""Networks of PyTorch beside each other: the same in another way, and with mistakes."""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, rate=0.1):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.drop = nn.Dropout(rate)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        return self.fc(self.drop(F.relu(self.bn(self.conv(x))).mean((2, 3))))


class Renamed(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        y = F.adaptive_avg_pool2d(self.bn(self.stem(x)).clamp(min=0.0), 1).flatten(1)
        return self.drop(y) @ self.fc.weight.T + self.fc.bias


class Short(Net):
    """Half precision on the way."""

    def forward(self, x):
        y = F.relu(self.bn(self.conv(x))).half().float().mean((2, 3))
        return self.fc(self.drop(y))


class Backward(Net):
    """Right outputs, and gradients that end in front of the norm."""

    def forward(self, x):
        return self.fc(self.drop(F.relu(self.bn(self.conv(x).detach())).mean((2, 3))))


def other_rate():
    return Net(0.2)


class Buffered(nn.Module):
    def __init__(self, high=6):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.register_buffer("mask", torch.tril(torch.ones(6, 6))[:high] if high else None)

    def forward(self, x):
        return self.fc(x) @ self.mask
