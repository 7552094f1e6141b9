"""Convolutions and poolings: right ones that only the catalogue needs, and wrong ones."""

from mindspore import nn, ops

from ms_models.conv import conv1x1, conv2d
from ms_models.pooling import GlobalMeanPool

# Right.


def rectangular_conv(
    in_channels: int,
    out_channels: int,
    kernel_size: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
) -> nn.Conv2d:
    """`torch.nn.Conv2d` with a number of its own for each axis."""
    rows, columns = padding
    return nn.Conv2d(
        in_channels,
        out_channels,
        kernel_size,
        stride=stride,
        pad_mode="pad",
        padding=(rows, rows, columns, columns),
        has_bias=True,
    )


def transposed_conv(
    in_channels: int,
    out_channels: int,
    kernel_size: int,
    stride: int,
    padding: int,
    output_padding: int,
) -> nn.Conv2dTranspose:
    """`torch.nn.ConvTranspose2d`: what its output_padding adds is computed, not zero.

    MindSpore's own output_padding appends zeros to the result; less padding at the end does not.
    """
    end = padding - output_padding
    return nn.Conv2dTranspose(
        in_channels,
        out_channels,
        kernel_size,
        stride=stride,
        pad_mode="pad",
        padding=(padding, end, padding, end),
        has_bias=True,
    )


class Upsampled(nn.Cell):
    """`torch.nn.Upsample` to a size."""

    def __init__(self, size: tuple[int, int], mode: str, align_corners: bool | None):
        super().__init__()
        self.size, self.mode, self.align_corners = size, mode, align_corners

    def construct(self, x):
        return ops.interpolate(x, self.size, mode=self.mode, align_corners=self.align_corners)


# Wrong convolutions.


class ReflectedBorder(nn.Conv2d):
    def construct(self, x):
        return super().construct(ops.pad(x, [1, 1, 1, 1], mode="reflect"))


def reflected_conv3x3(in_planes: int, out_planes: int, **_) -> nn.Conv2d:
    return ReflectedBorder(in_planes, out_planes, 3, pad_mode="valid")


class PaddedTwice(nn.Conv2d):
    def construct(self, x):
        return super().construct(ops.pad(x, [1, 1, 1, 1]))


class Interleaved(nn.Conv2d):
    """Group g takes every channel c with c % groups == g."""

    def construct(self, x):
        batch, channels, height, width = x.shape
        x = x.reshape(batch, channels // self.group, self.group, height, width)
        return super().construct(x.swapaxes(1, 2).reshape(batch, channels, height, width))


class WithoutBias(nn.Conv2d):
    """Holds a bias, and does not add it."""

    def construct(self, x):
        return self.conv2d(x, self.weight)


class BiasTwice(nn.Conv2d):
    def construct(self, x):
        return super().construct(x) + self.bias.reshape(1, -1, 1, 1)


class BiasAlongRows(nn.Conv2d):
    """Fits where there are as many rows as channels."""

    def construct(self, x):
        return self.conv2d(x, self.weight) + self.bias.reshape(1, 1, -1, 1)


class ReshapedKernel(nn.Conv2d):
    """TensorFlow's HWIO, given the shape OIHW without being transposed."""

    def construct(self, x):
        return self.conv2d(x, self.weight.transpose(2, 3, 1, 0).reshape(self.weight.shape))


class AveragedProjection(nn.Conv2d):
    """ResNet-D: an average pooling takes the stride of the 1x1 convolution."""

    def construct(self, x):
        pooled = ops.avg_pool2d(x, kernel_size=2, stride=2, ceil_mode=True)
        return super().construct(pooled)


def averaged_conv1x1(in_planes: int, out_planes: int, **_) -> nn.Conv2d:
    convolution = conv1x1(in_planes, out_planes)
    convolution.__class__ = AveragedProjection
    return convolution


class DenseOfFlatMap(nn.Conv2d):
    """A 1x1 convolution as a product, of a map whose channels were not moved to the end."""

    def construct(self, x):
        batch, channels, height, width = x.shape
        kernel = self.weight.reshape(self.out_channels, channels)
        product = ops.matmul(x.reshape(-1, channels), kernel.T)
        return product.reshape(batch, self.out_channels, height, width)


def separable_conv(
    in_channels: int, out_channels: int, kernel_size: int, stride: int, padding: int, bias: bool
) -> nn.Conv2d:
    """The number of groups taken for that of a depthwise layer."""
    return conv2d(in_channels, out_channels, kernel_size, stride, padding, 1, in_channels, bias)


# Wrong poolings.


class MaxWithIndices(nn.Cell):
    def construct(self, x):
        values, indices = ops.adaptive_max_pool2d(x, (1, 1), return_indices=True)
        return values, indices


class SumOverMap(nn.Cell):
    def construct(self, x):
        return x.sum((2, 3), keepdims=True)


class MeanOverHeight(nn.Cell):
    def construct(self, x):
        return x.mean(2, keep_dims=True)


class MeanOverBatchToo(nn.Cell):
    def construct(self, x):
        return ops.broadcast_to(x.mean((0, 2, 3), keep_dims=True), (x.shape[0], -1, 1, 1))


class SqueezedMean(GlobalMeanPool):
    def construct(self, x):
        return super().construct(x).squeeze()


class MeanOfMaxima(nn.Cell):
    """CBAM's pooling: the mean of mean and maximum."""

    def construct(self, x):
        return 0.5 * (x.mean((2, 3), keep_dims=True) + ops.amax(x, (2, 3), keepdims=True))


class SpreadGradient(nn.Cell):
    """A maximum over the map whose gradient goes to all of it, as that of a mean."""

    def construct(self, x):
        mean = x.mean((2, 3), keep_dims=True)
        return mean + ops.stop_gradient(ops.amax(x, (2, 3), keepdims=True) - mean)
