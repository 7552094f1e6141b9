"""MindSpore cells that are wrong in ways that a sketch could miss."""

from mindspore import nn, ops

from tests.engine.parts.networks_ms import Affine


class OneElement(Affine):
    """One element of the output is off by a thousandth of what is usual; gradients are right."""

    def construct(self, x):
        y = ops.matmul(x, self.weight.T) + self.bias
        chosen = ops.arange(y.size).reshape(y.shape) == y.size // 3
        return y + ops.stop_gradient(ops.where(chosen, 1e-3, 0.0))


class LastRow(Affine):
    """The last row of the output is that of the row before; gradients are right."""

    def construct(self, x):
        y = ops.matmul(x, self.weight.T) + self.bias
        shifted = ops.cat([y[:-1], y[-2:-1]])
        return y + ops.stop_gradient(shifted - y)


class LargestAt(nn.Cell):
    """(N, C) -> the place of the largest entry of each row, one further on in the last row."""

    def __init__(self, off: int):
        super().__init__()
        self.off = off

    def construct(self, x):
        places = ops.argmax(x, 1)
        last = (ops.arange(places.size) == places.size - 1).astype(places.dtype)
        return x, places + self.off * last


class Beside(nn.Cell):
    """(N, C) -> (N, 2 C): its elements a million times as large, and a factor times as large."""

    def __init__(self, factor: float = 1.0):
        super().__init__()
        self.factor = factor

    def construct(self, x):
        return ops.cat([1e6 * x, self.factor * x], 1)


class BesideWrong(Beside):
    """The small ones are off by a thousandth."""

    def __init__(self):
        super().__init__(1.001)
