"""An optimiser's state from one framework to the other: names and values."""

import numpy as np
import pytest
import torch
from mindspore import nn

from equivalence.checkpoints.formats import MINDSPORE
from equivalence.convert.convert import convert
from tests.engine.parts import training_ms, training_pt
from tests.engine.parts.conversions import names, refused
from tests.engine.parts.trainings import (
    FOR_MINDSPORE,
    FOR_PYTORCH,
    MS,
    PT,
    batches,
    optimizer_of,
    saved,
)

HERE = "tests.engine.convert.test_convert_optimizer:"


def test_the_buffers_go_to_the_parameters_that_they_are_of(tmp_path):
    source = saved(tmp_path / "n.pth", training_pt.momentum, epoch=3)
    made = convert(source, tmp_path / "n.ckpt", optimizer=f"{MS}momentum", **FOR_MINDSPORE)
    network = training_pt.Net()
    optimizer = training_pt.momentum(network)
    training_pt.load(network, optimizer, torch.load(source, weights_only=True))
    buffers = {n: optimizer.state[p]["momentum_buffer"] for n, p in network.named_parameters()}
    assert len(buffers) == 7
    for name, buffer in buffers.items():
        leaf = {"bn.weight": "bn.gamma", "bn.bias": "bn.beta"}.get(name, name)
        assert np.array_equal(made.weights[f"moments.{leaf}"].values, buffer)
        assert (f"momentum_buffer of {name}", f"moments.{leaf}") in made.rows
    assert made.weights["momentum"].values == np.float32(training_pt.MOMENTUM)
    assert made.weights["global_step"].values.tolist() == [0]
    assert made.notes[0] == "epoch: beside the weights, not converted"
    last = convert(
        tmp_path / "n.ckpt", tmp_path / "b.pth", optimizer=f"{PT}momentum", **FOR_PYTORCH
    )
    assert last.count() == "10 weights, 629 values and the state of 7 of them"
    assert ("state of bn.gamma", "momentum_buffer of 3") in last.rows
    assert any("state of bn.gamma " in line and line.endswith("(4,)") for line in last.lines())
    there, back = (
        torch.load(p, weights_only=True)["optimizer"] for p in (source, tmp_path / "b.pth")
    )
    assert back["param_groups"] == there["param_groups"]
    for number, entry in there["state"].items():
        assert torch.equal(back["state"][number]["momentum_buffer"], entry["momentum_buffer"])


def test_adam_keeps_powers_where_pytorch_counts(tmp_path):
    source = saved(tmp_path / "n.pth", training_pt.adam, steps=3)
    made = convert(source, tmp_path / "n.ckpt", optimizer=f"{MS}adam", **FOR_MINDSPORE)
    assert made.weights["beta1_power"].values == np.float32(0.9**3)
    assert made.weights["beta2_power"].values == np.float32(0.999**3)
    assert made.weights["global_step"].values.tolist() == [3]
    assert made.weights["learning_rate"].values == np.float32(training_ms.LR)
    convert(tmp_path / "n.ckpt", tmp_path / "b.pth", optimizer=f"{PT}adam", **FOR_PYTORCH)
    there, back = (
        torch.load(p, weights_only=True)["optimizer"] for p in (source, tmp_path / "b.pth")
    )
    assert back["param_groups"] == there["param_groups"]
    assert back["state"].keys() == there["state"].keys()
    for number, entry in there["state"].items():
        assert back["state"][number].keys() == entry.keys()
        assert all(torch.equal(back["state"][number][key], entry[key]) for key in entry)
        assert all(back["state"][number][key].dtype == entry[key].dtype for key in entry)


@pytest.mark.parametrize("kind", ["momentum", "sgd", "adam", "new_sgd", "new_adam", "new_adamw"])
def test_every_value_that_mindspore_has_is_written(tmp_path, kind):
    there = {"new_adamw": "adamw", "new_adam": "adam", "adam": "adam"}.get(kind, "momentum")
    source = saved(tmp_path / "n.pth", getattr(training_pt, there))
    convert(source, tmp_path / "n.ckpt", optimizer=f"{MS}{kind}", **FOR_MINDSPORE)
    network = training_ms.Net()
    optimizer = getattr(training_ms, kind)(network)
    assert training_ms.load(network, optimizer, tmp_path / "n.ckpt") == ([], [])
    own = {p.name for p in nn.TrainOneStepCell(network, optimizer).get_parameters()}
    assert names(tmp_path / "n.ckpt", MINDSPORE) == own


@pytest.mark.parametrize(("there", "kind"), [("momentum", "sgd"), ("adam", "adam")])
def test_before_the_first_step_there_is_no_state(tmp_path, there, kind):
    source = saved(tmp_path / "n.pth", getattr(training_pt, there), steps=0)
    made = convert(source, tmp_path / "n.ckpt", optimizer=f"{MS}{kind}", **FOR_MINDSPORE)
    if kind == "sgd":
        assert (made.weights["stat.fc1.weight"].values == 1).all()
        assert not made.weights["accum.fc1.weight"].values.any()
    else:
        assert made.weights["beta2_power"].values == 1
    convert(tmp_path / "n.ckpt", tmp_path / "b.pth", optimizer=f"{PT}{there}", **FOR_PYTORCH)
    assert optimizer_of(tmp_path / "b.pth")["state"] == {}


