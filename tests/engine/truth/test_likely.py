"""What points to the flips that a run has made: the products of their changes, and their sizes."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from equivalence import file
from equivalence.declare.draws import normal
from equivalence.kinks.watch import KinkWatch
from equivalence.sides.torch_network import TorchNetwork
from equivalence.truth import compute as truth
from equivalence.truth import likely
from equivalence.truth.explained import CHOICES, TRIED, explain
from equivalence.truth.flips import ChosenBranches, locate
from equivalence.truth.likely import Pointers, Reached
from equivalence.truth.measurement import Measurement
from tests.engine.parts.small import sample

HERE = f"{__name__}:"
U = 2.0**-24

BENT = [
    [
        lambda x: F.relu(x, inplace=True),
        lambda x: F.leaky_relu(x, 0.25),
        torch.abs,
        lambda x: F.max_pool2d(x, 3, 1, 1),
        lambda x: F.hardtanh(x, 0, 1),
        lambda x: F.hardtanh(x, 0, 1, inplace=True),
    ],
    [
        lambda x: F.leaky_relu(x, 0.25, inplace=True),
        lambda x: F.prelu(x, x.new_tensor([0.25, -0.5, 1.5, 0.0])),
        F.selu,
        lambda x: F.elu(x, 0.5, inplace=True),
        lambda x: x + F.softshrink(x, 1.0),
        lambda x: x.abs_(),
    ],
    [
        lambda x: F.hardswish(3 * x),
        lambda x: F.hardswish(3 * x, inplace=True),
        lambda x: F.hardsigmoid(3 * x),
        lambda x: F.hardsigmoid(3 * x, inplace=True),
        lambda x: x.clamp(-1, 1),
        lambda x: x.clamp_(0, 1),
    ],
    [
        lambda x: x.clamp(min=0),
        lambda x: x.clamp(max=0),
        lambda x: x.clamp(-math.inf, 1),
        lambda x: torch.clamp_min(x, 0.0),
        lambda x: torch.clamp_max(x, 1.0),
        lambda x: x.clamp_max_(1.0),
    ],
    [
        lambda x: torch.maximum(x, x.flip(0)),
        lambda x: torch.min(x, x.flip(0)),
        lambda x: x * x.max(1, keepdim=True)[0],
        lambda x: x + x.amin(2, keepdim=True),
        lambda x: x * F.adaptive_max_pool2d(x, 1),
        lambda x: x + F.max_pool3d(x, 1, 1) - F.max_pool3d(x, (2, 1, 1), 1)[:, :1],
    ],
    [
        lambda x: x * (x > 0),
        lambda x: (x >= 0).to(x.dtype) * x,
        lambda x: torch.where(x > 0, x, 0.1 * x),
        lambda x: torch.where(x < x.new_tensor([0.0]), 2 * x, x),
        lambda x: x.masked_fill(x <= 0, 0.0),
        lambda x: torch.where(x.flip(0) > x, x.flip(0), x),
    ],
    [
        lambda x: torch.minimum(x.new_tensor(0.0), x),
        lambda x: torch.maximum(x.new_zeros(1), x),
        lambda x: torch.minimum(x.new_zeros(4, 1, 1), x),
        lambda x: torch.where(x.new_tensor(0.0) < x, x, 0.0),
        lambda x: x * (x.new_zeros(4, 1, 1) <= x),
        lambda x: (x - 1) * x.new_ones(1).gt(x),
    ],
]
"""Every operator with a kink, in its forms; six at a time."""

OPERATORS = [
    {"relu", "leaky_relu", "abs", "max_pool2d", "hardtanh"},
    {"leaky_relu", "prelu", "elu", "softshrink", "abs"},
    {"hardswish", "hardsigmoid", "clamp"},
    {"clamp", "clamp_min", "clamp_max"},
    {"maximum", "minimum", "max", "amin", "adaptive_max_pool2d", "max_pool3d"},
    {"gt", "ge", "lt", "le"},
    {"minimum", "maximum", "lt", "le", "gt"},
]
"""Their names."""


class Kinked(nn.Module):
    """2,24,8,8 -> each operator with a kink on 4 channels of a layer, mixed by further layers.

    A single number, which has no axis, scales the result.

    number: which of `BENT`.
    """

    def __init__(self, number: int):
        super().__init__()
        self.bent = BENT[number]
        self.first = nn.Conv2d(24, 24, 1)
        self.mixed = nn.ModuleList(nn.Conv2d(4, 3, 3) for _ in self.bent)
        self.last = nn.Conv2d(18, 2, 1)
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        parts = (each * 1.0 for each in self.first(x).split(4, 1))
        bent = [bend(part) for bend, part in zip(self.bent, parts, strict=True)]
        parts = [conv(each) for conv, each in zip(self.mixed, bent, strict=True)]
        return self.last(torch.cat(parts, 1)) * self.scale


@pytest.fixture
def operators(request):
    """Which of `BENT`; the first unless a test asks for others."""
    return getattr(request, "param", 0)


@pytest.fixture
def measurement(tmp_path, operators):
    """The first layer makes -1, 0 and 1, but for 1e-6: near kinks, and ties in most windows."""
    drawn = sample(normal(2, 24, 8, 8))
    weight = drawn.weight("first.weight", (24, 24, 1, 1))[..., 0, 0].astype(np.float64)
    rng = np.random.default_rng(0)
    wanted = rng.choice([-1.0, 0.0, 1.0], (2, 24, 8, 8)) + 1e-6 * rng.standard_normal((2, 24, 8, 8))
    wanted -= drawn.weight("first.bias", (24,)).reshape(24, 1, 1)
    x = np.einsum("ij,njhw->nihw", np.linalg.inv(weight), wanted)
    np.save(tmp_path / "x.npy", x.astype(np.float32))
    network = TorchNetwork(HERE + "Kinked", {"number": operators})
    return Measurement(network, sample(file(tmp_path / "x.npy")), "train", U)


@pytest.fixture
def near(measurement, operators):
    """Whatever is within 1e-4 of its kink: hundreds of activations, of each operator."""
    found = locate(measurement, within(measurement, 1e-4))
    assert {flip.operator for flip in found} == OPERATORS[operators]
    assert len(found) > 400
    return found


def within(measurement, distance):
    watch = KinkWatch()
    measurement.forward(watch=watch)
    return [
        (place, tuple(index))
        for place, quantity in enumerate(watch.quantities)
        for index in (quantity.abs() < distance).nonzero().tolist()
    ]


def units_of(run):
    return {n: float(np.linalg.norm(v)) for n, v in run.items() if n.startswith("gradient:")}


def apart(one, two, units):
    return np.concatenate([((one[n] - two[n]) / units[n]).reshape(-1) for n in units])


def flipped(measurement, near, numbers):
    held = [near[number] for number in sorted(numbers)]
    return measurement.run(watch=ChosenBranches(held, [True] * len(held)))


def some(near, count, seed=0):
    """So many activations of each operator, by number."""
    rng, found = np.random.default_rng(seed), []
    for operator in sorted({flip.operator for flip in near}):
        of = [number for number, flip in enumerate(near) if flip.operator == operator]
        found += rng.choice(of, count, replace=False).tolist()
    return found


@pytest.mark.parametrize("operators", range(len(BENT)), indirect=True)
@pytest.mark.parametrize("flips", [0, 2])
def test_products_are_those_of_the_changes_by_each_flip(measurement, near, flips):
    chosen = some(near, flips, seed=1)
    base = flipped(measurement, near, chosen)
    units = units_of(base)
    rng = np.random.default_rng(2)
    along = {name: rng.standard_normal(base[name].shape) for name in units}
    here, mask = Reached(near), [number in chosen for number in range(len(near))]
    measurement.run(watch=likely._within(near, mask, here))
    overwritten = {name: values.copy() for name, values in along.items()}
    told = Pointers(measurement, near, units)._products(overwritten, here, mask)
    tried = set(some(near, 6)) - set(chosen)
    for number in tried:
        change = apart(flipped(measurement, near, {*chosen, number}), base, units)
        exact = float(change @ np.concatenate([along[n].reshape(-1) for n in units]))
        size = float(np.linalg.norm(change))
        assert abs(told[number] - exact) < 1e-3 * size + 1e-6, near[number]


def test_the_size_of_each_change_is_known_nearly(measurement, near, monkeypatch):
    monkeypatch.setattr(likely, "DRAWN", 200)
    base, here = measurement.run(), Reached(near)
    units = units_of(base)
    nothing = [False] * len(near)
    measurement.run(watch=likely._within(near, nothing, here))
    told = Pointers(measurement, near, units)._squares(base, here, nothing)
    for number in some(near, 6):
        exact = np.linalg.norm(apart(flipped(measurement, near, [number]), base, units))
        size = np.sqrt(told[number])
        assert size == pytest.approx(exact, rel=0.2, abs=1e-6), near[number]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_flips_are_found_among_hundreds_and_no_other_is_named(measurement, near, count):
    base = measurement.run()
    known = truth.whole(base)
    units = {name: known[name].rounding(U) for name in units_of(base)}
    seen = [
        number
        for number in some(near, count, seed=count)
        if np.linalg.norm(apart(flipped(measurement, near, [number]), base, units)) > 200.0
    ]
    assert len(seen) >= 2 * count
    recorded = flipped(measurement, near, seen)
    found, _ = explain(measurement, known, near, recorded)
    assert found == tuple(near[number] for number in sorted(seen))


def test_a_difference_that_is_no_flip_costs_one_turn_and_stays(measurement, near, monkeypatch):
    rng = np.random.default_rng(0)
    base = measurement.run()
    known = truth.whole(base)
    wrong = {n: v * (1.0 + 1e-3 * rng.standard_normal(v.shape)) for n, v in base.items()}
    runs, run = [], measurement.network.run
    monkeypatch.setattr(measurement.network, "run", lambda *a: runs.append(a) or run(*a))
    assert explain(measurement, known, near, wrong) is None
    assert len(runs) <= TRIED + 3


def test_a_flip_of_which_nothing_shows_is_not_tried(measurement, near, monkeypatch):
    """Chance makes the largest changes point somewhere, too."""
    recorded, units = flipped(measurement, near, some(near, 1)[:1]), units_of(measurement.run())
    few = Pointers(measurement, near, units).first(recorded, (), len(near))
    monkeypatch.setattr(likely, "PART", 0.0)
    every = Pointers(measurement, near, units).first(recorded, (), len(near))
    assert some(near, 1)[0] in few
    assert set(few) < set(every)


def test_a_flip_that_was_tried_is_not_run_again_in_a_later_turn(measurement, near, monkeypatch):
    base = measurement.run()
    known = truth.whole(base)
    recorded = flipped(measurement, near, some(near, 2, seed=2))
    tried, first = [], Pointers.first

    def noted(*arguments):
        tried.append(first(*arguments))
        return tried[-1]

    monkeypatch.setattr(Pointers, "first", noted)
    runs, run = [], measurement.network.run
    monkeypatch.setattr(measurement.network, "run", lambda *a: runs.append(a) or run(*a))
    assert explain(measurement, known, near, recorded)
    assert len(tried) > 1
    # Besides, one run for each turn, and one for each choice and for what is left out at last.
    assert len(runs) <= sum(map(len, tried)) + len(tried) * (1 + CHOICES) + 1
    assert len(runs) < sum(len(each) * (len(tried) - turn) for turn, each in enumerate(tried))


@pytest.mark.parametrize("factor", [1.01, 0.5, 0.0])
def test_a_gradient_that_is_scaled_is_no_flip(measurement, near, factor):
    base = measurement.run()
    known = truth.whole(base)
    wrong = {n: factor * v if n == "gradient:first.weight" else v for n, v in base.items()}
    assert explain(measurement, known, near, wrong) is None


def test_an_activation_whose_backward_pass_is_not_recognised_points_nowhere(
    measurement, near, monkeypatch
):
    recorded = flipped(measurement, near, some(near, 2))
    units = units_of(measurement.run())
    assert Pointers(measurement, near, units).first(recorded, (), len(near))
    monkeypatch.setattr(likely, "BACKWARD", {})
    told = Pointers(measurement, near, units).first(recorded, (), len(near))
    assert {near[number].operator for number in told} == {"abs"}
    monkeypatch.setattr(likely, "FACTORS", ())
    assert not Pointers(measurement, near, units).first(recorded, (), len(near))


def test_the_same_are_told_again_and_none_that_is_known(measurement, near):
    chosen = some(near, 2)
    recorded = flipped(measurement, near, chosen)
    units = units_of(measurement.run())
    first, again = (Pointers(measurement, near, units).first(recorded, (), TRIED) for _ in "ab")
    assert first == again
    assert len(first) == TRIED
    told = Pointers(measurement, near, units).first(recorded, chosen[:3], TRIED)
    assert not set(told) & set(chosen[:3])
