"""Pooling by window, with PyTorch's padding and with MindSpore's rule, and over the whole map."""

from mindspore import nn, ops


def max_pool2d(kernel_size: int, stride: int, padding: int = 0) -> nn.MaxPool2d:
    """`torch.nn.MaxPool2d`: the border counts as minus infinity."""
    return nn.MaxPool2d(kernel_size, stride, pad_mode="pad", padding=padding)


def avg_pool2d(
    kernel_size: int,
    stride: int,
    padding: int = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> nn.AvgPool2d:
    """`torch.nn.AvgPool2d`: whether the zeros of the border count is the caller's choice."""
    return nn.AvgPool2d(
        kernel_size,
        stride,
        pad_mode="pad",
        padding=padding,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
    )


def zero_padded_max_pool2d(kernel_size: int, stride: int, padding: int) -> nn.SequentialCell:
    """Zeros around the map, then max pooling: right only where no input is negative."""
    sides = (padding, padding)
    return nn.SequentialCell(
        nn.Pad(((0, 0), (0, 0), sides, sides)), nn.MaxPool2d(kernel_size, stride)
    )


def same_max_pool2d(
    kernel_size: int,
    stride: int,
    padding: int = 0,  # noqa: ARG001 (what the rule takes the place of)
    ceil_mode: bool = False,  # noqa: ARG001
) -> nn.MaxPool2d:
    """Padded by rule to an output of ceil(size / stride), the odd row or column at the far end.

    Equals kernel 2, stride 2 with `ceil_mode`, and kernel 3, stride 2 with padding 1 on odd
    sizes; on even sizes its windows start one element later than the latter's.
    """
    return nn.MaxPool2d(kernel_size, stride, pad_mode="same")


class GlobalMeanPool(nn.Cell):
    """Mean of each channel: N,C,H,W -> N,C,1,1."""

    def __init__(self):
        super().__init__()
        self.mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x):
        return self.mean(x, (2, 3))


class GlobalMaxPool(nn.Cell):
    """Maximum of each channel: N,C,H,W -> N,C,1,1."""

    def __init__(self):
        super().__init__()
        self.max = ops.ReduceMax(keep_dims=True)

    def construct(self, x):
        return self.max(x, (2, 3))
