"""Networks with layers, for the tests of the diagnosis: PyTorch's side."""

import torch
import torch.nn.functional as F
from torch import nn


class Tree(nn.Module):
    """Layers, functional calls between them, and one activation that is called twice."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(4)
        self.act = nn.LeakyReLU(0.1)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.body = nn.Sequential(nn.Linear(4, 4), nn.LeakyReLU(0.1), nn.Linear(4, 4))

    def forward(self, x):
        x = self.pool(self.act(self.bn(self.conv(x))))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return x + self.act(self.body(x))


class Keyed(nn.Module):
    """A layer that is called with a keyword cannot be fed by itself; what it holds can."""

    def __init__(self):
        super().__init__()
        self.inner = Scaled()

    def forward(self, x):
        return self.inner(x, factor=2.0)


class Scaled(nn.Module):
    """A linear layer and a factor."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 4)

    def forward(self, x, factor):
        return torch.tanh(self.dense(x)) * factor


class Activated(nn.Module):
    """A norm that holds its activation, and two layers behind it."""

    def __init__(self):
        super().__init__()
        self.bn = NormAct(3)
        self.norm = nn.LayerNorm(3)
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(self.norm(self.bn(x).mean((2, 3))))


class NormAct(nn.BatchNorm2d):
    """A batch norm with its activation."""

    def __init__(self, channels):
        super().__init__(channels)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.act(super().forward(x))


class Apart(nn.Module):
    """The same with an activation of its own."""

    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm2d(3)
        self.act = nn.SiLU()
        self.norm = nn.LayerNorm(3)
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(self.norm(self.act(self.bn(x)).mean((2, 3))))


class Pooled(nn.Module):
    """A pooling that keeps the axes of a map, and flattening behind it."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(self.pool(self.norm(x)).flatten(1))


class Residual(nn.Module):
    """A residual around two layers, and a norm behind it."""

    def __init__(self):
        super().__init__()
        self.block = Added()
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(self.block(x))


class Added(nn.Module):
    """Two layers, added to what they take."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 4)
        self.fc2 = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.fc2(self.fc1(x))


class Weighted(nn.Module):
    """A layer that takes a constant, too, and one whose weight alone is used."""

    def __init__(self):
        super().__init__()
        self.scaled, self.dense = Sines(), nn.Linear(4, 4)

    def forward(self, x, constant):
        return F.linear(self.scaled(x, constant), self.dense.weight, self.dense.bias)


class Sines(nn.Module):
    """One input times the other; no gradient reaches the second one."""

    def forward(self, x, constant):
        with torch.no_grad():
            scale = constant.sin()
        return x * scale


class Unsent(nn.Module):
    """A layer, and an expert that no row is sent to."""

    def __init__(self):
        super().__init__()
        self.dense, self.expert = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return torch.cat([self.dense(x), self.expert(x[:0])])
