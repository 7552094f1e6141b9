"""Residual networks as torchvision has them: a bottleneck strides on its 3x3 convolution."""

from mindspore import nn, ops

from ms_models.conv import conv1x1, conv3x3, conv7x7, conv_same
from ms_models.initializers import as_torchvision


def projection(in_channels: int, out_channels: int, stride: int) -> nn.SequentialCell | None:
    """The 1x1 convolution and BatchNorm of a shortcut that changes shape, else None."""
    if stride == 1 and in_channels == out_channels:
        return None
    return nn.SequentialCell(
        conv1x1(in_channels, out_channels, stride), nn.BatchNorm2d(out_channels)
    )


class BasicBlock(nn.Cell):
    """Two 3x3 convolutions and the shortcut: N,inplanes,H,W -> N,planes,H/stride,W/stride."""

    expansion = 1
    last_norm = "bn2"

    def __init__(self, inplanes: int, planes: int, stride: int = 1):
        super().__init__()
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU()
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = projection(inplanes, planes, stride)

    def construct(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + shortcut)


class Bottleneck(nn.Cell):
    """1x1, 3x3 (stride), 1x1 and the shortcut: N,inplanes,H,W -> N,4*planes,H/stride,W/stride."""

    expansion = 4
    last_norm = "bn3"

    def __init__(self, inplanes: int, planes: int, stride: int = 1):
        super().__init__()
        self.conv1 = conv1x1(inplanes, planes)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = conv3x3(planes, planes, stride)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = conv1x1(planes, planes * self.expansion)
        self.bn3 = nn.BatchNorm2d(planes * self.expansion)
        self.relu = nn.ReLU()
        self.downsample = projection(inplanes, planes * self.expansion, stride)

    def construct(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + shortcut)


BLOCKS = {"BasicBlock": BasicBlock, "Bottleneck": Bottleneck}


def stage(
    block: str, inplanes: int, planes: int, blocks: int, stride: int = 1
) -> nn.SequentialCell:
    """`blocks` residual blocks in a row; the first changes channels and size.

    Each block is built anew: `[cell] * n` would share its weights.
    """
    build = BLOCKS[block]
    wide = planes * build.expansion
    return nn.SequentialCell(
        build(inplanes, planes, stride), *(build(wide, planes) for _ in range(blocks - 1))
    )


class ResNet(nn.Cell):
    """N,3,H,W images -> N,num_classes logits; stages at 1/4, 1/8, 1/16 and 1/32 of the size.

    Initialised as torchvision's; with `zero_init_residual` each block begins as the identity.
    """

    def __init__(
        self,
        block: str,
        layers: tuple[int, int, int, int],
        num_classes: int = 1000,
        zero_init_residual: bool = False,
    ):
        super().__init__()
        expansion = BLOCKS[block].expansion
        self.conv1 = conv7x7(3, 64, stride=2)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="pad", padding=1)
        self.layer1 = stage(block, 64, 64, layers[0])
        self.layer2 = stage(block, 64 * expansion, 128, layers[1], stride=2)
        self.layer3 = stage(block, 128 * expansion, 256, layers[2], stride=2)
        self.layer4 = stage(block, 256 * expansion, 512, layers[3], stride=2)
        self.avgpool = ops.ReduceMean(keep_dims=True)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(512 * expansion, num_classes)
        blocks = [cell for _, cell in self.cells_and_names() if type(cell) is BLOCKS[block]]
        last_norms = [getattr(cell, cell.last_norm) for cell in blocks]
        as_torchvision(self, last_norms if zero_init_residual else [])

    def construct(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.flatten(self.avgpool(x, (2, 3))))


DEPTHS = {
    18: ("BasicBlock", (2, 2, 2, 2)),
    34: ("BasicBlock", (3, 4, 6, 3)),
    50: ("Bottleneck", (3, 4, 6, 3)),
    101: ("Bottleneck", (3, 4, 23, 3)),
    152: ("Bottleneck", (3, 8, 36, 3)),
}


def resnet(depth: int, num_classes: int = 1000, zero_init_residual: bool = False) -> ResNet:
    """ResNet 18, 34, 50, 101 or 152."""
    block, layers = DEPTHS[depth]
    return ResNet(block, layers, num_classes, zero_init_residual)


class WideBottleneck(nn.Cell):
    """The r0.5 guide's block: no reduction inside, TensorFlow padding, eps 1e-4.

    N,in_planes,H,W -> N,out_planes,ceil(H/stride),ceil(W/stride).
    """

    def __init__(self, in_planes: int, out_planes: int, stride: int = 1):
        super().__init__()
        self.conv1 = conv_same(in_planes, out_planes, 1)
        self.bn1 = nn.BatchNorm2d(out_planes, eps=1e-4)
        self.conv2 = conv_same(out_planes, out_planes, 3, stride)
        self.bn2 = nn.BatchNorm2d(out_planes, eps=1e-4)
        self.conv3 = conv_same(out_planes, out_planes, 1)
        self.bn3 = nn.BatchNorm2d(out_planes, eps=1e-4)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or in_planes != out_planes:
            self.downsample = nn.SequentialCell(
                conv_same(in_planes, out_planes, 1, stride), nn.BatchNorm2d(out_planes, eps=1e-4)
            )

    def construct(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + shortcut)


class PooledBottleneck(nn.Cell):
    """The r1.7 guide's block: where it shrinks, `e2` convolves at stride 1 and then max pools.

    N,in_planes,H,W -> N,out_planes,ceil(H/stride),ceil(W/stride), a quarter of the planes inside.
    """

    expansion = 4

    def __init__(self, in_planes: int, out_planes: int, stride: int = 1):
        super().__init__()
        planes = out_planes // self.expansion
        self.conv1 = conv1x1(in_planes, planes)
        self.bn1 = nn.BatchNorm2d(planes)
        middle = [conv_same(planes, planes, 3), nn.BatchNorm2d(planes), nn.ReLU()]
        if stride != 1:
            middle.append(nn.MaxPool2d(kernel_size=2, stride=2, pad_mode="same"))
        self.e2 = nn.SequentialCell(middle)
        self.conv3 = conv1x1(planes, out_planes)
        self.bn3 = nn.BatchNorm2d(out_planes)
        self.relu = nn.ReLU()
        self.down_sample_layer = projection(in_planes, out_planes, stride)

    def construct(self, x):
        shortcut = x if self.down_sample_layer is None else self.down_sample_layer(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn3(self.conv3(self.e2(out)))
        return self.relu(out + shortcut)
