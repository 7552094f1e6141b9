"""A training by DistributedDataParallel, whose rate is that of all ranks."""

import numpy as np
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.norm, self.fc2 = nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(torch.tanh(self.norm(self.fc1(x))))


distributed.init_process_group("gloo")
generator = np.random.default_rng(0)
x = torch.from_numpy(generator.normal(size=(24, 6)).astype("float32"))
y = torch.from_numpy(generator.integers(0, 3, 24))
data = TensorDataset(x, y)
loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
net = DistributedDataParallel(Net())
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1 * distributed.get_world_size(), momentum=0.9)
for _ in range(2):
    for images, labels in loader:
        optimizer.zero_grad()
        criterion(net(images), labels).backward()
        optimizer.step()
