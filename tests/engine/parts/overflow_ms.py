"""Their counterparts in float32, which do not overflow; right and wrong."""

from mindspore import nn, ops


class Energy(nn.Cell):
    def construct(self, x):
        return self.squared(x) / 1024

    def squared(self, x):
        return x * x


class Capped(Energy):
    """The largest number of float16 for an infinity."""

    def squared(self, x):
        return ops.clamp(x * x, max=65504.0)


class Scaled(Energy):
    """Wrong where float16 overflows, and only there."""

    def squared(self, x):
        squares = x * x
        return ops.where(squares > 65504.0, 1.1 * squares, squares)


class Holed(Energy):
    """NaN where the reference is finite."""

    def squared(self, x):
        squares = x * x
        return ops.where(squares < 1000.0, squares * float("nan"), squares)


class Attended(nn.Cell):
    def construct(self, q, k):
        return ops.matmul(ops.softmax(self.scores(q, k) / 4096, -1), k)

    def scores(self, q, k):
        return ops.matmul(q, k.T)


class OtherScale(Attended):
    def scores(self, q, k):
        return 1.1 * ops.matmul(q, k.T)


class Narrow(nn.Cell):
    def construct(self, x):
        return ops.exp(ops.minimum(x, 88.0))
