"""Convolutions as the ResNet recipes use them, plus the general one they are made of."""

from mindspore import nn


def conv2d(
    in_channels: int,
    out_channels: int,
    kernel_size: int | tuple[int, int],
    stride: int = 1,
    padding: int | None = None,
    dilation: int = 1,
    groups: int = 1,
    bias: bool = False,
) -> nn.Conv2d:
    """`torch.nn.Conv2d` with an integer padding; the default padding keeps the size at stride 1.

    MindSpore pads by rule (`pad_mode='same'`) unless told to use the number given, and gives
    top, bottom, left and right their own numbers.
    """
    height, width = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
    if padding is None:
        rows, columns = dilation * (height - 1) // 2, dilation * (width - 1) // 2
    else:
        rows = columns = padding
    return nn.Conv2d(
        in_channels,
        out_channels,
        (height, width),
        stride=stride,
        pad_mode="pad",
        padding=(rows, rows, columns, columns),
        dilation=dilation,
        group=groups,
        has_bias=bias,
    )


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """The pointwise convolution of bottlenecks and of residual projections."""
    return conv2d(in_planes, out_planes, 1, stride)


def conv3x3(
    in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1
) -> nn.Conv2d:
    """The 3x3 convolution with padding equal to its dilation."""
    return conv2d(in_planes, out_planes, 3, stride, groups=groups, dilation=dilation)


def conv7x7(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """The stem convolution."""
    return conv2d(in_planes, out_planes, 7, stride)


def conv_same(in_planes: int, out_planes: int, kernel_size: int, stride: int = 1) -> nn.Conv2d:
    """A convolution under TensorFlow's padding rule, as the r0.5 and r1.7 guides migrate it.

    At stride 2 on even sizes it pads 0 before and 1 after where PyTorch's recipes pad 1 and 1.
    """
    return nn.Conv2d(in_planes, out_planes, kernel_size, stride=stride, pad_mode="same")


def biased_block(in_planes: int, out_planes: int) -> nn.SequentialCell:
    """VGG's block: a 3x3 convolution with bias, BatchNorm, ReLU.

    In training the BatchNorm takes the bias out again: its gradient is zero, up to rounding.
    """
    convolution = conv2d(in_planes, out_planes, 3, bias=True)
    return nn.SequentialCell(convolution, nn.BatchNorm2d(out_planes), nn.ReLU())
