"""Training steps that keep more than their network: averages, the scale of a loss, gradients."""

import mindspore as ms
from mindspore import nn, ops

from ms_models.given import GivenGradients
from ms_models.optim import one_group
from ms_models.steps import DynamicLossScaleStep, TrainStep


def moved(decay, average, weight):
    """An average, moved towards a weight."""
    return ops.assign(average, decay * average + (1.0 - decay) * weight)


class AveragingStep(TrainStep):
    """A step that keeps an exponential moving average of all weights, updated after them."""

    def __init__(self, network: nn.Cell, optimizer: nn.Cell, decay: float):
        super().__init__(network, optimizer)
        self.decay = decay
        self.average = optimizer.parameters.clone(prefix="average", init="same")

    def averaged(self):
        """Move the average to the weights."""
        return self.map(ops.partial(moved, self.decay), self.average, self.optimizer.parameters)

    def construct(self, *batch):
        loss = super().construct(*batch)
        return ops.depend(loss, ops.depend(self.averaged(), loss))


class MicroBatchStep(TrainStep):
    """Each call adds the gradients of a micro-batch; every few calls, their mean is used."""

    def __init__(self, network: nn.Cell, optimizer: nn.Cell, every: int):
        super().__init__(network, optimizer)
        self.every = every
        self.calls = ms.Parameter(ms.Tensor(0, ms.int32), name="calls", requires_grad=False)
        self.accumulated = optimizer.parameters.clone(prefix="accumulated", init="zeros")
        self.zeros = optimizer.parameters.clone(prefix="zeros", init="zeros")

    def accumulate(self, gradients):
        """Add gradients to what is there."""
        return self.map(ops.assign_add, self.accumulated, gradients)

    def construct(self, *batch):
        (_, loss), gradients = self.gradients(1.0, *batch)
        self.accumulate(gradients)
        ops.assign_add(self.calls, ms.Tensor(1, ms.int32))
        if self.calls % self.every == 0:
            self.optimizer(self.divided(self.accumulated, self.every))
            self.map(ops.assign, self.accumulated, self.zeros)
        return loss


def network() -> tuple[nn.Cell, nn.Cell]:
    """A network and its optimiser."""
    made = GivenGradients()
    return made, nn.SGD(one_group(made, 0.0), 0.1, 0.875)


def averaging(decay: float) -> nn.Cell:
    """Momentum, with an average of the weights."""
    return AveragingStep(*network(), decay)


def scaled(loss_scale: float, window: int) -> nn.Cell:
    """Momentum under a dynamic loss scale."""
    return DynamicLossScaleStep(*network(), loss_scale, window)


def in_micro_batches(every: int) -> nn.Cell:
    """Momentum by gradients that are added over several calls."""
    return MicroBatchStep(*network(), every)
