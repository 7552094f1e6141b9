"""Networks whose rounding is hard to know beforehand; partners in `rounded_pt.py`."""

import math

import mindspore as ms
import numpy as np
from mindspore import nn, ops


class Block(nn.Cell):
    def __init__(self, planes, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(planes, out, 3, stride, "pad", 1)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, "pad", 1)
        self.bn2 = nn.BatchNorm2d(out)
        self.shorter = nn.Conv2d(planes, out, 1, stride, "valid")

    def construct(self, x):
        y = self.bn2(self.conv2(ops.relu(self.bn1(self.conv1(x)))))
        return ops.relu(y + self.shorter(x))


class Residual(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1, has_bias=True)
        self.block1 = Block(8, 8, 1)
        self.block2 = Block(8, 16, 2)
        self.head = nn.Dense(16, 5)

    def construct(self, x):
        return self.head(self.block2(self.block1(ops.relu(self.stem(x)))).mean((2, 3)))


class Autocast(nn.Cell):
    def __init__(self, factor=1.0):
        super().__init__()
        self.net = ms.amp.auto_mixed_precision(Residual(), "auto", ms.float16)
        self.factor = factor

    def construct(self, x):
        return self.net(x).float() * self.factor


class InFull(nn.Cell):
    """Computes in more bits than the original."""

    def __init__(self):
        super().__init__()
        self.net = Residual()

    def construct(self, x):
        return self.net(x)


