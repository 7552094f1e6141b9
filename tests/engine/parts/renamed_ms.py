"""The port, which calls it `weight`."""

from mindspore import Parameter, nn, ops


class Renamed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(ops.ones((5, 6)))
        self.head = nn.Dense(5, 2)

    def construct(self, x):
        return self.head(ops.tanh(ops.matmul(x, self.weight.T)))
