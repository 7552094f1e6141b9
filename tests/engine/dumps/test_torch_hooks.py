"""PyTorch networks as they are trained: compiled, wrapped, recomputed, in half precision."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from equivalence import recorded
from equivalence.dumps import read

X = torch.ones(2, 4)


def steps(folder):
    """The names in the first step, and what is said."""
    dump = read.read(folder)
    return [name.removeprefix("step0/") for name in dump.arrays if name[:5] == "step0"], dump.notes


def test_the_inside_of_a_compiled_network_is_said_to_be_unseen(tmp_path):
    net = torch.compile(nn.Sequential(nn.Linear(4, 2)), backend="eager")
    with recorded(tmp_path / "a", net):
        net(X).sum().backward()
    names, notes = steps(tmp_path / "a")
    assert names[:2] == ["forward.0.input.0", "forward.0.output.0"]
    assert "gradients/0.weight" in names
    assert "it is compiled" in notes[0]


def test_a_wrapper_adds_no_name(tmp_path):
    class Wrapper(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = nn.Linear(4, 2)

        def forward(self, x):
            return self.module(x)

    net = Wrapper()
    with recorded(tmp_path / "a", net):
        net(X)
    assert steps(tmp_path / "a")[0][-2:] == ["weights/weight", "weights/bias"]


def test_what_a_backward_pass_computes_again_is_recorded_once(tmp_path):
    class Again(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            return checkpoint(self.fc, x, use_reentrant=False)

    net = Again()
    with recorded(tmp_path / "a", net):
        net(X).sum().backward()
    names, notes = steps(tmp_path / "a")
    assert "fc/forward.1.input.0" not in names
    assert "fc/backward.0.output.0" in names
    assert "computed again in a backward pass" in notes[0]


def test_half_precision_keeps_its_name_and_the_same_weight_is_written_once(tmp_path):
    net = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)}).bfloat16()
    net["b"].weight = net["a"].weight
    with recorded(tmp_path / "a", net):
        net["a"](X.bfloat16())
    dump = read.read(tmp_path / "a")
    assert dump.arrays["step0/a/forward.0.output.0"].dtype == "bfloat16"
    assert "step0/weights/b.weight" not in dump.arrays
    assert "2 layers not called by Python: the network, b" in dump.notes[0]


def test_a_tensor_without_values_is_counted(tmp_path):
    net = nn.Linear(4, 2)
    with recorded(tmp_path / "a", net):
        torch.func.vmap(net)(X)
    assert "not readable" in steps(tmp_path / "a")[1][0]
