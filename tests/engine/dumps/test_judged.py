"""Recorded runs, judged by the original on what was recorded to go in."""

import mindspore as ms
import numpy as np
import pytest
import torch
from torch import nn

from equivalence import recorded
from equivalence.__main__ import main
from equivalence.dumps import judged, read
from equivalence.errors import DeclarationError
from equivalence.sides.torch_network import TorchNetwork
from tests.engine.dumps import recorded_ms, recorded_pt

NET = "tests.engine.dumps.recorded_pt:Net"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 4)).astype(np.float32)
Y = RNG.normal(size=(6, 2)).astype(np.float32)


@pytest.fixture(autouse=True)
def pynative():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


@pytest.fixture
def runs(tmp_path):
    """Records a step of either side under a name; `spoil` changes the network first."""
    torch.manual_seed(0)
    weights = {name: each.numpy().copy() for name, each in recorded_pt.Net().state_dict().items()}

    def run(name, side, spoil=None, **options):
        def context(net):
            if spoil:
                spoil(net)
            return recorded(tmp_path / name, net, **options)

        side.trained(context, X, Y, weights, steps=1)
        return str(tmp_path / name)

    return run


def leaky(net):
    net.body[2] = ms.nn.LeakyReLU(1e-3)


def test_right_runs_are_equal_where_files_alone_tell_nothing(runs, capsys):
    sides = runs("a", recorded_pt), runs("b", recorded_ms)
    assert main(["compare", *sides]) == 1
    assert "--reference MODULE:ATTRIBUTE" in capsys.readouterr().out
    main(["compare", *sides, "--reference", NET])
    told = capsys.readouterr().out
    assert told.startswith("UNDECIDED")  # for the weights that the optimiser has moved
    assert "hide the small update" in told
    assert f"{sides[0]} is right: 27 of 27 arrays" in told
    assert f"{sides[1]} is right: 27 of 27 arrays" in told
    assert "wrong by the original" not in told


def test_the_run_that_departs_is_named_with_its_first_array(runs, capsys):
    sides = runs("a", recorded_pt), runs("b", recorded_ms, leaky)
    assert main(["compare", *sides, "--reference", NET]) == 1
    told = capsys.readouterr().out
    assert told.startswith("DIFFERENT")
    assert f"{sides[0]} is right" in told
    assert f"{sides[1]} departs first at step0/body.2/forward.0.output.0" in told


def test_two_runs_that_are_wrong_alike_are_not_equal(runs, capsys):
    sides = runs("a", recorded_ms, leaky), runs("b", recorded_ms, leaky)
    assert main(["compare", *sides]) == 0
    assert main(["compare", *sides, "--reference", NET]) == 1
    assert capsys.readouterr().out.count("departs first at") == 2


class Plain(nn.Module):
    """N,4 -> N,2, and a keyword."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x, scale=None):
        return self.fc(x) * scale


PLAIN = f"{__name__}:Plain"


def inference(folder, wrong=0.0, **options):
    torch.manual_seed(0)
    net = Plain().eval()
    with recorded(folder, net, **options), torch.no_grad():
        net(torch.from_numpy(X), scale=torch.tensor([2.0]))
        net.fc.bias += wrong
    return read.read(folder)


def test_a_run_without_gradients_is_judged_forward_in_the_phase_that_it_says(tmp_path):
    dump = inference(tmp_path / "a")
    assert dump.made["phase"] == "eval"
    found = judged.judge(dump, TorchNetwork(PLAIN, {}), "eval", {})
    assert {*found.roundings} == {"step0/fc/forward.0.output.0", "step0/forward.0.output.0"} | {
        "step0/fc/forward.0.input.0"
    }
    assert max(found.roundings.values()) < 2.0


def test_a_sketch_is_judged_by_its_sketch(tmp_path):
    dump = inference(tmp_path / "a", whole=26)
    assert not any(each.sketch for each in dump.arrays.values())
    large = np.random.default_rng(1).normal(size=(40, 4)).astype(np.float32)
    net = Plain()
    for name, factor in (("right", 1.0), ("wrong", 1.001)):
        net.fc.register_forward_hook(lambda *_, factor=factor: _[2] * factor)
        with recorded(tmp_path / name, net.eval(), whole=170), torch.no_grad():
            net(torch.from_numpy(np.tile(large, (1, 1))), scale=torch.ones(40, 2).mul(1.0)[:1])
        found = judged.judge(read.read(tmp_path / name), TorchNetwork(PLAIN, {}), "eval", {})
        assert (max(found.roundings.values()) < 8.0) == (name == "right")


def test_what_cannot_be_judged_is_said(tmp_path):
    dump = inference(tmp_path / "a", whole=20)
    with pytest.raises(DeclarationError, match="a sketch alone; record it with a larger `whole`"):
        judged.judge(dump, TorchNetwork(PLAIN, {}), "eval", {})
    dump = inference(tmp_path / "b")
    dump.arrays = {name: each for name, each in dump.arrays.items() if "start/" not in name}
    with pytest.raises(DeclarationError, match="weights that it begins with are not recorded"):
        judged.judge(dump, TorchNetwork(PLAIN, {}), "eval", {})
    with pytest.raises(DeclarationError, match="no recorded weight belongs to"):
        judged.judge(inference(tmp_path / "c"), TorchNetwork(NET, {}), "eval", {})


def test_arrays_without_a_run_and_a_wrong_target_are_refused(tmp_path, capsys):
    np.save(tmp_path / "x.npy", X)
    file = str(tmp_path / "x.npy")
    assert main(["compare", file, file, "--reference", NET]) == 2
    assert "is no run that `recorded` has written" in capsys.readouterr().err
    inference(tmp_path / "a")
    run = str(tmp_path / "a")
    assert main(["compare", run, run, "--reference", "nowhere.py"]) == 2
    assert "is not MODULE:ATTRIBUTE; write nowhere:Net" in capsys.readouterr().err
