"""Runs that are recorded: either framework, what they hold, and that they compute the same."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest
import torch

from equivalence import recorded
from equivalence.__main__ import main
from equivalence.dumps import compare, read
from equivalence.errors import CheckpointError, DeclarationError
from tests.engine.dumps import recorded_ms, recorded_pt

ROOT = Path(__file__).parents[3]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 4)).astype(np.float32)
Y = RNG.normal(size=(6, 2)).astype(np.float32)
SIDES = {"torch": recorded_pt, "mindspore": recorded_ms}


@pytest.fixture(autouse=True)
def pynative():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


@pytest.fixture(scope="module")
def weights():
    torch.manual_seed(0)
    return {name: each.numpy().copy() for name, each in recorded_pt.Net().state_dict().items()}


def plain(_):
    return contextlib.nullcontext()


def into(folder, **options):
    """What records a network to a folder."""
    return lambda net: recorded(folder, net, **options)


def test_runs_of_two_frameworks_pair_up_name_by_name(tmp_path, weights):
    for name, side in SIDES.items():
        side.trained(into(tmp_path / name), X, Y, weights)
    found = compare.compare(tmp_path / "torch", tmp_path / "mindspore")
    assert not found.missing
    assert not found.extra
    assert found.reference.ordered
    assert not (*found.reference.notes, *found.candidate.notes)
    names = [pair.reference for pair in found.pairs]
    assert names[0].startswith("start/weights/")
    forward = [name for name in names if name.startswith("step0/body.0/forward")]
    assert forward == [
        f"step0/body.0/forward.{call}.{way}.0" for call in (0, 1) for way in ("input", "output")
    ]
    for each in ("step1/backward.0.output.0", "step1/body.1/backward.0.output.0", "step1/loss.0"):
        assert each in names
    assert {"step0/gradients/body.1.weight", "step0/weights/body.1.running_mean"} <= {*names}
    assert all(pair.relation.equal or pair.relation.largest < 1e-5 for pair in found.pairs)
    assert found.pairs[0].relation.equal


def test_a_wrong_weight_is_the_first_that_differs(tmp_path, weights):
    recorded_pt.trained(into(tmp_path / "a"), X, Y, weights)
    wrong = {**weights, "fc.bias": weights["fc.bias"] * 2}
    recorded_pt.trained(into(tmp_path / "b"), X, Y, wrong)
    found = compare.compare(tmp_path / "a", tmp_path / "b")
    assert found.different[0].reference == "start/weights/fc.bias"
    assert found.different[1].reference == "step0/fc/forward.0.output.0"


@pytest.mark.parametrize("side", SIDES)
def test_two_runs_of_one_framework_are_equal(side, tmp_path, weights, capsys):
    for name in "ab":
        SIDES[side].trained(into(tmp_path / name), X, Y, weights)
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert capsys.readouterr().out.startswith("EQUAL AS STORED")


@pytest.mark.parametrize("side", SIDES)
def test_a_recorded_training_computes_the_same_and_leaves_no_hook(side, tmp_path, weights):
    call = ms.nn.Cell.__call__
    alone, losses, _ = SIDES[side].trained(plain, X, Y, weights)
    seen, seen_losses, net = SIDES[side].trained(into(tmp_path / "a", whole=4), X, Y, weights)
    assert losses == seen_losses
    assert {n: v.tobytes() for n, v in alone.items()} == {n: v.tobytes() for n, v in seen.items()}
    assert ms.nn.Cell.__call__ is call
    if side == "torch":
        layers = [*net.modules()]
        assert not any(each._forward_hooks or each._forward_pre_hooks for each in layers)
        assert not any(each._backward_hooks for each in net.parameters())
    else:
        assert not any(each.hooks() for each in net.get_parameters())


@pytest.mark.parametrize("side", SIDES)
def test_only_the_chosen_steps_are_written(side, tmp_path, weights):
    SIDES[side].trained(into(tmp_path / "a", steps=[1, 7]), X, Y, weights)
    dump = read.read(tmp_path / "a")
    assert {name.partition("/")[0] for name in dump.arrays} == {"start", "step1"}
    assert dump.notes == [f"{tmp_path / 'a'}: 1 step did not come: 7"]


def test_large_arrays_are_sketched_and_told_apart(tmp_path, weights):
    recorded_pt.trained(into(tmp_path / "a", whole=4), X, Y, weights, steps=1)
    recorded_pt.trained(into(tmp_path / "b"), X, Y, weights, steps=1)
    assert compare.compare(tmp_path / "a", tmp_path / "b").equal
    with recorded(tmp_path / "c", torch.nn.Identity(), whole=4) as recorder:
        recorder.loss(X)
        recorder.loss(np.arange(9))
    with recorded(tmp_path / "d", torch.nn.Identity(), whole=4) as recorder:
        recorder.loss(X * 3)
        recorder.loss(np.arange(9) + 1)
    pairs = compare.compare(tmp_path / "c", tmp_path / "d").pairs
    assert [pair.relation.phrase for pair in pairs] == [
        "a constant factor of 3",
        "known by checksums only",
    ]
    assert not any(pair.relation.equal for pair in pairs)


def test_what_is_beyond_the_limit_is_told_and_counted(tmp_path, weights):
    with pytest.warns(UserWarning, match="the record is full: .* of step 0"):
        recorded_pt.trained(into(tmp_path / "a", limit=1500), X, Y, weights)
    (note,) = read.read(tmp_path / "a").notes
    assert "beyond the limit left out, from step0/" in note
    kept = sum(each.load().nbytes for each in read.read(tmp_path / "a").arrays.values())
    assert kept < 5000


def test_a_graph_gives_what_python_sees_and_the_rest_is_said(tmp_path, weights):
    ms.set_context(mode=ms.GRAPH_MODE)
    recorded_ms.trained(into(tmp_path / "a"), X, Y, weights, steps=1)
    dump = read.read(tmp_path / "a")
    assert "step0/loss.0" in dump.arrays
    assert "step0/weights/fc.weight" in dump.arrays
    assert ["graph mode" in dump.notes[0], "no call" in dump.notes[1]] == [True, True]
    net = recorded_ms.Net()
    with recorded(tmp_path / "b", net):
        net(ms.Tensor(X))
    dump = read.read(tmp_path / "b")
    assert {"step0/forward.0.input.0", "step0/forward.0.output.0"} <= {*dump.arrays}
    assert "5 layers not called by Python" in "".join(dump.notes)


def test_a_run_that_ends_by_an_exception_is_written_with_its_reason(tmp_path):
    net = torch.nn.Linear(4, 2)

    def run():
        with recorded(tmp_path / "a", net):
            net(torch.from_numpy(X))
            raise ValueError("no data")

    with pytest.raises(ValueError, match="no data"):
        run()
    dump = read.read(tmp_path / "a")
    assert "step0/forward.0.output.0" in dump.arrays
    assert dump.notes[0].endswith("it ended in step 0 by ValueError: no data")


def test_mistakes_are_told_in_a_sentence(tmp_path):
    net = torch.nn.Linear(4, 2)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("")
    for arguments, error, words in (
        (("b", "models:Net"), DeclarationError, "a network that is built.*'models:Net'"),
        (("a", net), CheckpointError, "is there already; name another folder"),
        (("b", net, ["1"]), DeclarationError, "steps are numbers from 0 on"),
    ):
        folder, *others = arguments
        with pytest.raises(error, match=words), recorded(tmp_path / folder, *others):
            pass
    told = pytest.raises(DeclarationError, match="a loss is a tensor or a number, not str")
    with recorded(tmp_path / "c", net) as recorder, told:
        recorder.loss("0.5")
    with pytest.raises(DeclarationError, match="the record is finished"):
        recorder.step()


ONE = """
import sys
sys.modules[{blocked!r}] = None
from equivalence import recorded
from equivalence.__main__ import main
{made}
for folder in sys.argv[1:]:
    with recorded(folder, net) as recorder:
        recorder.loss(net(x).sum())
sys.exit(main(["compare", *sys.argv[1:]]))
"""

MADE = {
    "mindspore": "import torch; net = torch.nn.Linear(2, 2); x = torch.ones(1, 2)",
    "torch": "import mindspore as ms; net = ms.nn.Dense(2, 2); x = ms.ops.ones((1, 2))",
}
"""A framework that is not there -> a network of the other."""


@pytest.mark.parametrize("blocked", MADE)
def test_a_host_needs_one_framework_alone(blocked, tmp_path):
    code = ONE.format(blocked=blocked, made=MADE[blocked])
    folders = [str(tmp_path / name) for name in "ab"]
    done = subprocess.run(
        [sys.executable, "-c", code, *folders], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("EQUAL AS STORED: 7 pairs")
    manifest = json.loads((tmp_path / "a" / "recorded.json").read_text())
    assert manifest["made"]["framework"] != blocked
