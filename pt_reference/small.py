"""The training recipes around a network small enough to be trained in a moment."""

import torch
from torch import nn

from pt_reference import steps


class SmallNetwork(nn.Module):
    """Images N,3,H,W -> logits N,num_classes, smooth: no activation has a kink."""

    def __init__(self, num_classes: int = 5):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 12, 3, 1, 1, bias=False), nn.BatchNorm2d(12)
        self.silu, self.fc = nn.SiLU(), nn.Linear(12, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.silu(self.bn1(self.conv1(x)))
        x = self.silu(self.bn2(self.conv2(x)))
        return self.fc(x.mean((2, 3)))


def imagenet_step(num_classes: int = 5, **settings) -> steps.TrainStep:
    """`steps.imagenet_step` around the small network."""
    return steps.imagenet_step(SmallNetwork(num_classes), **settings)


def cifar10_step(num_classes: int = 5, **settings) -> steps.TrainStep:
    """`steps.cifar10_step` around the small network."""
    return steps.cifar10_step(SmallNetwork(num_classes), **settings)
