"""A recipe around a network whose gradients are small, as an optimiser's epsilon shows there."""

import torch
from torch import nn

from pt_reference import steps


class FaintNetwork(nn.Module):
    """Images N,3,H,W -> logits N,num_classes, smooth, and so small that gradients are, too."""

    def __init__(self, num_classes: int = 5):
        super().__init__()
        self.conv, self.silu = nn.Conv2d(3, 8, 3, 2, 1), nn.SiLU()
        self.fc = nn.Linear(8, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.silu(self.conv(x)).mean((2, 3))) / 256.0


def cifar10_step(num_classes: int = 5, **settings) -> steps.TrainStep:
    """`steps.cifar10_step` around the faint network."""
    return steps.cifar10_step(FaintNetwork(num_classes), **settings)
