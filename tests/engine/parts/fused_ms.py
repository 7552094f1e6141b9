"""The network of `fused_pt` with three projections; its mistakes."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops


def parameter(*shape: int) -> ms.Parameter:
    """A parameter that a sample fills."""
    return ms.Parameter(ms.Tensor(np.zeros(shape, np.float32)))


class Mix(nn.Cell):
    """A dense layer that keeps its weight with the inputs first."""

    def __init__(self, width: int, transposed: bool):
        super().__init__()
        self.kernel, self.bias = parameter(width, width), parameter(width)
        self.transposed = transposed

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        """The layer's output."""
        kernel = self.kernel if self.transposed else self.kernel.swapaxes(0, 1)
        return ops.matmul(x, kernel) + self.bias


class Block(nn.Cell):
    """Attention, then a convolution over time."""

    def __init__(self, width: int, transposed: bool):
        super().__init__()
        self.q, self.k, self.v = (nn.Dense(width, width) for _ in range(3))
        self.mix = Mix(width, transposed)
        self.conv = nn.Conv1d(width, width, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        """The block's output."""
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = ops.bmm(q, k.swapaxes(-1, -2)) / q.shape[-1] ** 0.5
        y = self.mix(ops.bmm(ops.softmax(scores, -1), v))
        return self.norm(x + self.conv(y.swapaxes(-1, -2)).swapaxes(-1, -2))


class Model(nn.Cell):
    """Two blocks between a table and a head.

    transposed: whether the kernels of `mix` are applied as they are kept, the inputs first.
    tied: whether the head is the table.
    """

    def __init__(self, width: int = 8, transposed: bool = True, tied: bool = True):
        super().__init__()
        self.table = parameter(6, width)
        self.blocks = nn.CellList([Block(width, transposed) for _ in range(2)])
        self.head = nn.Dense(width, 6, has_bias=False)
        if tied:
            self.head.weight = self.table

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        """The output of inputs that say how much of each row of the table they are."""
        x = ops.matmul(x, self.table)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def untied() -> nn.Cell:
    """The network whose head is no table."""
    return Model(tied=False)


def not_transposed() -> nn.Cell:
    """The network that applies the kernels of `mix` as PyTorch keeps them."""
    return Model(transposed=False)
