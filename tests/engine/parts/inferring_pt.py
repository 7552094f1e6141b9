"""Networks that only infer: originals."""

import torch
from torch import nn


class Net(nn.Module):
    """N,3,H,W -> N,2."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.act(self.bn(self.conv(x))).mean((2, 3)))

    def act(self, x):
        return torch.relu(x)


class Leaky(Net):
    def act(self, x):
        return nn.functional.leaky_relu(x, 0.1)


class Scored(nn.Module):
    """N,4 -> N,3: a linear layer, whose scores are sorted."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x).sort(-1).values