def test_names_that_the_file_tells_are_taken(tmp_path):
    """Scales and shifts have the same shapes: here only names can tell the groups apart."""

    def build(network, named):
        shifts = [(n, p) for n, p in network.named_parameters() if n.endswith("bias")]
        others = [(n, p) for n, p in network.named_parameters() if not n.endswith("bias")]
        groups = [{"params": g if named else [p for _, p in g]} for g in (shifts, others)]
        return torch.optim.SGD(groups, lr=0.1, momentum=training_pt.MOMENTUM)

    options = {"optimizer": f"{MS}momentum", **FOR_MINDSPORE}
    source = saved(tmp_path / "n.pth", lambda network: build(network, named=True))
    made = convert(source, tmp_path / "n.ckpt", **options)
    state = optimizer_of(source)["state"]
    assert np.array_equal(made.weights["moments.bn.beta"].values, state[0]["momentum_buffer"])
    source = saved(tmp_path / "m.pth", lambda network: build(network, named=False))
    text = refused(source, tmp_path / "m.ckpt", **options)
    assert "which parameter each number of the optimiser stands for is not known" in text
    assert "fit in several ways; save it from an optimiser that was built from named_p" in text


def test_a_wrapper_is_taken_off_the_names_of_the_optimiser_too(tmp_path):
    network = torch.nn.DataParallel(training_pt.Net())
    torch.manual_seed(1)
    optimizer = torch.optim.SGD(network.named_parameters(), lr=0.1, momentum=training_pt.MOMENTUM)
    network(torch.from_numpy(batches(1)[0][0])).sum().backward()
    optimizer.step()
    whole = {"state_dict": network.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(whole, tmp_path / "n.pth")
    made = convert(
        tmp_path / "n.pth", tmp_path / "n.ckpt", optimizer=f"{MS}momentum", **FOR_MINDSPORE
    )
    assert ("momentum_buffer of fc1.weight", "moments.fc1.weight") in made.rows
    assert "module: in front of every name, taken off" in made.notes


def test_an_older_count_of_steps_is_a_number(tmp_path):
    source = saved(tmp_path / "n.pth", training_pt.adam)
    whole = torch.load(source, weights_only=True)
    for entry in whole["optimizer"]["state"].values():
        entry["step"] = int(entry["step"])
    torch.save(whole, source)
    made = convert(source, tmp_path / "n.ckpt", optimizer=f"{MS}adam", **FOR_MINDSPORE)
    assert made.weights["global_step"].values.tolist() == [2]


def test_steps_are_told_where_a_schedule_follows_them(tmp_path):
    source = saved(tmp_path / "n.pth", training_pt.momentum)
    options = {"optimizer": f"{MS}scheduled", **FOR_MINDSPORE}
    text = refused(source, tmp_path / "n.ckpt", **options)
    assert "PyTorch's SGD does not count its steps" in text
    assert "say how many were taken with --steps" in text
    made = convert(source, tmp_path / "n.ckpt", steps=2, **options)
    assert made.weights["global_step"].values.tolist() == [2]
    made = convert(
        tmp_path / "n.ckpt", tmp_path / "b.pth", optimizer=f"{PT}momentum", **FOR_PYTORCH
    )
    assert "global_step 2: dropped, PyTorch's SGD does not count its steps" in made.notes


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = torch.nn.Embedding(4, 3)
        self.conv = torch.nn.Conv1d(3, 3, 2)
        self.head = torch.nn.Linear(3, 4, bias=False)
        self.head.weight = self.tokens.weight


class TiedCell(nn.Cell):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(4, 3)
        self.conv = nn.Conv1d(3, 3, 2, has_bias=True)
        self.head = nn.Dense(3, 4, has_bias=False)
        self.head.weight = self.tokens.embedding_table


def plain(network):
    return torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.5)


def plain_cell(network):
    return nn.Momentum(network.trainable_params(), 0.1, 0.5)


def test_shared_weights_and_kernels_over_one_dimension_have_their_state(tmp_path):
    network = Tied()
    optimizer = plain(network)
    for parameter in network.parameters():
        parameter.grad = torch.rand(parameter.shape)
    optimizer.step()
    whole = {"model": network.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(whole, tmp_path / "n.pth")
    made = convert(
        *(tmp_path / "n.pth", tmp_path / "n.ckpt"),
        network=f"{HERE}TiedCell",
        optimizer=f"{HERE}plain_cell",
    )
    buffer = optimizer.state[network.conv.weight]["momentum_buffer"].numpy()
    assert np.array_equal(made.weights["moments.conv.weight"].values, buffer[:, :, None])
    shared = optimizer.state[network.tokens.weight]["momentum_buffer"].numpy()
    assert np.array_equal(made.weights["moments.tokens.embedding_table"].values, shared)
    assert sum(name.startswith("moments.") for name in made.weights) == 3
    convert(
        *(tmp_path / "n.ckpt", tmp_path / "b.pth"),
        network=f"{HERE}Tied",
        optimizer=f"{HERE}plain",
    )
    back = optimizer_of(tmp_path / "b.pth")
    for number, entry in whole["optimizer"]["state"].items():
        found = back["state"][number]["momentum_buffer"]
        assert torch.equal(found, entry["momentum_buffer"])
