"""Ports of `ranks_torch` to MindSpore, right and wrong."""

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank

from ms_models.distributed import DataParallelStep
from ms_models.steps import WithLoss


class Network(nn.Cell):
    """Rows N,4 -> logits N,3."""

    def __init__(self, norm):
        super().__init__()
        self.fc1, self.fc2 = nn.Dense(4, 5, has_bias=False), nn.Dense(5, 3)
        self.norm = nn.BatchNorm1d(5) if norm else nn.Identity()

    def construct(self, x):
        return self.fc2(ops.sigmoid(self.norm(self.fc1(x))))


class Sending(DataParallelStep):
    """All ranks begin each step with the first one's statistics."""

    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.first = ops.Broadcast(0)

    def __call__(self, *batch):
        for parameter in self.network.get_parameters():
            if not parameter.requires_grad:
                ops.assign(parameter, self.first((parameter.value(),))[0])
        return super().__call__(*batch)


class OfPart(nn.SGD):
    """Each rank updates its own part of the weights, and none sends it to the others."""

    def __init__(self, weights, rate, momentum):
        super().__init__(weights, rate, momentum=momentum)
        self.own = [place % get_group_size() == get_rank() for place in range(len(weights))]

    def __call__(self, gradients):
        parts = zip(gradients, self.own, strict=True)
        return super().__call__(tuple(g if mine else ops.zeros_like(g) for g, mine in parts))


class Failing(DataParallelStep):
    """Its own data set raises in the second rank."""

    def batches(self, arrays, batch_size):
        rank = get_rank()

        def rows():
            for place in range(len(arrays[0])):
                if rank == 1 and place == 4:
                    raise OSError("shard 4 is not there")
                yield tuple(each[place] for each in arrays)

        names = [f"column{place}" for place in range(len(arrays))]
        data = ds.GeneratorDataset(rows, names, shuffle=False)
        return data.batch(batch_size).create_tuple_iterator(num_epochs=1, output_numpy=True)


def build(kind, norm=True, optimizer=nn.SGD, **_):
    network = WithLoss(Network(norm), nn.CrossEntropyLoss())
    optimizer = optimizer(network.trainable_params(), 0.1, momentum=0.9)
    mode = ms.ParallelMode.DATA_PARALLEL
    ms.set_auto_parallel_context(parallel_mode=mode, gradients_mean=True)
    return kind(network, optimizer)


def step(**settings):
    return build(DataParallelStep, **settings)


def sending(**settings):
    return build(Sending, **settings)


def sharded(**settings):
    return build(DataParallelStep, optimizer=OfPart, **settings)


def failing(**settings):
    return build(Failing, **settings)
