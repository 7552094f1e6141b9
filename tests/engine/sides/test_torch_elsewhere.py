"""The PyTorch side on another device than the CPU, shown on one that is everywhere.

Tensors of `meta` have no values, but PyTorch refuses to compute with them and such of the CPU, and
to hand them to NumPy, as it does with CUDA.
"""

import numpy as np
import pytest
import torch
from torch import nn

from equivalence.comparison import kept
from equivalence.comparison.sides import build_reference
from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin, cases
from equivalence.host.devices import place
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.kinks.watch import KinkWatch
from equivalence.sample import Perturbed
from equivalence.sides import torch_network, torch_training
from equivalence.sides.torch_network import TorchNetwork, beside
from equivalence.sides.torch_noise import Noise
from equivalence.sides.torch_training import TorchTraining
from equivalence.timing.sides import torch_step
from equivalence.truth.known import Reference
from equivalence.truth.undecided import watch_gradients
from tests.engine.parts.small import sample
from tests.twins import declared

HERE = "tests.engine.sides.test_torch_elsewhere:"
IMAGES = normal(2, 3, 8, 8)


class Convolved(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2)
        )


class Created(nn.Module):
    """Computes with tensors that it creates: one when it is built, one in each call."""

    def __init__(self):
        super().__init__()
        self.offset = torch.arange(8.0)

    def forward(self, x):
        return x * self.offset + torch.ones(8, dtype=x.dtype)


class LeftBehind(nn.Module):
    def forward(self, x):
        return x * torch.ones(8, device="cpu")


@pytest.fixture
def elsewhere(monkeypatch):
    """Networks are built on `meta`, and what comes back from there are zeros."""
    for module in (torch_network, torch_training):
        monkeypatch.setattr(module, "beside", lambda _: torch.device("meta"))
    back = torch.Tensor.cpu

    def cpu(tensor):
        return torch.zeros_like(tensor, device="cpu") if tensor.is_meta else back(tensor)

    monkeypatch.setattr(torch.Tensor, "cpu", cpu)


def looks(trace):
    return {name: (values.shape, values.dtype) for name, values in trace.items()}


@pytest.mark.parametrize("name", ["Convolved", "Created"])
def test_a_run_there_has_the_trace_of_one_here(name, request):
    here = TorchNetwork(HERE + name, {}).run(sample(IMAGES), "train", "float64")
    request.getfixturevalue("elsewhere")
    network = TorchNetwork(HERE + name, {})
    there = network.run(sample(IMAGES), "train", "float64")
    assert {p.device.type for p in network.module.parameters()} <= {"meta"}
    assert looks(there) == looks(here)


@pytest.mark.usefixtures("elsewhere")
def test_what_a_network_leaves_behind_is_refused():
    with pytest.raises(RuntimeError, match="device"):
        TorchNetwork(HERE + "LeftBehind", {}).run(sample(IMAGES), "eval", "float32")


@pytest.mark.usefixtures("elsewhere")
def test_a_part_of_a_network_is_where_the_network_is():
    part = TorchNetwork(HERE + "Convolved", {}).part("0")
    assert "output.0" in part.run(sample(IMAGES), "train", "float64")


@pytest.mark.usefixtures("elsewhere")
def test_a_run_there_is_rounded_and_watched():
    network, watch = TorchNetwork(HERE + "Convolved", {}), KinkWatch()
    network.run(Perturbed(sample(IMAGES), 0, 2.0**-11), "train", "float64")
    network.run(sample(IMAGES), "train", "float64", watch)
    apart = KinkWatch(watch)
    network.run(sample(IMAGES), "train", "float64", apart)
    assert {each.device.type for each in watch.quantities + apart.spreads} == {"meta"}
    assert len(apart.spreads) == 2


def test_a_training_there_has_the_trace_of_one_here(request):
    def train():
        drawn = sample(normal(6, 3, 4, 4), integers(6, high=5))
        made = TorchTraining("tests.engine.parts.steps_pt:classifier", {}, 1)
        with watch_gradients(made) as before:
            made.run(drawn, "train", "float64")
        with watch_gradients(made, before) as after:
            return looks(made.run(drawn, "train", "float64")), looks(after)

    here = train()
    request.getfixturevalue("elsewhere")
    assert train() == here


