"""Branch flips: made one by one, named, and explained as whole flips only."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from torch import nn

from equivalence import file
from equivalence.declare.draws import normal
from equivalence.kinks.choices import CHOICES, POOL, two_largest
from equivalence.kinks.watch import KinkWatch
from equivalence.randomness.torch_draws import TorchDraws
from equivalence.sides.torch_constants import Constants
from equivalence.sides.torch_network import TorchNetwork
from equivalence.sides.torch_noise import Noise
from equivalence.truth.compute import add_noise, begin
from equivalence.truth.flips import ChosenBranches, Flip, locate, may_flip
from equivalence.truth.measurement import Measurement
from tests.engine.kinks.test_choices import poolings
from tests.engine.parts.small import sample

HERE = f"{__name__}:"
STEPS = HERE + "Steps"
UNBIASED = "tests.engine.truth.test_attribution:Unbiased"
U = 2.0**-24


# What a flip does to each operator.


class Bent(nn.Module):
    """Applies an operator."""

    def __init__(self, operator):
        super().__init__()
        self.operator = operator

    def forward(self, x):
        return self.operator(x * 1.0)


def bent(operator):
    network = object.__new__(TorchNetwork)
    network.module = Bent(operator)
    network.draws = TorchDraws()
    network.constants = Constants(lambda: network.module, network.module)
    network.modes = network._modes()
    return network


def slopes(network, drawn, watch=None):
    """The derivative of every output by its own input, for an operator by element."""
    run = network.run(drawn, "train", "float64", watch)
    return run["gradient:input[0]"] / drawn.cotangent(0, run["output.0"].shape), run["output.0"]


@pytest.mark.parametrize(
    ("operator", "below"),
    [
        (F.relu, 0.0),
        (lambda x: F.relu(x, inplace=True), 0.0),
        (nn.LeakyReLU(0.25), 0.25),
        (nn.LeakyReLU(0.25, inplace=True), 0.25),
        (lambda x: F.prelu(x, x.new_tensor([0.25])), 0.25),
        (torch.abs, -1.0),
        (torch.Tensor.abs_, -1.0),
        (lambda x: x.clamp(min=0), 0.0),
        (lambda x: torch.clamp_min_(x, 0), 0.0),
        (lambda x: x - x.clamp(max=0), 0.0),
    ],
    ids=[
        "relu",
        "in place",
        "leaky",
        "leaky in place",
        "prelu",
        "abs",
        "abs in place",
        "clamp",
        "clamp_min in place",
        "clamp_max",
    ],
)
def test_a_flip_changes_the_slope_of_its_element_alone(operator, below):
    network, drawn = bent(operator), sample(normal(4, 5))
    indices = [(0, 1), (0, 2), (3, 4), (2, 0)]
    located = locate(Measurement(network, drawn, "train", U), [(0, index) for index in indices])
    (x,) = drawn.inputs()
    assert {flip.taken for flip in located} == {0, 1}
    assert [flip.value for flip in located] == [x[index] for index in indices]
    flipped, _ = slopes(network, drawn, ChosenBranches(located, [True, False, True, True]))
    expected = np.where(x > 0, 1.0, below)
    for index in (indices[0], *indices[2:]):
        expected[index] = below if x[index] > 0 else 1.0
    np.testing.assert_array_almost_equal_nulp(flipped, expected)


@pytest.mark.parametrize("in_place", [False, True])
def test_a_flip_of_a_relu6_changes_the_slope_at_either_of_its_kinks(tmp_path, in_place):
    x = np.float32([[1e-7, -1e-7, 5.999999, 6.000001, 0.0, 6.0, 3.0, -5.0, 9.0]])
    np.save(tmp_path / "x.npy", x)
    network, drawn = bent(nn.ReLU6(inplace=in_place)), sample(file(tmp_path / "x.npy"))
    near = [(0, (0, column)) for column in range(6)]
    located = locate(Measurement(network, drawn, "train", U), near)
    assert [flip.taken for flip in located] == [1, 0, 1, 0, 0, 0]
    same, values = slopes(network, drawn, ChosenBranches(located))
    np.testing.assert_array_equal(same, [[1, 0, 1, 0, 0, 0, 1, 0, 0]])
    np.testing.assert_array_equal(values, np.clip(x.astype(np.float64), 0, 6))
    flipped, values = slopes(network, drawn, ChosenBranches(located, [True] * 6))
    np.testing.assert_array_equal(flipped, [[0, 1, 0, 1, 1, 1, 1, 0, 0]])
    np.testing.assert_allclose(values, [[0, 0, 6, 6, 0, 6, 3, 0, 6]], rtol=1e-15, atol=1e-300)


@pytest.mark.parametrize(
    ("operator", "kinks", "inside", "outside"),
    [
        (lambda x: x.clamp(-1, 1), (-1, 1), (1, 1), (0, 0)),
        (lambda x: x.clamp_(-1, 1), (-1, 1), (1, 1), (0, 0)),
        (nn.Hardtanh(), (-1, 1), (1, 1), (0, 0)),
        (nn.Hardswish(), (-3, 3), (-0.5, 1.5), (0, 1)),
        (nn.Hardswish(inplace=True), (-3, 3), (-0.5, 1.5), (0, 1)),
        (nn.Hardsigmoid(), (-3, 3), (1 / 6, 1 / 6), (0, 0)),
        (nn.Hardsigmoid(inplace=True), (-3, 3), (1 / 6, 1 / 6), (0, 0)),
        (nn.Softshrink(), (-0.5, 0.5), (0, 0), (1, 1)),
        (nn.ELU(0.5), (0,), (1,), (0.5,)),
        (nn.ELU(0.5, inplace=True), (0,), (1,), (0.5,)),
        (nn.SELU(), (0,), (1.0507009873554805,), (1.7580993408473766,)),
    ],
)
def test_a_flip_takes_the_slope_beyond_the_kink(tmp_path, operator, kinks, inside, outside):
    x = np.float32(np.array(kinks)[:, None] + [-1e-6, 1e-6])  # a row for each kink
    np.save(tmp_path / "x.npy", x)
    network, drawn = bent(operator), sample(file(tmp_path / "x.npy"))
    near = [(0, index) for index in np.ndindex(x.shape)]
    located = locate(Measurement(network, drawn, "train", U), near)
    sides = np.array([flip.taken for flip in located]).reshape(x.shape)
    assert set(sides.reshape(-1)) == {0, 1}
    for flipped, at in ((False, sides), (True, 1 - sides)):
        found, _ = slopes(network, drawn, ChosenBranches(located, [flipped] * x.size))
        expected = np.where(at == 1, np.c_[list(inside)], np.c_[list(outside)])
        # So near its kink, the slope of a hardswish or an ELU is not quite that at the kink.
        np.testing.assert_allclose(found, expected, atol=2e-6)


def test_an_element_exactly_at_its_kink_takes_either_slope(tmp_path):
    x = np.float32([[127.0, -127.0, 5.0]])
    np.save(tmp_path / "x.npy", x)
    network, drawn = bent(lambda x: x.clamp(-127, 127)), sample(file(tmp_path / "x.npy"))
    measurement = Measurement(network, drawn, "train", U)
    near = locate(measurement, [(0, (0, 0)), (0, (0, 1))])
    assert [(flip.taken, flip.other) for flip in near] == [(1, 0), (1, 0)]
    found, values = slopes(network, drawn, ChosenBranches(near, [True, False]))
    assert found.tolist() == [[0.0, 1.0, 1.0]]
    assert values.tolist() == x.tolist()
    for moved in (1.0 + 2.0**-50, 1.0 - 2.0**-50):
        other = sample(file(tmp_path / "x.npy"))
        other.inputs = lambda *_, moved=moved: [x.astype(np.float64) * moved]
        assert slopes(network, other, ChosenBranches(near))[0].tolist() == [[1.0, 1.0, 1.0]]


class Steps(nn.Module):
    """The largest element is exactly at the bound, but for rounding, and a copy of 127 always."""

    def forward(self, x):
        step = x.abs().amax(1, keepdim=True).detach() / 127
        return torch.cat([(x / step), torch.full_like(step, 127.0)], 1).clamp(-127, 127)


def test_what_is_computed_to_be_exactly_at_a_bound_may_flip_but_no_copy_of_it():
    drawn = sample(normal(64, 8))
    (x,) = drawn.inputs()
    measurement = Measurement(TorchNetwork(STEPS, {}), drawn, "train", U)
    found = {flip.index for flip in may_flip(measurement)}
    assert found == {(row, int(column)) for row, column in enumerate(np.abs(x).argmax(1))}


def test_the_truth_takes_one_branch_where_an_element_is_exactly_at_a_bound():
    """Perturbed runs would take either, and zeros would pass."""
    drawn = sample(normal(64, 8))
    measurement = Measurement(TorchNetwork(STEPS, {}), drawn, "train", U)
    expected = begin(measurement)
    assert len(expected.near) == 128
    gradient = add_noise(measurement, expected)["gradient:input[0]"]
    assert gradient.spread < 4.0 * U * np.linalg.norm(gradient.truth)


def test_a_single_number_takes_the_slope_beyond_its_kink():
    network, drawn = bent(lambda x: x.sum().clamp(max=0.0) * torch.ones(4, 5)), sample(normal(4, 5))
    measurement = Measurement(network, drawn, "train", U)
    (flip,) = locate(measurement, [(0, ())])
    assert str(flip) == "clamp at ()"
    gradients = [
        measurement.run(watch=ChosenBranches([flip], [other]))["gradient:input[0]"]
        for other in (0, 1)
    ]
    assert sorted(bool(gradient.any()) for gradient in gradients) == [False, True]


def test_an_activation_that_is_flipped_moves_to_its_kink():
    network, drawn = bent(F.relu), sample(normal(4, 5))
    (x,) = drawn.inputs()
    index = tuple(int(i) for i in np.unravel_index(x.argmax(), x.shape))
    (flip,) = locate(Measurement(network, drawn, "train", U), [(0, index)])
    _, output = slopes(network, drawn, ChosenBranches([flip], [True]))
    assert output[index] == 0.0


@given(poolings())
@settings(max_examples=50)
def test_a_flip_of_a_max_pooling_lets_the_second_largest_win(arguments):
    x, kernel, stride, padding, dilation, ceil_mode = arguments
    x = x + torch.arange(x.numel()).reshape(x.shape) / 1024  # no ties
    call = (x[None, None], kernel, stride, padding, dilation, ceil_mode)
    values, indices = F.max_pool2d(*call, return_indices=True)
    for row, column in itertools.product(*map(range, values.shape[-2:])):
        index, winner = (0, 0, row, column), int(indices[0, 0, row, column])
        if values[index] == -torch.inf:
            continue  # a window of padding alone
        without = x.clone().reshape(-1)
        without[winner] = -torch.inf
        second, place = F.max_pool2d(without.reshape(call[0].shape), *call[1:], return_indices=True)
        if second[index] == -torch.inf:
            continue  # a window of one entry, never near a kink
        arguments = (call[0], *map(list, call[1:5]), ceil_mode)
        assert two_largest(CHOICES[POOL], arguments, index) == (winner, int(place[index]))
        flip = Flip("", 0, "max_pool2d", index, 0.0, 0, winner, int(place[index]))
        with torch.no_grad(), ChosenBranches([flip], [True]):
            flipped, chosen = F.max_pool2d(*call, return_indices=True)
        assert flipped[index] == second[index]
        assert chosen[index] == place[index]
        assert int((chosen != indices).sum()) == 1


def test_windows_with_the_same_two_largest_entries_flip_together():
    """Which of two entries is the larger is decided once, however many windows have both."""
    network = TorchNetwork("torch.nn:MaxPool2d", {"kernel_size": 3, "stride": 1, "padding": 1})
    x = np.zeros((1, 2, 5, 5), np.float32)
    x[0, :, 2, 2], x[0, :, 2, 3] = 2.0, 1.0
    drawn = sample(normal(1, 2, 5, 5))
    drawn.inputs = lambda *_: [x]
    windows = [(0, 0, row, column) for row in (1, 2, 3) for column in (2, 3)]
    other = (0, 1, 2, 2)
    measurement = Measurement(network, drawn, "train", U)
    one, two = locate(measurement, [(0, index) for index in (*windows, other)])
    assert (one.indices, two.indices) == (tuple(windows), (other,))
    assert str(one).endswith("at (0, 0, 1, 2) and 5 more")
    output = measurement.run(watch=ChosenBranches([one, two], [True, False]))["output.0"][0, 0]
    assert all(output[index[2:]] == 1.0 for index in windows)
    assert (output == 2.0).sum() == 3  # windows with the larger entry alone


@pytest.mark.parametrize(
    "operator",
    [
        lambda x: x.max(1)[0],
        lambda x: x.min(1, keepdim=True)[0],
        lambda x: x.amax(1),
        lambda x: x.amin((1,), keepdim=True),
        lambda x: F.adaptive_max_pool2d(x[None], (4, 1)),
        lambda x: F.max_pool3d(x[None, None], (1, 1, 5)),
    ],
)
def test_a_flip_of_what_is_chosen_lets_the_second_have_the_gradient(operator):
    network, drawn = bent(operator), sample(normal(4, 5))
    (x,) = drawn.inputs()
    least = not np.isin(x.max(), network.run(drawn, "train", "float64")["output.0"])
    order = np.argsort(x if least else -x, axis=1)
    measurement = Measurement(network, drawn, "train", U)
    watch = KinkWatch()
    measurement.forward(watch=watch)
    rows = [tuple(index) for index in np.ndindex(*watch.quantities[0].shape)]
    near = locate(measurement, [(0, index) for index in rows])
    for mask in ([False] * 4, [True, False, False, True]):
        run = measurement.run(watch=ChosenBranches(near, mask))
        chosen = order[range(4), np.array(mask, int)]
        assert np.array_equal(run["gradient:input[0]"] != 0.0, np.eye(5)[chosen] == 1.0)
        np.testing.assert_allclose(
            run["output.0"].reshape(-1)[~np.array(mask)], x[range(4), chosen][~np.array(mask)]
        )


@pytest.mark.parametrize(
    ("operator", "below"),
    [
        (lambda x: torch.maximum(x, x.new_full((5,), 0.25)), 0.0),
        (lambda x: x - torch.min(x, x.new_full((4, 1), 0.25)), 0.0),
        (lambda x: torch.max(x, -x), -1.0),
    ],
)
def test_a_flip_of_the_larger_of_two_tensors_takes_the_other(operator, below):
    network, drawn = bent(operator), sample(normal(4, 5))
    near = [(0, (0, 1)), (0, (3, 4))]
    located = locate(Measurement(network, drawn, "train", U), near)
    true, _ = slopes(network, drawn, ChosenBranches(located))
    flipped, _ = slopes(network, drawn, ChosenBranches(located, [True, True]))
    expected = true.copy()
    for _, index in near:
        expected[index] = below if true[index] == 1.0 else 1.0
    np.testing.assert_array_almost_equal_nulp(flipped, expected)


def test_a_flip_is_made_exactly_where_every_result_is_rounded():
    """What holds a branch is no part of the run: rounding it may take it back across its kink."""
    network, drawn = bent(lambda x: F.hardtanh(x, 0.25, 6.0)), sample(normal(4, 5))
    measurement = Measurement(network, drawn, "train", U)
    near = locate(measurement, [(0, index) for index in np.ndindex(4, 5)])
    rounded = Noise(2.0**-8, 0)
    with rounded:
        found, _ = slopes(network, drawn, ChosenBranches(near, [True] * 20))
    taken = np.array([flip.taken for flip in near]).reshape(4, 5)
    assert np.array_equal(found != 0.0, taken == 0)


def test_a_run_that_flips_nothing_is_the_truth():
    network, drawn = TorchNetwork(UNBIASED, {"layers": 2, "planes": 3}), small()
    located = locate(
        Measurement(network, drawn, "train", U), [(0, (0, 0, 1, 1)), (1, (0, 2, 3, 2))]
    )
    true = network.run(drawn, "train", "float64")
    held = network.run(drawn, "train", "float64", ChosenBranches(located))
    assert all(np.array_equal(true[name], held[name]) for name in true)


def test_a_held_activation_keeps_its_branch_wherever_it_is_moved():
    network, drawn = bent(F.relu), sample(normal(4, 5))
    located = locate(
        Measurement(network, drawn, "train", U), [(0, index) for index in np.ndindex(4, 5)]
    )
    network.module.operator = lambda x: F.relu(-x)
    held, _ = slopes(network, drawn, ChosenBranches(located))
    assert np.array_equal(-held, drawn.inputs()[0] > 0)


def small(seed=0):
    return sample(normal(2, 2, 8, 7), seed=seed)


# Names.


class Named(nn.Module):
    """A pooling, a ReLU used twice, and a ReLU by function."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(2, 2, 1), nn.MaxPool2d(2))
        self.block = nn.ModuleDict({"relu": nn.ReLU(inplace=True), "inner": Bent(F.leaky_relu)})

    def forward(self, x):
        x = self.block["relu"](self.stem(x) + 1.0)
        return torch.abs(self.block["inner"](self.block["relu"](x - 2.0)) - 0.5)


