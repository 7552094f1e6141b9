"""YOLOX: a detector without anchors. The names of weights are those of Megvii's checkpoints."""

import math

from mindspore import nn, ops
from mindspore.common.initializer import Constant

from ms_models.conv import conv2d
from ms_models.initializers import fill
from ms_models.norm import batch_norm2d
from ms_models.pooling import max_pool2d

STRIDES = (8, 16, 32)
"""Pixels per cell of the three maps."""

PRIOR = 0.01
"""The probability of an object, and of each class, that the head begins with."""


class BaseConv(nn.Cell):
    """Convolution, BatchNorm, SiLU."""

    def __init__(
        self, in_channels: int, out_channels: int, ksize: int, stride: int, groups: int = 1
    ):
        super().__init__()
        self.conv = conv2d(in_channels, out_channels, ksize, stride, groups=groups)
        self.bn = batch_norm2d(out_channels, eps=1e-3, momentum=0.03)
        self.act = nn.SiLU()

    def construct(self, x):
        return self.act(self.bn(self.conv(x)))


class DWConv(nn.Cell):
    """A convolution of each channel by itself, then one across the channels."""

    def __init__(self, in_channels: int, out_channels: int, ksize: int, stride: int):
        super().__init__()
        self.dconv = BaseConv(in_channels, in_channels, ksize, stride, groups=in_channels)
        self.pconv = BaseConv(in_channels, out_channels, 1, 1)

    def construct(self, x):
        return self.pconv(self.dconv(x))


def conv(depthwise: bool) -> type[nn.Cell]:
    """The class of the spatial convolutions."""
    return DWConv if depthwise else BaseConv


