"""Networks that meet silent faults of MindSpore, right and wrong; partners in `faulty_pt.py`."""

import mindspore as ms
from mindspore import nn, ops


class Shifted(nn.Cell):
    def __init__(self, filled=0.5, factor=1.0):
        super().__init__()
        self.far, self.filled, self.factor = nn.Dense(6, 5), filled, factor

    def construct(self, x):
        scores = self.factor * self.far(x)
        b, rows, columns = scores.shape
        wide = ops.pad(scores, (1, 0), value=self.filled)
        return wide.view(b, columns + 1, rows)[:, 1:].reshape(b, rows, columns)


class Scaled(nn.Cell):
    def __init__(self, cut=False):
        super().__init__()
        self.one, self.two, self.cut = nn.Dense(6, 5), nn.Dense(5, 4), cut

    def construct(self, x):
        y = ops.selu(self.one(x))
        if self.cut:
            y = ops.stop_gradient(y)
        return self.two(y)


class Both(nn.Cell):
    def __init__(self):
        super().__init__()
        self.shifted, self.act = Shifted(), nn.SeLU()

    def construct(self, x):
        return self.act(self.shifted(x))


class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.shifted = Shifted()

    def construct(self, x):
        return ops.square(self.shifted(x)).mean()


class Step(nn.Cell):
    def __init__(self, factor=1.0):
        super().__init__(auto_prefix=False)
        self.network, self.factor = Loss(), factor
        self.optimizer = nn.SGD(self.network.trainable_params(), 0.1)
        self.gradients = ms.value_and_grad(self.network, None, self.optimizer.parameters)

    def construct(self, x):
        loss, (weight, bias) = self.gradients(x)
        self.optimizer((self.factor * weight, self.factor * bias))
        return loss


def shifted_filled_otherwise():
    return Shifted(filled=0.25)


def shifted_twice_as_large():
    return Shifted(factor=2.0)


def scaled_without_gradient():
    return Scaled(cut=True)


def step_twice_as_long():
    return Step(factor=2.0)
