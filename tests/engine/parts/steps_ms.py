"""Training steps in MindSpore, right and wrong; partners in `steps_pt.py`."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops


class Given(nn.Cell):
    def __init__(self):
        super().__init__()
        self.kernel = ms.Parameter(ops.zeros((3, 2, 3, 3), ms.float32), name="kernel")
        self.bias = ms.Parameter(ops.zeros((3,), ms.float32), name="bias")

    def construct(self, kernel, bias):
        return (self.kernel * kernel).sum() + (self.bias * bias).sum()


class Classifier(nn.Cell):
    def __init__(self, eps=1e-5):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, pad_mode="pad", padding=1)
        self.bn = nn.BatchNorm2d(6, eps=eps)
        self.silu = nn.SiLU()
        self.fc = nn.Dense(6, 5)
        self.loss = nn.CrossEntropyLoss()

    def construct(self, images, labels):
        features = self.silu(self.bn(self.conv(images))).mean((2, 3))
        return self.loss(self.fc(features), labels)


class Difference(nn.Cell):
    def __init__(self):
        super().__init__()
        self.kernel = ms.Parameter(ops.zeros((4, 16), ms.float32), name="kernel")

    def construct(self, plus, minus):
        return (self.kernel * plus).sum() - (self.kernel * minus).sum()


class Bent(nn.Cell):
    def __init__(self, factor=3.0):
        super().__init__()
        self.kernel = ms.Parameter(ops.zeros((4, 6), ms.float32), name="kernel")
        self.bias = ms.Parameter(ops.zeros((4,), ms.float32), name="bias")
        self.spare = ms.Parameter(ops.zeros((4,), ms.float32), name="spare")
        self.factor = factor

    def construct(self, x):
        bent = ops.tanh(self.factor * (ops.matmul(x, self.kernel.T) + self.bias))
        return ops.square(bent).mean()


def _trained(network, learning_rate=0.1, momentum=0.9, weight_decay=0.1, fall=0.8, scale=1.0):
    rates = [learning_rate * fall**step for step in range(20)]
    optimizer = nn.SGD(network.trainable_params(), rates, momentum, weight_decay=weight_decay)
    return nn.TrainOneStepCell(network, optimizer, scale)


def given_at_rates_of_a_loop(first=0.03):
    network = Given()
    rates = [first + 0.03 * step for step in range(20)]
    optimizer = nn.SGD(network.trainable_params(), rates, 0.9, weight_decay=0.1)
    return nn.TrainOneStepCell(network, optimizer)


def given_at_higher_rates():
    return given_at_rates_of_a_loop(first=0.031)


class OwnMomentum(nn.Momentum):
    """Adds the decay itself: its base class is told of none."""

    def __init__(self, parameters, rates, decay=0.1):
        super().__init__(parameters, rates, 0.9)
        self.own_decay = decay

    def construct(self, gradients):
        rate = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        for weight, moment, gradient in zip(self.parameters, self.moments, gradients, strict=True):
            moved = 0.9 * moment + gradient + self.own_decay * weight
            ops.assign(moment, moved)
            ops.assign(weight, weight - rate * moved)
        return True


def given_by_an_own_optimizer(decay=0.1):
    network = Given()
    rates = [0.1 * 0.8**step for step in range(20)]
    optimizer = OwnMomentum(network.trainable_params(), rates, decay)
    return nn.TrainOneStepCell(network, optimizer)


def given_by_an_own_optimizer_of_less_decay():
    return given_by_an_own_optimizer(0.09)


def given(**settings):
    return _trained(Given(), **settings)


def classifier(**settings):
    return _trained(Classifier(), **settings)


def classifier_of_another_epsilon(**settings):
    return _trained(Classifier(eps=1e-4), **settings)


def given_without_decay():
    return _trained(Given(), weight_decay=0.0)


def given_at_a_constant_rate():
    return _trained(Given(), fall=1.0)


def given_scaled():
    return _trained(Given(), scale=2.0)


def given_with_other_momentum():
    return _trained(Given(), momentum=0.8)


def given_untrained():
    return _trained(Given(), learning_rate=1e-30)


class Doubled(nn.Cell):
    """Returns twice the loss of the step within."""

    def __init__(self, step):
        super().__init__()
        self.step = step
        self.network = step.network

    def construct(self, *batch):
        return 2.0 * self.step(*batch)


def given_with_doubled_loss(**settings):
    return Doubled(_trained(Given(), **settings))


def not_a_step():
    return Given()


def given_without_bias():
    network = Given()
    optimizer = nn.SGD([network.kernel], 0.1, 0.9, weight_decay=0.1)
    return nn.TrainOneStepCell(network, optimizer)


class Changed(nn.Cell):
    """One update by plain gradient descent with `change` applied to every gradient."""

    def __init__(self, change, network=Given, weight_decay=0.1):
        super().__init__()
        self.network = network()
        self.optimizer = nn.SGD(self.network.trainable_params(), 0.1, weight_decay=weight_decay)
        self.gradients = ms.value_and_grad(self.network, None, self.optimizer.parameters)
        self.change = change

    def construct(self, *batch):
        loss, gradients = self.gradients(*batch)
        self.optimizer(tuple([self.change(gradient) for gradient in gradients]))
        return loss


def clipped(gradient):
    return gradient / ops.sqrt((gradient * gradient).sum())


def _used(network):
    return [network.kernel, network.bias]


class Bending(nn.Cell):
    """One update by plain gradient descent with the gradients as `change` gives them."""

    def __init__(self, change=tuple, used=_used, weight_decay=0.0, **network):
        super().__init__()
        self.network = Bent(**network)
        self.optimizer = nn.SGD(used(self.network), 0.1, weight_decay=weight_decay)
        self.gradients = ms.value_and_grad(self.network, None, self.optimizer.parameters)
        self.change = change

    def construct(self, *batch):
        loss, gradients = self.gradients(*batch)
        self.optimizer(self.change(gradients))
        return loss


def _short(gradients, norm):
    return tuple([g * ops.minimum(0.01 / (norm + 1e-6), ms.Tensor(1.0)) for g in gradients])


def _together(gradients):
    return _short(gradients, ops.sqrt(sum((g * g).sum() for g in gradients)))


def _each(gradients):
    return tuple([_short([g], ops.sqrt((g * g).sum()))[0] for g in gradients])


def bent_clipped():
    return Bending(_together)


def bent_clipped_each():
    return Bending(_each)


def _divided(gradients):
    return tuple([g / 1.5 for g in gradients])


def bent_divided():
    return Bending(_divided, weight_decay=0.1)


def bent():
    return Bending(weight_decay=0.1)


def bent_of_a_spare_weight_that_decays():
    return Bending(used=lambda network: network.trainable_params(), weight_decay=0.1)


def bent_more():
    return Bending(weight_decay=0.1, factor=3.01)


def given_clipped_each():
    return Changed(clipped)


def given_with_signs():
    return Changed(ops.sign)


def given_scaled_without_decay():
    return _trained(Given(), scale=2.0, weight_decay=0.0)


# The element at 1, 4 is within rounding of zero in the test, the one at 2, 5 is not.
_NEAR, _OTHER = np.ones((2, 4, 16), np.float32)
_NEAR[1, 4] = _OTHER[2, 5] = -1.0


def signs():
    return Changed(ops.sign, Difference, 0.0)


def signs_but_for_rounding():
    return Changed(lambda g: ops.sign(g) * ms.Tensor(_NEAR), Difference, 0.0)


def signs_but_for_one():
    return Changed(lambda g: ops.sign(g) * ms.Tensor(_OTHER), Difference, 0.0)


def signs_too_long():
    return Changed(lambda g: ops.sign(g) * (2.0 - ms.Tensor(_NEAR)), Difference, 0.0)


class Centred(nn.Cell):
    def __init__(self):
        super().__init__()
        self.bias = ms.Parameter(ops.zeros((4,), ms.float32), name="bias")

    def construct(self, plus, minus):
        first = (plus[0] - plus[0].mean()).sum() * self.bias[0]
        return first + (minus[1:].sum(1) * self.bias[1:]).sum()


def centred_but_for(*elements):
    """Signs, of which those of these elements are the other way round."""
    ways = np.ones(4, np.float32)
    ways[list(elements)] = -1.0
    return Changed(lambda g: ops.sign(g + 1e-30) * ms.Tensor(ways), Centred, 0.0)


def centred():
    return centred_but_for()


def centred_but_for_rounding():
    return centred_but_for(0)


def centred_but_for_one():
    return centred_but_for(1)


class Players(nn.Cell):
    def __init__(self):
        super().__init__()
        self.kernel = ms.Parameter(ops.zeros((4, 16), ms.float32), name="kernel")
        self.second = ms.Parameter(ops.zeros((4, 16), ms.float32), name="second")

    def judged(self, plus, minus):
        return (self.kernel * plus).sum() - (self.kernel * minus).sum()

    def construct(self, plus, minus):  # noqa: ARG002
        return (self.second * plus).sum() * (3.0 + 0.01 * self.kernel.sum())


class PlayersStep(nn.Cell):
    """An update of the first kernel by signs times `ways`, then one of the second."""

    def __init__(self, ways=1.0, factor=1.0):
        super().__init__(auto_prefix=False)
        network = self.network = Players()
        self.of_first = nn.SGD([network.kernel], 0.1)
        self.of_second = nn.SGD([network.second], 0.1 * factor)
        self.first = ms.value_and_grad(network.judged, None, self.of_first.parameters)
        self.second = ms.value_and_grad(network, None, self.of_second.parameters)
        self.ways = ms.Tensor(ways)

    def construct(self, plus, minus):
        loss, (gradient,) = self.first(plus, minus)
        loss = ops.depend(loss, self.of_first((ops.sign(gradient) * self.ways,)))
        _, gradients = self.second(ops.depend(plus, loss), minus)
        return ops.depend(loss, self.of_second(gradients))


def players():
    return PlayersStep()


def players_but_for_rounding():
    return PlayersStep(_NEAR)


def players_but_for_the_second():
    return PlayersStep(_NEAR, 1.05)
