"""Residual networks, blocks and stages from torchvision."""

from torch import nn
from torchvision.models import resnet as torchvision_resnet


def projection(in_channels: int, out_channels: int, stride: int) -> nn.Sequential | None:
    """The 1x1 convolution and BatchNorm of a shortcut that changes shape, else None."""
    if stride == 1 and in_channels == out_channels:
        return None
    return nn.Sequential(
        torchvision_resnet.conv1x1(in_channels, out_channels, stride), nn.BatchNorm2d(out_channels)
    )


def block(kind: str, inplanes: int, planes: int, stride: int = 1) -> nn.Module:
    """torchvision's block of that name with the shortcut that it needs."""
    build = getattr(torchvision_resnet, kind)
    shortcut = projection(inplanes, planes * build.expansion, stride)
    return build(inplanes, planes, stride, shortcut)


def basic_block(inplanes: int, planes: int, stride: int = 1) -> nn.Module:
    """torchvision's BasicBlock."""
    return block("BasicBlock", inplanes, planes, stride)


def bottleneck(inplanes: int, planes: int, stride: int = 1) -> nn.Module:
    """torchvision's Bottleneck."""
    return block("Bottleneck", inplanes, planes, stride)


def stage(kind: str, inplanes: int, planes: int, blocks: int, stride: int = 1) -> nn.Sequential:
    """`blocks` residual blocks in a row; the first changes channels and size."""
    wide = planes * getattr(torchvision_resnet, kind).expansion
    return nn.Sequential(
        block(kind, inplanes, planes, stride),
        *(block(kind, wide, planes) for _ in range(blocks - 1)),
    )


def resnet(depth: int, num_classes: int = 1000) -> nn.Module:
    """torchvision's ResNet 18, 34, 50, 101 or 152 without pretrained weights."""
    return getattr(torchvision_resnet, f"resnet{depth}")(num_classes=num_classes)
