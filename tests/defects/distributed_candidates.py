"""Data parallel steps with a mistake each, and a right one in other words."""

import time

import mindspore as ms
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank

from ms_models import small
from ms_models.distributed import DataParallelStep, parallel, part


def made(step: type[DataParallelStep]):
    """A function that builds the declared training by another kind of step."""

    def build(**settings) -> nn.Cell:
        right = parallel(small.imagenet_step(**settings))
        return step(right.network, right.optimizer)

    return build


class ByHand(DataParallelStep):
    """Right: a sum over the ranks of every gradient, divided by their number."""

    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.sum, self.size = ops.AllReduce(), get_group_size()

    def reduced(self, gradients):
        means = ()
        for gradient in gradients:
            means = (*means, self.sum(gradient) / self.size)
        return means


class Summed(DataParallelStep):
    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.reducer = nn.DistributedGradReducer(optimizer.parameters, mean=False)


class DividedTwice(DataParallelStep):
    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.size = get_group_size()

    def reduced(self, gradients):
        return self.divided(self.reducer(gradients), self.size)


class NotReduced(DataParallelStep):
    def reduced(self, gradients):
        return gradients


class OneRankAlone(DataParallelStep):
    """The last rank takes part in the sum and uses its own gradients."""

    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.alone = get_rank() == get_group_size() - 1

    def reduced(self, gradients):
        means = self.reducer(gradients)
        return ops.depend(gradients, means) if self.alone else means


class LastGroupLost(DataParallelStep):
    """Split in two groups, of which the second is never averaged."""

    FIRST = 6

    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.reducer = nn.DistributedGradReducer(optimizer.parameters[: self.FIRST])

    def reduced(self, gradients):
        return self.reducer(gradients[: self.FIRST]) + gradients[self.FIRST :]


class NotSent(DataParallelStep):
    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.sent = True


class OneShard(DataParallelStep):
    def batches(self, arrays, batch_size):
        return part(arrays, batch_size, get_group_size(), 0)


class WholeData(DataParallelStep):
    def batches(self, arrays, batch_size):
        return part(arrays, batch_size, 1, 0)


class Blocks(DataParallelStep):
    """Each rank reads a run of neighbours, as from a list that is cut into pieces."""

    def batches(self, arrays, batch_size):
        rank, size = get_rank(), -(-len(arrays[0]) // get_group_size())
        return part([values[rank * size :][:size] for values in arrays], batch_size, 1, 0)


class TailDropped(DataParallelStep):
    def batches(self, arrays, batch_size):
        even = len(arrays[0]) // get_group_size() * get_group_size()
        return part([values[:even] for values in arrays], batch_size, get_group_size(), get_rank())


class SameStatistics(DataParallelStep):
    """The first rank's statistics are sent in every step, as PyTorch does unless it is told."""

    def __call__(self, *batch):
        loss = super().__call__(*batch)
        broadcast = ops.Broadcast(0)
        for parameter in self.network.get_parameters():
            if not parameter.requires_grad:
                (values,) = broadcast((parameter.value(),))
                parameter.set_data(ms.Tensor(values.asnumpy()))
        return loss


class AbsentFromSums(DataParallelStep):
    """The last rank leaves the sum out; the others wait for it."""

    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.absent = get_rank() == get_group_size() - 1

    def reduced(self, gradients):
        return gradients if self.absent else self.reducer(gradients)


class HungLoader(DataParallelStep):
    """One rank waits for its data."""

    def batches(self, arrays, batch_size):
        if get_rank() > 0:
            time.sleep(3600.0)
        return super().batches(arrays, batch_size)


class WithoutData(DataParallelStep):
    """The files of one rank are not there."""

    def batches(self, arrays, batch_size):
        if get_rank() > 0:
            raise FileNotFoundError("no such folder: train")
        return super().batches(arrays, batch_size)


class SynchronisedNorm(nn.Cell):
    """A BatchNorm over the batches of all ranks."""

    def __init__(self, norm: nn.BatchNorm2d):
        super().__init__(auto_prefix=False)
        self.gamma, self.beta = norm.gamma, norm.beta
        self.moving_mean, self.moving_variance = norm.moving_mean, norm.moving_variance
        self.momentum, self.eps = 1.0 - norm.momentum, norm.eps
        self.sum, self.size = ops.AllReduce(), get_group_size()

    def construct(self, x):
        mean = self.sum(x.mean((0, 2, 3))) / self.size
        centred = x - mean.reshape((1, -1, 1, 1))
        variance = self.sum((centred * centred).mean((0, 2, 3))) / self.size
        count = x.size / x.shape[1] * self.size
        unbiased = variance * (count / (count - 1.0))
        keep = 1.0 - self.momentum
        ops.assign(self.moving_mean, keep * self.moving_mean + self.momentum * mean)
        ops.assign(self.moving_variance, keep * self.moving_variance + self.momentum * unbiased)
        normal = centred * ops.rsqrt(variance + self.eps).reshape((1, -1, 1, 1))
        return normal * self.gamma.reshape((1, -1, 1, 1)) + self.beta.reshape((1, -1, 1, 1))


def synchronised(**settings) -> nn.Cell:
    """Every BatchNorm is replaced by one over all ranks."""
    step = small.imagenet_step(**settings)
    backbone = step.network.backbone
    backbone.bn1, backbone.bn2 = SynchronisedNorm(backbone.bn1), SynchronisedNorm(backbone.bn2)
    return parallel(step)


def rate_scaled(learning_rate: float = 0.256, **settings) -> nn.Cell:
    """The rate that is meant for the whole batch, times the number of ranks."""
    scaled = learning_rate * get_group_size()
    return parallel(small.imagenet_step(learning_rate=scaled, **settings))


by_hand, summed, divided_twice = made(ByHand), made(Summed), made(DividedTwice)
not_reduced, one_rank_alone = made(NotReduced), made(OneRankAlone)
last_group_lost, not_sent = made(LastGroupLost), made(NotSent)
one_shard, whole_data, blocks = made(OneShard), made(WholeData), made(Blocks)
absent_from_sums, hung_loader = made(AbsentFromSums), made(HungLoader)
without_data = made(WithoutData)
tail_dropped, same_statistics = made(TailDropped), made(SameStatistics)
