"""Networks that draw random numbers while they are trained."""

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    """A convolution and two dense layers, with dropout of channels, in a function, in a layer."""

    def __init__(self, channels: int = 6, width: int = 10, p: float = 0.3):
        super().__init__()
        self.p = p
        self.conv = nn.Conv2d(3, channels, 3, padding=1)
        self.drop_channels = nn.Dropout2d(p)
        self.hidden = nn.Linear(channels, width)
        self.drop = nn.Dropout(p)
        self.head = nn.Linear(width, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.drop_channels(self.conv(x)).mean((2, 3))
        x = F.dropout(torch.sigmoid(self.hidden(x)), 0.5 * self.p, self.training)
        return self.head(self.drop(x))


class DropPath(nn.Module):
    """Zeroes the whole of some samples, and divides the others by the share that is kept."""

    def __init__(self, p: float):
        super().__init__()
        self.p = p

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return x
        keep = 1.0 - self.p
        mask = torch.rand((x.shape[0],) + (1,) * (x.ndim - 1), device=x.device) < keep
        return x * mask / keep


class Residual(nn.Module):
    """Two branches of a sigmoid layer, each of which a sample may skip."""

    def __init__(self, width: int = 8, p: float = 0.2):
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
        self.path1, self.path2 = DropPath(p), DropPath(0.5 * p)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.path1(torch.sigmoid(self.first(x)))
        return x + self.path2(torch.sigmoid(self.second(x)))
