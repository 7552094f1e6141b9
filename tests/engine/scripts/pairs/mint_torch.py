"""A network of functions, in a plain loop."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.fc = nn.Linear(6, 4)

    def forward(self, x):
        x = self.norm(F.leaky_relu(F.avg_pool2d(x, 2), 0.1).mean((2, 3)))
        return F.log_softmax(self.fc(F.mish(x)), -1)


net = Net().train()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
rng = np.random.default_rng(0)
for _ in range(4):
    x = torch.from_numpy(rng.normal(size=(8, 6, 9, 8)).astype("float32"))
    y = torch.from_numpy(rng.integers(0, 4, 8))
    loss = F.nll_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
