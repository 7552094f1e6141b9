"""The networks of `functional_gradients_reference` in MindSpore."""

import mindspore as ms
from mindspore import nn, ops

WIDTH, CODES = 24, 5


class Distilled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.student = nn.Dense(WIDTH, WIDTH)
        self.teacher = nn.Dense(WIDTH, WIDTH)

    def construct(self, x):
        taught = ops.tanh(self.teacher(x))
        target = ops.softmax(taught / 0.5, axis=-1)
        target = ops.stop_gradient(target)
        logs = ops.log_softmax(ops.tanh(self.student(x)) / 0.8, axis=-1)
        return -(target * logs).sum(-1).mean()


class Quantised(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ops.ones((WIDTH, WIDTH), ms.float32))

    def construct(self, x):
        scale = ops.stop_gradient(ops.abs(self.weight).mean())
        whole = ops.round(self.weight / scale * 4) / 4 * scale
        weight = self.weight + ops.stop_gradient(whole - self.weight)
        return ops.tanh(ops.matmul(x, weight.T))


class Codebook(nn.Cell):
    def __init__(self):
        super().__init__()
        self.encode = nn.Dense(WIDTH, 8)
        self.codes = ms.Parameter(ops.ones((CODES, 8), ms.float32))
        self.decode = nn.Dense(8, WIDTH)

    def construct(self, x):
        z = self.encode(x)
        distances = ops.square(z[:, :, None] - self.codes).sum(-1)
        chosen = ops.gather(self.codes, distances.argmin(-1), 0)
        learnt = ops.square(chosen - ops.stop_gradient(z)).mean()
        committed = ops.square(ops.stop_gradient(chosen) - z).mean()
        straight = z + ops.stop_gradient(chosen - z)
        return self.decode(straight), learnt + 0.25 * committed


class Reverse(nn.Cell):
    def construct(self, x):
        return x * 1.0

    def bprop(self, _x, _out, cotangent):
        return (-0.3 * cotangent,)


class Reversed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.features = nn.Dense(WIDTH, WIDTH)
        self.label = nn.Dense(WIDTH, 4)
        self.domain = nn.Dense(WIDTH, 2)
        self.reverse = Reverse()

    def construct(self, x):
        h = ops.tanh(self.features(x))
        against = self.reverse(h)
        return self.label(h), self.domain(against)


class Guarded(nn.Cell):
    def __init__(self):
        super().__init__()
        self.linear = nn.Dense(WIDTH, WIDTH)

    def construct(self, x):
        h = self.linear(x)
        positive = h > 0.1
        safe = ops.where(positive, h, ops.ones_like(h))
        y = ops.where(positive, ops.sqrt(safe), ops.zeros_like(h))
        return y * 2.0 + h


class Tied(nn.Cell):
    def __init__(self):
        super().__init__()
        self.linear = nn.Dense(6, WIDTH)

    def construct(self, x):
        most = ops.stop_gradient(x.max(-1, keepdims=True))
        first = (x == most).astype(x.dtype)
        y = (x * first).sum(-1) / first.sum(-1)
        return self.linear(y)


class Limit(nn.Cell):
    def construct(self, x):
        return x.copy()

    def bprop(self, _x, _out, cotangent):
        return (ops.clamp(cotangent, -0.05, 0.05),)


class Limited(nn.Cell):
    def __init__(self):
        super().__init__()
        self.up = nn.Dense(WIDTH, WIDTH)
        self.down = nn.Dense(WIDTH, WIDTH)
        self.limit = Limit()

    def construct(self, x):
        h = ops.tanh(self.up(x))
        h = self.limit(h)
        return self.down(h)


class Contrast(nn.Cell):
    def __init__(self):
        super().__init__()
        self.q = nn.Dense(WIDTH, WIDTH)
        self.k = nn.Dense(WIDTH, WIDTH)

    def construct(self, x, y):
        q = self.q(x)
        q = q / ops.sqrt(ops.square(q).sum(-1, keepdims=True))
        k = self.k(y)
        k = ops.stop_gradient(k / ops.sqrt(ops.square(k).sum(-1, keepdims=True)))
        logits = ops.matmul(q, k.T) / 0.2
        labels = ops.arange(x.shape[0])
        return ops.cross_entropy(logits, labels)


class Scaled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mix = nn.Dense(WIDTH, WIDTH)

    def construct(self, x):
        size = ops.sqrt(ops.square(x).mean(-1, keep_dims=True))
        h = self.mix(x / ops.stop_gradient(size))
        return x + h * size
