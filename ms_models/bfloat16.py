"""Networks in bfloat16, with the islands of float32 that they need.

On a CPU, MindSpore has no product, norm or softmax of bfloat16, and cannot add its gradients. What
is here rounds to bfloat16, computes in float32 and rounds the result, as a matrix unit does.
"""

import mindspore as ms
from mindspore import nn, ops
from mindspore.common.initializer import initializer

from ms_models.optim import momentum
from ms_models.steps import TrainStep, WithLoss


def rounded(values):
    """Float32 values rounded to bfloat16, still in float32."""
    return ops.cast(ops.cast(values, ms.bfloat16), ms.float32)


def product(a, b):
    """The product of matrices in bfloat16, in float32."""
    return rounded(ops.matmul(rounded(a), rounded(b)))


class RootMeanSquareNorm(nn.Cell):
    """x / sqrt(mean(x^2) + eps) in float32, rounded to the input's dtype, then times a weight."""

    def __init__(self, width: int, eps: float):
        super().__init__()
        self.weight = ms.Parameter(initializer("ones", (width,)))
        self.eps = eps

    def construct(self, x):
        wide = ops.cast(x, ms.float32)
        scale = ops.rsqrt(ops.mean(wide * wide, -1, True) + self.eps)
        normal = ops.cast(ops.cast(wide * scale, x.dtype), ms.float32)
        return ops.cast(normal * ops.cast(self.weight, ms.float32), x.dtype)


class Rotary(nn.Cell):
    """Rotates pairs of channels, N,L,C, by the cosines and sines of angles, L,C each."""

    def construct(self, x, cos, sin):
        wide, cos, sin = (
            ops.cast(x, ms.float32),
            ops.cast(cos, ms.float32),
            ops.cast(sin, ms.float32),
        )
        left, right = ops.chunk(wide, 2, -1)
        return ops.cast(wide * cos + ops.cat((-right, left), -1) * sin, x.dtype)


class Perceptron(nn.Cell):
    """Two dense layers in bfloat16 and GELU between them; weights and result are in float32."""

    def __init__(self, width: int, hidden: int, classes: int):
        super().__init__()
        self.up, self.down = nn.Dense(width, hidden), nn.Dense(hidden, classes)

    def layer(self, dense, x):
        """A dense layer in bfloat16."""
        return rounded(product(x, dense.weight.T) + rounded(dense.bias))

    def construct(self, x):
        hidden = rounded(ops.gelu(self.layer(self.up, x), approximate="tanh"))
        return self.layer(self.down, hidden)


class Attention(nn.Cell):
    """Self-attention with one head whose products are in bfloat16, its softmax in float32."""

    def __init__(self, width: int):
        super().__init__()
        self.query = ms.Parameter(initializer("xavier_uniform", (width, width)))
        self.key = ms.Parameter(initializer("xavier_uniform", (width, width)))
        self.value = ms.Parameter(initializer("xavier_uniform", (width, width)))
        self.scale = width**-0.5

    def construct(self, x):
        query, key = product(x, self.query), product(x, self.key)
        scores = product(query, key.swapaxes(1, 2)) * self.scale
        return product(ops.softmax(scores, -1), product(x, self.value))


def step(learning_rate: float) -> nn.Cell:
    """A step of the perceptron, 12 -> 10 -> 5, with weights in float32 and no loss scale."""
    network = WithLoss(Perceptron(12, 10, 5), nn.CrossEntropyLoss())
    return TrainStep(network, momentum(network, learning_rate, 0.9, 0.0))
