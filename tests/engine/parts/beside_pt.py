"""A network with code of its own around its layers."""

from torch import nn

WIDTH = 16


class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.fc = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + 0.5 * self.fc(self.norm(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Half(), Half()

    def forward(self, x):
        return self.two(self.one(x)).mean(1)
