"""Ports of `reached_pt`."""

from mindspore import mint, nn, ops


class Block(nn.Cell):
    def __init__(self, width, device="CPU"):
        super().__init__()
        self.body = nn.SequentialCell(mint.nn.Linear(width, width), nn.ReLU6())
        self.device = device

    def construct(self, x):
        y = self.body(x)
        if self.device == "Ascend":
            y = y * 2.0
        return x + y


class Net(nn.Cell):
    def __init__(self, width=8, window=4, most=50.0):
        super().__init__()
        self.blocks = nn.CellList([Block(width) for _ in range(3)])
        self.window, self.most = window, most

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return ops.clamp(x, max=self.most)[: self.window]


class Clamped(nn.Cell):
    def __init__(self, most):
        super().__init__()
        self.most = most

    def construct(self, x):
        return ops.clamp(x, -0.5, self.most)


class Unclamped(nn.Cell):
    """A wrong port: it has no upper bound."""

    def __init__(self, most):
        super().__init__()
        self.most = most

    def construct(self, x):
        return ops.clamp(x, min=-0.5)
