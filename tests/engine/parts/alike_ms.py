"""Networks of MindSpore beside each other: the same in another way, and with mistakes."""

import math

from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self, rate=0.1):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.bn = nn.BatchNorm2d(8)
        self.drop = nn.Dropout(p=rate)
        self.fc = nn.Dense(8, 5)

    def construct(self, x):
        return self.fc(self.drop(ops.relu(self.bn(self.conv(x))).mean((2, 3))))


class Rewritten(Net):
    def construct(self, x):
        y = ops.maximum(self.bn(self.conv(x)), 0.0)
        y = self.drop(y.sum((2, 3)) / (y.shape[2] * y.shape[3]))
        return ops.matmul(y, self.fc.weight.T) + self.fc.bias


class Scaled(Net):
    """One hundred-thousandth too large in front of the last layer."""

    def construct(self, x):
        y = ops.relu(self.bn(self.conv(x))).mean((2, 3)) * 1.00003
        return self.fc(self.drop(y))


class Attention(nn.Cell):
    def __init__(self, axis=-1):
        super().__init__()
        self.axis = axis
        self.q, self.k, self.v = (nn.Dense(16, 16) for _ in range(3))
        self.norm = nn.LayerNorm((16,), epsilon=1e-5)

    def construct(self, x):
        scores = ops.bmm(self.q(x), self.k(x).swapaxes(1, 2)) / math.sqrt(15.0)
        return self.norm(x + ops.bmm(ops.softmax(scores, self.axis), self.v(x)))


class Early(Attention):
    def construct(self, x):
        scores = ops.bmm(self.q(x) / math.sqrt(15.0), self.k(x).swapaxes(1, 2))
        exps = ops.exp(scores - scores.max(-1, keepdims=True))
        weights = exps / exps.sum(-1, keepdims=True)
        return self.norm(x + ops.bmm(weights, self.v(x)))


def other_axis():
    return Attention(axis=1)


class Draws(nn.Cell):
    def construct(self, x):
        return x * ops.rand_like(x)


class Counts(nn.Cell):
    """The second call gives something else."""

    def __init__(self, later=1.0):
        super().__init__()
        self.calls, self.later = 0, later

    def construct(self, x):
        self.calls += 1
        return x * 3.0 if self.calls == 1 else x * (3.0 * self.later)


def counts():
    return Counts(1.01)


def many(act):
    cells = [cell for _ in range(8) for cell in (nn.Dense(32, 32), act())]
    return nn.SequentialCell(*cells)


def tanh_gelu():
    return many(nn.GELU)


def exact_gelu():
    return many(lambda: nn.GELU(approximate=False))
