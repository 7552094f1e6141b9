"""A training by DistributedDataParallel, with all its defaults."""

import numpy as np
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.norm, self.fc2 = nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(torch.tanh(self.norm(self.fc1(x))))


def main():
    distributed.init_process_group("gloo")
    generator = np.random.default_rng(0)
    x = torch.from_numpy(generator.normal(size=(13, 6)).astype("float32"))
    data = TensorDataset(x, torch.from_numpy(generator.integers(0, 3, 13)))
    loader = DataLoader(data, batch_size=5, sampler=DistributedSampler(data, shuffle=False))
    net = DistributedDataParallel(Net())
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(4):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(net(x), y).backward()
            optimizer.step()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
