"""The network of `beside_pt`, with a wrong setting of its norms, and mistakes beside these."""

from mindspore import nn, ops

WIDTH = 16


class Half(nn.Cell):
    def __init__(self, epsilon=1e-3):
        super().__init__()
        self.norm = nn.LayerNorm((WIDTH,), epsilon=epsilon)
        self.fc = nn.Dense(WIDTH, WIDTH)

    def construct(self, x):
        return x + 0.5 * self.fc(self.norm(x))


class Behind(Half):
    def construct(self, x):
        return x + 0.25 * self.fc(self.norm(x))


class Before(Half):
    def construct(self, x):
        return x + 0.5 * self.fc(self.norm(ops.square(x)))


class Backward(Half):
    def construct(self, x):
        return ops.stop_gradient(x) + 0.5 * self.fc(self.norm(x))


class Net(nn.Cell):
    half = Half

    def __init__(self, **settings):
        super().__init__()
        self.one, self.two = self.half(**settings), self.half(**settings)

    def construct(self, x):
        return self.two(self.one(x)).mean(1)


class OfBehind(Net):
    half = Behind


class OfBefore(Net):
    half = Before


class OfBackward(Net):
    half = Backward


class Summed(Net):
    def construct(self, x):
        return self.two(self.one(x)).sum(1)
