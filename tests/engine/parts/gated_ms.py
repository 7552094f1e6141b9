"""Wrong ports of `gated_pt`: gates in another order, and a state that is shown as it is."""

from mindspore import nn, ops


class Exchanged(nn.Cell):
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


class ShownAsItIs(Exchanged):
    def construct(self, x):
        hidden = memory = ops.zeros((len(x), 4), x.dtype)
        for step in range(x.shape[1]):
            gates = self.mixed(ops.cat((x[:, step], hidden), -1))
            enter, keep, new, leave = ops.chunk(gates, 4, -1)
            memory = ops.sigmoid(keep) * memory + ops.sigmoid(enter) * ops.tanh(new)
            hidden = ops.sigmoid(leave) * memory
        return hidden
