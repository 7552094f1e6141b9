"""Moving a sample off its kinks: biases shifted, ties drawn anew, or kept as they are."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from equivalence.declare.draws import normal
from equivalence.kinks import watch as watching
from equivalence.kinks.settler import Settler
from equivalence.kinks.watch import MANY, KinkWatch, few
from equivalence.sample import Perturbed
from equivalence.sides.torch_network import TorchNetwork
from equivalence.truth import compute as truth
from equivalence.truth.measurement import Measurement
from tests.engine.parts.small import PT, sample, watched

U = 2.0**-24


class Layered(nn.Module):
    """A layer with a bias, then a ReLU."""

    def __init__(self, layer, relu=None):
        super().__init__()
        self.layer, self.relu = layer, relu or nn.ReLU()

    def forward(self, x):
        return self.relu(self.layer(x))


def settle(network, x, margins, dtype="float32"):
    """Runs `network` under a Settler; the shifts and what the ReLUs saw."""
    names = {p.data_ptr(): name for name, p in network.named_parameters()}
    settler = Settler([torch.tensor(margin) for margin in margins], names, dtype)
    with torch.no_grad(), KinkWatch() as watch, settler:
        network(x)
    return settler.shifts, watch.quantities


def zero_layer(layer):
    """Everything that comes out of it is its bias, zero."""
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
    return layer.double().eval()


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: nn.Linear(3, 4), (2, 3)),
        (lambda: nn.Conv2d(3, 4, 3), (2, 3, 5, 5)),
        (lambda: nn.BatchNorm2d(4), (2, 4, 5, 5)),
    ],
    ids=["linear", "convolution", "batch norm"],
)
@pytest.mark.parametrize(
    "relu",
    [nn.ReLU(), nn.ReLU(inplace=True), nn.ReLU6(), nn.ReLU6(inplace=True)],
    ids=["copied", "in place", "relu6", "relu6 in place"],
)
def test_activations_at_a_kink_are_moved_by_the_bias_of_their_layer(layer, shape, relu):
    network = Layered(zero_layer(layer()), relu)
    margin = 1e-3
    shifts, _ = settle(network, torch.randn(shape, dtype=torch.float64), [margin])
    assert list(shifts) == ["layer.bias"]
    assert (np.abs(shifts["layer.bias"]) > margin).all()
    # What the network then does is what it did while it was settled.
    with torch.no_grad():
        network.layer.bias += torch.from_numpy(shifts["layer.bias"])
    (settled,) = watched(network, torch.randn(shape, dtype=torch.float64))
    assert bool((settled.abs() > margin).all())


def test_a_batch_norm_that_trains_is_settled_too():
    network = Layered(zero_layer(nn.BatchNorm2d(4)).train())
    shifts, _ = settle(network, torch.randn(2, 4, 5, 5, dtype=torch.float64), [1e-3])
    assert (np.abs(shifts["layer.bias"]) > 1e-3).all()


@pytest.mark.parametrize("at", [0.0, 6.0])
def test_a_relu6_is_moved_off_both_of_its_kinks(at):
    layer = zero_layer(nn.Linear(3, 4))
    with torch.no_grad():
        layer.bias += torch.tensor([at, 3.0, -2.0, 8.0])
    network = Layered(layer, nn.ReLU6())
    x = torch.randn(2, 3, dtype=torch.float64)
    shifts, _ = settle(network, x, [1e-3])
    assert np.flatnonzero(shifts["layer.bias"]).tolist() == [0]
    with torch.no_grad():
        layer.bias += torch.from_numpy(shifts["layer.bias"])
    (settled,) = watched(network, x)
    assert 1e-3 < float(settled.abs().min()) < 1e-2


def test_channels_off_the_kink_are_left_alone():
    network = Layered(zero_layer(nn.Linear(3, 4)))
    with torch.no_grad():
        network.layer.bias += torch.tensor([1.0, 0.0, -1.0, 2.0])
    shifts, _ = settle(network, torch.randn(2, 3, dtype=torch.float64), [1e-3])
    assert np.flatnonzero(shifts["layer.bias"]).tolist() == [1]


def test_without_a_margin_an_operator_is_left_alone():
    layer = zero_layer(nn.Linear(3, 4))
    settler = Settler([None], {layer.bias.data_ptr(): "bias"}, "float32")
    with torch.no_grad(), settler:
        F.relu(layer(torch.randn(2, 3, dtype=torch.float64)))
    assert settler.shifts == {}


def test_each_channel_keeps_its_own_margin():
    layer = zero_layer(nn.Linear(3, 2))
    settler = Settler([torch.tensor([[1e-3, 1.0]])], {layer.bias.data_ptr(): "bias"}, "float32")
    with torch.no_grad(), settler:
        F.relu(layer(torch.randn(5, 3, dtype=torch.float64)))
    narrow, wide = np.abs(settler.shifts["bias"])
    assert 1e-3 < narrow < 1.0 < wide


def test_an_activation_without_a_bias_is_left_alone():
    network = Layered(zero_layer(nn.Conv2d(3, 4, 3, bias=False)))
    shifts, _ = settle(network, torch.randn(2, 3, 5, 5, dtype=torch.float64), [1e-3])
    assert shifts == {}


def test_a_max_pooling_is_not_moved_and_takes_its_margin_from_the_list():
    before, behind = zero_layer(nn.Conv2d(3, 4, 1)), zero_layer(nn.Conv2d(4, 4, 1))
    network = nn.Sequential(before, nn.MaxPool2d(2), Layered(behind))
    shifts, _ = settle(network, torch.zeros(2, 3, 4, 4, dtype=torch.float64), [5.0, 1e-3])
    assert list(shifts) == ["2.layer.bias"]
    assert (np.abs(shifts["2.layer.bias"]) < 1.0).all()


@pytest.mark.parametrize(
    "norm",
    [
        lambda x, weight, bias: F.batch_norm(x, weight * 0, weight, weight, bias),
        lambda x, weight, bias: F.batch_norm(x, weight * 0, weight, weight, bias, training=True),
        lambda x, weight, bias: torch.ops.aten._native_batch_norm_legit_no_training(
            x, weight, bias, weight * 0, weight, 0.1, 1e-5
        )[0],
        lambda x, weight, bias: torch.ops.aten._native_batch_norm_legit(
            x, weight, bias, weight * 0, weight, True, 0.1, 1e-5
        )[0],
    ],
)
def test_the_bias_is_found_whatever_operator_normalises(norm):
    weight, bias = torch.ones(4), torch.zeros(4)
    settler = Settler([torch.tensor(1e-3)], {bias.data_ptr(): "bias"}, "float32")
    with settler:
        F.relu(norm(torch.zeros(2, 4, 3, 3), weight, bias))
    assert list(settler.shifts) == ["bias"]


def test_what_follows_is_settled_with_what_was_moved_before_it():
    first, second = zero_layer(nn.Linear(3, 4)), zero_layer(nn.Linear(4, 4))
    x, margin = torch.randn(2, 3, dtype=torch.float64), 2.0**-10
    with torch.no_grad():
        second.weight += torch.eye(4, dtype=torch.float64)
        second.bias -= 2.0 * margin  # where the shift of the first leads to the kink
    network = nn.Sequential(Layered(first), Layered(second))
    shifts, _ = settle(network, x, [margin, margin])
    assert list(shifts) == ["0.layer.bias", "1.layer.bias"]
    with torch.no_grad():
        for name, shift in shifts.items():
            network.get_parameter(name).add_(torch.from_numpy(shift))
    assert all(bool((quantity.abs() > margin).all()) for quantity in watched(network, x))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@given(bias=st.floats(-2, 2, width=16), margin=st.floats(1e-5, 1e-2))
def test_a_shifted_bias_is_a_number_of_the_dtype(dtype, bias, margin):
    shifts = list(itertools.islice(Settler([], {}, dtype)._shifts(bias, margin), 8))
    assert all(float(np.dtype(dtype).type(bias + shift)) == bias + shift for shift in shifts)
    assert shifts[0] >= 0.0 >= shifts[1]


def test_the_smallest_shift_that_helps_is_taken():
    network = Layered(zero_layer(nn.Linear(1, 1)))
    with torch.no_grad():
        network.layer.weight += 1.0
    # 0 must go beyond the margin, -3 margins must not come back to the kink.
    x = torch.tensor([[0.0], [-3.0]], dtype=torch.float64) * 2.0**-10
    shifts, _ = settle(network, x, [2.0**-10])
    assert shifts["layer.bias"].tolist() == [-2.0 * 2.0**-10]


# In a sample.


def watched_run(network, drawn):
    """The kink quantities of a run of the sample, and the spreads of their perturbation."""
    watch = KinkWatch()
    network.run(drawn, "train", "float64", watch)
    apart = KinkWatch(watch)
    network.run(Perturbed(drawn, 0, U), "train", "float64", apart)
    return watch, apart.spreads


def near_kinks(network, drawn):
    """How many elements of each operator lie near a kink."""
    watch, spreads = watched_run(network, drawn)
    return watch.near(spreads)


def nearest(network, drawn):
    """The distance from the kink of the nearest element, in spreads."""
    watch, (spread,) = watched_run(network, drawn)
    return float((watch.quantities[0].abs() / spread).min())


def reach(monkeypatch, network, drawn):
    """Lets near reach so far that a few elements are."""
    distance = nearest(network, drawn)
    monkeypatch.setattr(watching, "SAFE", 1.5 * distance)
    monkeypatch.setattr(watching, "MARGIN", 2.0 * distance)
    assert few(*near_kinks(network, drawn))


def rectified(monkeypatch):
    """A network, and a sample that counts as near one of its kinks."""
    network, drawn = TorchNetwork(PT + "Rectified", {}), sample(normal(8, 4))
    reach(monkeypatch, network, drawn)
    return network, drawn


def test_a_settled_sample_has_nothing_near_a_kink(monkeypatch):
    network, drawn = rectified(monkeypatch)
    network.settle(drawn, [Perturbed(drawn, 0, U)], "train")
    assert list(drawn.shifts) == ["dense.bias"]
    assert near_kinks(network, drawn) == [0]


def test_the_truth_is_that_of_the_settled_sample(monkeypatch):
    network, drawn = rectified(monkeypatch)
    known = truth.compute(Measurement(network, drawn, "train", U))
    assert drawn.shifts
    assert drawn.redraw == 0
    settled = network.run(drawn, "train", "float64")
    assert all(np.array_equal(known[name].truth, settled[name]) for name in settled)


def test_a_shift_reaches_the_weights_exactly(monkeypatch):
    network, drawn = rectified(monkeypatch)
    before = drawn.weight("dense.bias", (3,)).astype(np.float64)
    network.settle(drawn, [Perturbed(drawn, 0, U)], "train")
    after = drawn.weight("dense.bias", (3,))
    assert after.dtype == np.float32
    assert np.array_equal(after.astype(np.float64) - before, drawn.shifts["dense.bias"])


def test_an_operator_with_many_near_is_left_alone(monkeypatch):
    margins = []

    class Watched(Settler):
        def __init__(self, given, *others):
            margins.extend(given)
            super().__init__(given, *others)

    network, drawn = rectified(monkeypatch)
    monkeypatch.setattr("equivalence.sides.torch_network.Settler", Watched)
    monkeypatch.setattr(network, "module", nn.Sequential(network.module, nn.ReLU()))
    monkeypatch.setattr(KinkWatch, "near", lambda *_: [1, MANY])
    network.settle(drawn, [Perturbed(drawn, 0, U)], "train")
    assert [margin is not None for margin in margins] == [True, False]


def test_a_sample_with_many_near_everywhere_is_left_alone(monkeypatch):
    network, drawn = rectified(monkeypatch)
    monkeypatch.setattr(KinkWatch, "near", lambda *_: [MANY])
    monkeypatch.setattr("equivalence.sides.torch_network.Settler", None)
    network.settle(drawn, [Perturbed(drawn, 0, U)], "train")
    assert drawn.shifts == {}


def test_the_shifts_of_two_settlings_add_up(monkeypatch):
    network, drawn = rectified(monkeypatch)
    before = drawn.weight("dense.bias", (3,)).astype(np.float64)
    network.settle(drawn, [Perturbed(drawn, 0, U)], "train")
    first = drawn.shifts["dense.bias"].copy()
    reach(monkeypatch, network, drawn)
    network.settle(drawn, [Perturbed(drawn, 0, U)], "train")
    both = drawn.shifts["dense.bias"]
    assert not np.array_equal(first, both)
    assert np.array_equal(drawn.weight("dense.bias", (3,)).astype(np.float64) - before, both)


def test_a_sample_far_from_kinks_is_left_as_it_is():
    network, drawn = TorchNetwork(PT + "Rectified", {}), sample(normal(8, 4))
    network.settle(drawn, [Perturbed(drawn, 0, U)], "train")
    assert drawn.shifts == {}


# Ties in a max pooling.


def tied(monkeypatch):
    """A convolution and its pooling, a sample, and the channels of the one window that ties."""
    network, drawn = TorchNetwork(PT + "Pooled", {}), sample(normal(2, 2, 6, 6))
    watch, (spread,) = watched_run(network, drawn)
    gaps = watch.quantities[0] / spread
    monkeypatch.setattr(watching, "SAFE", 1.0001 * float(gaps.min()))
    assert near_kinks(network, drawn) == [1]
    return network, drawn, (gaps == gaps.min()).nonzero()[0, 1].item()


def test_windows_that_tie_are_told_by_kernel_and_channel(monkeypatch):
    network, drawn, channel = tied(monkeypatch)
    watch, spreads = watched_run(network, drawn)
    kernel = network.module.conv.weight.data_ptr()
    assert watch.ties(spreads, {kernel: "conv.weight"}) == [("conv.weight", [channel])]
    assert watch.ties(spreads, {}) == []


def test_a_channel_with_several_ties_is_told_once_and_many_are_not_told(monkeypatch):
    network, drawn, _ = tied(monkeypatch)
    watch, spreads = watched_run(network, drawn)
    names = {network.module.conv.weight.data_ptr(): "conv.weight"}
    windows = watch.quantities[0].numel()
    monkeypatch.setattr(watching, "SAFE", 1e12)
    monkeypatch.setattr(watching, "MANY", windows + 1)
    assert watch.ties(spreads, names) == [("conv.weight", [0, 1, 2])]
    monkeypatch.setattr(watching, "MANY", windows)
    assert watch.ties(spreads, names) == []


def test_a_channel_that_ties_is_drawn_anew_and_the_others_are_kept(monkeypatch):
    network, drawn, channel = tied(monkeypatch)
    before = drawn.weight("conv.weight", (3, 2, 3, 3)).copy()
    network.settle(drawn, [Perturbed(drawn, 0, U)], "train")
    moved = (drawn.weight("conv.weight", (3, 2, 3, 3)) != before).any((1, 2, 3))
    assert np.flatnonzero(moved).tolist() == [channel]
    assert near_kinks(network, drawn) == [0]
    assert drawn.redraw == 0


def pooling():
    """A network with kinks that no bias can move a sample off."""
    return TorchNetwork("torch.nn:MaxPool2d", {"kernel_size": 2})


def test_a_sample_that_no_shift_helps_is_drawn_again(monkeypatch):
    def both_draws(seed):
        drawn = sample(normal(1, 1, 8, 8), seed=seed)
        first = nearest(pooling(), drawn)
        drawn.draw_again()
        return first, nearest(pooling(), drawn)

    seed = next(s for s in itertools.count() if both_draws(s)[0] < both_draws(s)[1])
    monkeypatch.setattr(watching, "SAFE", sum(both_draws(seed)) / 2)
    drawn = sample(normal(1, 1, 8, 8), seed=seed)
    truth.compute(Measurement(pooling(), drawn, "train", U))
    assert drawn.redraw == 1


def test_what_no_draw_helps_is_kept_as_near_the_last_sample(monkeypatch):
    drawn = sample(normal(1, 1, 8, 8))
    monkeypatch.setattr(watching, "SAFE", 100 * nearest(pooling(), drawn))
    monkeypatch.setattr(truth, "CROWDED", MANY)
    known = truth.compute(Measurement(pooling(), drawn, "train", U))
    assert drawn.redraw == truth.MAX_DRAWS - 1 == 3
    settled = pooling().run(drawn, "train", "float64")
    assert np.array_equal(known["output.0"].truth, settled["output.0"])
    watch, _ = watched_run(pooling(), drawn)
    assert known.near
    for flip in known.near:
        assert flip.operator == "max_pool2d"
        assert flip.value == float(watch.quantities[0][flip.index])


def test_a_relu_behind_another_is_well_posed():
    network, drawn = TorchNetwork(PT + "RectifiedTwice", {}), sample(normal(5, 4))
    known = truth.compute(Measurement(network, drawn, "train", U))
    assert (known["output.0"].truth == 0.0).any()
    assert drawn.redraw == 0


def test_many_near_a_kink_are_left_to_the_sensitivity(monkeypatch):
    monkeypatch.setattr(watching, "SAFE", 1e9)
    network, drawn = TorchNetwork("torch.nn:ReLU", {}), sample(normal(4, MANY))
    assert near_kinks(network, drawn) == [4 * MANY]
    assert truth.compute(Measurement(network, drawn, "train", U)).near == ()
    assert drawn.redraw == 0
