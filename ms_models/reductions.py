"""Log-sum-exp made of smaller operators, as the r1.7 migration guide proposes."""

from mindspore import nn, ops


def checked_axis(axis: int | list[int] | tuple[int, ...]) -> int | tuple[int, ...]:
    """`axis` as an int or a tuple. Raises TypeError for anything but ints and lists of them."""
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    if not all(isinstance(item, int) and not isinstance(item, bool) for item in axes):
        raise TypeError(f"axis must be an int or a list or tuple of ints, not {axis!r}")
    return axes if isinstance(axis, (list, tuple)) else axis


class ReduceLogSumExp(nn.Cell):
    """`torch.logsumexp` of finite values of any magnitude: the maximum is subtracted first."""

    def __init__(self, axis: int | list[int] | tuple[int, ...], keep_dims: bool = False):
        super().__init__()
        self.axis = checked_axis(axis)
        self.max = ops.ReduceMax(keep_dims=True)
        self.sum = ops.ReduceSum(keep_dims)

    def construct(self, x):
        # Its gradient cancels; left in, it would only add rounding.
        largest = ops.stop_gradient(self.max(x, self.axis))
        total = self.sum(ops.exp(x - largest), self.axis)
        return ops.log(total) + ops.reshape(largest, total.shape)


class NaiveReduceLogSumExp(nn.Cell):
    """Exp, ReduceSum and Log in a row: overflows from logits of 89 on."""

    def __init__(self, axis: int | list[int] | tuple[int, ...], keep_dims: bool = False):
        super().__init__()
        self.axis = checked_axis(axis)
        self.sum = ops.ReduceSum(keep_dims)

    def construct(self, x):
        return ops.log(self.sum(ops.exp(x), self.axis))
