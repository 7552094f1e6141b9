"""Explanations: the residual is that of flips that are chosen by hand."""

import itertools

import numpy as np
import pytest
import torch.nn.functional as F
from torch import nn

from equivalence.declare.draws import normal
from equivalence.judge.expected import distance
from equivalence.sides.torch_network import TorchNetwork
from equivalence.truth import compute as truth
from equivalence.truth import explained as explaining
from equivalence.truth import likely
from equivalence.truth.explained import explain, whole_flips
from equivalence.truth.flips import ChosenBranches, locate, may_flip
from equivalence.truth.measurement import Measurement
from tests.engine.parts.small import sample
from tests.engine.truth.test_flips import STEPS, UNBIASED, U, small

HERE = f"{__name__}:"


def explained(network, drawn, near, recorded, unit_roundoff=U):
    """What `explain` makes of a trace, whatever it does to the forward pass."""
    known = truth.compute(Measurement(network, drawn, "train", unit_roundoff))
    assert not known.near
    return explain(Measurement(network, drawn, "train", unit_roundoff), known, near, recorded)


def chain():
    """Two ReLUs, of which the second hides the first: 3 hidden units, then 1, which is off."""
    network = TorchNetwork(HERE + "Chain", {})
    for seed in itertools.count():
        drawn = sample(normal(1, 4), seed=seed)
        if network.run(drawn, "train", "float64")["output.0"].item() == 0.0:
            return network, drawn
    raise AssertionError


