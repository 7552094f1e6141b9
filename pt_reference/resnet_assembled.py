"""The residual networks of the r0.5 and r1.7 guides, whole: their blocks behind their stem."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from pt_reference.conv import SameConv2d
from pt_reference.resnet import PooledBottleneck, WideBottleneck

BLOCKS = {"wide": (WideBottleneck, 1e-4), "pooled": (PooledBottleneck, 1e-5)}


class SameMaxPool2d(nn.MaxPool2d):
    """N,C,H,W -> N,C,ceil(H/stride),ceil(W/stride): TensorFlow's padding rule.

    What is odd of the border goes to the bottom and to the right; it counts as minus infinity.
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, columns = (
            max((-(-size // self.stride) - 1) * self.stride + self.kernel_size - size, 0)
            for size in x.shape[-2:]
        )
        sides = columns // 2, columns - columns // 2, rows // 2, rows - rows // 2
        return super().forward(F.pad(x, sides, value=-math.inf))


class AssembledResNet(nn.Module):
    """N,3,H,W -> N,num_classes; a stem of `stem` channels, then stages of `widths` channels.

    block: "wide" of the r0.5 guide, "pooled" of the r1.7 guide.
    """

    def __init__(
        self,
        block: str,
        layers: tuple[int, ...],
        stem: int,
        widths: tuple[int, ...],
        num_classes: int,
    ):
        super().__init__()
        build, eps = BLOCKS[block]
        self.conv1 = SameConv2d(3, stem, 7, 2)
        self.bn1 = nn.BatchNorm2d(stem, eps=eps)
        self.relu = nn.ReLU()
        self.maxpool = SameMaxPool2d(3, 2)
        stages, before = [], stem
        for number, (count, width) in enumerate(zip(layers, widths, strict=True)):
            first = build(before, width, 1 if number == 0 else 2)
            stages.append(nn.Sequential(first, *(build(width, width) for _ in range(count - 1))))
            before = width
        self.stages = nn.ModuleList(stages)
        self.fc = nn.Linear(before, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for stage in self.stages:
            x = stage(x)
        return self.fc(x.mean((2, 3)))
