"""Steps with groups and a common clip, and poolings, each wrong in one way."""

from mindspore import nn, ops

from ms_models.given import GivenGradients
from ms_models.groups import clipped_together, head_apart
from ms_models.optim import one_group
from ms_models.steps import TrainStep


def head_at_common_rate(learning_rate: float, head_rate: float, **decays: float) -> nn.Cell:  # noqa: ARG001
    return head_apart(learning_rate, head_rate=learning_rate, **decays)


def head_at_common_decay(weight_decay: float, head_decay: float, **rates: float) -> nn.Cell:  # noqa: ARG001
    return head_apart(weight_decay=weight_decay, head_decay=weight_decay, **rates)


def settings_of_head_and_body_exchanged(
    learning_rate: float, weight_decay: float, head_rate: float, head_decay: float
) -> nn.Cell:
    return head_apart(head_rate, head_decay, learning_rate, weight_decay)


def _clipped(learning_rate: float, clip) -> nn.Cell:
    network = GivenGradients()
    return TrainStep(network, nn.Momentum(one_group(network, 0.0), learning_rate, 0.875), clip)


def clipped_one_by_one(learning_rate: float, limit: float) -> nn.Cell:
    def clip(gradients):
        clipped = ()
        for gradient in gradients:
            clipped = (*clipped, ops.clip_by_norm(gradient, limit))
        return clipped

    return _clipped(learning_rate, clip)


def elements_clipped(learning_rate: float, limit: float) -> nn.Cell:
    def clip(gradients):
        return ops.clip_by_value(gradients, -limit, limit)

    return _clipped(learning_rate, clip)


def unclipped(learning_rate: float, limit: float) -> nn.Cell:  # noqa: ARG001
    return clipped_together(learning_rate, 1e9)


class MeanOfRows(nn.Cell):
    """The mean over the height alone, of the first column."""

    def __init__(self, output_size: int):  # noqa: ARG002
        super().__init__()

    def construct(self, x):
        return x.mean(2, keep_dims=True)[..., :1]


class MeanWithoutAxes(nn.Cell):
    """The pooled map without its two axes of size one."""

    def __init__(self, output_size: int):  # noqa: ARG002
        super().__init__()

    def construct(self, x):
        return x.mean((2, 3))


class MaximumOfMap(nn.Cell):
    """The maximum for the mean."""

    def __init__(self, output_size: int):  # noqa: ARG002
        super().__init__()

    def construct(self, x):
        return ops.amax(x, (2, 3), keepdims=True)
