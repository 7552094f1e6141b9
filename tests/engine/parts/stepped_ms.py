"""Their ports, whose gradients a CPU refuses; and ports that write the slice in another way."""

from mindspore import nn, ops


class Stepped(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(8, 4)

    def construct(self, x):
        y = self.fc(x)
        even = y[:, ::2]
        return ops.relu(even) + y.mean(1, keep_dims=True)


class SteppedLast(Stepped):
    def construct(self, x):
        y = ops.relu(x)
        return self.fc(y)[:, ::2]


class SteppedOnce(Stepped):
    def construct(self, x):
        y = ops.relu(x)
        even = self.fc(y)[:, ::2]
        return even + even.sum(1, keepdims=True)


class Mended(Stepped):
    def construct(self, x):
        y = self.fc(x)
        even = ops.gather(y, ops.arange(0, y.shape[1], 2), 1)
        return ops.relu(even) + y.mean(1, keep_dims=True)


class Odd(Stepped):
    """Takes the others."""

    def construct(self, x):
        y = self.fc(x)
        odd = y.swapaxes(0, 1)[1::2].swapaxes(0, 1)
        return ops.relu(odd) + y.mean(1, keep_dims=True)
