"""Their counterparts, which cut nothing, or something else."""

from mindspore import nn, ops


class Two(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(6, 5), nn.Dense(5, 3)


class Attended(Two):
    def construct(self, x):
        h = ops.relu(self.a(x))
        return self.b(h), h


class Elsewhere(Two):
    def construct(self, x):
        h = ops.relu(self.a(x))
        return self.b(ops.stop_gradient(h)), ops.stop_gradient(h)


class Weighed(Two):
    def construct(self, x):
        h = self.a(x)
        return self.b(h) * h.mean(1, keep_dims=True)


class Gated(Two):
    def construct(self, x):
        h = self.a(x)
        return self.b(h) * ops.sigmoid(h).mean(1, keep_dims=True)


class Moved(Two):
    def construct(self, x):
        return self.b(self.a(x)) + self.a.bias.mean()


class Quantised(Two):
    def construct(self, x):
        h = self.a(x)
        q = ops.tanh(self.a.bias) + h * 0
        loss = (q - h).pow(2).mean() + 0.25 * (ops.stop_gradient(q) - h).pow(2).mean()
        return self.b(h), loss