@pytest.mark.usefixtures("elsewhere")
def test_steps_there_can_be_timed():
    network, drawn = TorchNetwork(HERE + "Convolved", {}), sample(IMAGES)
    assert {each.device.type for each in torch_step(network, drawn)()} == {"meta"}
    training = TorchTraining("tests.engine.parts.steps_pt:classifier", {}, 1)
    batch = sample(normal(6, 3, 4, 4), integers(6, high=5))
    assert torch_step(training, batch)().device.type == "meta"


def test_coins_are_the_same_wherever_they_are_tossed():
    thirds = torch.full((50,), 1.0 / 3.0, dtype=torch.float64)
    here = Noise(0.5, 7)._round(thirds.clone(), 0.5)
    with torch.device("meta"):  # where a network there creates its tensors
        there = Noise(0.5, 7)._round(thirds.clone(), 0.5)
    assert torch.equal(here, there)
    assert set(np.unique(3.0 * here)) == {0.5, 1.5}


def test_a_reference_runs_on_cuda_beside_a_gpu_where_torch_has_it(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert beside(place("gpu")).type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert beside(place("gpu")).type == "cuda"
    assert beside(place("gpu.float32")).type == "cuda"
    for name in ("cpu", "ascend", "gpu.tf32.rehearsed"):
        assert beside(place(name)).type == "cpu"


def settings():
    cudnn = torch.backends.cudnn
    products = (torch.backends.cuda.matmul, cudnn.conv, cudnn.rnn)
    return [each.fp32_precision for each in products], cudnn.deterministic


@pytest.mark.parametrize("reference", ["torch.nn:ReLU", "tests.engine.parts.steps_pt:classifier"])
def test_the_reference_of_a_case_is_beside_its_candidate(reference, monkeypatch):
    asked = []
    for module in (torch_network, torch_training):
        monkeypatch.setattr(module, "beside", lambda it: asked.append(it) or torch.device("cpu"))
    steps = 1 if "steps" in reference else None
    twin = Twin("beside", reference, "mindspore.nn:ReLU", [IMAGES], phases=["train"], steps=steps)
    for device in ("cpu", "gpu.float32"):
        build_reference(next(cases(twin, device)))
    assert asked == [place("cpu"), place("gpu.float32")]


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(("name", "expected"), [("gpu", "tf32"), ("gpu.float32", "ieee")])
def test_it_multiplies_as_the_candidate_does_and_leaves_no_trace(name, expected):
    before, within = settings(), []
    network = TorchNetwork(HERE + "Created", {}, place(name))
    network.module.register_forward_hook(lambda *_: within.append(settings()))
    network.run(sample(IMAGES), "train", "float32")
    assert within == [([expected] * 3, True)] != [before]
    assert settings() == before


# --- Where a GPU is ------------------------------------------------------------------------------

ON_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch has no CUDA here")


def beside_a(device: str, name: str) -> Reference:
    """The reference of the first case of a twin on a device."""
    twin = next(each for each in declared("gpu") if each.name == name)
    return kept.reference(next(cases(twin, device)), 0)


@ON_CUDA
@pytest.mark.parametrize("name", ["bottleneck", "softmax", "focal_loss", "momentum", "lstm"])
def test_on_cuda_the_truth_is_that_of_a_cpu(name):
    here, there = beside_a("cpu", name).expected, beside_a("gpu.float32", name).expected
    assert list(here) == list(there)
    for tensor, expected in here.items():
        scale = np.abs(expected.truth).max(initial=0.0)
        assert np.abs(there[tensor].truth - expected.truth).max() <= 1e-9 * scale


@ON_CUDA
@pytest.mark.parametrize("device", ["gpu", "gpu.float32"])
@pytest.mark.parametrize("name", ["bottleneck", "softmax", "focal_loss", "momentum"])
def test_on_cuda_the_reference_s_own_run_is_within_the_budget(name, device):
    parts = [part for each in beside_a(device, name).expected.values() for part in each.parts]
    assert 0.0 < max(part.own_needed for part in parts) <= BUDGET


@ON_CUDA
def test_on_cuda_tf32_multiplies_in_fewer_bits():
    own = [
        beside_a(device, "bottleneck").expected["output.0"].own_needed * UNIT_ROUNDOFF[mode]
        for device, mode in (("gpu", "tf32"), ("gpu.float32", "float32"))
    ]
    assert own[0] > 100 * own[1]
