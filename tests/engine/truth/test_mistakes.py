"""A training of the reference makes a mistake as a candidate does, and is itself again after it."""

import numpy as np
import pytest
import torch
from torch import nn, optim

from equivalence.truth.mistakes import usual
from equivalence.truth.updates import AroundUpdates, Changed, known_factors, scales_of
from tests.engine.parts.steps_pt import Given


class Step(nn.Module):
    """A step of an optimiser, as a training of the reference has it."""

    def __init__(self, make, loss_scale=1.0):
        super().__init__()
        torch.manual_seed(0)
        self.network = Given().double()
        for parameter in self.network.parameters():
            nn.init.normal_(parameter)
        self.optimizer, self.loss_scale = make(self.network.parameters()), loss_scale

    def forward(self, seed):
        rng = torch.Generator().manual_seed(seed)
        self.optimizer.zero_grad()
        shapes = [p.shape for p in self.network.parameters()]
        self.network(
            *[torch.randn(s, generator=rng, dtype=torch.float64) for s in shapes]
        ).backward()
        self.optimizer.step()


class Training:
    """What `usual` and `Changed` read of a training."""

    def __init__(self, step):
        self.step, self.module = step, step.network

    def slots(self):
        return dict(self.module.named_parameters())


def trained(make, watch=None, steps=3, **settings):
    """The weights after some steps, in a context."""
    step = Step(make, **settings)
    made = watch(Training(step)) if watch else AroundUpdates()
    with made:
        for seed in range(steps):
            step(seed)
    return np.concatenate([p.detach().numpy().ravel() for p in step.network.parameters()])


def making(told):
    """Chooses a usual mistake by its words."""

    def choose(training):
        mistakes = usual(training, scales_of(training.step))
        return next(each.made for each in mistakes if each.told == told)

    return choose


def sgd(**settings):
    return lambda parameters: optim.SGD(parameters, 0.1, **{"momentum": 0.875, **settings})


def adam(kind=optim.Adam, **settings):
    return lambda parameters: kind(parameters, 0.1, **{"betas": (0.875, 0.96875), **settings})


@pytest.mark.parametrize(
    ("told", "right", "wrong"),
    [
        ("with Nesterov momentum", sgd(), sgd(nesterov=True)),
        ("without Nesterov momentum", sgd(nesterov=True), sgd()),
        ("without dampening", sgd(dampening=0.5), sgd()),
        ("without weight decay", sgd(weight_decay=0.1), sgd()),
        ("with AMSGrad", adam(), adam(amsgrad=True)),
        ("with the two betas exchanged", adam(), adam(betas=(0.96875, 0.875))),
        (
            "with decoupled weight decay for an L2 penalty",
            adam(weight_decay=0.1),
            adam(optim.AdamW, weight_decay=0.1),
        ),
        (
            "with an L2 penalty for decoupled weight decay",
            adam(optim.AdamW, weight_decay=0.1),
            adam(weight_decay=0.1),
        ),
    ],
)
def test_a_mistake_is_what_the_other_optimiser_computes(told, right, wrong):
    made, expected = trained(right, making(told)), trained(wrong)
    assert np.allclose(made, expected, rtol=1e-12)
    assert not np.allclose(trained(right), expected, rtol=1e-3)


class Uncorrected(optim.Optimizer):
    """Adam of which the moments in `corrected` alone are corrected, with eps as it is."""

    def __init__(self, parameters, corrected, first=0, weight_decay=0.0):
        super().__init__(parameters, {})
        self.corrected, self.count, self.decay = corrected, first, weight_decay

    @torch.no_grad()
    def step(self):
        self.count += 1
        one, two = (1.0 - b**self.count if b in self.corrected else 1.0 for b in (0.875, 0.96875))
        for p in self.param_groups[0]["params"]:
            state = self.state[p]
            m = state["m"] = 0.875 * state.get("m", 0.0) + 0.125 * p.grad
            v = state["v"] = 0.96875 * state.get("v", 0.0) + 0.03125 * p.grad**2
            p -= 0.1 * (m / one / ((v / two).sqrt() + 1e-2) + self.decay * p)


@pytest.mark.parametrize(
    ("told", "corrected", "first"),
    [
        ("without bias correction of both moments", (), 0),
        ("without bias correction of the second moment", (0.875,), 0),
        ("without bias correction of the first moment", (0.96875,), 0),
        ("with its steps counted from two", (0.875, 0.96875), 1),
    ],
)
def test_a_missing_correction_is_made_by_other_rates(told, corrected, first):
    right = adam(optim.AdamW, eps=1e-2, weight_decay=0.1)
    made = trained(right, making(told))
    expected = trained(lambda p: Uncorrected(p, corrected, first, weight_decay=0.1))
    assert np.allclose(made, expected, rtol=1e-12)


def test_gradients_of_a_loss_scale_that_is_left_are_larger():
    told = "with gradients that are not divided by the loss scale, 8"
    made = trained(sgd(), making(told), loss_scale=8.0)
    assert np.allclose(made, trained(lambda p: optim.SGD(p, 0.8, 0.875)), rtol=1e-12)


def test_the_velocity_keeps_the_rate_of_its_time_where_the_rate_changes():
    """At a constant rate both are the same."""
    told = "with the learning rate within the velocity"
    assert np.allclose(trained(sgd(), making(told)), trained(sgd()), rtol=1e-12)


def test_the_network_stays_in_evaluation_mode_whatever_is_asked():
    training = Training(Step(sgd()))
    with making("with the network in evaluation mode")(training):
        training.module.train()
        assert not training.module.training
    assert training.module.train().training


def test_settings_and_gradients_are_the_optimisers_own_after_an_update():
    step = Step(sgd(weight_decay=0.1))
    before = dict(step.optimizer.param_groups[0])
    with making("without weight decay")(Training(step)):
        step(0)
        gradients = [p.grad.clone() for p in step.network.parameters()]
    assert step.optimizer.param_groups[0] == before
    with Changed(Training(step), ["bias"]).rates(lambda *_: 0.0).made():
        pass
    for gradient, parameter in zip(gradients, step.network.parameters(), strict=True):
        assert torch.equal(gradient, parameter.grad)


def test_the_rates_are_found_with_which_weights_move_as_another_training_does():
    wanted = {}

    def note(optimizer, update):
        names = ("kernel", "bias")
        for name, p in zip(names, optimizer.param_groups[0]["params"], strict=True):
            wanted[update, name] = p.detach().numpy().copy()

    trained(lambda p: optim.SGD(p, 0.3), lambda _: AroundUpdates(after=note))
    training = Training(Step(lambda p: optim.SGD(p, 0.1)))
    rates = Changed(training, ["kernel", "bias"]).rates(lambda *at: wanted[at])
    with rates.made():
        for seed in range(3):
            training.step(seed)
    assert rates.own == [0.1] * 3
    assert np.allclose(rates.factors, 3.0)


def test_the_factors_of_a_step_have_names():
    known = known_factors(Step(sgd(), loss_scale=1024.0))
    assert known == {"1 + momentum": 1.875, "1 - momentum": 0.125, "the loss scale": 1024.0}
    assert list(known_factors(Step(adam()))) == ["(1 - beta1) / sqrt(1 - beta2)"]
