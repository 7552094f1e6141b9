"""Ports of a training step with two passes; some are wrong in the first, some in the second."""

import mindspore as ms
from mindspore import nn, ops


class Pair(nn.Cell):
    def __init__(self):
        super().__init__()
        self.maker, self.judge = nn.Dense(3, 5), nn.Dense(5, 1)


class Passes(nn.Cell):
    sign, share = -1, 1.0

    def __init__(self):
        super().__init__(auto_prefix=False)
        self.network = Pair()
        self.of_judge = nn.SGD(self.network.judge.trainable_params(), 0.5)
        self.of_maker = nn.SGD(self.network.maker.trainable_params(), 0.5)
        self.judged = ms.value_and_grad(self.telling, None, self.of_judge.parameters)
        self.made = ms.value_and_grad(self.making, None, self.of_maker.parameters)

    def telling(self, z, x):
        fake = ops.stop_gradient(self.network.maker(z))
        return (
            ops.softplus(-self.network.judge(x)).mean()
            + ops.softplus(self.network.judge(fake)).mean()
        )

    def making(self, z):
        return ops.softplus(self.sign * self.network.judge(self.network.maker(z))).mean()

    def construct(self, z, x):
        told, gradients = self.judged(z, x)
        told = ops.depend(told, self.of_judge(tuple(self.share * each for each in gradients)))
        made, gradients = self.made(z)
        made = ops.depend(made, self.of_maker(gradients))
        return told + made


class SmallerFirst(Passes):
    """Half of the first gradient."""

    share = 0.5


class OtherSecond(Passes):
    """Another sign in the second loss."""

    sign = 1
