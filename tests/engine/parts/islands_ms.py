"""Ports of `islands_pt`: right ones, and some with an island of half precision."""

import mindspore as ms
from mindspore import nn, ops

HALF, SINGLE = ms.float16, ms.float32


class Attend(nn.Cell):
    product, share, mean = HALF, SINGLE, SINGLE

    def __init__(self):
        super().__init__()
        self.query, self.norm = nn.Dense(8, 8), nn.LayerNorm((8,), epsilon=1e-5)

    def construct(self, x):
        one = x.astype(self.product)
        weight, bias = self.query.weight.astype(self.product), self.query.bias.astype(self.product)
        query = ops.matmul(one, weight.T) + bias
        share = ops.softmax(ops.bmm(query, one.swapaxes(1, 2)).astype(self.share), -1)
        y = ops.bmm(share.astype(self.product), one).astype(SINGLE)
        return self.normed(y + y.astype(self.mean).mean(1, keep_dims=True).astype(SINGLE))

    def normed(self, y):
        return self.norm(y)


class Single(Attend):
    product = SINGLE


class SoftmaxInHalf(Attend):
    share = HALF


class MeanInHalf(Attend):
    mean = HALF


class NormByHand(Attend):
    def normed(self, y):
        y = y.astype(HALF)
        y = y - y.mean(-1, keep_dims=True)
        y = (y * ops.rsqrt(ops.square(y).mean(-1, keep_dims=True) + 1e-5)).astype(SINGLE)
        return y * self.norm.gamma + self.norm.beta
