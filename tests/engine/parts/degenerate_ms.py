"""Their counterparts, right and wrong."""

import mindspore as ms
from mindspore import nn, ops


class Overflowing(nn.Cell):
    def construct(self, x):
        return ops.clamp(ops.exp(x), max=1.0)


class Earlier(nn.Cell):
    """No NaN anywhere."""

    def construct(self, x):
        return ops.exp(ops.clamp(x, max=0.0))


class Scored(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(4, 3)

    def construct(self, x):
        return self.score(self.layer(x))

    def score(self, y):
        return y


class Narrow(Scored):
    def score(self, y):
        return y.astype(ms.float32).astype(ms.float64)


class Weighed(nn.Cell):
    """Without a matrix product: of no rows, its gradient is not computed (product_of_no_rows)."""

    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ops.ones(4, ms.float32))

    def construct(self, x):
        return x * self.weight


class Summed(Weighed):
    def construct(self, x):
        return (x * self.weight).sum(0)


class Rooted(Scored):
    def score(self, y):
        return ops.sqrt(-1.0 - y * y)


class OtherRoot(Scored):
    def score(self, y):
        return ops.sqrt(1.0 + y * y)


class Hinge(Scored):
    def score(self, y):
        return ops.relu(-1.0 - y.abs()).mean()


class OtherHinge(Scored):
    def score(self, y):
        return ops.relu(1e-3 - y.abs()).mean() + 1e-6


class Power(Scored):
    def construct(self, z):
        return self.layer(ops.real(z * ops.conj(z))), 2.0 * z


class OtherPower(Scored):
    def construct(self, z):
        return self.layer(ops.real(z * z)), 2.0 * z
