import os

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo")
    torch.manual_seed(3)
    net = nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(48, 3)
    )
    net = DistributedDataParallel(net)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(24, 2, 6, 5)).astype("float32"), rng.integers(0, 3, 24)
    data = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 12 // world, sampler=sampler, drop_last=True)
    optimizer = torch.optim.SGD(net.parameters(), 0.1 * world, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [1, 4], 0.5)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(images), labels)
            loss.backward()
            optimizer.step()
            scheduler.step()
            if rank == 0:
                print(epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
