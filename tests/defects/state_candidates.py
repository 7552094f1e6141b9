"""Training steps with one mistake in what they keep beside their network, and right updates.

Every candidate takes the arguments of the twin that it is put into.
"""

import mindspore as ms
from mindspore import ops

from ms_models.state import AveragingStep, MicroBatchStep, moved, network
from ms_models.steps import DynamicLossScaleStep


class _Before(AveragingStep):
    def construct(self, *batch):
        updated = self.averaged()
        (_, loss), gradients = self.gradients(1.0, *batch)
        return ops.depend(loss, self.optimizer(ops.depend(gradients, updated)))


def _matrix_moved(decay, average, weight):
    return moved(decay, average, weight) if weight.ndim > 1 else weight


class _Matrices(AveragingStep):
    def averaged(self):
        move = ops.partial(_matrix_moved, self.decay)
        return self.map(move, self.average, self.optimizer.parameters)


class _WarmedUp(AveragingStep):
    def __init__(self, *parts):
        super().__init__(*parts)
        self.calls = ms.Parameter(ms.Tensor(0.0), name="calls", requires_grad=False)

    def averaged(self):
        ops.assign_add(self.calls, ms.Tensor(1.0))
        decay = ops.minimum((1.0 + self.calls) / (10.0 + self.calls), ms.Tensor(self.decay))
        return self.map(ops.partial(moved, decay), self.average, self.optimizer.parameters)


class _NotCounted(DynamicLossScaleStep):
    def construct(self, *batch):
        (_, loss), gradients = self.gradients(self.scale, *batch)
        if ms.amp.all_finite(gradients):
            self.optimizer(self.divided(gradients, self.scale))
        return loss


class _Assigned(MicroBatchStep):
    def accumulate(self, gradients):
        if self.calls < self.every:
            return super().accumulate(gradients)
        return self.map(ops.assign, self.accumulated, gradients)


def averaged_before_the_update(decay):
    return _Before(*network(), decay)


def average_of_matrices_alone(decay):
    return _Matrices(*network(), decay)


def average_warmed_up(decay):
    return _WarmedUp(*network(), decay)


def finite_steps_not_counted(loss_scale, window):
    return _NotCounted(*network(), loss_scale, window)


def gradients_assigned(every):
    return _Assigned(*network(), every)
