"""Networks that are in bfloat16 in the wrong places, and some whose casts no rounding can tell."""

import mindspore as ms
from mindspore import ops

from ms_models.bfloat16 import Attention, Perceptron, Rotary, product, rounded


class LeftInFloat32(Rotary):
    """The result is not cast back."""

    def construct(self, x, cos, sin):
        return super().construct(ops.cast(x, ms.float32), cos, sin)


class CastToEightBits(Attention):
    """The scores are cast to int8."""

    def construct(self, x):
        query, key = product(x, self.query), product(x, self.key)
        scores = ops.cast(product(query, key.swapaxes(1, 2)), ms.int8) * self.scale
        return product(ops.softmax(scores, -1), product(x, self.value))


# What no rounding can tell: all of it is within a few roundings of bfloat16.


class SoftmaxInBfloat16(Attention):
    """The island is lost: scores, exponentials and shares are rounded to bfloat16."""

    def construct(self, x):
        query, key = product(x, self.query), product(x, self.key)
        scores = rounded(product(query, key.swapaxes(1, 2)) * self.scale)
        weights = rounded(ops.exp(rounded(scores - ops.amax(scores, -1, True))))
        shares = rounded(weights / rounded(weights.sum(-1, True)))
        return product(shares, product(x, self.value))


class RoundedTwice(Perceptron):
    """Every layer's result is rounded to float16 first."""

    def layer(self, dense, x):
        wide = ops.matmul(rounded(x), rounded(dense.weight.T)) + rounded(dense.bias)
        return rounded(ops.cast(ops.cast(wide, ms.float16), ms.float32))
