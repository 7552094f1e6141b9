"""Training steps on ranks as people write them in PyTorch."""

import contextlib
import importlib

import torch
from torch import distributed, nn, optim
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from pt_reference.steps import WithLoss


class Network(nn.Module):
    """Rows N,4 -> logits N,3."""

    def __init__(self, norm):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(4, 5, bias=False), nn.Linear(5, 3)
        self.norm = nn.BatchNorm1d(5) if norm else nn.Identity()

    def forward(self, x):
        return self.fc2(torch.sigmoid(self.norm(self.fc1(x))))


class Step(nn.Module):
    """A step by `DistributedDataParallel` with all its defaults.

    accumulated: into how many parts a batch is cut; only the last averages the gradients.
    never: whether the last does not, either.
    sharded: whether each rank keeps the optimiser's state of a part of the weights.
    """

    def __init__(self, norm=True, accumulated=1, never=False, sharded=False, synchronised=False):
        super().__init__()
        network = Network(norm)
        if synchronised:
            network = nn.SyncBatchNorm.convert_sync_batchnorm(network)
        self.network = WithLoss(network, nn.CrossEntropyLoss())
        self.settings = {"lr": 0.1, "momentum": 0.9}
        self.optimizer = optim.SGD(self.network.parameters(), **self.settings)
        self.accumulated, self.never, self.sharded = accumulated, never, sharded
        self.parallel = []

    def update(self):
        self.optimizer.step()

    def forward(self, *batch):
        if not self.parallel:
            self.parallel.append(DistributedDataParallel(self.network))
            if self.sharded:
                weights = self.network.parameters()
                # Its import warns, which the tests take for an error.
                parts = importlib.import_module("torch.distributed.optim").ZeroRedundancyOptimizer
                self.optimizer = parts(weights, optim.SGD, **self.settings)
        (parallel,) = self.parallel
        self.optimizer.zero_grad()
        parts = list(zip(*(each.chunk(self.accumulated) for each in batch), strict=True))
        total = torch.zeros(())
        for place, part in enumerate(parts):
            last = place == len(parts) - 1 and not self.never
            with contextlib.nullcontext() if last else parallel.no_sync():
                loss = parallel(*part) * (len(part[0]) / len(batch[0]))
                loss.backward()
                total = total + loss.detach()
        self.update()
        return total

    def batches(self, arrays, batch_size):
        dataset = TensorDataset(*map(torch.from_numpy, arrays))
        ranks = distributed.get_world_size(), distributed.get_rank()
        part = DistributedSampler(dataset, *ranks, shuffle=False)
        return iter(DataLoader(dataset, batch_size, sampler=part))
