"""The references of training steps: what is spelled out there does what PyTorch's own parts do."""

import copy
import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn

from equivalence.seeds import stream
from pt_reference import schedules, steps
from pt_reference.given import GivenGradients, accumulating, dynamic_loss_scale
from pt_reference.optim import adam, decay_groups, momentum
from pt_reference.resnet import resnet
from pt_reference.state import ScaledStep

ROWS, STEPS = 6, 10
SCALE, WINDOW = 2.0**127, 3


def batches(name, low=-6.0, high=6.0, dtype=torch.float32):
    """Gradients for each parameter of `GivenGradients`, one batch per step."""
    rng, shapes = stream(name), [tuple(p.shape) for p in GivenGradients().parameters()]
    return [
        [torch.from_numpy(rng.uniform(low, high, (ROWS, *s))).to(dtype) for s in shapes]
        for _ in range(STEPS)
    ]


def updated(step, given, dtype=torch.float32):
    """The weights of `network` before the first and after every step."""
    step.to(dtype)
    told = [copy.deepcopy(step.network.state_dict())]
    for batch in given:
        step(*batch)
        told.append(copy.deepcopy(step.network.state_dict()))
    return told


def moved(told):
    """Whether each step changed anything."""
    return [
        any(not torch.equal(a[name], b[name]) for name in a) for a, b in itertools.pairwise(told)
    ]


def from_the_same_weights(*made):
    for step in made[1:]:
        step.network.load_state_dict(made[0].network.state_dict())
    return made


@pytest.fixture
def overflowing():
    """Rows that agree, so that their mean is as large as they are."""
    return [[g[:1].expand_as(g) for g in batch] for batch in batches("overflowing")]


def test_dynamic_loss_scale_is_that_of_the_grad_scaler(overflowing):
    network = GivenGradients()
    made = from_the_same_weights(
        ScaledStep(network, momentum(network, 0.1, 0.875, 0.1), SCALE, WINDOW),
        dynamic_loss_scale(SCALE, WINDOW),
    )
    theirs, ours = (updated(step, overflowing) for step in made)
    assert moved(ours) == moved(theirs)
    assert made[1].loss_scale == made[0].scaler.get_scale()
    for name, values in theirs[-1].items():
        torch.testing.assert_close(ours[-1][name], values, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_range_of_single_precision_overflows_in_double_precision_too(overflowing, dtype):
    given = [[g.to(dtype) for g in batch] for batch in overflowing]
    skipped = [not each for each in moved(updated(dynamic_loss_scale(SCALE, WINDOW), given, dtype))]
    assert [number for number, each in enumerate(skipped, 1) if each] == [1, 2, 6, 10]


def test_nothing_is_skipped_at_a_scale_that_nothing_overflows_at(overflowing):
    assert all(moved(updated(dynamic_loss_scale(1024.0, 100), overflowing)))


def test_accumulated_micro_batches_are_the_batch():
    network = GivenGradients()
    made = from_the_same_weights(
        steps.TrainStep(network, momentum(network, 0.1, 0.875, 0.1)),
        accumulating(size=2, every=3),
    )
    given = batches("accumulated", dtype=torch.float64)
    whole, parts = (updated(step, given, torch.float64)[-1] for step in made)
    for name, values in whole.items():
        torch.testing.assert_close(parts[name], values)


def test_an_incomplete_set_makes_an_update_by_its_own_mean():
    # Six rows in sets of four make two updates, by the means of four rows and of two.
    network = GivenGradients()
    made = from_the_same_weights(
        steps.TrainStep(network, momentum(network, 0.1, 0.875, 0.1)),
        accumulating(size=2, every=2),
    )
    given = batches("accumulated", dtype=torch.float64)
    cut = [part for batch in given for part in ([g[:4] for g in batch], [g[4:] for g in batch])]
    whole, parts = (
        updated(step, batch, torch.float64)[-1]
        for step, batch in zip(made, (cut, given), strict=True)
    )
    for name, values in whole.items():
        torch.testing.assert_close(parts[name], values)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("warmup", "total", "end"), [(25, 450, 0.0), (4, 12, 0.01), (1, 6, 0.1)])
def test_warmup_cosine_is_its_formula(warmup, total, end, first):
    def rate(step):
        if step < warmup:
            return 0.256 * (step + first) / warmup
        share = (step - warmup) / (total - warmup)
        return end + (0.256 - end) * (1 + math.cos(math.pi * share)) / 2

    told = schedules.rates(schedules.warmup_cosine(warmup, total, end, first), 0.256, total)
    assert told == pytest.approx([rate(step) for step in range(total)], abs=1e-12)


def test_a_cosine_by_epoch_holds_its_rate_for_an_epoch():
    told = schedules.rates(schedules.cosine(20, each=5), 1.0, 20)
    epochs = [(1 + math.cos(math.pi * epoch / 4)) / 2 for epoch in range(4)]
    assert told == pytest.approx(list(np.repeat(epochs, 5)), abs=1e-12)


@pytest.mark.parametrize("cut", [1.0, 0.5])
def test_loss_scale_leaves_no_trace(cut):
    given = batches("scaled", dtype=torch.float64)
    network = GivenGradients()
    made = from_the_same_weights(
        *(
            steps.TrainStep(net, momentum(net, 0.1, 0.875, 0.1), None, steps.clip_norm(cut), scale)
            for net, scale in ((network, 1.0), (GivenGradients(), 1024.0))
        )
    )
    plain, scaled = (updated(step, given, torch.float64)[-1] for step in made)
    for name, values in plain.items():
        torch.testing.assert_close(scaled[name], values)


@pytest.mark.parametrize("depth", [18, 50])
def test_both_sides_spare_the_same_parameters_of_a_resnet(depth):
    from ms_models.optim import decay_groups as candidate_groups
    from ms_models.resnet import resnet as candidate

    network, cell = resnet(depth=depth, num_classes=10), candidate(depth=depth, num_classes=10)
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    theirs = [sorted(names[id(p)] for p in group["params"]) for group in decay_groups(network, 0.1)]
    paths = {id(parameter): path for path, parameter in cell.parameters_and_names()}
    renamed = {"gamma": "weight", "beta": "bias"}
    ours = []
    for group in candidate_groups(cell, 0.1)[:2]:
        split = [paths[id(p)].rpartition(".") for p in group["params"]]
        ours.append(sorted(f"{layer}.{renamed.get(role, role)}" for layer, _, role in split))
    assert ours == theirs
    assert all(ours)


def test_recipes_take_any_network():
    images, labels = torch.zeros(2, 3, 8, 8), torch.tensor([1, 0])
    for make in (lambda net: steps.imagenet_step(net, 2, 10), steps.cifar10_step):
        network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(144, 3))
        step = make(network)
        assert step.network.backbone is network
        assert torch.isfinite(step(images, labels))


def test_adam_decays_every_parameter():
    (group,) = adam(GivenGradients(), 0.1, weight_decay=0.5).param_groups
    assert len(group["params"]) == 5
    assert group["weight_decay"] == 0.5
