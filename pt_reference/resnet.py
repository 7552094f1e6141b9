"""Residual networks, blocks and stages from torchvision, and the guides' own two blocks."""

import torch
from torch import nn
from torchvision.models import resnet as torchvision_resnet

from pt_reference.conv import SameConv2d


def projection(in_channels: int, out_channels: int, stride: int) -> nn.Sequential | None:
    """The 1x1 convolution and BatchNorm of a shortcut that changes shape, else None."""
    if stride == 1 and in_channels == out_channels:
        return None
    return nn.Sequential(
        torchvision_resnet.conv1x1(in_channels, out_channels, stride), nn.BatchNorm2d(out_channels)
    )


def residual_block(kind: str, inplanes: int, planes: int, stride: int = 1) -> nn.Module:
    """torchvision's block of that name with the shortcut that it needs."""
    build = getattr(torchvision_resnet, kind)
    shortcut = projection(inplanes, planes * build.expansion, stride)
    return build(inplanes, planes, stride, shortcut)


def basic_block(inplanes: int, planes: int, stride: int = 1) -> nn.Module:
    """torchvision's BasicBlock."""
    return residual_block("BasicBlock", inplanes, planes, stride)


def bottleneck(inplanes: int, planes: int, stride: int = 1) -> nn.Module:
    """torchvision's Bottleneck."""
    return residual_block("Bottleneck", inplanes, planes, stride)


def stage(block: str, inplanes: int, planes: int, blocks: int, stride: int = 1) -> nn.Sequential:
    """`blocks` residual blocks in a row; the first changes channels and size."""
    wide = planes * getattr(torchvision_resnet, block).expansion
    return nn.Sequential(
        residual_block(block, inplanes, planes, stride),
        *(residual_block(block, wide, planes) for _ in range(blocks - 1)),
    )


def resnet(depth: int, num_classes: int = 1000, zero_init_residual: bool = False) -> nn.Module:
    """torchvision's ResNet 18, 34, 50, 101 or 152 without pretrained weights."""
    build = getattr(torchvision_resnet, f"resnet{depth}")
    return build(num_classes=num_classes, zero_init_residual=zero_init_residual)


class WideBottleneck(nn.Module):
    """The r0.5 guide's block: no reduction inside, TensorFlow padding, eps 1e-4.

    N,in_planes,H,W -> N,out_planes,ceil(H/stride),ceil(W/stride).
    """

    def __init__(self, in_planes: int, out_planes: int, stride: int = 1):
        super().__init__()
        self.conv1 = SameConv2d(in_planes, out_planes, 1)
        self.bn1 = nn.BatchNorm2d(out_planes, eps=1e-4)
        self.conv2 = SameConv2d(out_planes, out_planes, 3, stride)
        self.bn2 = nn.BatchNorm2d(out_planes, eps=1e-4)
        self.conv3 = SameConv2d(out_planes, out_planes, 1)
        self.bn3 = nn.BatchNorm2d(out_planes, eps=1e-4)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or in_planes != out_planes:
            self.downsample = nn.Sequential(
                SameConv2d(in_planes, out_planes, 1, stride), nn.BatchNorm2d(out_planes, eps=1e-4)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        return self.relu(self.bn3(self.conv3(out)) + shortcut)


class PooledBottleneck(nn.Module):
    """The r1.7 guide's block: where it shrinks, it convolves at stride 1 and then max pools.

    N,in_planes,H,W -> N,out_planes,ceil(H/stride),ceil(W/stride), a quarter of the planes inside.
    """

    def __init__(self, in_planes: int, out_planes: int, stride: int = 1):
        super().__init__()
        planes = out_planes // 4
        self.conv1 = torchvision_resnet.conv1x1(in_planes, planes)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = torchvision_resnet.conv3x3(planes, planes)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = torchvision_resnet.conv1x1(planes, out_planes)
        self.bn3 = nn.BatchNorm2d(out_planes)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, ceil_mode=True) if stride != 1 else nn.Identity()
        self.downsample = projection(in_planes, out_planes, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.pool(self.relu(self.bn2(self.conv2(out))))
        return self.relu(self.bn3(self.conv3(out)) + shortcut)
