"""Two linear layers in one process."""

import numpy as np
import torch
from torch import nn

WHOLE = np.random.default_rng(1)


class Linear(nn.Linear):
    def __init__(self, wide, features):
        super().__init__(wide, features)
        for weight in self.parameters():
            drawn = WHOLE.normal(0.0, 0.3, size=tuple(weight.shape)).astype("float32")
            weight.data.copy_(torch.from_numpy(drawn))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = Linear(6, 8), Linear(8, 3)

    def forward(self, x):
        return self.down(torch.tanh(self.up(x)))


net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
generator = np.random.default_rng(0)
for _ in range(4):
    x = torch.from_numpy(generator.normal(size=(8, 6)).astype("float32"))
    y = torch.from_numpy(generator.integers(0, 3, 8))
    optimizer.zero_grad()
    criterion(net(x), y).backward()
    optimizer.step()
