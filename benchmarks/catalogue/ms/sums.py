"""Layers that add up thousands of terms."""

import math

import mindspore as ms
from mindspore import nn, ops


class Product(nn.Cell):
    """A matrix product."""

    def construct(self, a, b):
        return ops.matmul(a, b)


class NormThenMean(nn.Cell):
    """LayerNorm of every token, then the mean of the tokens: the head of an image transformer."""

    def __init__(self, channels: int):
        super().__init__()
        self.norm = nn.LayerNorm((channels,), epsilon=1e-5)

    def construct(self, x):
        return self.norm(x).mean(1)


class ChannelBias(nn.Cell):
    """A bias for each channel, whose gradient is a sum over batch, height and width."""

    def __init__(self, channels: int):
        super().__init__()
        self.bias = ms.Parameter(ops.zeros(channels))

    def construct(self, x):
        return x + self.bias[:, None, None]


class VocabularyHead(nn.Cell):
    """From the states of tokens to the loss of the next token, over a whole vocabulary."""

    def __init__(self, width: int, vocabulary: int):
        super().__init__()
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)
        self.head = nn.Dense(width, vocabulary, has_bias=False)

    def construct(self, x, labels):
        return ops.cross_entropy(self.head(self.norm(x)), labels)


class Timesteps(nn.Cell):
    """Sines and cosines of timesteps, then two layers: the time embedding of a diffusion model."""

    def __init__(self, width: int):
        super().__init__()
        self.half = width // 2
        self.linear_1, self.linear_2 = nn.Dense(width, 4 * width), nn.Dense(4 * width, 4 * width)

    def construct(self, timesteps):
        exponents = ops.arange(self.half).astype(ms.float32)
        frequencies = ops.exp(exponents * (-math.log(10000.0) / self.half))
        angles = timesteps[:, None].astype(ms.float32) * frequencies
        table = ops.cat([ops.cos(angles), ops.sin(angles)], 1)
        return self.linear_2(ops.silu(self.linear_1(table)))


class Recurrent(nn.Cell):
    """A recurrent network over a sequence, batch first; its outputs and last states."""

    def __init__(self, kind: str, width: int, hidden: int, **options):
        super().__init__()
        self.layers = getattr(nn, kind)(width, hidden, batch_first=True, **options)

    def construct(self, x):
        return self.layers(x)
