"""The port of `gated_pt`, whose gates stand in another order."""

from mindspore import nn, ops


class Gated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mixed = nn.Dense(7, 16)

    def construct(self, x):
        hidden = memory = ops.zeros((len(x), 4), x.dtype)
        for step in range(x.shape[1]):
            gates = self.mixed(ops.cat((x[:, step], hidden), -1))
            enter, leave, keep, new = ops.chunk(gates, 4, -1)
            memory = ops.sigmoid(keep) * memory + ops.sigmoid(enter) * ops.tanh(new)
            hidden = ops.sigmoid(leave) * ops.tanh(memory)
        return hidden
