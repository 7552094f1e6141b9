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


def unit(values):
    return values / ops.sqrt((values * values).sum())


class Spectral(nn.Cell):
    """Its weight is divided by its largest singular value, which each call in training refines."""

    def __init__(self, calls=1):
        super().__init__()
        self.weight, self.bias = Parameter(ops.ones((5, 4))), Parameter(ops.zeros(5))
        self.u = Parameter(ops.ones(5), requires_grad=False)
        self.v = Parameter(ops.ones(4), requires_grad=False)
        self.calls = calls

    def construct(self, x):
        weight = ops.stop_gradient(self.weight)
        u, v = self.u.value(), self.v.value()
        if self.training:
            for _ in range(self.calls):
                u = unit(ops.matmul(weight, v))
                v = unit(ops.matmul(weight.T, u))
            ops.assign(self.u, u)
            ops.assign(self.v, v)
        largest = (ops.stop_gradient(u) * ops.matmul(self.weight, ops.stop_gradient(v))).sum()
        return ops.matmul(x, (self.weight / largest).T) + self.bias


def spectral_of_two_calls():
    return Spectral(calls=2)


class Seeded(nn.Cell):
    def __init__(self, axis=1):
        super().__init__()
        self.linear = nn.Dense(4, 4)
        self.codes = Parameter(ops.ones((7, 4)), requires_grad=False)
        self.axis = axis

    def construct(self, x):
        codes = self.codes / ops.sqrt((self.codes**2).sum(self.axis, keepdims=True))
        ops.assign(self.codes, codes)
        return ops.matmul(self.linear(x), codes.T)


def seeded_by_columns():
    return Seeded(axis=0)
