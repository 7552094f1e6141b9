"""Training steps in MindSpore that keep more than their network; partners in `state_pt.py`."""

import mindspore as ms
from mindspore import nn, ops

from ms_models.steps import DynamicLossScaleStep
from tests.engine.parts.steps_ms import Classifier, Given, _trained


def towards(mean, parameter):
    return ops.assign(mean, mean + 0.125 * (parameter - mean))


class Averaging(nn.Cell):
    """Keeps the averages as `mean`, and the statistics of the copy as those of a cell."""

    def __init__(self):
        super().__init__(auto_prefix=False)
        self.step = _trained(Classifier(), fall=1.0, weight_decay=0.0)
        self.network = self.step.network
        self.weights = ms.ParameterTuple(self.network.trainable_params())
        self.mean = self.weights.clone(prefix="mean", init="same")
        self.statistics = ms.ParameterTuple(
            [self.network.bn.moving_mean, self.network.bn.moving_variance]
        )
        self.kept_mean, self.kept_variance = self.statistics.clone(prefix="kept", init="same")
        self.map = ops.HyperMap()

    def construct(self, *batch):
        loss = self.step(*batch)
        self.map(towards, self.mean, self.weights)
        ops.assign(self.kept_mean, self.network.bn.moving_mean)
        ops.assign(self.kept_variance, self.network.bn.moving_variance)
        return loss


AVERAGING = {
    "mean": "teacher",
    "kept_mean": "teacher.bn.running_mean",
    "kept_variance": "teacher.bn.running_var",
}
"""The renames that say which is which."""


class Swa(nn.Cell):
    """Keeps the sum of all weights so far, divided."""

    def __init__(self):
        super().__init__(auto_prefix=False)
        self.step = _trained(Given())
        self.network = self.step.network
        self.weights = ms.ParameterTuple(self.network.trainable_params())
        self.average = self.weights.clone(prefix="average", init="same")
        self.n_averaged = ms.Parameter(ms.Tensor(0, ms.int32), name="n", requires_grad=False)
        self.map = ops.HyperMap()

    def blended(self, mean, weight):
        return ops.assign(mean, mean + (weight - mean) / (self.n_averaged + 1))

    def construct(self, *batch):
        loss = self.step(*batch)
        self.map(self.blended, self.average, self.weights)
        ops.assign_add(self.n_averaged, ms.Tensor(1, ms.int32))
        return loss


def overflowing():
    network = Given()
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    return DynamicLossScaleStep(network, optimizer, 2.0**127, 2)
