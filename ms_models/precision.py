"""Networks that compute in half precision in part, with weights, inputs and outputs in float32."""

import mindspore as ms
from mindspore import amp, nn, ops
from mindspore.common.initializer import initializer

from ms_models.optim import momentum
from ms_models.small import SmallNetwork
from ms_models.steps import TrainStep, WithLoss


def mixed(level: str) -> nn.Cell:
    """The small network under an amp level: O2, O3 or auto.

    O2 keeps BatchNorms in float32; O3 does not, beyond their statistics. Outputs are float32.
    """
    return amp.auto_mixed_precision(SmallNetwork(), level)


def half_convolutions() -> nn.Cell:
    """The small network with its convolutions, and nothing else, in float16."""
    network = SmallNetwork()
    for convolution in (network.conv1, network.conv2):
        convolution.to_float(ms.float16)
    network.fc.to_float(ms.float32)  # what lies between hands on the float16 that it gets
    return network


class Energy(nn.Cell):
    """The squares of all elements in float32, in units of 1024: what float16 cannot hold, too."""

    def construct(self, x):
        return x * x / 1024


class HandCastAttention(nn.Cell):
    """Self-attention with one head, N,L,C -> N,L,C, whose products are cast to float16 by hand.

    The softmax and what is returned are in float32, and so are the weights, C,C each.
    """

    def __init__(self, width: int):
        super().__init__()
        self.query = self.matrix(width)
        self.key = self.matrix(width)
        self.value = self.matrix(width)
        self.scale = width**-0.5

    def matrix(self, width: int) -> ms.Parameter:
        """A square weight."""
        return ms.Parameter(initializer("xavier_uniform", (width, width)))

    def product(self, a, b):
        """The product of matrices in float16."""
        return ops.matmul(ops.cast(a, ms.float16), ops.cast(b, ms.float16))

    def softmax(self, scores):
        """In float32."""
        return ops.softmax(ops.cast(scores, ms.float32), -1)

    def construct(self, x):
        query, key = self.product(x, self.query), self.product(x, self.key)
        scores = self.product(query * self.scale, key.swapaxes(1, 2))
        mixed_values = self.product(self.softmax(scores), self.product(x, self.value))
        return ops.cast(mixed_values, ms.float32)


def scaled_step(learning_rate: float, loss_weight: float, loss_scale: float) -> nn.Cell:
    """A step of dense layers in float16, 12 -> 10 -> 5, whose loss has a weight.

    With a weight that is small, gradients in float16 underflow unless the loss is scaled.
    """
    layers = nn.SequentialCell(nn.Dense(12, 10), nn.Tanh(), nn.Dense(10, 5))
    network = WithLoss(amp.auto_mixed_precision(layers, "O3"), WeightedLoss(loss_weight))
    optimizer = momentum(network, learning_rate / loss_weight, 0.9, 0.0)
    return TrainStep(network, optimizer, loss_scale=loss_scale)


class WeightedLoss(nn.Cell):
    """The cross entropy in float32, times a weight: logits N,C and labels N -> a scalar."""

    def __init__(self, weight: float):
        super().__init__()
        self.weight, self.entropy = weight, nn.CrossEntropyLoss()

    def construct(self, logits, labels):
        return self.entropy(logits, labels) * self.weight


def model_step(learning_rate: float, loss_scale: float) -> nn.Cell:
    """The step that `Model.train` takes with `amp_level="O2"` and a fixed loss scale."""
    network = SmallNetwork()
    manager = amp.FixedLossScaleManager(loss_scale, drop_overflow_update=False)
    model = ms.Model(
        network,
        nn.CrossEntropyLoss(),
        momentum(network, learning_rate, 0.9, 0.0, loss_scale=loss_scale),
        amp_level="O2",
        loss_scale_manager=manager,
    )
    return model.train_network
