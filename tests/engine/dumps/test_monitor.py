"""Monitors of either framework: what a row holds, that files stay small, and mistakes of use."""

import json
import re

import mindspore as ms
import numpy as np
import pytest
import torch

from equivalence import monitored
from equivalence.errors import CheckpointError, DeclarationError
from tests.engine.dumps import recorded_ms, recorded_pt
from tests.engine.dumps.test_recorder import ROOT, SIDES, X, Y, plain, pynative, weights

__all__ = ["pynative", "weights"]


def into(path, **options):
    """What monitors a network into a file."""
    return lambda net: monitored(path, net, **options)


def rows(path):
    """The rows of a file, without the first and the last line."""
    return [json.loads(line) for line in path.read_text().splitlines()[1:-1]]


@pytest.mark.parametrize("side", SIDES)
def test_a_row_has_the_norms_of_a_step(tmp_path, weights, side):
    after, losses, _ = SIDES[side].trained(into(tmp_path / "a"), X, Y, weights)
    head, *_, end = map(json.loads, (tmp_path / "a").read_text().splitlines())
    first, last = rows(tmp_path / "a")
    assert (head["framework"], head["every"]) == (side, 1)
    assert end == {"end": True, "notes": []}
    assert (first["step"], last["step"]) == (0, 1)
    assert first["loss"] == pytest.approx(losses[0], rel=1e-6)
    assert first["activations/input"] == pytest.approx(np.linalg.norm(X), rel=1e-6)
    assert last["weights/fc.weight"] == pytest.approx(np.linalg.norm(after["fc.weight"]), rel=1e-6)
    assert first["updates/fc.weight"] == pytest.approx(0.1 * first["gradients/fc.weight"], rel=1e-4)
    # Two calls of a layer have the norm of both.
    assert first["activations/body.0"] > 0
    assert "first_not_finite" not in first


@pytest.mark.parametrize("side", SIDES)
def test_the_network_computes_the_same_to_the_bit(tmp_path, weights, side):
    with_monitor = SIDES[side].trained(into(tmp_path / "a"), X, Y, weights)
    without = SIDES[side].trained(plain, X, Y, weights)
    assert with_monitor[1] == without[1]
    for name, values in without[0].items():
        np.testing.assert_array_equal(values, with_monitor[0][name])


@pytest.mark.parametrize("side", SIDES)
def test_what_is_first_not_finite_is_named(tmp_path, weights, side):
    broken = weights | {"body.1.weight": np.full(4, np.inf, np.float32)}
    SIDES[side].trained(into(tmp_path / "a"), X, Y, broken, steps=1)
    (row,) = rows(tmp_path / "a")
    assert row["first_not_finite"] == "activations/body.1"


@pytest.mark.parametrize("side", SIDES)
def test_of_so_many_steps_one_is_kept(tmp_path, weights, side):
    SIDES[side].trained(into(tmp_path / "a", every=3), X, Y, weights, steps=7)
    assert [row["step"] for row in rows(tmp_path / "a")] == [0, 3, 6]


def test_a_loss_that_is_not_finite_is_kept_in_any_step(tmp_path):
    net = torch.nn.Linear(2, 1)
    with monitored(tmp_path / "a", net, every=100) as monitor:
        for step in range(4):
            net(torch.ones(1, 2)).sum().backward()
            monitor.loss(float("nan") if step == 2 else 1.0)
            monitor.step()
    assert [row["step"] for row in rows(tmp_path / "a")] == [0, 2]
    assert rows(tmp_path / "a")[1]["first_not_finite"] == "loss"


def test_a_file_that_is_full_keeps_every_second_row_and_half_as_many_steps(tmp_path):
    net, path = torch.nn.Linear(2, 1), tmp_path / "a"
    with monitored(path, net, limit=2000) as monitor:
        for _ in range(64):
            net(torch.ones(1, 2)).sum().backward()
            monitor.step()
    steps = [row["step"] for row in rows(path)]
    assert path.stat().st_size < 3000
    assert steps[0] == 0
    assert steps[-1] > 32
    assert steps == sorted({*steps})


def test_the_rates_of_groups_and_the_scale_are_kept(tmp_path):
    net = torch.nn.Linear(2, 1)
    groups = [{"params": [net.weight], "lr": 0.1}, {"params": [net.bias], "lr": 0.2}]
    optimizer = torch.optim.SGD(groups)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    with monitored(tmp_path / "a", net, optimizer, scaler) as monitor:
        for _ in range(2):
            scaler.scale(net(torch.ones(1, 2)).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            schedule.step()
            monitor.step()
    first, second = rows(tmp_path / "a")
    assert (first["rates/weight"], first["rates/bias"], first["scale"]) == (0.1, 0.2, 8.0)
    assert second["rates/weight"] == pytest.approx(0.01)


def test_the_rate_of_mindspore_is_that_of_the_step_and_so_is_the_scale(tmp_path):
    net = ms.nn.Dense(2, 1)
    optimizer = ms.nn.SGD(net.trainable_params(), [0.3, 0.2, 0.1])
    scaler = ms.amp.StaticLossScaler(4.0)
    step = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
    with monitored(tmp_path / "a", net, optimizer, scaler) as monitor:
        for _ in range(3):
            optimizer(step(ms.Tensor(np.ones((1, 2), np.float32)))[1])
            monitor.step()
    assert [row["rate"] for row in rows(tmp_path / "a")] == [0.3, 0.2, 0.1]
    assert [row["scale"] for row in rows(tmp_path / "a")] == [4.0, 4.0, 4.0]


def test_the_example_of_the_page_runs(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "training.md").read_text()
    (code,) = re.findall(r"```python\n(# torch_train.py\nimport numpy.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "torch_train.py", "exec"), {})
    assert [row["step"] for row in rows(tmp_path / "torch.jsonl")] == [*range(0, 100, 10)]


def fail(monitor):
    """A step, and then an error of the script."""
    monitor.step()
    raise ZeroDivisionError("division by zero")


def test_a_run_that_raises_has_its_rows_and_the_reason(tmp_path):
    with pytest.raises(ZeroDivisionError), monitored(tmp_path / "a", recorded_pt.Net()) as monitor:
        fail(monitor)
    end = json.loads((tmp_path / "a").read_text().splitlines()[-1])
    assert end["notes"][0] == "it ended in step 1 by ZeroDivisionError: division by zero"


def test_no_call_of_the_network_is_told(tmp_path):
    with monitored(tmp_path / "a", recorded_ms.Net()):
        pass
    assert "no call of the network was seen" in (tmp_path / "a").read_text()


def test_mistakes_of_use_are_sentences(tmp_path):
    net = torch.nn.Linear(2, 1)
    (tmp_path / "there").write_text("")
    with pytest.raises(CheckpointError, match="is there already"):
        monitored(tmp_path / "there", net).__enter__()
    with pytest.raises(DeclarationError, match="must be at least 1"):
        monitored(tmp_path / "a", net, every=0).__enter__()
    with pytest.raises(DeclarationError, match="a network that is built"):
        monitored(tmp_path / "b", torch.nn.Linear).__enter__()
    words = "a loss is one number, not Tensor"
    with monitored(tmp_path / "c", net) as monitor, pytest.raises(DeclarationError, match=words):
        monitor.loss(torch.ones(2))
    with pytest.raises(DeclarationError, match="is finished"):
        monitor.loss(1.0)
