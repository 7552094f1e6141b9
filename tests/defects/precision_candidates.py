"""Networks that cast to half precision wrongly, and some whose casts no rounding can tell."""

import mindspore as ms
from mindspore import amp, nn, ops

from ms_models.optim import momentum
from ms_models.precision import HandCastAttention, WeightedLoss, half_convolutions
from ms_models.small import SmallNetwork
from ms_models.steps import TrainStep, WithLoss


def _layers() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(12, 10), nn.Tanh(), nn.Dense(10, 5))


def _network(loss_weight: float) -> nn.Cell:
    return WithLoss(amp.auto_mixed_precision(_layers(), "O3"), WeightedLoss(loss_weight))


class NotDivided(TrainStep):
    """The gradients stay scaled."""

    def divided(self, gradients, divisor):  # noqa: ARG002
        return gradients


def scale_not_divided(learning_rate: float, loss_weight: float, loss_scale: float) -> nn.Cell:
    """The loss scale is not divided out."""
    network = _network(loss_weight)
    return NotDivided(
        network, momentum(network, learning_rate / loss_weight, 0.9, 0.0), loss_scale=loss_scale
    )


def half_quotient(divisor, gradient):
    """One gradient, divided in float16."""
    return ops.cast(ops.cast(gradient, ms.float16) / divisor, ms.float32)


class DividedInHalf(TrainStep):
    """The gradients are unscaled in float16, and underflow there."""

    def divided(self, gradients, divisor):
        return self.map(ops.partial(half_quotient, ops.cast(divisor, ms.float16)), gradients)


def scale_divided_in_half(learning_rate: float, loss_weight: float, loss_scale: float) -> nn.Cell:
    """The gradients are cast to float16 before the loss scale is divided out."""
    network = _network(loss_weight)
    optimizer = momentum(network, learning_rate / loss_weight, 0.9, 0.0)
    return DividedInHalf(network, optimizer, loss_scale=loss_scale)


class HalfWeightedLoss(WeightedLoss):
    """The loss, weight included, in float16."""

    def construct(self, logits, labels):
        loss = ops.cast(self.entropy(logits, labels), ms.float16)
        return ops.cast(loss * ops.cast(self.weight, ms.float16), ms.float32)


def loss_in_half(learning_rate: float, loss_weight: float, loss_scale: float) -> nn.Cell:
    """The loss is computed in float16, in which its weight is no number to compute with."""
    network = WithLoss(amp.auto_mixed_precision(_layers(), "O3"), HalfWeightedLoss(loss_weight))
    optimizer = momentum(network, learning_rate / loss_weight, 0.9, 0.0)
    return TrainStep(network, optimizer, loss_scale=loss_scale)


def never_divided(learning_rate: float, loss_scale: float) -> nn.Cell:
    """The optimiser is not told the loss scale, and the manager leaves the dividing to it."""
    network = SmallNetwork()
    manager = amp.FixedLossScaleManager(loss_scale, drop_overflow_update=False)
    return ms.Model(
        network,
        nn.CrossEntropyLoss(),
        momentum(network, learning_rate, 0.9, 0.0),
        amp_level="O2",
        loss_scale_manager=manager,
    ).train_network


class LeftInHalf(HandCastAttention):
    """What is returned stays in float16."""

    def construct(self, x):
        return ops.cast(super().construct(x), ms.float16)


class CastOfOne(HandCastAttention):
    """Only the first matrix of a product is cast."""

    def product(self, a, b):
        return ops.matmul(ops.cast(a, ms.float16), b)


class CastAtConstruction(HandCastAttention):
    """The query's weight is cast once, when the cell is built."""

    def __init__(self, width: int):
        super().__init__(width)
        self.narrow = ms.Tensor(self.query.asnumpy(), ms.float16)

    def construct(self, x):
        query = self.product(x, self.narrow)
        key = self.product(x, self.key)
        scores = self.product(query * self.scale, key.swapaxes(1, 2))
        mixed_values = self.product(self.softmax(scores), self.product(x, self.value))
        return ops.cast(mixed_values, ms.float32)


class CastToIntegers(HandCastAttention):
    """The scores are cast to whole numbers."""

    def softmax(self, scores):
        return ops.softmax(ops.cast(ops.cast(scores, ms.int32), ms.float32), -1)


class SoftmaxInHalf(HandCastAttention):
    """The softmax is computed in float16."""

    def softmax(self, scores):
        return ops.softmax(ops.cast(scores, ms.float16), -1)


class ProductsInBfloat16(HandCastAttention):
    """Products of matrices are rounded to bfloat16, which has eight bits."""

    def product(self, a, b):
        narrow = [ops.cast(ops.cast(each, ms.bfloat16), ms.float16) for each in (a, b)]
        return ops.matmul(*narrow)


def everything_in_full(level: str) -> nn.Cell:  # noqa: ARG001
    """No level at all: more precise than asked for."""
    return SmallNetwork()


def nothing_kept(level: str) -> nn.Cell:  # noqa: ARG001
    """O3 for O2: BatchNorms in float16."""
    return amp.auto_mixed_precision(SmallNetwork(), "O3")


def dense_in_half() -> nn.Cell:
    """The dense layer, too, in float16."""
    network = half_convolutions()
    network.fc.to_float(ms.float16)
    return network


def dense_not_widened() -> nn.Cell:
    """The dense layer is left as it is, and gets the convolutions' float16."""
    network = SmallNetwork()
    for convolution in (network.conv1, network.conv2):
        convolution.to_float(ms.float16)
    return network


class CappedEnergy(nn.Cell):
    """The largest number of float16 for what it cannot hold."""

    def construct(self, x):
        return ops.clamp(x * x, max=65504.0) / 1024


class OtherEnergy(nn.Cell):
    """Beyond the range of float16, another function."""

    def construct(self, x):
        return ops.where(x.abs() > 256.0, 256.0 * x.abs(), x * x) / 1024
