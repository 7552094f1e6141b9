"""Optimisers and schedules with one mistake each.

Every candidate takes the arguments of the twin that it is put into. The right optimisers come
first, in parts of which a wrong one replaces one.
"""

import math

import mindspore as ms
from mindspore import nn, ops

from ms_models import schedules
from ms_models.given import GivenGradients
from ms_models.optim import CorrectedAdam, decay_groups, momentum, one_group
from ms_models.steps import TrainStep

LEARNING_RATE, MOMENTUM, DECAY = 0.1, 0.875, 0.1
"""What the builders of `ms_models.given` use where a twin says nothing."""


# Momentum.


class Spelled(nn.Optimizer):
    """Momentum in parts, decay by groups."""

    def __init__(self, groups, learning_rate, moment=MOMENTUM):
        super().__init__(learning_rate, groups)
        self.moment = moment
        self.velocities = self.parameters.clone(prefix="velocity", init="zeros")

    def penalised(self, gradients):
        return self.decay_weight(gradients)

    def rate(self):
        return self.get_lr()

    def velocity(self, rate, velocity, gradient):  # noqa: ARG002
        return self.moment * velocity + gradient

    def change(self, rate, velocity, parameter, decay):  # noqa: ARG002
        return rate * velocity

    def construct(self, gradients):
        gradients, rate = self.penalised(gradients), self.rate()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        return self.hyper_map(
            ops.partial(self.update, rate),
            self.parameters,
            self.velocities,
            gradients,
            self.weight_decay,
        )

    def update(self, rate, parameter, velocity, gradient, decay):
        fresh = self.velocity(rate, velocity, gradient)
        new = parameter - self.change(rate, fresh, parameter, decay)
        return ops.assign(velocity, fresh), ops.assign(parameter, new)


class DecoupledDecay(Spelled):
    def penalised(self, gradients):
        return gradients

    def change(self, rate, velocity, parameter, decay):
        return rate * velocity + rate * decay * parameter


class RateInVelocity(Spelled):
    """Velocities of the past keep the rate of their time."""

    def velocity(self, rate, velocity, gradient):
        return self.moment * velocity + rate * gradient

    def change(self, rate, velocity, parameter, decay):  # noqa: ARG002
        return velocity


class AveragedGradient(Spelled):
    """An exponential average, as in Adam."""

    def velocity(self, rate, velocity, gradient):  # noqa: ARG002
        return self.moment * velocity + (1.0 - self.moment) * gradient


class DampenedFromTheStart(Spelled):
    """PyTorch does not dampen the first gradient."""

    def velocity(self, rate, velocity, gradient):  # noqa: ARG002
        return self.moment * velocity + 0.5 * gradient


class OldVelocity(Spelled):
    """The weights move by the velocity of the step before."""

    def update(self, rate, parameter, velocity, gradient, decay):  # noqa: ARG002
        moved = ops.assign(parameter, parameter - rate * velocity)
        return moved, ops.assign(velocity, self.moment * velocity + gradient)


class HalfVelocity(Spelled):
    """The state of the optimiser is kept in half precision."""

    def velocity(self, rate, velocity, gradient):  # noqa: ARG002
        return (self.moment * velocity + gradient).astype(ms.float16).astype(ms.float32)


class HalfRate(Spelled):
    def rate(self):
        return self.get_lr().astype(ms.float16).astype(ms.float32)


class RateOfTheNextStep(Spelled):
    """The counter moves on before the rate is looked up."""

    def rate(self):
        return self.learning_rate(self.global_step + 1).reshape(())


class RateOfTheFirstStep(Spelled):
    """The schedule is asked once, when the optimiser is built."""

    def rate(self):
        return self.learning_rate(self.global_step * 0).reshape(())


def spelled(kind):
    """A builder like `given.momentum` and `given.sgd`, by `kind`."""

    def build(learning_rate, momentum, weight_decay, nesterov=False, dampening=None):  # noqa: ARG001
        network = GivenGradients()
        grouped = decay_groups if dampening is None else one_group
        optimizer = kind(grouped(network, weight_decay), learning_rate, momentum)
        return TrainStep(network, optimizer)

    return build


