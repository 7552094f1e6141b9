"""Operators put together from others that do the same, where an API is missing on one side."""

import mindspore as ms
from mindspore import nn, ops


class Reshaped(nn.Cell):
    """Squeeze, Flatten and ExpandDims by Reshape: N,1,H,W -> N,H,W and N,H * W and N,1,1,H,W."""

    def construct(self, x):
        rows, _, height, width = x.shape
        return (
            ops.reshape(x, (rows, height, width)),
            ops.reshape(x, (rows, -1)),
            ops.reshape(x, (rows, 1, 1, height, width)),
        )


class AdaptiveMeanPool(nn.Cell):
    """`torch.nn.AdaptiveAvgPool2d` to a size that divides the map's, by a Reshape and a mean."""

    def __init__(self, output_size: tuple[int, int]):
        super().__init__()
        self.output_size = output_size

    def construct(self, x):
        rows, channels, height, width = x.shape
        down, across = self.output_size
        x = x.reshape(rows, channels, down, height // down, across, width // across)
        return x.mean((3, 5))


def adaptive_avg_pool2d(output_size: tuple[int | None, int | None]) -> nn.AdaptiveAvgPool2d:
    """`torch.nn.AdaptiveAvgPool2d` to any size."""
    return nn.AdaptiveAvgPool2d(output_size)


def adaptive_max_pool2d(output_size: tuple[int, int]) -> nn.AdaptiveMaxPool2d:
    """`torch.nn.AdaptiveMaxPool2d` to any size."""
    return nn.AdaptiveMaxPool2d(output_size)


class MaxPoolWithArgmax(nn.Cell):
    """Max pooling by the operator that finds the places too, which are left unused."""

    def __init__(self, kernel_size: int, stride: int, padding: int):
        super().__init__()
        self.pool = nn.MaxPool2d(
            kernel_size, stride, pad_mode="pad", padding=padding, return_indices=True
        )

    def construct(self, x):
        values, _ = self.pool(x)
        return values


class SortByTopK(nn.Cell):
    """Sorts rows by a TopK of all; ascending by one of the negative."""

    def __init__(self, descending: bool):
        super().__init__()
        self.descending = descending

    def construct(self, x):
        x = x if self.descending else -x
        values, places = ops.topk(x, x.shape[-1])
        return values if self.descending else -values, places.astype(ms.int64)


class Unfold(nn.Cell):
    """`torch.nn.Unfold` by a convolution with kernels that are one at a single element."""

    def __init__(self, kernel_size: int, padding: int, stride: int):
        super().__init__()
        self.kernel_size, self.padding, self.stride = kernel_size, padding, stride

    def construct(self, x):
        size = self.kernel_size
        rows, channels, height, width = x.shape
        kernels = ops.eye(size * size, size * size, x.dtype).reshape(-1, 1, size, size)
        x = ops.conv2d(
            x.reshape(rows * channels, 1, height, width),
            kernels,
            stride=self.stride,
            pad_mode="pad",
            padding=self.padding,
        )
        return x.reshape(rows, channels * size * size, -1)


class Gathered(nn.Cell):
    """Rows and elements of a matrix by the four ways to name them; R,C and M,C numbers of rows."""

    def construct(self, x, rows):
        first = rows[:, 0]
        return (
            ops.gather(x, first, 0),
            ops.gather_elements(x, 0, rows),
            ops.gather_nd(x, ops.stack((first, rows[:, 1]), 1)),
            ops.index_select(x, 0, first),
        )


class OneHot(nn.Cell):
    """`torch.nn.functional.one_hot`, int64."""

    def __init__(self, num_classes: int):
        super().__init__()
        self.num_classes = num_classes

    def construct(self, labels):
        return ops.one_hot(labels, self.num_classes, 1, 0).astype(ms.int64)


class Padded(nn.Cell):
    """`torch.nn.functional.pad` of the last two axes, in each of the modes."""

    def __init__(self, padding: tuple[int, ...], modes: tuple[str, ...]):
        super().__init__()
        self.padding, self.modes = padding, modes

    def construct(self, x):
        padded = ()
        for mode in self.modes:
            padded = (*padded, ops.pad(x, self.padding, mode))
        return padded
