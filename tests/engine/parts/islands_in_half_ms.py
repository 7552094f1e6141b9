"""Ports of `islands_in_half_pt`: right ones, and some that lose a part in float32."""

import mindspore as ms
from mindspore import mint, nn, ops

HALF, SINGLE = ms.float16, ms.float32


class Attend(nn.Cell):
    share = SINGLE

    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Dense(8, 8), nn.Dense(8, 8)

    def construct(self, x):
        scores = ops.bmm(self.query(x), self.key(x).swapaxes(1, 2)) * 0.3
        return ops.bmm(self.shares(scores.astype(self.share)).astype(x.dtype), x)

    def shares(self, scores):
        return ops.softmax(scores, -1)


class SoftmaxInHalf(Attend):
    share = HALF


class SoftmaxOfMint(Attend):
    def shares(self, scores):
        return mint.softmax(scores, -1)


class SoftmaxOfMintInHalf(SoftmaxOfMint):
    share = HALF


class SoftmaxOfACell(Attend):
    """In float32 as it is written; `to_float` casts what goes into the cell."""

    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(-1)

    def shares(self, scores):
        return self.softmax(scores)


class Normed(nn.Cell):
    mean = SINGLE

    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Dense(8, 8), nn.LayerNorm((8,), epsilon=1e-5)

    def construct(self, x):
        y = self.standard(self.fc(x).astype(SINGLE))
        mean = y.astype(self.mean).mean(1, keep_dims=True).astype(SINGLE)
        return (y + mean).astype(x.dtype)

    def standard(self, y):
        weights = (each.astype(SINGLE) for each in (self.norm.gamma, self.norm.beta))
        return ops.layer_norm(y, (8,), *weights, 1e-5)


class NormByHand(Normed):
    normed = SINGLE

    def standard(self, y):
        y = y.astype(self.normed)
        y = y - y.mean(-1, keep_dims=True)
        y = (y * ops.rsqrt(ops.square(y).mean(-1, keep_dims=True) + 1e-5)).astype(SINGLE)
        return y * self.norm.gamma.astype(SINGLE) + self.norm.beta.astype(SINGLE)


class NormByHandInHalf(NormByHand):
    normed = HALF


class MeanInHalf(Normed):
    mean = HALF


class Stream(nn.Cell):
    first_sum = second_sum = SINGLE

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(8, 8, has_bias=False)
        self.second = nn.Dense(8, 8, has_bias=False)

    def construct(self, x):
        stream = x.astype(self.first_sum) + self.first(x).astype(self.first_sum)
        short = stream.astype(x.dtype)
        stream = stream.astype(self.second_sum)
        stream = stream + self.second(short).astype(self.second_sum)
        return short + stream.astype(x.dtype)


class FirstSumInHalf(Stream):
    first_sum = HALF


class SecondSumInHalf(Stream):
    second_sum = HALF
