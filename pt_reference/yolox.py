"""YOLOX: a detector without anchors. The names of weights are those of Megvii's checkpoints."""

import math

import torch
from torch import nn

STRIDES = (8, 16, 32)
"""Pixels per cell of the three maps."""

PRIOR = 0.01
"""The probability of an object, and of each class, that the head begins with."""


class BaseConv(nn.Module):
    """Convolution, BatchNorm, SiLU."""

    def __init__(
        self, in_channels: int, out_channels: int, ksize: int, stride: int, groups: int = 1
    ):
        super().__init__()
        padding = (ksize - 1) // 2
        self.conv = nn.Conv2d(
            in_channels, out_channels, ksize, stride, padding, groups=groups, bias=False
        )
        self.bn = nn.BatchNorm2d(out_channels, eps=1e-3, momentum=0.03)
        self.act = nn.SiLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(self.bn(self.conv(x)))


class DWConv(nn.Module):
    """A convolution of each channel by itself, then one across the channels."""

    def __init__(self, in_channels: int, out_channels: int, ksize: int, stride: int):
        super().__init__()
        self.dconv = BaseConv(in_channels, in_channels, ksize, stride, groups=in_channels)
        self.pconv = BaseConv(in_channels, out_channels, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pconv(self.dconv(x))


def conv(depthwise: bool) -> type[nn.Module]:
    """The class of the spatial convolutions."""
    return DWConv if depthwise else BaseConv


class Focus(nn.Module):
    """Every second pixel in either direction as a channel of its own, then a convolution."""

    def __init__(self, in_channels: int, out_channels: int, ksize: int):
        super().__init__()
        self.conv = BaseConv(4 * in_channels, out_channels, ksize, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        left, right = x[..., ::2], x[..., 1::2]
        parts = (left[..., ::2, :], left[..., 1::2, :], right[..., ::2, :], right[..., 1::2, :])
        return self.conv(torch.cat(parts, dim=1))


class Bottleneck(nn.Module):
    """1x1 and 3x3, with the input added where `shortcut` says so and the widths are equal."""

    def __init__(self, in_channels: int, out_channels: int, shortcut: bool, depthwise: bool):
        super().__init__()
        self.conv1 = BaseConv(in_channels, out_channels, 1, 1)
        self.conv2 = conv(depthwise)(out_channels, out_channels, 3, 1)
        self.add = shortcut and in_channels == out_channels

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv2(self.conv1(x))
        return y + x if self.add else y


class CSPLayer(nn.Module):
    """Half of the channels through `n` bottlenecks, half past them."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        n: int = 1,
        shortcut: bool = True,
        depthwise: bool = False,
    ):
        super().__init__()
        half = out_channels // 2
        self.conv1 = BaseConv(in_channels, half, 1, 1)
        self.conv2 = BaseConv(in_channels, half, 1, 1)
        self.conv3 = BaseConv(2 * half, out_channels, 1, 1)
        self.m = nn.Sequential(*(Bottleneck(half, half, shortcut, depthwise) for _ in range(n)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv3(torch.cat((self.m(self.conv1(x)), self.conv2(x)), dim=1))


class SPPBottleneck(nn.Module):
    """Max poolings of several windows beside each other, within two 1x1 convolutions."""

    def __init__(self, in_channels: int, out_channels: int, kernel_sizes: tuple = (5, 9, 13)):
        super().__init__()
        half = in_channels // 2
        self.conv1 = BaseConv(in_channels, half, 1, 1)
        self.m = nn.ModuleList(nn.MaxPool2d(k, stride=1, padding=k // 2) for k in kernel_sizes)
        self.conv2 = BaseConv(half * (len(kernel_sizes) + 1), out_channels, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv1(x)
        return self.conv2(torch.cat((x, *(pool(x) for pool in self.m)), dim=1))


class CSPDarknet(nn.Module):
    """Images -> maps of strides 8, 16 and 32."""

    def __init__(self, depth: float, width: float, depthwise: bool = False):
        super().__init__()
        base, n = int(width * 64), max(round(depth * 3), 1)
        spatial = conv(depthwise)

        def stage(channels: int, n: int) -> list[nn.Module]:
            down = spatial(channels, 2 * channels, 3, 2)
            return [down, CSPLayer(2 * channels, 2 * channels, n, depthwise=depthwise)]

        self.stem = Focus(3, base, 3)
        self.dark2 = nn.Sequential(*stage(base, n))
        self.dark3 = nn.Sequential(*stage(2 * base, 3 * n))
        self.dark4 = nn.Sequential(*stage(4 * base, 3 * n))
        self.dark5 = nn.Sequential(
            spatial(8 * base, 16 * base, 3, 2),
            SPPBottleneck(16 * base, 16 * base),
            CSPLayer(16 * base, 16 * base, n, shortcut=False, depthwise=depthwise),
        )

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        dark3 = self.dark3(self.dark2(self.stem(x)))
        dark4 = self.dark4(dark3)
        return dark3, dark4, self.dark5(dark4)


class YOLOPAFPN(nn.Module):
    """The backbone, a path from the coarse maps to the fine ones, and one back."""

    def __init__(self, depth: float, width: float, depthwise: bool = False):
        super().__init__()
        c3, c4, c5 = (int(width * channels) for channels in (256, 512, 1024))
        n = round(3 * depth)
        spatial = conv(depthwise)

        def csp(in_channels: int, out_channels: int) -> nn.Module:
            return CSPLayer(in_channels, out_channels, n, shortcut=False, depthwise=depthwise)

        self.backbone = CSPDarknet(depth, width, depthwise)
        self.upsample = nn.Upsample(scale_factor=2, mode="nearest")
        self.lateral_conv0 = BaseConv(c5, c4, 1, 1)
        self.C3_p4 = csp(2 * c4, c4)
        self.reduce_conv1 = BaseConv(c4, c3, 1, 1)
        self.C3_p3 = csp(2 * c3, c3)
        self.bu_conv2 = spatial(c3, c3, 3, 2)
        self.C3_n3 = csp(2 * c3, c4)
        self.bu_conv1 = spatial(c4, c4, 3, 2)
        self.C3_n4 = csp(2 * c4, c5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x2, x1, x0 = self.backbone(x)
        top = self.lateral_conv0(x0)
        middle = self.reduce_conv1(self.C3_p4(torch.cat((self.upsample(top), x1), dim=1)))
        fine = self.C3_p3(torch.cat((self.upsample(middle), x2), dim=1))
        mean = self.C3_n3(torch.cat((self.bu_conv2(fine), middle), dim=1))
        return fine, mean, self.C3_n4(torch.cat((self.bu_conv1(mean), top), dim=1))


class YOLOXHead(nn.Module):
    """Maps -> for each, boxes, objectness and classes of its cells: B,5+C,H,W, all of them raw.

    Classes and boxes have branches of their own; objectness is told by that of the boxes.
    """

    def __init__(self, num_classes: int, width: float, depthwise: bool = False):
        super().__init__()
        hidden = int(256 * width)
        spatial = conv(depthwise)

        def branch() -> nn.Module:
            return nn.Sequential(spatial(hidden, hidden, 3, 1), spatial(hidden, hidden, 3, 1))

        def each(make) -> nn.ModuleList:
            return nn.ModuleList(make() for _ in STRIDES)

        widths = [int(channels * width) for channels in (256, 512, 1024)]
        self.stems = nn.ModuleList(BaseConv(channels, hidden, 1, 1) for channels in widths)
        self.cls_convs, self.reg_convs = each(branch), each(branch)
        self.cls_preds = each(lambda: nn.Conv2d(hidden, num_classes, 1))
        self.reg_preds = each(lambda: nn.Conv2d(hidden, 4, 1))
        self.obj_preds = each(lambda: nn.Conv2d(hidden, 1, 1))
        for layer in (*self.cls_preds, *self.obj_preds):
            nn.init.constant_(layer.bias, -math.log((1 - PRIOR) / PRIOR))

    def forward(self, maps: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        found = []
        for i, x in enumerate(maps):
            x = self.stems[i](x)
            classes, boxes = self.cls_convs[i](x), self.reg_convs[i](x)
            parts = self.reg_preds[i](boxes), self.obj_preds[i](boxes), self.cls_preds[i](classes)
            found.append(torch.cat(parts, dim=1))
        return tuple(found)


def cells(maps: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """The corner of each cell, (A, 2), and its stride, (A, 1), in the order of `rows`."""
    corners, strides = [], []
    for x, stride in zip(maps, STRIDES, strict=True):
        height, width = x.shape[-2:]
        down, right = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        corners.append(torch.stack((right, down), dim=2).reshape(-1, 2).to(x))
        strides.append(torch.full((height * width, 1), stride).to(x))
    return torch.cat(corners), torch.cat(strides)


def rows(maps: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Maps B,5+C,H,W as one table B,A,5+C, a row for each cell."""
    return torch.cat([x.flatten(start_dim=2) for x in maps], dim=2).permute(0, 2, 1)


def decode(maps: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Raw maps as B,A,5+C: boxes as centre, width and height in pixels; scores are left raw."""
    corners, strides = cells(maps)
    found = rows(maps)
    centres = (found[..., :2] + corners) * strides
    sizes = torch.exp(found[..., 2:4]) * strides
    return torch.cat((centres, sizes, found[..., 4:]), dim=-1)


class YOLOX(nn.Module):
    """Images -> the raw maps in training; boxes and probabilities B,A,5+C in evaluation."""

    def __init__(self, num_classes: int, depth: float, width: float, depthwise: bool = False):
        super().__init__()
        self.backbone = YOLOPAFPN(depth, width, depthwise)
        self.head = YOLOXHead(num_classes, width, depthwise)

    def forward(self, images: torch.Tensor):
        maps = self.head(self.backbone(images))
        if self.training:
            return maps
        found = decode(maps)
        return torch.cat((found[..., :4], found[..., 4:].sigmoid()), dim=-1)


class Decoded(nn.Module):
    """Three maps -> boxes in pixels, and raw scores."""

    def forward(self, fine: torch.Tensor, mean: torch.Tensor, coarse: torch.Tensor) -> torch.Tensor:
        return decode((fine, mean, coarse))
