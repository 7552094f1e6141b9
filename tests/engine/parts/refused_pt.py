"""A network in PyTorch, which the ports of `refused_ms.py` are refused for."""

from torch import nn


class Net(nn.Module):
    """Two blocks and a head."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
        self.head = nn.Linear(8, 8)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Tied(Net):
    """The head has the weight of the first block."""

    def __init__(self):
        super().__init__()
        self.head.weight = self.blocks[0].weight
