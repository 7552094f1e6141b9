"""The ports of `told_pt`; the line that is wrong ends in a comment."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from tests.engine.parts.told_edges import EDGES


class Sparse(nn.Cell):
    def __init__(self, rows=True):
        super().__init__()
        self.a = nn.Dense(6, 4)
        table = np.eye(4, dtype=np.float32)
        for a, b in EDGES:
            table[a, b] = table[b, a] = 1.0
        d = table.sum(1)
        self.table = Tensor(table / (d[:, None] if rows else np.sqrt(np.outer(d, d))))

    def construct(self, x):
        h = ops.softplus(self.a(x))
        return ops.matmul(self.table, h)  # the table


def sparse_by_both():
    return Sparse(rows=False)


class Swish(nn.Cell):
    def construct(self, x):
        return x * ops.sigmoid(x)

    def bprop(self, x, _out, g):
        y = ops.sigmoid(x)
        return (g * (y + x * y * (1 - y)),)


class WrongSwish(Swish):
    def construct(self, x):
        return x * ops.sigmoid(x)

    def bprop(self, x, _out, g):
        y = ops.sigmoid(x)
        return (g * (y + x * y),)  # made by hand


class ByHand(nn.Cell):
    kind = Swish

    def __init__(self):
        super().__init__()
        self.a, self.b, self.swish = nn.Dense(6, 5), nn.Dense(5, 3), self.kind()

    def construct(self, x):
        return self.b(self.swish(self.a(x)))


class ByWrongHand(ByHand):
    kind = WrongSwish


class Informed(nn.Cell):
    factor, column = 0.1, 1

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(2, 6), nn.Dense(6, 1)

    def u(self, x):
        return self.b(ops.sin(self.a(x)))

    def first(self, x):
        return ms.grad(lambda z: self.u(z).sum())(x)

    def construct(self, x):
        u, first = self.u(x), self.first(x)
        second = ms.grad(lambda z: self.first(z)[:, 1:].sum())(x)
        second = second[:, self.column : self.column + 1]  # the column
        rest = first[:, :1] + u * first[:, 1:] - self.factor * second  # the factor
        return (rest**2).mean()


class InformedOtherwise(Informed):
    factor = 0.2


class InformedAcross(Informed):
    column = 0


class Spectrum(nn.Cell):
    sign = 1.0

    def __init__(self):
        super().__init__()
        self.w = Parameter(ops.zeros((4, 5, 2)))

    def construct(self, x):
        f = ops.rfft(x, dim=1)
        a, b = ops.real(f), ops.imag(f)
        c, d = self.w[..., 0].T, self.w[..., 1].T
        f = ops.Complex()(a * c - b * d, self.sign * (a * d + b * c))  # the sign
        return ops.irfft(f, n=8, dim=1) + x


class Conjugated(Spectrum):
    sign = -1.0


class Halves(nn.Cell):
    last = False

    def __init__(self):
        super().__init__()
        self.inner = nn.Dense(6, 8)

    def construct(self, x):
        left, right = ops.chunk(self.inner(x), 2, -1)
        return (right, left) if self.last else (left, right)


class Unused(nn.Cell):
    scale = 1.0

    def __init__(self):
        super().__init__()
        self.halves, self.out = Halves(), nn.Dense(4, 3)

    def construct(self, x):
        left, _ = self.halves(x)
        return self.out(self.scale * ops.softplus(left))  # the scale


class UnusedScaled(Unused):
    scale = 0.5


class Heads(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.one, self.two = nn.Dense(6, 8), nn.Dense(8, 3), nn.Dense(8, 3)

    def construct(self, x):
        h = ops.softplus(self.a(x))
        return [self.one(h), self.two(h)]


class Weighted(nn.Cell):
    share = 0.4

    def construct(self, outs, y):
        first = ops.cross_entropy(outs[0], y)
        return first + self.share * ops.cross_entropy(outs[1], y)  # the share


class WeightedHigher(Weighted):
    share = 0.5


class Supervised(nn.Cell):
    loss_kind = Weighted

    def __init__(self):
        super().__init__()
        self.net, self.loss = Heads(), self.loss_kind()

    def construct(self, x, y):
        return self.loss(self.net(x), y)


class SupervisedHigher(Supervised):
    loss_kind = WeightedHigher


class Temperature(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.t = nn.Dense(6, 3), Parameter(Tensor(1.0, ms.float32))

    def construct(self, x, y):
        return ops.cross_entropy(self.a(x) * self.t, y)


class Tempered(nn.Cell):
    def __init__(self, rate=0.1):
        super().__init__(auto_prefix=False)
        self.network = Temperature()
        self.optimizer = nn.SGD(self.network.trainable_params(), rate, momentum=0.9)
        self.grad = ms.value_and_grad(self.network, None, self.optimizer.parameters)

    def construct(self, x, y):
        loss, gradients = self.grad(x, y)
        return ops.depend(loss, self.optimizer(gradients))


def tempered_faster():
    return Tempered(rate=0.3)


class Pair(nn.Cell):
    def __init__(self):
        super().__init__()
        self.g, self.d = nn.Dense(4, 6), nn.Dense(6, 1)

    def construct(self, z):
        return self.d(ops.softplus(self.g(z)))


class Adversarial(nn.Cell):
    rate = 0.1

    def __init__(self):
        super().__init__(auto_prefix=False)
        self.network = Pair()
        self.network.update_parameters_name("")
        self.of_g = nn.SGD(self.network.g.trainable_params(), 0.1)
        self.of_d = nn.SGD(self.network.d.trainable_params(), self.rate)
        self.grad_g = ms.value_and_grad(self.loss_g, None, self.of_g.parameters)
        self.grad_d = ms.value_and_grad(self.loss_d, None, self.of_d.parameters)

    def fake(self, z):
        return ops.softplus(self.network.g(z))

    def loss_g(self, z):
        return ops.softplus(-self.network.d(self.fake(z))).mean()

    def loss_d(self, fake, x):
        return ops.softplus(-self.network.d(x)).mean() + ops.softplus(self.network.d(fake)).mean()

    def construct(self, z, x):
        fake = self.fake(z)
        of_g, gradients = self.grad_g(z)
        of_g = ops.depend(of_g, self.of_g(gradients))
        of_d, gradients = self.grad_d(ops.stop_gradient(fake), x)
        of_d = ops.depend(of_d, self.of_d(gradients))  # gets other gradients
        return of_g + of_d


class Faster(Adversarial):
    rate = 0.3


class Leaking(Adversarial):
    """The generator's loss leaves its gradient in the discriminator."""

    def __init__(self):
        super().__init__()
        every = (*self.of_g.parameters, *self.of_d.parameters)
        self.grad_g = ms.value_and_grad(self.loss_g, None, every)

    def construct(self, z, x):
        fake = self.fake(z)
        of_g, every = self.grad_g(z)
        of_g = ops.depend(of_g, self.of_g(every[:2]))
        of_d, (weight, bias) = self.grad_d(ops.stop_gradient(fake), x)
        of_d = ops.depend(of_d, self.of_d((weight + every[2], bias + every[3])))  # not cleared
        return of_g + of_d


