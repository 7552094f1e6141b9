"""Training steps with one mistake each: scaling, clipping, accumulation, and whole recipes.

Every candidate takes the arguments of the twin that it is put into.
"""

import mindspore as ms
from mindspore import nn, ops

from ms_models import steps
from ms_models.given import GivenGradients
from ms_models.losses import CrossEntropySmooth
from ms_models.optim import corrected_adam, decay_groups, momentum, one_group
from ms_models.resnet import resnet
from ms_models.schedules import warmup_cosine
from ms_models.small import SmallNetwork
from ms_models.steps import AccumulatingStep, DynamicLossScaleStep, TrainStep, WithLoss
from tests.defects.optim_candidates import DecoupledAdam, Spelled, Uncorrected, grouped_by


def _optimizer(network, loss_scale=1.0):
    """What the builders of `ms_models.given` use where a twin says nothing."""
    return momentum(network, 0.1, 0.875, 0.1, loss_scale=loss_scale)


class LossAfterUpdate(TrainStep):
    def construct(self, *batch):
        updated = super().construct(*batch)
        return self.network(*ops.depend(batch, updated))


loss_after_update = grouped_by(decay_groups, LossAfterUpdate)


# Loss scaling.


def scale_not_divided_out(loss_scale):
    """The optimiser is not told of the scale."""
    network = GivenGradients()
    return nn.TrainOneStepCell(network, _optimizer(network), sens=loss_scale)


def scale_divided_twice(loss_scale):
    """By the step and by the optimiser."""
    network = GivenGradients()
    return TrainStep(network, _optimizer(network, loss_scale), loss_scale=loss_scale)


class DecayOfScaledGradients(Spelled):
    """Decay is added to what is divided by the scale afterwards."""

    def penalised(self, gradients):
        return self.map_(ops.partial(steps.quotient, 1024.0), self.decay_weight(gradients))


def decay_divided_by_scale(loss_scale):
    """A builder like `given.managed_loss_scale`."""
    network = GivenGradients()
    optimizer = DecayOfScaledGradients(decay_groups(network, 0.1), 0.1)
    return nn.TrainOneStepCell(network, optimizer, sens=loss_scale)


class OverflowUsed(DynamicLossScaleStep):
    """Infinite gradients reach the weights."""

    def construct(self, *batch):
        (_, loss), gradients = self.gradients(self.scale, *batch)
        self.optimizer(self.divided(gradients, self.scale))
        self.scaler.adjust(ms.amp.all_finite(gradients))
        return loss


def finite_or_zero(gradient):
    """Zeros for infinities."""
    return ops.where(ops.isfinite(gradient), gradient, ops.zeros_like(gradient))


class OverflowZeroed(DynamicLossScaleStep):
    """The update is made without what overflows: decay, momentum and the rest go on."""

    def construct(self, *batch):
        (_, loss), gradients = self.gradients(self.scale, *batch)
        finite = ms.amp.all_finite(gradients)
        kept = self.map(finite_or_zero, gradients)
        self.optimizer(self.divided(kept, self.scale))
        self.scaler.adjust(finite)
        return loss


class ScaleNotHalved(DynamicLossScaleStep):
    """The update is skipped, and the next one with it."""

    def construct(self, *batch):
        (_, loss), gradients = self.gradients(self.scale, *batch)
        if ms.amp.all_finite(gradients):
            self.optimizer(self.divided(gradients, self.scale))
        return loss


class CountKeptOnOverflow(DynamicLossScaleStep):
    """An update that is skipped counts towards the next growth."""

    def construct(self, *batch):
        before = self.finite_steps + 1
        loss = super().construct(*batch)
        ops.assign(self.finite_steps, ops.depend(before, loss) % self.scaler.scale_window)
        return loss


def dynamic(kind, initial=1.0, growth=2):
    """A builder like `given.dynamic_loss_scale`, by `kind`."""

    def build(loss_scale, window):
        network = GivenGradients()
        step = kind(network, _optimizer(network), loss_scale * initial, window)
        step.scaler.scale_factor = growth
        return step

    return build


overflow_used = dynamic(OverflowUsed)
overflow_zeroed = dynamic(OverflowZeroed)
scale_not_halved = dynamic(ScaleNotHalved)
count_kept_on_overflow = dynamic(CountKeptOnOverflow)
scale_quartered = dynamic(DynamicLossScaleStep, growth=4)
scale_from_half = dynamic(DynamicLossScaleStep, initial=0.5)


# Clipping.


class ClippedBeforeUnscaling(TrainStep):
    def construct(self, *batch):
        (_, loss), gradients = self.gradients(self.loss_scale, *batch)
        updated = self.optimizer(self.divided(self.clip(gradients), self.loss_scale))
        return ops.depend(loss, updated)


def clipping(make, kind=TrainStep):
    """A builder like `given.clipped`; `make` gives another clip by the name and the limit."""

    def build(clip, limit, loss_scale=1.0):
        network = GivenGradients()
        return kind(network, _optimizer(network), make(clip, limit), loss_scale)

    return build


def as_configured(clip, limit):
    """No other clip than the twin asks for."""
    return getattr(steps, clip)(limit)


def _each_by_its_norm(clip, limit):  # noqa: ARG001
    def clip_one(gradient):
        return ops.clip_by_norm(gradient, limit)

    return ops.partial(ops.HyperMap(), clip_one)