right_momentum = spelled(Spelled)
decoupled_decay = spelled(DecoupledDecay)
averaged_gradient = spelled(AveragedGradient)
old_velocity = spelled(OldVelocity)
half_velocity = spelled(HalfVelocity)
dampened_from_the_start = spelled(DampenedFromTheStart)


def grouped_by(groups, kind=TrainStep):
    """A builder like `given.momentum`, with the parameters in other groups or another step."""

    def build(learning_rate, momentum, weight_decay, nesterov=False):
        network = GivenGradients()
        chosen = groups(network, weight_decay)
        return kind(
            network,
            nn.Momentum(chosen, learning_rate, momentum, weight_decay, use_nesterov=nesterov),
        )

    return build


def _ungrouped(network, weight_decay):  # noqa: ARG001
    return network.trainable_params()


def _default_for_the_rest(network, weight_decay):
    """The second group names no decay of its own, and gets the optimiser's."""
    decayed, kept, order = decay_groups(network, weight_decay)
    return [decayed, {"params": kept["params"]}, order]


def _without_bias_of_the_head(network, weight_decay):
    decayed, kept, _ = decay_groups(network, weight_decay)
    kept["params"] = [p for p in kept["params"] if not p.name.endswith("fc.bias")]
    return [decayed, kept]


def _exchanged(network, weight_decay):
    decayed, kept, order = decay_groups(network, weight_decay)
    decayed["params"], kept["params"] = kept["params"], decayed["params"]
    return [decayed, kept, order]


def _head_at_a_tenth(network, weight_decay):
    """Left over from fine-tuning."""
    decayed, kept, order = decay_groups(network, weight_decay)
    head = [p for p in decayed["params"] if "fc" in p.name]
    decayed["params"] = [p for p in decayed["params"] if "fc" not in p.name]
    slow = {"params": head, "weight_decay": weight_decay, "lr": LEARNING_RATE / 10}
    return [decayed, slow, kept, order]


decay_everywhere = grouped_by(one_group)
decay_of_bias = grouped_by(_ungrouped)
decay_by_default = grouped_by(_default_for_the_rest)
bias_of_no_group = grouped_by(_without_bias_of_the_head)
groups_exchanged = grouped_by(_exchanged)
head_at_a_tenth = grouped_by(_head_at_a_tenth)


class GradientsByName(TrainStep):
    """Gradients in another order than the optimiser's parameters, where shapes allow it."""

    def construct(self, *batch):
        (_, loss), gradients = self.gradients(self.loss_scale, *batch)
        conv, gamma, beta, weight, bias = gradients
        return ops.depend(loss, self.optimizer((conv, beta, gamma, weight, bias)))


gradients_by_name = grouped_by(decay_groups, GradientsByName)


# Adam.


class Adam(CorrectedAdam):
    """Adam in parts, eps where PyTorch has it."""

    first_step = 1

    def correction(self, beta, step):
        return -ops.expm1((step + (self.first_step - 1)) * math.log(beta))

    def root(self, v, correction):
        return ops.sqrt(v / correction) + self.eps

    def penalised(self, gradients):
        return self.decay_weight(gradients)

    def decoupled(self, rate, decay, parameter):  # noqa: ARG002
        return 0.0 * parameter

    def construct(self, gradients):
        gradients, rate = self.penalised(gradients), self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        step = self.global_step.astype(ms.float32)
        first, second = self.correction(self.beta1, step), self.correction(self.beta2, step)
        return self.hyper_map(
            ops.partial(self.spelled_update, rate, first, second),
            self.parameters,
            self.moment1,
            self.moment2,
            gradients,
            self.weight_decay,
        )

    def spelled_update(self, rate, first, second, p, moment1, moment2, gradient, decay):
        m = self.beta1 * moment1 + (1.0 - self.beta1) * gradient
        v = self.beta2 * moment2 + (1.0 - self.beta2) * gradient * gradient
        new = p - rate * m / first / self.root(v, second) - self.decoupled(rate, decay, p)
        return ops.assign(moment1, m), ops.assign(moment2, v), ops.assign(p, new)


class Uncorrected(Adam):
    def correction(self, beta, step):  # noqa: ARG002
        return ops.ones_like(step)


class CountedFromTwo(Adam):
    """The step is counted before and after."""

    first_step = 2


