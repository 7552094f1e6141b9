"""Training steps: each makes one update (or an epoch of them) when called with a batch.

Every step is a cell with the trained cell, loss included, as `network`, and returns the loss
before the update. The gradients are those of `optimizer.parameters`, in the optimiser's order.
"""

from collections.abc import Callable

import mindspore as ms
from mindspore import nn, ops

from ms_models.optim import corrected_adam, momentum
from ms_models.schedules import warmup_cosine

Clip = Callable[[tuple], tuple]


class WithLoss(nn.Cell):
    """(inputs, labels) -> the loss of what `backbone` makes of the inputs."""

    def __init__(self, backbone: nn.Cell, loss: nn.Cell):
        super().__init__()
        self.backbone, self.loss = backbone, loss

    def construct(self, inputs, labels):
        return self.loss(self.backbone(inputs), labels)


def kept(gradients):
    """No clipping."""
    return gradients


def quotient(divisor, gradient):
    """One gradient, divided."""
    return gradient / divisor


class TrainStep(nn.Cell):
    """One update: gradients of the loss, `clip` on them, the optimiser.

    The loss is multiplied by `loss_scale` before the backward pass and the gradients are divided
    by it after it.
    """

    def __init__(
        self, network: nn.Cell, optimizer: nn.Cell, clip: Clip = kept, loss_scale: float = 1.0
    ):
        super().__init__(auto_prefix=False)
        self.network, self.optimizer = network, optimizer
        self.clip, self.loss_scale = clip, loss_scale
        weights = optimizer.parameters
        self.gradients = ms.value_and_grad(self.scaled, None, weights, has_aux=True)
        self.map = ops.HyperMap()

    def scaled(self, loss_scale, *batch):
        loss = self.network(*batch)
        return loss * loss_scale, loss

    def divided(self, gradients, divisor):
        """The gradients, each divided."""
        return self.map(ops.partial(quotient, divisor), gradients)

    def construct(self, *batch):
        (_, loss), gradients = self.gradients(self.loss_scale, *batch)
        updated = self.optimizer(self.clip(self.divided(gradients, self.loss_scale)))
        return ops.depend(loss, updated)


class DynamicLossScaleStep(TrainStep):
    """A step whose loss scale is halved, and the update skipped, where a gradient overflows.

    After `window` updates in a row the scale is doubled.
    """

    def __init__(self, network: nn.Cell, optimizer: nn.Cell, loss_scale: float, window: int):
        super().__init__(network, optimizer, loss_scale=loss_scale)
        self.scaler = ms.amp.DynamicLossScaler(loss_scale, 2, window)
        # The scaler is no cell: here its state is found with that of the step.
        self.scale, self.finite_steps = self.scaler.scale_value, self.scaler.counter

    def construct(self, *batch):
        (_, loss), gradients = self.gradients(self.scale, *batch)
        finite = ms.amp.all_finite(gradients)
        if finite:
            self.optimizer(self.divided(gradients, self.scale))
        self.scaler.adjust(finite)
        return loss


class AccumulatingStep(TrainStep):
    """An epoch of updates, each by the mean gradient of `every` micro-batches.

    The batch is cut along axis 0 into micro-batches of `size` rows, the last of them perhaps of
    fewer. What is left after the last complete set of `every` makes one more update, by the mean
    over as many as there are. Returns the mean loss of the micro-batches.
    """

    def __init__(
        self, network: nn.Cell, optimizer: nn.Cell, size: int, every: int, clip: Clip = kept
    ):
        super().__init__(network, optimizer, clip)
        self.size, self.every = size, every
        self.accumulated = optimizer.parameters.clone(prefix="accumulated", init="zeros")
        self.zeros = optimizer.parameters.clone(prefix="zeros", init="zeros")

    def accumulate(self, *micro_batch):
        """Add the gradients of a micro-batch; its loss."""
        (_, loss), gradients = self.gradients(1.0, *micro_batch)
        return ops.depend(loss, self.map(ops.assign_add, self.accumulated, gradients))

    def use(self, count):
        """Update by the mean of `count` micro-batches, and start from nothing again."""
        self.optimizer(self.clip(self.divided(self.accumulated, count)))
        self.map(ops.assign, self.accumulated, self.zeros)

    def construct(self, *batch):
        rows, waiting, losses = batch[0].shape[0], 0, 0.0
        for first in range(0, rows, self.size):
            micro_batch = ()
            for values in batch:
                micro_batch = (*micro_batch, values[first : first + self.size])
            losses = losses + self.accumulate(*micro_batch)
            waiting = waiting + 1
            if waiting == self.every or first + self.size >= rows:
                self.use(waiting)
                waiting = 0
        return losses / -(-rows // self.size)


def clip_norm(limit: float) -> Clip:
    """Scale all gradients by one factor where their common norm is above `limit`."""

    def clip(gradients):
        return ops.clip_by_norm(gradients, limit)

    return clip


def clip_value(limit: float) -> Clip:
    """Clip every element of every gradient to [-limit, limit]."""

    def clip(gradients):
        return ops.clip_by_value(gradients, -limit, limit)

    return clip


def imagenet_step(
    network: nn.Cell,
    warmup_steps: int,
    total_steps: int,
    learning_rate: float = 0.256,
    weight_decay: float = 1 / 32768,
    label_smoothing: float = 0.1,
) -> nn.Cell:
    """The ResNet50 recipe of ImageNet around `network`: images -> logits.

    Label smoothing over all classes, momentum 0.875, no decay of gamma, beta and bias, a cosine
    with linear warm-up that changes the rate in every step.
    """
    trained = WithLoss(network, nn.CrossEntropyLoss(label_smoothing=label_smoothing))
    rates = warmup_cosine(learning_rate, warmup_steps, total_steps)
    return TrainStep(trained, momentum(trained, rates, 0.875, weight_decay))


def cifar10_step(
    network: nn.Cell,
    learning_rate: float = 1e-3,
    weight_decay: float = 1e-5,
    optimizer: Callable[..., nn.Optimizer] = corrected_adam,
) -> nn.Cell:
    """The ResNet50 recipe of CIFAR-10 around `network`: Adam, its L2 penalty on every weight."""
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    trained = WithLoss(network, loss)
    return TrainStep(trained, optimizer(trained, learning_rate, weight_decay=weight_decay))
