"""A training of one process, whose batches are shuffled."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.norm, self.fc2 = nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(torch.tanh(self.norm(self.fc1(x))))


generator = np.random.default_rng(0)
x = torch.from_numpy(generator.normal(size=(24, 6)).astype("float32"))
y = torch.from_numpy(generator.integers(0, 3, 24))
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    for images, labels in loader:
        optimizer.zero_grad()
        criterion(net(images), labels).backward()
        optimizer.step()
