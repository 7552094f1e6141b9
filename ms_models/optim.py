"""Optimisers of a network's parameters, weight decay on kernels and matrices alone.

The scales, shifts and biases of a network (gamma, beta, bias) are never decayed where a function
speaks of groups. All take the network rather than its parameters, since the groups are its own.
Groups are also the way to decay everything: without them `mindspore.nn` leaves gamma and beta out.
"""

import math
from collections.abc import Iterable

import mindspore as ms
from mindspore import nn, ops
from mindspore.experimental import optim as experimental
from mindspore.nn.learning_rate_schedule import LearningRateSchedule

LearningRate = float | Iterable | LearningRateSchedule

UNDECAYED = ("gamma", "beta", "bias")


def decay_groups(network: nn.Cell, weight_decay: float) -> list[dict]:
    """Two parameter groups by `UNDECAYED` names, in the order of the network's parameters."""
    trained = network.trainable_params()
    kept = [p for p in trained if p.name.rpartition(".")[2] in UNDECAYED]
    undecayed = {id(parameter) for parameter in kept}
    return [
        {"params": [p for p in trained if id(p) not in undecayed], "weight_decay": weight_decay},
        {"params": kept, "weight_decay": 0.0},
        {"order_params": trained},
    ]


def one_group(network: nn.Cell, weight_decay: float) -> list[dict]:
    """A single group: every parameter decays, gamma and beta, too."""
    return [{"params": network.trainable_params(), "weight_decay": weight_decay}]


def momentum(
    network: nn.Cell,
    learning_rate: LearningRate,
    momentum: float,
    weight_decay: float,
    nesterov: bool = False,
    loss_scale: float = 1.0,
) -> nn.Optimizer:
    """`nn.Momentum`, decay by groups; it divides gradients by `loss_scale`."""
    groups = decay_groups(network, weight_decay)
    return nn.Momentum(
        groups, learning_rate, momentum, loss_scale=loss_scale, use_nesterov=nesterov
    )


def nesterov_momentum(
    network: nn.Cell,
    learning_rate: LearningRate,
    momentum: float,
    weight_decay: float,
    nesterov: bool = True,
) -> nn.Optimizer:
    """`nn.SGD`, decay by groups. On CPU `nn.Momentum` computes no Nesterov momentum."""
    groups = decay_groups(network, weight_decay)
    return nn.SGD(groups, learning_rate, momentum, nesterov=nesterov)


def sgd(
    network: nn.Cell,
    learning_rate: LearningRate,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
) -> nn.Optimizer:
    """`nn.SGD`, decay on every parameter."""
    groups = one_group(network, weight_decay)
    return nn.SGD(groups, learning_rate, momentum, dampening, nesterov=nesterov)


def adam(
    network: nn.Cell,
    learning_rate: LearningRate,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    amsgrad: bool = False,
) -> nn.Optimizer:
    """`nn.Adam`, with the L2 penalty of every parameter in its gradient.

    Its eps is added before the bias correction: right as long as eps is far below the root of the
    second moment.
    """
    groups = one_group(network, weight_decay)
    return nn.Adam(groups, learning_rate, *betas, eps, use_amsgrad=amsgrad)


def ungrouped_adam(network: nn.Cell, learning_rate: float, weight_decay: float) -> nn.Optimizer:
    """The mistake: `nn.Adam` as the guides call it, which decays neither gamma nor beta."""
    return nn.Adam(network.trainable_params(), learning_rate, weight_decay=weight_decay)


def bert_adam(
    network: nn.Cell,
    learning_rate: LearningRate,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-6,
    weight_decay: float = 0.0,
) -> nn.Optimizer:
    """`nn.AdamWeightDecay`, decay by groups: decoupled, and without bias correction."""
    return nn.AdamWeightDecay(decay_groups(network, weight_decay), learning_rate, *betas, eps)


def adamw(
    network: nn.Cell,
    learning_rate: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    amsgrad: bool = False,
) -> nn.Cell:
    """`mindspore.experimental.optim.AdamW`, decay by groups.

    It wants gradients in the order of its own parameters: the groups', not the network's.
    """
    groups = decay_groups(network, weight_decay)[:2]
    return experimental.AdamW(groups, learning_rate, betas, eps, amsgrad=amsgrad)


class CorrectedAdam(nn.Optimizer):
    """Adam as its paper has it, eps beside the corrected second moment, as in PyTorch.

    w -= learning_rate * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)
    """

    def __init__(
        self,
        params: list,
        learning_rate: LearningRate,
        beta1: float,
        beta2: float,
        eps: float,
    ):
        super().__init__(learning_rate, params)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moment1 = self.parameters.clone(prefix="moment1", init="zeros")
        self.moment2 = self.parameters.clone(prefix="moment2", init="zeros")

    def construct(self, gradients):
        gradients = self.decay_weight(gradients)
        rate = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        step = self.global_step.astype(ms.float32)
        # 1 - beta^t by way of expm1: subtracted from one, a beta near one would lose its digits.
        rate = rate / -ops.expm1(step * math.log(self.beta1))
        correction = ops.sqrt(-ops.expm1(step * math.log(self.beta2)))
        update = ops.partial(self.update, rate, correction)
        return self.hyper_map(update, self.parameters, self.moment1, self.moment2, gradients)

    def update(self, rate, correction, parameter, moment1, moment2, gradient):
        """One update of one parameter, and of its moments."""
        m = self.beta1 * moment1 + (1.0 - self.beta1) * gradient
        v = self.beta2 * moment2 + (1.0 - self.beta2) * gradient * gradient
        new = parameter - rate * m / (ops.sqrt(v) / correction + self.eps)
        return ops.assign(moment1, m), ops.assign(moment2, v), ops.assign(parameter, new)


def corrected_adam(
    network: nn.Cell,
    learning_rate: LearningRate,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> nn.Optimizer:
    """`CorrectedAdam`, with the L2 penalty of every parameter in its gradient."""
    return CorrectedAdam(one_group(network, weight_decay), learning_rate, *betas, eps)
