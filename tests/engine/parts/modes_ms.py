"""Networks in MindSpore that hold a part in evaluation, or do not; partners in `modes_pt.py`."""

import mindspore as ms
from mindspore import nn, ops


def conv(inputs, outputs, size):
    padding = {"pad_mode": "pad", "padding": size // 2, "has_bias": True}
    return nn.Conv2d(inputs, outputs, size, **padding)


def block(**norm) -> nn.SequentialCell:
    layers = conv(3, 4, 3), nn.BatchNorm2d(4, **norm), nn.ReLU(), conv(4, 4, 1)
    return nn.SequentialCell(*layers, nn.BatchNorm2d(4, **norm))


class Free(nn.Cell):
    """Trains as a whole."""

    def __init__(self, held=False, **norm):
        super().__init__()
        self.backbone = block(**norm)
        self.head = nn.SequentialCell(conv(4, 4, 1), nn.BatchNorm2d(4))
        if held:
            for parameter in self.backbone.get_parameters():
                parameter.requires_grad = False

    def construct(self, x):
        return self.head(self.backbone(x))


class Held(Free):
    """Holds its backbone in evaluation by a `set_train` of its own."""

    def __init__(self, held=True):
        super().__init__(held)

    def set_train(self, mode=True):
        super().set_train(mode)
        self.backbone.set_train(False)
        return self


def held_by_norms():
    return Free(held=True, use_batch_statistics=False)


def trainable_held_by_norms():
    return Free(use_batch_statistics=False)


def forgotten():
    """The weights are frozen, and the statistics are not."""
    return Free(held=True)


class HeldWhenBuilt(Free):
    """What the constructor says of modes is undone by `set_train`."""

    def __init__(self):
        super().__init__()
        self.backbone.set_train(False)


class HeldWhenCalled(Free):
    def construct(self, x):
        self.backbone.set_train(False)
        x = self.backbone(x)
        self.backbone.set_train(self.training)
        return self.head(x)


def held_trainable():
    return Held(held=False)


class HeldInside(nn.Cell):
    """MindSpore asks no cell below the root, so that the root has to."""

    class Backbone(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = block()

        def construct(self, x):
            return self.layers(x)

        def set_train(self, mode=True):
            super().set_train(mode)
            for _, cell in self.cells_and_names():
                if isinstance(cell, nn.BatchNorm2d):
                    cell.set_train(False)
            return self

    def __init__(self):
        super().__init__()
        self.backbone = self.Backbone()
        self.head = nn.Dense(4, 3)

    def construct(self, x):
        return self.head(self.backbone(x).mean((2, 3)))


class HeldInsideAndAsked(HeldInside):
    def set_train(self, mode=True):
        super().set_train(mode)
        self.backbone.set_train(mode)
        return self


class Dropping(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.drop, self.second = nn.Dense(4, 4), nn.Dropout(p=0.5), nn.Dense(4, 3)

    def construct(self, x):
        return self.second(self.drop(self.first(x)))


class StillDropout(Dropping):
    def set_train(self, mode=True):
        super().set_train(mode)
        self.drop.set_train(False)
        return self


class Step(nn.Cell):
    def __init__(self, network):
        super().__init__(auto_prefix=False)
        self.network = network
        self.optimizer = nn.SGD(network.trainable_params(), 0.1)
        self.grad = ms.value_and_grad(self.loss, None, self.optimizer.parameters)

    def loss(self, x):
        return (self.network(x) ** 2).mean()

    def construct(self, x):
        loss, gradients = self.grad(x)
        return ops.depend(loss, self.optimizer(gradients))


class HeldByStep(Step):
    def set_train(self, mode=True):
        super().set_train(mode)
        self.network.backbone.set_train(False)
        return self


def held_step():
    return Step(Held())


def held_by_step():
    return HeldByStep(forgotten())


def forgotten_step():
    return Step(forgotten())


class Scaled(nn.Cell):
    def __init__(self, trained=False):
        super().__init__()
        self.w = ms.Parameter(ops.ones(4), requires_grad=trained)
        self.first = nn.Dense(4, 4)

    def construct(self, x):
        return self.first(x) * self.w


def scaled_and_trained():
    return Scaled(trained=True)
