"""Ports of a step of Adam: right ones, and some whose mistake Adam hides."""

import mindspore as ms
from mindspore import nn, ops
from mindspore.experimental import optim

SCALE, LIMIT, DECAY, BETAS = 1024.0, 4.0, 1e-6, (0.875, 0.96875)


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Dense(6, 5), nn.Dense(5, 3)

    def construct(self, x, y):
        return 100.0 * ops.square(self.two(ops.tanh(self.one(x))) - y).mean()


class Step(nn.Cell):
    scale = SCALE

    def __init__(self):
        super().__init__()
        self.network = Network()
        self.optimizer = self.optimised(self.network.trainable_params())
        self.gradients = ms.value_and_grad(self.scaled, None, self.optimizer.parameters, True)

    def optimised(self, weights):
        return nn.Adam(weights, 1e-2, *BETAS, weight_decay=DECAY)

    def scaled(self, x, y):
        loss = self.network(x, y)
        return self.scale * loss, loss

    def construct(self, x, y):
        (_, loss), gradients = self.gradients(x, y)
        return ops.depend(loss, self.optimizer(self.prepared(gradients)))

    def prepared(self, gradients):
        return self.clipped(self.divided(gradients))

    def divided(self, gradients):
        return [each / self.scale for each in gradients]

    def clipped(self, gradients):
        norm = ops.sqrt(sum(ops.square(each).sum() for each in gradients))
        factor = ops.minimum(LIMIT / (norm + 1e-6), ms.Tensor(1.0))
        return tuple(factor * each for each in gradients)


class NotDivided(Step):
    def prepared(self, gradients):
        return tuple(self.scale * each for each in super().prepared(gradients))


class DividedTwice(Step):
    def prepared(self, gradients):
        return tuple(self.divided(super().prepared(gradients)))


class NotClipped(Step):
    def clipped(self, gradients):
        return tuple(gradients)


class ClippedWhileScaled(Step):
    def prepared(self, gradients):
        return tuple(self.divided(self.clipped(gradients)))


class EachClipped(Step):
    def clipped(self, gradients):
        return tuple(ops.clip_by_norm(each, LIMIT) for each in gradients)


class LimitDoubled(Step):
    def clipped(self, gradients):
        return tuple(2.0 * each for each in super().clipped(gradients))


class DecayedTwice(Step):
    """Adds the decay that the optimiser adds, too."""

    def prepared(self, gradients):
        found = super().prepared(gradients)
        pairs = zip(found, self.optimizer.parameters, strict=True)
        return tuple(each + 100.0 * DECAY * weight for each, weight in pairs)


class OfTheSum(Step):
    """Multiplies by the number of samples behind the clip."""

    def prepared(self, gradients):
        return tuple(4.0 * each for each in super().prepared(gradients))


class Experimental(Step):
    def optimised(self, weights):
        return optim.Adam(weights, lr=1e-2, betas=BETAS, weight_decay=DECAY)


class DividedByTheOptimiser(Step):
    """Hands scaled gradients to an optimiser that divides them."""

    def optimised(self, weights):
        return nn.Adam(weights, 1e-2, *BETAS, weight_decay=DECAY, loss_scale=SCALE)

    def prepared(self, gradients):
        return tuple(self.scale * each for each in super().prepared(gradients))


class _Clipping(nn.Adam):
    """Clips what it gets."""

    def construct(self, gradients):
        norm = ops.sqrt(sum(ops.square(each).sum() for each in gradients))
        factor = ops.minimum(LIMIT / (norm + 1e-6), ms.Tensor(1.0))
        return super().construct(tuple(factor * each for each in gradients))


class ClippedByTheOptimiser(NotClipped):
    def optimised(self, weights):
        return _Clipping(weights, 1e-2, *BETAS, weight_decay=DECAY)