class Focus(nn.Cell):
    """Every second pixel in either direction as a channel of its own, then a convolution."""

    def __init__(self, in_channels: int, out_channels: int, ksize: int):
        super().__init__()
        self.conv = BaseConv(4 * in_channels, out_channels, ksize, 1)

    def construct(self, x):
        # By reshaping: in PyNative mode on a CPU, x[:, :, ::2, ::2] has no gradient (finding
        # stepped_slice_gradient).
        b, c, h, w = x.shape
        x = x.reshape(b, c, h // 2, 2, w // 2, 2)
        parts = x.transpose(0, 5, 3, 1, 2, 4)  # top left, bottom left, top right, bottom right
        return self.conv(parts.reshape(b, 4 * c, h // 2, w // 2))


class Bottleneck(nn.Cell):
    """1x1 and 3x3, with the input added where `shortcut` says so and the widths are equal."""

    def __init__(self, in_channels: int, out_channels: int, shortcut: bool, depthwise: bool):
        super().__init__()
        self.conv1 = BaseConv(in_channels, out_channels, 1, 1)
        self.conv2 = conv(depthwise)(out_channels, out_channels, 3, 1)
        self.add = shortcut and in_channels == out_channels

    def construct(self, x):
        y = self.conv2(self.conv1(x))
        return y + x if self.add else y


class CSPLayer(nn.Cell):
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
        self.m = nn.SequentialCell(*(Bottleneck(half, half, shortcut, depthwise) for _ in range(n)))

    def construct(self, x):
        deep = self.m(self.conv1(x))
        return self.conv3(ops.cat((deep, self.conv2(x)), axis=1))


class SPPBottleneck(nn.Cell):
    """Max poolings of several windows beside each other, within two 1x1 convolutions."""

    def __init__(self, in_channels: int, out_channels: int, kernel_sizes: tuple = (5, 9, 13)):
        super().__init__()
        half = in_channels // 2
        self.conv1 = BaseConv(in_channels, half, 1, 1)
        self.m = nn.CellList([max_pool2d(k, 1, k // 2) for k in kernel_sizes])
        self.conv2 = BaseConv(half * (len(kernel_sizes) + 1), out_channels, 1, 1)

    def construct(self, x):
        x = self.conv1(x)
        parts = (x,)
        for pool in self.m:
            parts = (*parts, pool(x))
        return self.conv2(ops.cat(parts, axis=1))


class CSPDarknet(nn.Cell):
    """Images -> maps of strides 8, 16 and 32."""

    def __init__(self, depth: float, width: float, depthwise: bool = False):
        super().__init__()
        base, n = int(width * 64), max(round(depth * 3), 1)
        spatial = conv(depthwise)

        def stage(channels: int, n: int) -> list[nn.Cell]:
            down = spatial(channels, 2 * channels, 3, 2)
            return [down, CSPLayer(2 * channels, 2 * channels, n, depthwise=depthwise)]

        self.stem = Focus(3, base, 3)
        self.dark2 = nn.SequentialCell(*stage(base, n))
        self.dark3 = nn.SequentialCell(*stage(2 * base, 3 * n))
        self.dark4 = nn.SequentialCell(*stage(4 * base, 3 * n))
        self.dark5 = nn.SequentialCell(
            spatial(8 * base, 16 * base, 3, 2),
            SPPBottleneck(16 * base, 16 * base),
            CSPLayer(16 * base, 16 * base, n, shortcut=False, depthwise=depthwise),
        )

    def construct(self, x):
        dark3 = self.dark3(self.dark2(self.stem(x)))
        dark4 = self.dark4(dark3)
        return dark3, dark4, self.dark5(dark4)


def upsample(x):
    """Each pixel four times. Its scale is told by the size, which every kernel reads alike."""
    return ops.interpolate(x, size=(2 * x.shape[2], 2 * x.shape[3]), mode="nearest")


class YOLOPAFPN(nn.Cell):
    """The backbone, a path from the coarse maps to the fine ones, and one back."""

    def __init__(self, depth: float, width: float, depthwise: bool = False):
        super().__init__()
        c3, c4, c5 = (int(width * channels) for channels in (256, 512, 1024))
        n = round(3 * depth)
        spatial = conv(depthwise)

        def csp(in_channels: int, out_channels: int) -> nn.Cell:
            return CSPLayer(in_channels, out_channels, n, shortcut=False, depthwise=depthwise)

        self.backbone = CSPDarknet(depth, width, depthwise)
        self.lateral_conv0 = BaseConv(c5, c4, 1, 1)
        self.C3_p4 = csp(2 * c4, c4)
        self.reduce_conv1 = BaseConv(c4, c3, 1, 1)
        self.C3_p3 = csp(2 * c3, c3)
        self.bu_conv2 = spatial(c3, c3, 3, 2)
        self.C3_n3 = csp(2 * c3, c4)
        self.bu_conv1 = spatial(c4, c4, 3, 2)
        self.C3_n4 = csp(2 * c4, c5)

    def construct(self, x):
        x2, x1, x0 = self.backbone(x)
        top = self.lateral_conv0(x0)
        middle = self.C3_p4(ops.cat((upsample(top), x1), axis=1))
        middle = self.reduce_conv1(middle)
        fine = self.C3_p3(ops.cat((upsample(middle), x2), axis=1))
        mean = self.C3_n3(ops.cat((self.bu_conv2(fine), middle), axis=1))
        coarse = self.C3_n4(ops.cat((self.bu_conv1(mean), top), axis=1))
        return fine, mean, coarse


class YOLOXHead(nn.Cell):
    """Maps -> for each, boxes, objectness and classes of its cells: B,5+C,H,W, all of them raw.

    Classes and boxes have branches of their own; objectness is told by that of the boxes.
    """

    def __init__(self, num_classes: int, width: float, depthwise: bool = False):
        super().__init__()
        hidden = int(256 * width)
        spatial = conv(depthwise)

        def branch() -> nn.Cell:
            return nn.SequentialCell(spatial(hidden, hidden, 3, 1), spatial(hidden, hidden, 3, 1))

        def each(make) -> nn.CellList:
            return nn.CellList([make() for _ in STRIDES])

        widths = [int(channels * width) for channels in (256, 512, 1024)]
        self.stems = nn.CellList([BaseConv(channels, hidden, 1, 1) for channels in widths])
        self.cls_convs, self.reg_convs = each(branch), each(branch)
        self.cls_preds = each(lambda: conv2d(hidden, num_classes, 1, bias=True))
        self.reg_preds = each(lambda: conv2d(hidden, 4, 1, bias=True))
        self.obj_preds = each(lambda: conv2d(hidden, 1, 1, bias=True))
        for layer in (*self.cls_preds, *self.obj_preds):
            fill(layer.bias, Constant(-math.log((1 - PRIOR) / PRIOR)))

    def construct(self, maps):
        found = ()
        for i, x in enumerate(maps):
            x = self.stems[i](x)
            classes, boxes = self.cls_convs[i](x), self.reg_convs[i](x)
            parts = (self.reg_preds[i](boxes), self.obj_preds[i](boxes), self.cls_preds[i](classes))
            found = (*found, ops.cat(parts, axis=1))
        return found


def cells(maps):
    """The corner of each cell, (A, 2), and its stride, (A, 1), in the order of `rows`."""
    corners, strides = (), ()
    for x, stride in zip(maps, STRIDES):  # noqa: B905  graph mode knows no strict=True
        height, width = x.shape[2], x.shape[3]
        across = ops.tile(ops.arange(width).reshape(1, -1), (height, 1))
        down = ops.tile(ops.arange(height).reshape(-1, 1), (1, width))
        corner = ops.stack((across, down), axis=2).reshape(-1, 2).astype(x.dtype)
        corners = (*corners, corner)
        strides = (*strides, ops.full((height * width, 1), stride, dtype=x.dtype))
    return ops.cat(corners), ops.cat(strides)


def rows(maps):
    """Maps B,5+C,H,W as one table B,A,5+C, a row for each cell."""
    found = ()
    for x in maps:
        found = (*found, x.reshape(x.shape[0], x.shape[1], -1))
    return ops.cat(found, axis=2).transpose(0, 2, 1)


def decode(maps):
    """Raw maps as B,A,5+C: boxes as centre, width and height in pixels; scores are left raw."""
    corners, strides = cells(maps)
    found = rows(maps)
    centres = (found[..., :2] + corners) * strides
    sizes = ops.exp(found[..., 2:4]) * strides
    return ops.cat((centres, sizes, found[..., 4:]), axis=-1)


class YOLOX(nn.Cell):
    """Images -> the raw maps in training; boxes and probabilities B,A,5+C in evaluation."""

    def __init__(self, num_classes: int, depth: float, width: float, depthwise: bool = False):
        super().__init__()
        self.backbone = YOLOPAFPN(depth, width, depthwise)
        self.head = YOLOXHead(num_classes, width, depthwise)

    def construct(self, images):
        maps = self.head(self.backbone(images))
        if self.training:
            return maps
        found = decode(maps)
        return ops.cat((found[..., :4], ops.sigmoid(found[..., 4:])), axis=-1)


class Decoded(nn.Cell):
    """Three maps -> boxes in pixels, and raw scores."""

    def construct(self, fine, mean, coarse):
        return decode((fine, mean, coarse))