def test_a_flip_is_named_by_the_innermost_module_and_its_call():
    near = [(place, (0, 1, 2, 0)) for place in range(5)]
    located = locate(Measurement(TorchNetwork(HERE + "Named", {}), small(), "train", U), near)
    assert [str(flip) for flip in located] == [
        "stem.1 at (0, 1, 2, 0)",
        "block.relu (1st call) at (0, 1, 2, 0)",
        "block.relu (2nd call) at (0, 1, 2, 0)",
        "block.inner at (0, 1, 2, 0)",
        "abs at (0, 1, 2, 0)",
    ]
    operators = ["max_pool2d", "relu", "relu", "leaky_relu", "abs"]
    assert [flip.operator for flip in located] == operators


def test_naming_leaves_no_hooks():
    network = TorchNetwork(HERE + "Named", {})
    locate(Measurement(network, small(), "train", U), [(0, (0, 1, 2, 0))])
    for module_ in network.module.modules():
        assert not module_._forward_hooks
        assert not module_._forward_pre_hooks


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (12, "12th"),
        (13, "13th"),
        (21, "21st"),
        (22, "22nd"),
        (103, "103rd"),
        (111, "111th"),
    ],
)
def test_calls_are_counted_as_people_do(number, word):
    flip = Flip("relu", number, "relu", (0,), 0.0, 0, 0, 1)
    assert str(flip) == f"relu ({word} call) at (0,)"
