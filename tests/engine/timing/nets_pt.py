"""A network whose second layer runs twice, and whose third never does."""

from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.again, self.never = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return self.again(self.again(self.first(x)))