def _to_the_limit(clip, limit):  # noqa: ARG001
    """Scaled to the limit also where the norm is below it."""

    def clip_all(gradients):
        total = 0.0
        for gradient in gradients:
            total = total + ops.square(gradient).sum()
        return ops.HyperMap()(ops.partial(steps.quotient, ops.sqrt(total) / limit), gradients)

    return clip_all


def _by_the_largest(clip, limit):  # noqa: ARG001
    """The maximum norm."""

    def clip_all(gradients):
        return ops.clip_by_norm(gradients, limit, float("inf"))

    return clip_all


def _from_above(clip, limit):  # noqa: ARG001
    def clip_one(gradient):
        return ops.minimum(gradient, limit)

    return ops.partial(ops.HyperMap(), clip_one)


clipped_before_unscaling = clipping(as_configured, ClippedBeforeUnscaling)
each_by_its_norm = clipping(_each_by_its_norm)
clipped_to_the_limit = clipping(_to_the_limit)
clipped_by_the_largest = clipping(_by_the_largest)
clipped_from_above = clipping(_from_above)


# Accumulation.


class SumOfMicroBatches(AccumulatingStep):
    def use(self, count):  # noqa: ARG002
        super().use(1)


class NotZeroed(AccumulatingStep):
    def use(self, count):
        self.optimizer(self.clip(self.divided(self.accumulated, count)))


class MeanTwice(AccumulatingStep):
    """The loss is divided, and the gradients are, too."""

    def use(self, count):
        super().use(count * count)


class LastSetAsComplete(AccumulatingStep):
    """What is left over is divided by the number of a complete set."""

    def use(self, count):  # noqa: ARG002
        super().use(self.every)


class LastSetDropped(AccumulatingStep):
    """What is left over stays for the next epoch."""

    def use(self, count):
        if count == self.every:
            super().use(count)


class LastMicroBatchAlone(AccumulatingStep):
    """Assigned where it was to be added."""

    def accumulate(self, *micro_batch):
        (_, loss), gradients = self.gradients(1.0, *micro_batch)
        return ops.depend(loss, self.map(ops.assign, self.accumulated, gradients))


class EachClipped(AccumulatingStep):
    """Every micro-batch is clipped, and their mean is not."""

    def accumulate(self, *micro_batch):
        (_, loss), gradients = self.gradients(1.0, *micro_batch)
        clipped = self.clip(gradients)
        return ops.depend(loss, self.map(ops.assign_add, self.accumulated, clipped))

    def use(self, count):
        self.optimizer(self.divided(self.accumulated, count))
        self.map(ops.assign, self.accumulated, self.zeros)


def accumulating(kind):
    """A builder like `given.accumulating`, by `kind`."""

    def build(size, every, clip=None):
        network = GivenGradients()
        limit = steps.kept if clip is None else steps.clip_norm(clip)
        return kind(network, _optimizer(network), size, every, limit)

    return build


sum_of_micro_batches = accumulating(SumOfMicroBatches)
not_zeroed = accumulating(NotZeroed)
mean_twice = accumulating(MeanTwice)
last_set_as_complete = accumulating(LastSetAsComplete)
last_set_dropped = accumulating(LastSetDropped)
last_micro_batch_alone = accumulating(LastMicroBatchAlone)
each_clipped = accumulating(EachClipped)


# Recipes.


class TrainsInEvaluation(TrainStep):
    """Nobody has set the network to train: statistics are used and not updated."""

    def set_train(self, mode=True):
        super().set_train(mode)
        self.network.set_train(False)
        return self


def imagenet(loss=None, groups=decay_groups, kind=TrainStep):
    """A builder like `small.imagenet_step`."""

    def build(warmup_steps, total_steps, weight_decay):
        loss_cell = nn.CrossEntropyLoss(label_smoothing=0.1) if loss is None else loss()
        network = WithLoss(SmallNetwork(), loss_cell)
        rates = warmup_cosine(0.256, warmup_steps, total_steps)
        return kind(network, nn.Momentum(groups(network, weight_decay), rates, 0.875))

    return build


def _head_alone(network, weight_decay):
    """The backbone is frozen, as for fine-tuning."""
    head = network.backbone.fc
    return [
        {"params": [head.weight], "weight_decay": weight_decay},
        {"params": [head.bias], "weight_decay": 0.0},
    ]


trains_in_evaluation = imagenet(kind=TrainsInEvaluation)
smoothed_over_others = imagenet(lambda: CrossEntropySmooth(0.1))
recipe_decays_everything = imagenet(groups=one_group)
head_alone_is_trained = imagenet(groups=_head_alone)


def cifar10(optimizer, reduction="mean"):
    """A builder like `small.cifar10_step`."""

    def build(learning_rate, weight_decay):
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction=reduction)
        network = WithLoss(SmallNetwork(), loss)
        return TrainStep(network, optimizer(network, learning_rate, weight_decay=weight_decay))

    return build


def resnet_on_cifar10(optimizer):
    """A builder like `recipes.resnet_on_cifar10`."""

    def build(depth, num_classes):
        return steps.cifar10_step(resnet(depth, num_classes=num_classes), optimizer=optimizer)

    return build


def _adam(kind):
    """A function like `optim.corrected_adam`, by `kind`."""

    def build(network, learning_rate, weight_decay):
        return kind(one_group(network, weight_decay), learning_rate, 0.9, 0.999, 1e-8)

    return build


cifar10_decoupled = cifar10(_adam(DecoupledAdam))
cifar10_by_sum = cifar10(corrected_adam, "sum")
resnet_decoupled = resnet_on_cifar10(_adam(DecoupledAdam))
resnet_uncorrected = resnet_on_cifar10(_adam(Uncorrected))