class EpsilonInTheRoot(Adam):
    def root(self, v, correction):
        return ops.sqrt(v / correction + self.eps)


class SecondMomentUncorrected(Adam):
    def root(self, v, correction):  # noqa: ARG002
        return ops.sqrt(v) + self.eps


class DecoupledAdam(Adam):
    """AdamW."""

    def penalised(self, gradients):
        return gradients

    def decoupled(self, rate, decay, parameter):
        return rate * decay * parameter


class DecayWithoutRate(DecoupledAdam):
    """The decay is as large whatever the learning rate, as the paper has it."""

    def decoupled(self, rate, decay, parameter):  # noqa: ARG002
        return decay * parameter


def spelled_adam(kind, grouped=one_group):
    """A builder like `given.adam` or, by groups, `given.adamw`."""

    def build(learning_rate, betas, eps, weight_decay, amsgrad=False):  # noqa: ARG001
        network = GivenGradients()
        optimizer = kind(grouped(network, weight_decay), learning_rate, *betas, eps)
        return TrainStep(network, optimizer)

    return build


right_adam = spelled_adam(Adam)
right_adamw = spelled_adam(DecoupledAdam, decay_groups)
uncorrected = spelled_adam(Uncorrected)
counted_from_two = spelled_adam(CountedFromTwo)
epsilon_in_the_root = spelled_adam(EpsilonInTheRoot)
second_moment_uncorrected = spelled_adam(SecondMomentUncorrected)
decoupled_adam = spelled_adam(DecoupledAdam)
coupled_adamw = spelled_adam(Adam, decay_groups)
decay_without_rate = spelled_adam(DecayWithoutRate, decay_groups)
adamw_decays_everything = spelled_adam(DecoupledAdam)


# Schedules.


def scheduled(rates, kind=None):
    """A builder like `given.scheduled` with "warmup_cosine", by other rates or another kind."""

    def build(learning_rate, schedule, warmup_steps, total_steps):
        assert schedule == "warmup_cosine"
        network = GivenGradients()
        told = rates(learning_rate, warmup_steps, total_steps)
        if kind is None:
            return TrainStep(network, momentum(network, told, MOMENTUM, DECAY))
        return TrainStep(network, kind(decay_groups(network, DECAY), told))

    return build


def _one_step_late(learning_rate, warmup_steps, total_steps):
    right = schedules.warmup_cosine(learning_rate, warmup_steps, total_steps)
    return right[:1] + right[:-1]


def _by_epoch(learning_rate, warmup_steps, total_steps):
    """Two steps to an epoch, whose rate is that of its first step."""
    right = schedules.warmup_cosine(learning_rate, warmup_steps, total_steps)
    return [right[step // 2 * 2] for step in range(total_steps)]


def _without_warmup(learning_rate, warmup_steps, total_steps):
    return [learning_rate] * warmup_steps + schedules.cosine(
        learning_rate, total_steps - warmup_steps
    )


def _warmup_over_the_cosine(learning_rate, warmup_steps, total_steps):
    """The cosine began with the run, not with the end of the warm-up."""
    right = schedules.warmup_cosine(learning_rate, warmup_steps, total_steps)
    return right[:warmup_steps] + schedules.cosine(learning_rate, total_steps)[warmup_steps:]


def _to_the_last_step(learning_rate, warmup_steps, total_steps):
    """The last step of the run, rather than the one after it, is to have the end's rate."""
    right = schedules.warmup_cosine(learning_rate, warmup_steps, total_steps - 1)
    return [*right, 0.0]


right_schedule = scheduled(schedules.warmup_cosine, Spelled)
one_step_late = scheduled(_one_step_late)
by_epoch = scheduled(_by_epoch)
without_warmup = scheduled(_without_warmup)
cosine_from_the_start = scheduled(_warmup_over_the_cosine)
cosine_to_the_last_step = scheduled(_to_the_last_step)
rate_in_velocity = scheduled(schedules.warmup_cosine, RateInVelocity)
rate_of_the_next_step = scheduled(schedules.warmup_cosine, RateOfTheNextStep)
rate_of_the_first_step = scheduled(schedules.warmup_cosine, RateOfTheFirstStep)
rate_in_half = scheduled(schedules.warmup_cosine, HalfRate)
