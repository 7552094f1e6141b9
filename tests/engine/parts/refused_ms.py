"""Ports that cannot be compared, each for a usual reason."""

from mindspore import mint, nn, ops


class Net(nn.Cell):
    """The right port."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([nn.Dense(8, 8), nn.Dense(8, 8)])
        self.head = nn.Dense(8, 8)

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Listed(Net):
    """The blocks are in a list."""

    def __init__(self):
        super().__init__()
        del self.blocks
        self.blocks = [nn.Dense(8, 8), nn.Dense(8, 8)]


class Unbuilt(nn.Cell):
    """The constructor of the cell is not called."""

    def __init__(self):
        self.head = nn.Dense(8, 8)


class Unbiased(Net):
    """The head has no bias."""

    def __init__(self):
        super().__init__()
        self.head = nn.Dense(8, 8, has_bias=False)


class Minted(Net):
    """An operator without a kernel on a CPU."""

    def construct(self, x):
        return mint.cummin(super().construct(x), 0)[0]


class Misshapen(Net):
    """The head gets twice as many features as it takes."""

    def construct(self, x):
        return super().construct(ops.concat([x, x], -1))


class Irreversible(Net):
    """A transposed convolution that runs forward, and whose gradient is refused."""

    def construct(self, x):
        x = super().construct(x)
        transposed = ops.Conv2DTranspose(4, 1)
        kernel = self.head.weight.reshape(8, 8, 1, 1)
        return transposed(x.reshape(4, 8, 1, 1), kernel, (4, 8, 1, 1)).reshape(4, 8)
