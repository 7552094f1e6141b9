"""The ports of `curves_torch.py`'s trainings, right and with one mistake each."""

from collections.abc import Iterator

import mindspore as ms
import numpy as np
from mindspore import nn, ops

CLASSES, SIDE, SAMPLES, BATCH = 8, 12, 256, 16
MEAN = np.array([0.5, 0.3, -0.4], np.float32).reshape(3, 1, 1)

MISTAKES = (
    *("rate late by a step", "decay on norms", "label smoothing lost", "other shuffle"),
    *("momentum lost", "EMA decay", "BN momentum", "flip lost", "mean in BGR", "scaled loss"),
)


class Mlp(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.norm = nn.Dense(3 * SIDE * SIDE, 32), nn.LayerNorm((32,), epsilon=1e-5)
        self.b, self.c = nn.Dense(32, 32), nn.Dense(32, CLASSES)

    def construct(self, x):
        x = ops.relu(1 + self.norm(self.a(x.flatten(start_dim=1))))
        return self.c(ops.relu(self.b(x)))


class Cnn(nn.Cell):
    def __init__(self, momentum=0.9):
        super().__init__()
        conv = {"pad_mode": "pad", "padding": 1, "has_bias": False}
        self.a, self.norm_a = nn.Conv2d(3, 8, 3, **conv), nn.BatchNorm2d(8, momentum=momentum)
        self.b, self.norm_b = nn.Conv2d(8, 16, 3, 2, **conv), nn.BatchNorm2d(16, momentum=momentum)
        self.c = nn.Dense(16, CLASSES)

    def construct(self, x):
        x = ops.relu(0.5 + self.norm_a(self.a(x)))
        x = ops.relu(0.5 + self.norm_b(self.b(x)))
        return self.c(x.mean((2, 3)))


class Transformer(nn.Cell):
    def __init__(self, width=24, heads=2):
        super().__init__()
        self.heads = heads
        self.patch = nn.Dense(3 * 16, width)
        self.norm_a = nn.LayerNorm((width,), epsilon=1e-5)
        self.qkv = nn.Dense(width, 3 * width)
        self.out, self.norm_b = nn.Dense(width, width), nn.LayerNorm((width,), epsilon=1e-5)
        self.up, self.down = nn.Dense(width, 2 * width), nn.Dense(2 * width, width)
        self.head = nn.Dense(width, CLASSES)

    def construct(self, x):
        n = x.shape[0]
        x = x.reshape(n, 3, 3, 4, 3, 4).permute(0, 2, 4, 1, 3, 5).reshape(n, 9, 48)
        x = self.patch(x)
        qkv = self.qkv(1 + self.norm_a(x)).reshape(n, 9, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        weights = ops.softmax(ops.matmul(q, k.swapaxes(-1, -2)) / q.shape[-1] ** 0.5, -1)
        x = x + self.out(ops.matmul(weights, v).swapaxes(1, 2).reshape(n, 9, -1))
        x = x + self.down(ops.relu(self.up(1 + self.norm_b(x))))
        return self.head(x.mean(1))


NETWORKS = {"mlp": Mlp, "cnn": Cnn, "transformer": Transformer}


class AdamW(nn.Cell):
    """Decoupled weight decay with a correction of both moments; it is given both corrections."""

    def __init__(self, parameters, decays):
        super().__init__()
        self.weights, self.decays = ms.ParameterTuple(parameters), decays
        self.first = self.weights.clone("first", "zeros")
        self.second = self.weights.clone("second", "zeros")

    def construct(self, gradients, rate, corrected, root):
        for i in range(len(self.decays)):
            weight, gradient = self.weights[i], gradients[i]
            first = 0.9 * self.first[i] + 0.1 * gradient
            second = 0.999 * self.second[i] + 0.001 * gradient * gradient
            ops.assign(self.first[i], first)
            ops.assign(self.second[i], second)
            moved = weight * (1 - rate * self.decays[i])
            step = first / (ops.sqrt(second) / root + 1e-8)
            ops.assign(weight, moved - (rate / corrected) * step)
        return rate


class Sgd(nn.Cell):
    """With momentum, and decay within the gradient."""

    def __init__(self, parameters, decays, momentum):
        super().__init__()
        self.weights, self.decays, self.momentum = ms.ParameterTuple(parameters), decays, momentum
        self.velocity = self.weights.clone("velocity", "zeros")

    def construct(self, gradients, rate, corrected, root):
        for i in range(len(self.decays)):
            weight = self.weights[i]
            gradient = gradients[i] + self.decays[i] * weight
            velocity = self.momentum * self.velocity[i] + gradient
            ops.assign(self.velocity[i], velocity)
            ops.assign(weight, weight - rate * velocity)
        return corrected * root


def train(
    common,
    network: str,
    optimizer: str,
    schedule: str,
    base: float,
    steps: int = 300,
    seed: int = 0,
    mistake: str = "",
) -> Iterator[dict[str, float]]:
    """The training of the same name in `curves_torch`, with a mistake or without.

    common: has data, batches, rates and initial, which are NumPy's alone.
    mistake: "", or one of MISTAKES.
    """
    ms.set_context(mode=ms.PYNATIVE_MODE)  # of the loop; a step is compiled
    given = {"momentum": 0.1} if mistake == "BN momentum" else {}
    net = NETWORKS[network](**given)
    parameters = net.trainable_params()
    shapes = [tuple(p.shape) for p in parameters]
    for parameter, values in zip(parameters, common.initial(shapes, seed), strict=True):
        parameter.set_data(ms.Tensor(values))
    on_all = mistake == "decay on norms"
    decays = [0.02 if p.ndim > 1 or on_all else 0.0 for p in parameters]
    if optimizer == "adamw":
        stepping = AdamW(parameters, decays)
    else:
        momentum = 0.9 if optimizer == "momentum" and mistake != "momentum lost" else 0.0
        stepping = Sgd(parameters, decays, momentum)
    by_rate = common.rates(schedule, steps, base)
    mean = MEAN[::-1] if mistake == "mean in BGR" else MEAN
    smoothing = 0.0 if mistake == "label smoothing lost" else 0.1
    factor = 0.5 if mistake == "scaled loss" else 1.0
    kept_share = 0.99 if mistake == "EMA decay" else 0.9

    def forward(x, y):
        return factor * ops.cross_entropy(net(x), y, label_smoothing=smoothing)

    differentiated = ms.value_and_grad(forward, None, ms.ParameterTuple(parameters))

    @ms.jit
    def update(x, y, rate, corrected, root):
        loss, gradients = differentiated(x, y)
        return loss, stepping(gradients, rate, corrected, root)

    @ms.jit
    def evaluated(x, y):
        return ops.cross_entropy(net(x), y)

    def evaluate():
        net.set_train(False)
        loss = float(evaluated(whole, labels).asnumpy())
        net.set_train(True)
        return loss

    average = [p.asnumpy().copy() for p in parameters]
    whole, labels = common.data()
    whole, labels = ms.Tensor(whole[:64] - MEAN), ms.Tensor(labels[:64])
    drawn = common.batches(seed + 1 if mistake == "other shuffle" else seed, steps)
    net.set_train(True)
    for step, (x, y, flipped) in enumerate(drawn):
        x = x - mean
        if mistake != "flip lost":
            x = np.where(flipped[:, None, None, None], x[..., ::-1], x)
        rate = by_rate[max(step - (mistake == "rate late by a step"), 0)]
        corrected, root = 1 - 0.9 ** (step + 1), (1 - 0.999 ** (step + 1)) ** 0.5
        scalars = [ms.Tensor(each, ms.float32) for each in (rate, corrected, root)]
        loss, _ = update(ms.Tensor(np.ascontiguousarray(x)), ms.Tensor(y), *scalars)
        told = {"loss": float(loss.asnumpy())}
        now = [p.asnumpy().copy() for p in parameters]
        share = np.float32(kept_share)
        average = [share * a + (1 - share) * b for a, b in zip(average, now, strict=True)]
        if step % 10 == 9:
            told["eval_loss"] = evaluate()
            for parameter, values in zip(parameters, average, strict=True):
                ops.assign(parameter, ms.Tensor(values))  # a compiled step has its storage
            told["ema_loss"] = evaluate()
            for parameter, values in zip(parameters, now, strict=True):
                ops.assign(parameter, ms.Tensor(values))
        yield told
