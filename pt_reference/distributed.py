"""Data parallel training: every rank has a part of the samples, and updates by the mean gradient.

A step trains the network on the batches of its rank, which `batches` gives. It may be built before
the ranks have met, and is first called when they have.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from pt_reference import small
from pt_reference.data import shard
from pt_reference.steps import TrainStep

MEGABYTE = 2**20


class DataParallelStep(TrainStep):
    """A step by `DistributedDataParallel`: gradients are averaged over the ranks.

    Weights and buffers are the first rank's to begin with; later, statistics are each rank's own.
    With `split` gradients are averaged in buckets of some kilobytes, as soon as each is complete;
    from the second step on, when the order is known in which they come.
    """

    def __init__(self, step: TrainStep, split: bool = False):
        super().__init__(step.network, step.optimizer, step.scheduler)
        self.split = split
        self.parallel: list[DistributedDataParallel] = []  # in a list it is no submodule

    def forward(self, *batch: torch.Tensor) -> torch.Tensor:
        if not self.parallel:
            bucket = {"bucket_cap_mb": 2048 / MEGABYTE} if self.split else {}
            wrapped = DistributedDataParallel(self.network, forward_sync_buffers=False, **bucket)
            self.parallel.append(wrapped)
        self.optimizer.zero_grad()
        loss = self.parallel[0](*batch)
        loss.backward()
        self.update()
        return loss.detach()

    def batches(
        self, arrays: Sequence[np.ndarray], batch_size: int
    ) -> Iterator[list[torch.Tensor]]:
        """An epoch of this rank's batches: every rank has as many, the last perhaps smaller."""
        dataset = TensorDataset(*map(torch.from_numpy, arrays))
        part = shard(dataset, distributed.get_world_size(), distributed.get_rank())
        return iter(DataLoader(dataset, batch_size, sampler=part))


def small_step(split: bool = False, **settings) -> nn.Module:
    """The ImageNet recipe around the small network."""
    return DataParallelStep(small.imagenet_step(**settings), split)
