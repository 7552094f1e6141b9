"""MindSpore networks with constant buffers, right and wrong; partners in `constants_pt.py`."""

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import initializer


def constant(values, dtype) -> Parameter:
    """A parameter that is not trained."""
    return Parameter(Tensor(values, dtype), requires_grad=False)


class Tables(nn.Cell):
    """All kinds of tensors that a cell can keep."""

    MASK, SCALE, ORDER = [True, False, True, True], 0.1, [2, 0, 3, 1]

    def __init__(self):
        super().__init__()
        self.linear = nn.Dense(4, 4)
        self.norm = nn.BatchNorm1d(4, eps=1e-5, momentum=0.9)
        self.frozen = Parameter(ops.ones(4, ms.float32), requires_grad=False)
        self.noise = Parameter(ops.ones(4, ms.float32), requires_grad=False)
        self.order = constant(self.ORDER, ms.int32)
        self.keep()

    def keep(self):
        """Keep the mask and the scale, in a parameter and in a buffer."""
        self.mask = constant(self.MASK, ms.bool_)
        self.register_buffer("scale", Tensor(self.SCALE, ms.float32))

    def construct(self, x):
        y = self.norm(self.linear(x)) * self.frozen + self.noise
        return (y * self.mask.astype(ms.float32) * self.scale)[:, self.order]


class OtherMask(Tables):
    """Another mask."""

    MASK = [True, True, True, True]


class OtherScale(Tables):
    """Another scale by 60 roundings."""

    SCALE = 0.1 * (1 + 1e-5)


class OtherOrder(Tables):
    """Another order."""

    ORDER = [1, 0, 3, 2]


class Tensors(Tables):
    """Mask and scale as tensors of the cell."""

    def keep(self):
        self.mask, self.scale = Tensor(self.MASK), Tensor(self.SCALE, ms.float32)


class OtherTensors(Tensors):
    """Another mask."""

    MASK = [True, True, True, True]


class Counting(nn.Cell):
    """Counts its runs."""

    STEP = 1

    def __init__(self):
        super().__init__()
        self.count = constant(0, ms.int32)

    def construct(self, x):
        ops.assign(self.count, self.count + self.STEP)
        return x * self.count


class CountingTwice(Counting):
    """Counts each run twice."""

    STEP = 2


class Initialised(nn.Cell):
    """A constant that an initialiser makes."""

    def __init__(self):
        super().__init__()
        self.mask = Parameter(initializer("ones", (4,)), requires_grad=False)

    def construct(self, x):
        return x * self.mask
