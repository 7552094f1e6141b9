"""The network of `attending_pt`, ported rightly, wrongly, and so that it raises."""

from mindspore import nn, ops

WIDTH, HEADS = 16, 4


class Attending(nn.Cell):
    """The port is right; the kernel of expm1 loses digits."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Dense(WIDTH, 3 * WIDTH)
        self.out = nn.Dense(WIDTH, WIDTH)

    def scores(self, q, k):
        return ops.matmul(q, k.swapaxes(-2, -1))

    def weights(self, scores):
        return ops.softmax(scores / 2.0, -1)

    def construct(self, x):
        b, t, c = x.shape
        qkv = self.qkv(x).reshape(b, t, 3, HEADS, c // HEADS).transpose(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        y = ops.matmul(self.weights(self.scores(q, k)), v)
        y = y.swapaxes(1, 2).reshape(b, t, c)
        return ops.expm1(1e-4 * self.out(y))


class OverQueries(Attending):
    def weights(self, scores):
        return ops.softmax(scores / 2.0, -2)


class NotTransposed(Attending):
    """Raises."""

    def scores(self, q, k):
        return ops.matmul(q, k)


class FourParts(Attending):
    """Raises in what no operator is called for."""

    def construct(self, x):
        b, t, c = x.shape
        return self.qkv(x).reshape(b, t, 4, HEADS, c // HEADS)


class NotCompiled(Attending):
    """Right in PyNative mode; a graph has no addresses."""

    def construct(self, x):
        return super().construct(x) * float(x.data_ptr() != 0)


class Twice(nn.Cell):
    """The same mistake in two layers of one class."""

    def __init__(self):
        super().__init__()
        self.one, self.two = OverQueries(), OverQueries()

    def construct(self, x):
        return self.two(x + self.one(x))
