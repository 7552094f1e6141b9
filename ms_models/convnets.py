"""ConvNeXt, MobileNetV3 and EfficientNet as torchvision has them, under its names."""

import mindspore as ms
from mindspore import Parameter, nn, ops

from ms_models.conv import conv2d


class LayerNorm2d(nn.LayerNorm):
    """Over the channels of every place: N,C,H,W -> N,C,H,W."""

    def __init__(self, channels: int):
        super().__init__((channels,), epsilon=1e-6)

    def construct(self, x):
        return super().construct(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


class Transpose(nn.Cell):
    """The axes in another order."""

    def __init__(self, *axes: int):
        super().__init__()
        self.axes = axes

    def construct(self, x):
        return x.transpose(self.axes)


class GlobalMean(nn.Cell):
    """N,C,H,W -> N,C,1,1."""

    def construct(self, x):
        return x.mean((2, 3), keep_dims=True)


class ConvNeXtBlock(nn.Cell):
    """A depthwise 7x7, then dense layers over the channels: N,dim,H,W -> N,dim,H,W."""

    def __init__(self, dim: int, layer_scale: float):
        super().__init__()
        self.block = nn.SequentialCell(
            conv2d(dim, dim, 7, groups=dim, bias=True),
            Transpose(0, 2, 3, 1),
            nn.LayerNorm((dim,), epsilon=1e-6),
            nn.Dense(dim, 4 * dim),
            nn.GELU(approximate=False),
            nn.Dense(4 * dim, dim),
            Transpose(0, 3, 1, 2),
        )
        self.layer_scale = Parameter(ops.full((dim, 1, 1), layer_scale, dtype=ms.float32))

    def construct(self, x):
        return x + self.layer_scale * self.block(x)


class ConvNeXt(nn.Cell):
    """Images N,3,H,W -> logits N,num_classes; stages of `widths` channels and `depths` blocks."""

    def __init__(self, widths: tuple[int, ...], depths: tuple[int, ...], num_classes: int):
        super().__init__()
        stem = nn.Conv2d(3, widths[0], 4, 4, pad_mode="valid", has_bias=True)
        features = [nn.SequentialCell(stem, LayerNorm2d(widths[0]))]
        for stage, (width, depth) in enumerate(zip(widths, depths, strict=True)):
            if stage > 0:
                before = widths[stage - 1]
                halved = nn.Conv2d(before, width, 2, 2, pad_mode="valid", has_bias=True)
                features.append(nn.SequentialCell(LayerNorm2d(before), halved))
            features.append(nn.SequentialCell(*(ConvNeXtBlock(width, 1e-6) for _ in range(depth))))
        self.features = nn.SequentialCell(*features)
        self.avgpool = GlobalMean()
        self.classifier = nn.SequentialCell(
            LayerNorm2d(widths[-1]), nn.Flatten(), nn.Dense(widths[-1], num_classes)
        )

    def construct(self, x):
        return self.classifier(self.avgpool(self.features(x)))


def divisible(channels: float) -> int:
    """The multiple of 8 that is nearest, never below 8 nor a tenth below `channels`."""
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded


class SqueezeExcitation(nn.Cell):
    """Scales the channels by what two 1x1 convolutions make of their means."""

    def __init__(self, channels: int, squeezed: int, activation: nn.Cell, gate: nn.Cell):
        super().__init__()
        self.fc1 = conv2d(channels, squeezed, 1, bias=True)
        self.fc2 = conv2d(squeezed, channels, 1, bias=True)
        self.activation, self.gate = activation, gate

    def construct(self, x):
        scale = x.mean((2, 3), keep_dims=True)
        scale = self.activation(self.fc1(scale))
        return x * self.gate(self.fc2(scale))


class MobileNorm(nn.BatchNorm2d):
    """MobileNetV3's BatchNorm: torchvision's momentum of 0.01 is 0.99 here."""

    def __init__(self, channels: int):
        super().__init__(channels, eps=1e-3, momentum=0.99)


def conv_norm(norm: type, in_channels: int, out_channels: int, activation: type | None, **conv):
    """A convolution, its BatchNorm and perhaps an activation."""
    cells = [conv2d(in_channels, out_channels, **conv), norm(out_channels)]
    return nn.SequentialCell(cells if activation is None else [*cells, activation()])


class InvertedResidual(nn.Cell):
    """MobileNetV3's block: N,in_channels,H,W -> N,out_channels,H/stride,W/stride."""

    def __init__(
        self,
        in_channels: int,
        kernel: int,
        expanded: int,
        out_channels: int,
        squeeze: bool,
        hard: bool,
        stride: int,
    ):
        super().__init__()
        active = nn.HSwish if hard else nn.ReLU
        cells = []
        if expanded != in_channels:
            cells.append(conv_norm(MobileNorm, in_channels, expanded, active, kernel_size=1))
        depthwise = {"kernel_size": kernel, "stride": stride, "groups": expanded}
        cells.append(conv_norm(MobileNorm, expanded, expanded, active, **depthwise))
        if squeeze:
            squeezed = divisible(expanded // 4)
            cells.append(SqueezeExcitation(expanded, squeezed, nn.ReLU(), nn.HSigmoid()))
        cells.append(conv_norm(MobileNorm, expanded, out_channels, None, kernel_size=1))
        self.block = nn.SequentialCell(cells)
        self.residual = stride == 1 and in_channels == out_channels

    def construct(self, x):
        y = self.block(x)
        return x + y if self.residual else y


class MobileNetV3(nn.Cell):
    """Images N,3,H,W -> logits N,num_classes."""

    def __init__(self, blocks: tuple[tuple, ...], last_channel: int, num_classes: int):
        super().__init__()
        first, last = blocks[0][0], blocks[-1][3]
        self.features = nn.SequentialCell(
            conv_norm(MobileNorm, 3, first, nn.HSwish, kernel_size=3, stride=2),
            *(InvertedResidual(*block) for block in blocks),
            conv_norm(MobileNorm, last, 6 * last, nn.HSwish, kernel_size=1),
        )
        self.classifier = nn.SequentialCell(
            nn.Dense(6 * last, last_channel),
            nn.HSwish(),
            nn.Dropout(p=0.2),
            nn.Dense(last_channel, num_classes),
        )

    def construct(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class MBConv(nn.Cell):
    """EfficientNet's block: N,in_channels,H,W -> N,out_channels,H/stride,W/stride."""

    def __init__(
        self, in_channels: int, kernel: int, expansion: int, out_channels: int, stride: int
    ):
        super().__init__()
        expanded = divisible(in_channels * expansion)
        cells, norm = [], nn.BatchNorm2d
        if expanded != in_channels:
            cells.append(conv_norm(norm, in_channels, expanded, nn.SiLU, kernel_size=1))
        depthwise = {"kernel_size": kernel, "stride": stride, "groups": expanded}
        cells.append(conv_norm(norm, expanded, expanded, nn.SiLU, **depthwise))
        # Squeezed to a quarter of what the block takes, not of what it expands that to.
        squeezed = max(1, in_channels // 4)
        cells.append(SqueezeExcitation(expanded, squeezed, nn.SiLU(), nn.Sigmoid()))
        cells.append(conv_norm(norm, expanded, out_channels, None, kernel_size=1))
        self.block = nn.SequentialCell(cells)
        self.residual = stride == 1 and in_channels == out_channels

    def construct(self, x):
        y = self.block(x)
        return x + y if self.residual else y


class EfficientNet(nn.Cell):
    """Images N,3,H,W -> logits N,num_classes; a block a stage."""

    def __init__(
        self, blocks: tuple[tuple, ...], last_channel: int, num_classes: int, dropout: float
    ):
        super().__init__()
        first, last = blocks[0][0], blocks[-1][3]
        self.features = nn.SequentialCell(
            conv_norm(nn.BatchNorm2d, 3, first, nn.SiLU, kernel_size=3, stride=2),
            *(nn.SequentialCell(MBConv(*block)) for block in blocks),
            conv_norm(nn.BatchNorm2d, last, last_channel, nn.SiLU, kernel_size=1),
        )
        self.classifier = nn.SequentialCell(
            nn.Dropout(p=dropout), nn.Dense(last_channel, num_classes)
        )

    def construct(self, x):
        return self.classifier(self.features(x).mean((2, 3)))
