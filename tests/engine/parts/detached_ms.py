"""The network of `detached_pt`, with two gradients lost, one behind the other."""

from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Dense(8, 8), nn.Dense(8, 8)

    def construct(self, x):
        h = ops.tanh(self.one(x))
        g = ops.stop_gradient(h)
        y = h + ops.sin(g)
        z = self.two(y)
        s = ops.stop_gradient(ops.sigmoid(z))
        return z * s
