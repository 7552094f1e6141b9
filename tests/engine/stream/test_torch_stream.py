"""What sees every function or operator of a run of PyTorch, in the order of the stream."""

import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from equivalence.stream import torch_stream
from equivalence.stream.observer import RUN, installed
from equivalence.stream.torch_stream import FUNCTIONS, Observer, in_backward, unseen

RUNS = """
import sys
import torch
from equivalence.stream.torch_stream import Observer

class Seen(Observer):
    slot = "calls"

before = set(sys.modules)
with Seen():
    torch.relu(torch.randn(3, requires_grad=True)).sum().backward()
print(*(name for name in set(sys.modules) - before if name.startswith("torch._dynamo")))
"""


class Seen(Observer):
    """Keeps the names of what it is told of, with its slot."""

    def __init__(self, slot="calls", told=None):
        self.slot, self.told = slot, [] if told is None else told

    def before(self, call):
        name = call.function.__name__ if self.slot in FUNCTIONS else call.name
        self.told.append((self.slot, name))


def test_a_run_does_not_import_the_compiler():
    ran = subprocess.run([sys.executable, "-c", RUNS], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_operators_are_seen_forward_and_backward():
    with Seen() as seen:
        torch.relu(torch.randn(3, requires_grad=True)).sum().backward()
    assert {("calls", "relu"), ("calls", "threshold_backward")} < set(seen.told)


def test_functions_are_seen_as_the_code_calls_them():
    with Seen("code") as seen:
        F.dropout(torch.ones(3), 0.0).mul(2.0)
    assert [name for _, name in seen.told][:2] == ["ones", "dropout"]


@pytest.mark.parametrize("turn", [False, True])
def test_the_order_is_that_of_the_stream_however_they_are_given(turn):
    told = []
    both = Seen("rounding", told), Seen("moves", told)
    with installed(*both[:: -1 if turn else 1]):
        torch.ones(3).neg()
    assert [slot for slot, name in told if name == "neg"] == ["moves", "rounding"]


def test_out_of_order_is_an_error():
    told = r"Seen \(rounding\) is opened inside Seen \(moves\)"
    with Seen("moves"), pytest.raises(RuntimeError, match=told), Seen("rounding"):
        pass
    with Seen("rounding"), Seen("code"), Seen("moves"):  # functions have a stack of their own
        pass


def test_what_an_observer_calls_is_seen_by_those_after_it():
    class Doubles(Observer):
        slot = "moves"

        def after(self, _, result):
            return result * 2.0

    x = torch.ones(2)
    with Seen("rounding") as after, Doubles(), Seen("moves") as before:
        got = x.neg()
    assert got.tolist() == [-2.0, -2.0]
    assert ("rounding", "mul") in after.told
    assert ("moves", "mul") not in before.told


def test_arguments_and_results_can_be_replaced():
    class Instead(Observer):
        slot = "moves"

        def before(self, call):
            if call.name == "neg":
                call.args = (torch.full((2,), 3.0),)

        def replace(self, call):
            return torch.zeros(2) if call.name == "exp" else RUN

    x = torch.ones(2)
    with Instead():
        assert (x.neg().tolist(), x.exp().tolist()) == ([-3.0, -3.0], [0.0, 0.0])
    assert x.neg().tolist() == [-1.0, -1.0]


def test_begin_and_end_frame_each_run_also_one_that_raises():
    class Framed(Observer):
        slot, told = "calls", []

        def begin(self):
            self.told.append("begin")

        def end(self):
            self.told.append("end")

    framed = Framed()
    with framed:
        pass
    with pytest.raises(ZeroDivisionError), framed:
        _ = 1 / 0
    with Seen("moves"), pytest.raises(RuntimeError), Framed():  # which cannot be opened
        pass
    assert framed.told == ["begin", "end"] * 3


def test_it_may_be_opened_again_within_itself():
    class Steps(Observer):
        slot = "rounding"
        depth = 0

        def replace(self, call):
            if call.name != "gelu":
                return RUN
            with self:
                self.depth += 1
                return call.args[0].neg()

    steps = Steps()
    with steps:
        assert F.gelu(torch.ones(2)).tolist() == [-1.0, -1.0]
    assert steps.depth == 1


def test_what_is_unseen_is_not_told():
    with Seen() as seen:
        with unseen():
            torch.ones(2).neg()
        assert seen.told == []
        torch.ones(2)
    assert seen.told


def test_the_backward_pass_is_known():
    class Where(Observer):
        slot = "calls"

        def before(self, call):
            self.there = in_backward(), call.name

    with Where() as where:
        y = torch.ones(2, requires_grad=True).exp().sum()
        assert where.there == (False, "sum")
        y.backward()
    assert where.there[0]
    assert not in_backward()


def test_the_layers_that_run_are_known_also_after_an_error():
    network = nn.Sequential(nn.Sequential(nn.ReLU()), nn.Tanh())
    told = []

    def entered(path, layer, inputs):
        told.append((path, type(layer).__name__, len(inputs), [*paths]))

    with torch_stream.layers(network, entered) as paths:
        network(torch.ones(2))
        assert paths == []
        network[1].forward = lambda _: 1 / 0
        with pytest.raises(ZeroDivisionError):
            network(torch.ones(2))
        assert paths == []
    assert told[2] == ("0.0", "ReLU", 1, ["", "0"])
    seen = len(told)
    network[0](torch.ones(2))
    assert len(told) == seen