class Chain(nn.Module):
    """N,4 -> N,1 with a ReLU behind each of two layers."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 3), nn.Linear(3, 1)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))))


def all_of(network, drawn, near, mask=None):
    mask = [True] * len(near) if mask is None else mask
    return network.run(drawn, "train", "float64", ChosenBranches(near, mask))


@pytest.mark.parametrize("mask", list(itertools.product([False, True], repeat=4)))
def test_any_set_of_flips_is_found_one_upstream_of_another(mask):
    network, drawn = TorchNetwork(UNBIASED, {"layers": 2, "planes": 3}), small()
    indices = [(0, (0, 0, 1, 1)), (0, (0, 2, 2, 1)), (1, (0, 0, 1, 0)), (1, (1, 2, 0, 0))]
    near = locate(Measurement(network, drawn, "train", U), indices)
    made = explained(network, drawn, near, all_of(network, drawn, near, mask))
    if not any(mask):
        assert made is None  # there was nothing to explain
        return
    found, expected = made
    assert found == tuple(itertools.compress(near, mask))
    wanted = all_of(network, drawn, near, mask)
    assert all(
        np.array_equal(known.truth, wanted[name])
        for name, known in expected.items()
        if name.startswith("gradient:")
    )


def test_a_flip_that_another_hides_is_found_by_measuring_again(monkeypatch):
    network, drawn = chain()
    near = locate(Measurement(network, drawn, "train", U), [(0, (0, 0)), (1, (0, 0))])
    true = network.run(drawn, "train", "float64")
    hidden = all_of(network, drawn, near, [True, False])
    assert np.array_equal(hidden["gradient:first.weight"], true["gradient:first.weight"])
    both = all_of(network, drawn, near)
    assert explained(network, drawn, near, both)[0] == near
    monkeypatch.setattr(explaining, "TURNS", 1)
    assert explained(network, drawn, near, both) is None


def test_outputs_and_buffers_are_expected_as_they_were():
    network, drawn = TorchNetwork(UNBIASED, {"layers": 2, "planes": 3}), small()
    near = locate(Measurement(network, drawn, "train", U), [(0, (0, 0, 1, 1))])
    known = truth.compute(Measurement(network, drawn, "train", U))
    _, expected = explained(network, drawn, near, all_of(network, drawn, near))
    assert list(expected) == list(known)
    assert np.array_equal(expected["output.0"].truth, known["output.0"].truth)
    for name in known:
        assert expected[name].spread == known[name].spread
        assert expected[name].spread_peak == known[name].spread_peak


def between(true, flipped, share):
    return {name: true[name] + share * (flipped[name] - true[name]) for name in true}


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75, 0.9, 1.1, 2.0, -1.0])
def test_no_share_of_a_flip_is_an_explanation(share):
    network, drawn = TorchNetwork(UNBIASED, {"layers": 2, "planes": 3}), small()
    near = locate(Measurement(network, drawn, "train", U), [(0, (0, 0, 1, 1)), (1, (0, 0, 1, 0))])
    true = network.run(drawn, "train", "float64")
    flipped = all_of(network, drawn, near, [True, False])
    assert explained(network, drawn, near, between(true, flipped, 1.0))[0] == near[:1]
    assert explained(network, drawn, near, between(true, flipped, share)) is None


@pytest.mark.parametrize(("share", "whole"), [(0.6, False), (0.9, True), (1.4, False)])
def test_a_flip_must_be_whole_also_where_the_budget_would_let_the_rest_pass(share, whole):
    network, drawn = TorchNetwork(UNBIASED, {"layers": 2, "planes": 3}), small()
    near = locate(Measurement(network, drawn, "train", U), [(0, (0, 0, 1, 1))])
    true, flipped = network.run(drawn, "train", "float64"), all_of(network, drawn, near)
    known = truth.compute(Measurement(network, drawn, "train", U))
    for name in (n for n in known if n.startswith("gradient:")):
        apart = distance(flipped[name], true[name])  # the flip is 20 roundings of every tensor
        known[name].faint = None
        known[name].spread, known[name].spread_peak = apart.norm / 20, apart.largest / 20
    recorded = between(true, flipped, share)
    made = explain(Measurement(network, drawn, "train", U), known, near, recorded)
    assert (made is not None) == whole


def test_a_flip_too_small_to_be_told_is_left_out_of_an_explanation(monkeypatch):
    network, drawn = TorchNetwork(UNBIASED, {"layers": 2, "planes": 3}), small()
    near = locate(Measurement(network, drawn, "train", U), [(0, (0, 0, 1, 1)), (1, (0, 0, 1, 0))])
    true, flipped = (all_of(network, drawn, near, mask) for mask in ([False] * 2, [True] * 2))
    recorded = all_of(network, drawn, near, [True, False])
    known = truth.compute(Measurement(network, drawn, "train", U))
    for name in (n for n in known if n.startswith("gradient:")):
        # The second flip is 5 roundings of every tensor, of which the candidate shows 0.6.
        second = {n: flipped[n] - recorded[n] for n in flipped}[name]
        known[name].faint = None
        known[name].spread = np.linalg.norm(second) / 5
        known[name].spread_peak = np.abs(second).max() / 5
        recorded[name] = recorded[name] + 0.6 * second
        assert distance(flipped[name], true[name]).norm > 20 * known[name].spread
    chosen = []
    run = network.run
    monkeypatch.setattr(network, "run", lambda *a: chosen.append(a[-1]) or run(*a))
    found, _ = explain(Measurement(network, drawn, "train", U), known, near, recorded)
    assert found == near[:1]
    # A run for each, one for both, one without the second.
    assert len(chosen) == 4


# Which flips: least squares with coefficients 0 and 1.


def rows(*norms, seed=0, size=400):
    rng = np.random.default_rng(seed)
    deltas = rng.standard_normal((len(norms), size))
    return deltas / np.linalg.norm(deltas, axis=1, keepdims=True) * np.array(norms)[:, None]


def test_whole_flips_of_all_sizes_are_found_below_noise():
    deltas = rows(1e6, 3e4, 500.0, 40.0, 1e5, 2e3)
    mask = np.array([True, False, True, True, False, True])
    noise = rows(10.0, seed=1)[0]
    assert np.array_equal(whole_flips(deltas, mask @ deltas + noise), mask)


def test_two_flips_are_told_from_a_third_that_is_much_like_their_sum():
    deltas = rows(1000.0, 1000.0, 300.0)
    deltas[2] += 0.9 * (deltas[0] + deltas[1])
    mask = np.array([True, True, False])
    noise = rows(10.0, seed=2)[0]
    assert np.array_equal(whole_flips(deltas, mask @ deltas + noise), mask)


def test_of_two_flips_that_are_the_same_one_is_named():
    deltas = np.repeat(rows(1000.0), 2, axis=0)
    assert whole_flips(deltas, deltas[0]).sum() == 1
    assert whole_flips(deltas, 2 * deltas[0]).sum() == 2


def test_a_flip_of_less_than_a_rounding_is_not_named():
    deltas = rows(1000.0, 0.5)
    assert whole_flips(deltas, deltas.sum(0)).tolist() == [True, False]
    assert whole_flips(rows(1000.0, 1.5), rows(1000.0, 1.5).sum(0)).tolist() == [True, True]


def test_nothing_is_no_sum_of_flips():
    assert not whole_flips(rows(1000.0, 30.0), np.zeros(400)).any()
    assert not whole_flips(rows(1000.0, 30.0), rows(5.0, seed=1)[0]).any()


# Folding.


def test_folding_keeps_small_gradients_whole():
    units = {"a": 2.0, "b": 0.5, "frozen": 0.0}
    zeros = {"a": np.zeros((3, 4)), "b": np.zeros(5), "frozen": np.zeros(2)}
    one = {"a": np.ones((3, 4)), "b": np.arange(5.0), "frozen": np.ones(2)}
    two = {"a": np.arange(12.0).reshape(3, 4), "b": np.ones(5), "frozen": np.ones(2)}
    inner = float(explaining._fold(one, zeros, units) @ explaining._fold(two, zeros, units))
    assert inner == (66 / 4 + 10 / 0.25)


def test_folding_keeps_products_of_large_gradients_nearly():
    rng = np.random.default_rng(0)
    names = {"a": 300_000, "b": 90_000, "c": 11}
    units = dict.fromkeys(names, 3.0)
    zeros = {name: np.zeros(size) for name, size in names.items()}
    one = {name: rng.standard_normal(size) for name, size in names.items()}
    two = {name: one[name] + rng.standard_normal(size) for name, size in names.items()}
    folded = [explaining._fold(trace, zeros, units) for trace in (one, two)]
    exact = sum(float(one[name] @ two[name]) for name in names) / 9.0
    assert abs(float(folded[0] @ folded[1]) / exact - 1.0) < 0.03
    difference = explaining._fold(two, one, units)
    assert np.allclose(difference, folded[1] - folded[0], atol=1e-9)


def test_folding_block_by_block_changes_no_sum(monkeypatch):
    rng = np.random.default_rng(0)
    sizes = {"a": 5 * explaining.FOLD_SIZE + 3, "b": explaining.FOLD_SIZE + 1}
    one = {name: rng.standard_normal(size) for name, size in sizes.items()}
    units, zeros = dict.fromkeys(sizes, 1.0), {name: np.zeros(size) for name, size in sizes.items()}
    whole = explaining._fold(one, zeros, units)
    monkeypatch.setattr(explaining, "BLOCK", 2 * explaining.FOLD_SIZE)
    # The blocks are summed in another order.
    assert np.allclose(explaining._fold(one, zeros, units), whole, atol=1e-12)


def off_by(known, roundings, seed=0):
    """What a run may be off by in every gradient, in random directions."""
    rng, off = np.random.default_rng(seed), {}
    for name, tensor in known.items():
        if name.startswith("gradient:"):
            values = rng.standard_normal(tensor.shape)
            values *= roundings * tensor.rounding(U) / np.linalg.norm(values)
            off[name] = values
    return off


@pytest.mark.parametrize(("roundings", "is_explained"), [(1.0, True), (2.0, True), (12.0, False)])
def test_what_flips_leave_over_is_within_the_budget(roundings, is_explained):
    network, drawn = TorchNetwork(UNBIASED, {"layers": 2, "planes": 3}), small()
    near = locate(Measurement(network, drawn, "train", U), [(0, (0, 0, 1, 1)), (1, (0, 0, 1, 0))])
    known = truth.compute(Measurement(network, drawn, "train", U))
    recorded = all_of(network, drawn, near, [True, False])
    for name, off in off_by(known, roundings).items():
        recorded[name] = recorded[name] + off
    made = explain(Measurement(network, drawn, "train", U), known, near, recorded)
    assert (made is not None) == is_explained
    if made:
        assert made[0] == near[:1]


def test_of_the_gradients_those_that_are_demanded_must_be_explained():
    network, drawn = TorchNetwork(UNBIASED, {"layers": 2, "planes": 3}), small()
    near = locate(Measurement(network, drawn, "train", U), [(0, (0, 0, 1, 1)), (1, (0, 0, 1, 0))])
    measurement = Measurement(network, drawn, "train", U)
    known = truth.compute(measurement)
    recorded = all_of(network, drawn, near, [True, False])
    off = off_by(known, 12.0)
    spoilt, *others = off
    recorded[spoilt] = recorded[spoilt] + off[spoilt]
    assert explain(measurement, known, near, recorded) is None
    found, _ = explain(measurement, known, near, recorded, others)
    assert found == near[:1]


@pytest.mark.parametrize("points", [(), (7,)])
@pytest.mark.parametrize(("most", "is_explained"), [(20, True), (19, False)])
def test_where_nothing_points_all_of_few_are_tried(monkeypatch, points, most, is_explained):
    network, drawn = TorchNetwork(UNBIASED, {"layers": 2, "planes": 3}), small()
    measurement = Measurement(network, drawn, "train", U)
    places = [(0, index) for index in itertools.product(range(2), range(3), range(2), range(2))]
    near = locate(measurement, places[:20])
    run = measurement.run(watch=ChosenBranches(near, [number == 3 for number in range(20)]))
    monkeypatch.setattr(likely.Pointers, "first", lambda *_: points)
    monkeypatch.setattr(explaining, "MOST", most)
    found = explain(measurement, truth.begin(measurement), near, run)
    assert (found is not None) == is_explained
    if found:
        assert found[0] == near[3:4]


def test_flips_of_what_is_exactly_at_its_bound_are_found_among_many():
    """The bound moves along, so that nothing points to them."""
    drawn = sample(normal(48, 8))
    measurement = Measurement(TorchNetwork(STEPS, {}), drawn, "train", U)
    near = may_flip(measurement)
    assert len(near) == 48 > explaining.TRIED
    mask = [number % 16 == 3 for number in range(48)]
    run = measurement.run(watch=ChosenBranches(near, mask))
    found, _ = explain(measurement, truth.begin(measurement), near, run)
    assert found == tuple(itertools.compress(near, mask))


class Halves(nn.Module):
    """Whole numbers of what is next to halves; the gradient is that of what goes in."""

    def forward(self, x):
        x = x.round() + 0.5 + 1e-7 * x
        return (x + (x.round() - x).detach()).square()


def test_steps_are_found_among_many_with_what_they_change_in_outputs():
    """A step has no gradient, so that nothing points to it."""
    drawn = sample(normal(48, 1, scale=9.0))
    measurement = Measurement(TorchNetwork(f"{__name__}:Halves", {}), drawn, "train", U)
    near = tuple(flip for flip in may_flip(measurement) if flip.place == 1)
    assert len(near) == 48 > explaining.TRIED
    known = truth.begin(measurement)
    known.near = near
    mask = [number % 16 == 3 for number in range(48)]
    run = measurement.run(watch=ChosenBranches(near, mask))
    found, flipped = explain(measurement, known, near, run)
    assert found == tuple(itertools.compress(near, mask))
    assert np.array_equal(flipped["output.0"].truth, run["output.0"])
    assert not np.array_equal(known["output.0"].truth, run["output.0"])
