"""Embeddings of positions and times by sines and cosines."""

import math

import mindspore as ms
from mindspore import nn, ops


class TimestepEmbedding(nn.Cell):
    """B -> B,C: a dense layer over the cosines and sines of times, as in a diffusion model."""

    def __init__(self, width: int, channels: int):
        super().__init__()
        self.half = width // 2
        self.linear = nn.Dense(width, channels)

    def construct(self, times):
        steps = ops.arange(self.half).astype(ms.float32)
        frequencies = ops.exp(-math.log(10000.0) * steps / self.half)
        angles = times[:, None].astype(ms.float32) * frequencies
        return self.linear(ops.cat([ops.cos(angles), ops.sin(angles)], -1))
