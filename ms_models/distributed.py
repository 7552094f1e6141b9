"""Data parallel training: every rank has a part of the samples, and updates by the mean gradient.

A step trains the network on the batches of its rank, which `batches` gives, and keeps the
gradients of its latest update as `averaged`. It is built when the ranks have met.
"""

from collections.abc import Iterator, Sequence

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank

from ms_models import small
from ms_models.steps import TrainStep


def send(network: nn.Cell) -> None:
    """Give every rank the weights and statistics of the first one."""
    broadcast = ops.Broadcast(0)
    for parameter in network.get_parameters():
        (values,) = broadcast((parameter.value(),))
        parameter.set_data(ms.Tensor(values.asnumpy()))


def part(
    arrays: Sequence[np.ndarray], batch_size: int, num_shards: int, shard_id: int
) -> Iterator[list[np.ndarray]]:
    """An epoch of batches of one of `num_shards` parts, all of the same size."""
    dataset = ds.GeneratorDataset(
        list(zip(*arrays, strict=True)),
        [f"column{place}" for place in range(len(arrays))],
        shuffle=False,
        num_shards=num_shards,
        shard_id=shard_id,
        num_parallel_workers=1,
    )
    return dataset.batch(batch_size).create_tuple_iterator(num_epochs=1, output_numpy=True)


class DataParallelStep(TrainStep):
    """A step whose gradients are averaged over the ranks by one sum of all of them.

    Weights and statistics are the first rank's to begin with; later, statistics are each rank's
    own.
    """

    def __init__(self, network: nn.Cell, optimizer: nn.Cell):
        super().__init__(network, optimizer)
        self.reducer = nn.DistributedGradReducer(optimizer.parameters)
        self.averaged = optimizer.parameters.clone(prefix="averaged", init="zeros")
        self.sent = False

    def __call__(self, *batch):
        if not self.sent:
            send(self.network)
            self.sent = True
        return super().__call__(*batch)

    def reduced(self, gradients):
        """The mean of all ranks' gradients."""
        return self.reducer(gradients)

    def construct(self, *batch):
        (_, loss), gradients = self.gradients(self.loss_scale, *batch)
        gradients = self.reduced(gradients)
        # Kept first: a graph that returns them beside the update gives those of weights that
        # decay as the update has changed them.
        kept = self.map(ops.assign, self.averaged, gradients)
        return ops.depend(loss, self.optimizer(ops.depend(gradients, kept)))

    def batches(self, arrays: Sequence[np.ndarray], batch_size: int) -> Iterator:
        """An epoch of this rank's batches: every rank has as many, the last perhaps smaller."""
        return part(arrays, batch_size, get_group_size(), get_rank())


def parallel(step: TrainStep, split: Sequence[int] = ()) -> nn.Cell:
    """The same update by the mean gradient of all ranks.

    split: last gradient, by number, of each group but the last that is averaged by itself.
    """
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    if split:
        ms.set_auto_parallel_context(all_reduce_fusion_config=list(split))
    return DataParallelStep(step.network, step.optimizer)


def small_step(split: bool = False, **settings) -> nn.Cell:
    """The ImageNet recipe around the small network."""
    return parallel(small.imagenet_step(**settings), (2, 5) if split else ())