class Lossy(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.network, self.loss = network, nn.CrossEntropyLoss()

    def construct(self, x, labels):
        return self.loss(self.network(x), labels)


def residual_by_sgd(momentum=0.9):
    network = Residual()
    optimizer = nn.SGD(network.trainable_params(), 0.02, momentum)
    return nn.TrainOneStepCell(Lossy(network), optimizer)


def residual_by_adamw(rate=1e-3):
    network = Residual()
    optimizer = ms.mint.optim.AdamW(network.trainable_params(), rate, weight_decay=0.0)
    return Step(Lossy(network), optimizer)


class Step(nn.Cell):
    """One step of an optimiser of `mint`."""

    def __init__(self, network, optimizer):
        super().__init__()
        self.network, self.optimizer = network, optimizer
        self.backward = ms.value_and_grad(network, None, optimizer.parameters)

    def construct(self, *batch):
        loss, gradients = self.backward(*batch)
        self.optimizer(gradients)
        return loss


class Attention(nn.Cell):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Dense(8, 24)
        self.out = nn.Dense(8, 8)

    def construct(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        weights = ops.softmax(ops.matmul(q, k.swapaxes(-2, -1)) / math.sqrt(8.0), -1)
        return self.out(ops.matmul(weights, v).mean(1))


def attention_by_adamw(eps=1e-8):
    network = Attention()
    optimizer = ms.mint.optim.AdamW(network.trainable_params(), 1e-2, weight_decay=0.0, eps=eps)
    return Step(Lossy(network), optimizer)


class Tempered(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(8, 8)
        self.temperature = ms.Parameter(ms.Tensor(1.0, ms.float32), name="temperature")

    def construct(self, x):
        return self.layer(x) * self.temperature


def tempered_by_adamw(rate=1e-2):
    network = Tempered()
    optimizer = ms.mint.optim.AdamW(network.trainable_params(), rate, weight_decay=0.0)
    return Step(Lossy(network), optimizer)


class Sampled(nn.Cell):
    def __init__(self, rate=0.1):
        super().__init__()
        self.layer, self.rate = nn.Dense(8, 8), rate

    def construct(self, x):
        for _ in range(3):
            x = x - self.rate * ops.tanh(self.layer(x))
        return x


class Deaf(Sampled):
    def construct(self, x):
        return ops.stop_gradient(super().construct(x))


class Physics(nn.Cell):
    def __init__(self, viscosity=0.5):
        super().__init__()
        self.first, self.second = nn.Dense(2, 8), nn.Dense(8, 1)
        self.viscosity = viscosity
        self.slope = ms.grad(lambda x: self.function(x).sum())

    def function(self, x):
        return self.second(ops.relu(self.first(x)) ** 2)

    def construct(self, x):
        slope = self.slope(x)
        return slope[:, :1] + self.viscosity * slope[:, 1:] - self.function(x)


class Vocabulary(nn.Cell):
    def __init__(self, classes=20_000, smoothing=0.0):
        super().__init__()
        self.head = nn.Dense(16, classes)
        self.loss = nn.CrossEntropyLoss(label_smoothing=smoothing)

    def construct(self, x, labels):
        return self.loss(self.head(x), labels)


class LogProbabilities(nn.Cell):
    def __init__(self, classes=20_000, half=False):
        super().__init__()
        self.head, self.half = nn.Dense(16, classes), half

    def construct(self, x):
        result = ops.log_softmax(self.head(x), -1)
        return result.half().float() if self.half else result


class Hinge(nn.Cell):
    def __init__(self, margin=1.0):
        super().__init__()
        self.critic, self.margin = nn.Dense(6, 1), margin

    def construct(self, real, fake):
        low = ops.relu(self.margin - self.critic(real)).mean()
        return low + ops.relu(self.margin + self.critic(fake)).mean()


class Rotary(nn.Cell):
    def __init__(self, base=10_000.0):
        super().__init__()
        self.base = base

    def construct(self, x):
        rates = ops.pow(ms.Tensor(self.base, ms.float32), -ops.arange(0, 8, 2).float() / 8.0)
        angles = ops.arange(x.shape[1]).float().expand_dims(1) * rates
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        left, right = x.chunk(2, -1)
        return ops.cat([left * cos - right * sin, left * sin + right * cos], -1)


class Pooled(nn.Cell):
    """Its partner. scale: of the result."""

    def __init__(self, scale=4.0):
        super().__init__()
        self.score, self.fc, self.scale = nn.Dense(8, 1), nn.Dense(8, 8), scale

    def construct(self, x, mask):
        lowest = float(np.finfo(np.float32).min)
        weights = ops.softmax(self.score(x).squeeze(-1) + (1.0 - mask) * lowest, -1)
        pooled = (weights.expand_dims(-1) * x).sum(1)
        return self.scale * self.fc(x + pooled.expand_dims(1))


def pooled_and_scaled():
    return Pooled(4.04)


class Masked(nn.Cell):
    def __init__(self, error=0.0):
        super().__init__()
        self.scale = ms.Parameter(ms.Tensor(1.0, ms.float32), name="scale")
        self.error = error

    def construct(self, x):
        hidden = ops.arange(x.shape[-1]) == x.shape[-1] - 1
        low = float(np.finfo(np.float32).min)
        return (x * self.scale + self.error).masked_fill(hidden, low)


# With one mistake each.


def residual_with_less_momentum():
    return residual_by_sgd(momentum=0.8)


def residual_at_another_rate():
    return residual_by_adamw(rate=1.1e-3)


def autocast_scaled():
    return Autocast(1.2)


def attention_of_another_epsilon():
    return attention_by_adamw(eps=1e-3)


def tempered_at_another_rate():
    return tempered_by_adamw(1.01e-2)


def sampled_at_another_rate():
    return Sampled(0.101)


def physics_of_another_viscosity():
    return Physics(0.501)


def vocabulary_smoothed():
    return Vocabulary(smoothing=1e-4)


def log_probabilities_in_half():
    return LogProbabilities(half=True)


def hinge_of_another_margin():
    return Hinge(1.0001)


def rotary_of_another_base():
    return Rotary(9_000.0)


def masked_and_shifted():
    return Masked(1e-4)


class Spectrum(nn.Cell):
    """A real Fourier transform as products with tables."""

    def __init__(self, offset=0.0):
        super().__init__()
        self.linear = nn.Dense(16, 16)
        angles = 2.0 * np.pi * np.arange(16)[:, None] * np.arange(9) / 16
        self.cosines = ms.Tensor(np.cos(angles), ms.float32)
        self.sines = ms.Tensor(-np.sin(angles), ms.float32)
        self.offset = offset

    def construct(self, x):
        x = self.linear(x)
        return ops.matmul(x, self.cosines), ops.matmul(x, self.sines) + self.offset


def spectrum_with_an_offset():
    return Spectrum(offset=1e-4)
