"""Networks with a tanh and a logarithm, whose own kernels in MindSpore lose digits."""

import math

import mindspore as ms
from mindspore import nn, ops


class Squashed(nn.Cell):
    """The port is right."""

    def __init__(self, eps=1e-5):
        super().__init__()
        self.norm = nn.LayerNorm((6,), epsilon=eps)
        self.act = nn.Tanh()
        self.mix = nn.Dense(6, 6)

    def construct(self, x):
        return self.mix(self.act(2.0 * self.norm(x)))


class Mixed(Squashed):
    """Another epsilon, beside the tanh."""

    def __init__(self):
        super().__init__(eps=1e-2)


class Late(Squashed):
    """Divides by the number of its calls."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def construct(self, x):
        self.calls += 1
        y = self.act(2.0 * self.norm(x))
        y = y / self.calls
        return self.mix(y)


class Steep(nn.Tanh):
    def construct(self, x):
        return super().construct(1.001 * x)


class Wrong(Squashed):
    """The tanh itself is ported wrongly."""

    def __init__(self):
        super().__init__()
        self.act = Steep()


class Buckets(nn.Cell):
    """The port is right; `log` is just below whole numbers."""

    def __init__(self, most=16):
        super().__init__()
        self.most, self.table = most, nn.Embedding(16, 6)

    def construct(self, x):
        distance = ops.arange(1, len(x) + 1)
        log = ops.log(distance.astype(ms.float32) / 8)
        far = 8 + (log / math.log(self.most) * 8).astype(ms.int64)
        return x + self.table(ops.where(distance < 8, distance, far.clamp(max=15)))


class OtherBuckets(Buckets):
    """Buckets that reach less far."""

    def __init__(self):
        super().__init__(most=15)