class ByTanh(Adversarial):
    """Its tanh loses digits, and the optimisers' rate is another one."""

    rate = 0.3

    def fake(self, z):
        return ops.tanh(self.network.g(z))


class Bare(Adversarial):
    def loss_g(self, z):
        return ops.softplus(-self.network.d(self.network.g(z))).mean()  # no softplus within


class Gates(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(4, 4), nn.Dense(4, 4)

    def gates(self, x):
        return ops.sigmoid(self.a(x)), ops.sigmoid(self.b(x))

    def construct(self, x):
        h, out = ops.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            r, z = self.gates(x[:, t])
            n = ops.softplus(x[:, t] + r * h)
            h = (1 - z) * n + z * h
            out.append(h)
        return ops.stack(out, 1)


class GatesExchanged(Gates):
    def gates(self, x):
        return ops.sigmoid(self.b(x)), ops.sigmoid(self.a(x))  # exchanged


class Messages(nn.Cell):
    backward = False

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(6, 5), nn.Dense(5, 3)

    def construct(self, x, edges):
        one, two = edges[0], edges[1]  # the ends
        source, target = (two, one) if self.backward else (one, two)
        h = ops.softplus(self.a(x))
        h = h + ops.zeros_like(h).index_add(0, target, h[source])
        h = h + ops.zeros_like(h).index_add(0, target, h[source])
        return self.b(h)


class MessagesBack(Messages):
    backward = True


def rms(x, w, eps=1e-5):
    return x * ops.rsqrt((x * x).mean(-1, keep_dims=True) + eps) * w


class Normed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(8, 8), nn.Dense(8, 8)
        self.one, self.two = Parameter(ops.ones(8)), Parameter(ops.ones(8))

    def construct(self, x):
        h = x + self.a(rms(x, self.one))
        return h + self.b(rms(h, self.two))


class NormedTwice(Normed):
    def construct(self, x):
        h = x + self.a(rms(x, self.one))
        return h + self.b(rms(h, self.one))  # the weight


class NormedFirst(Normed):
    def construct(self, x):
        h = x + self.a(rms(x, self.two))  # the weight
        return h + self.b(rms(h, self.two))


class NormedScaled(Normed):
    def construct(self, x):
        h = x + self.a(rms(x, self.one))
        return h + self.b(rms(h, self.two, 0.1))  # the epsilon


class Difference(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(6, 6)

    def construct(self, x, y):
        d = self.a(x) - y
        return ops.softplus(-d) + ops.softplus(d).mean()


class DifferenceBack(Difference):
    def construct(self, x, y):
        d = y - self.a(x)  # the sign
        return ops.softplus(-d) + ops.softplus(d).mean()


def rescaled(x, weight):
    y = x * ops.rsqrt(ops.square(x).mean(-1, keep_dims=True) + 1e-5)
    return y * weight


def positive(x):
    return ops.relu(x)


def absolute(x):
    return ops.abs(x)  # no relu


class Handed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(6, 6), nn.Dense(6, 3)
        self.one, self.two = ms.Parameter(ops.ones(6)), ms.Parameter(ops.ones(6))

    def normed(self, x, h):  # noqa: ARG002
        return rescaled(h, self.one)

    def bent(self, y):
        return positive(y)

    def construct(self, x):
        h = self.a(x)
        y = self.bent(self.normed(x, h))
        return self.b(y) + (h * self.two).sum(-1, keepdims=True)


class HandedWeight(Handed):
    def normed(self, x, h):  # noqa: ARG002
        return rescaled(h, self.two)  # another weight


class HandedInput(Handed):
    def normed(self, x, h):  # noqa: ARG002
        return rescaled(x, self.one)  # another input


class HandedToAbsolute(Handed):
    def bent(self, y):
        return absolute(y)


def softened(x, factor, shift=0.5):
    return ops.tanh(x * factor) + shift


class Softened(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.soft = nn.Dense(6, 6), Soft()

    def construct(self, x):
        h = self.a(x)
        return self.soft(self.twice(h, 0.25), 2.0)

    def twice(self, x, factor):
        return softened(x, factor) + softened(2.0 * x, 0.125)


class Soft(nn.Cell):
    def construct(self, x, scale):
        return ops.softplus(x * scale)


class SoftenedMore(Softened):
    def construct(self, x):
        h = self.a(x)
        return self.soft(self.twice(h, 0.75), 2.0)  # handed on


class SoftenedLayer(Softened):
    def construct(self, x):
        h = self.a(x)
        return self.soft(self.twice(h, 0.25), 2.5)  # to a layer


def shifted(x, factor, shift=0.25):  # by default
    return ops.tanh(x * factor) + shift


class SoftenedByDefault(Softened):
    def twice(self, x, factor):
        return shifted(x, factor) + softened(2.0 * x, 0.125)


def bent(x, factor, shift=0.5):
    return ops.tanh(ops.abs(x) * factor) + shift  # an absolute value


class SoftenedWrongly(Softened):
    """The numbers are right, and so is the call; the function is not."""

    def twice(self, x, factor):
        return bent(x, factor) + softened(2.0 * x, 0.125)


class SoftenedTwice(Softened):
    """The function is wrong, and gets another number besides."""

    def twice(self, x, factor):
        return bent(x, 2.0 * factor) + softened(2.0 * x, 0.125)


class Rounds(nn.Cell):
    """A layer in a loop."""

    rounds = 3

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Dense(6, 6), nn.Dense(6, 4)

    def construct(self, x):
        for _ in range(self.rounds):
            x = x + ops.sin(self.inner(x))  # of one round
        return self.outer(x)


class RoundsFewer(Rounds):
    """A round is missing."""

    rounds = 2
