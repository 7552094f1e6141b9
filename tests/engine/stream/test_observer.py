"""An observer that overrides nothing changes nothing."""

import pytest
import torch
from torch.nn import functional as F

from equivalence.stream import torch_stream
from equivalence.stream.observer import (
    RUN,
    Observer,
    callers,
    deliver,
    demand_order,
    hooks,
    running,
)


class Call:
    args = (2, 3)
    name = "add"

    def proceed(self):
        return sum(self.args)


class First(Observer):
    slot, order = "first", ("first", "second")


class Second(First):
    slot = "second"


class Instead(First):
    def before(self, call):
        call.args = (20, *call.args[1:])

    def after(self, _, result):
        return -result


def test_a_call_goes_through_what_is_overridden():
    assert deliver(Call(), hooks(First())) == 5
    assert deliver(Call(), hooks(Instead())) == -23


def test_what_is_replaced_does_not_run_and_none_is_a_result():
    class Nothing(First):
        def replace(self, call):
            return None if call.name == "add" else RUN

    assert deliver(Call(), hooks(Nothing())) is None


def test_one_that_comes_later_must_be_opened_before():
    demand_order(First(), None)
    demand_order(First(), Second())
    demand_order(First(), First())
    with pytest.raises(RuntimeError, match=r"Second \(second\) is opened inside First \(first\)"):
        demand_order(Second(), First())


def test_a_slot_that_no_order_has_is_an_error():
    class Lost(First):
        slot = "nowhere"

    with pytest.raises(ValueError, match="nowhere"):
        _ = Lost().rank


def test_what_tells_it_is_the_frameworks():
    with pytest.raises(NotImplementedError), First():
        pass


# Which layers run now, of layers of any framework.


class Handle:
    def __init__(self, hooks, hook):
        self.hooks, self.hook = hooks, hook
        hooks.append(hook)

    def remove(self):
        self.hooks.remove(self.hook)


class Layer:
    def __init__(self, *inner):
        self.inner, self.before, self.after = inner, [], []

    def register_forward_pre_hook(self, hook):
        return Handle(self.before, hook)

    def register_forward_hook(self, hook, always_call=False):
        self.always = always_call
        return Handle(self.after, hook)

    def __call__(self, x):
        for hook in self.before:
            hook(self, (x,))
        for layer in self.inner:
            layer(x)
        for hook in self.after:
            hook(self, (x,), None)


def test_paths_are_those_of_the_layers_within_each_other():
    inner = Layer()
    outer = Layer(inner, inner)
    told = []
    layers = [("", outer), ("inner", inner)]

    def entered(path, _layer, _inputs):
        told.append(("in", path, [*paths]))

    def left(path, layer, inputs):
        told.append(("out", path, [*paths], layer is inner, inputs))

    with running(layers, entered, left, always_call=True) as paths:
        outer(5)
    assert told == [
        ("in", "", []),
        *([("in", "inner", [""]), ("out", "inner", [""], True, (5,))] * 2),
        ("out", "", [], False, (5,)),
    ]
    assert inner.always
    assert inner.before + inner.after + outer.before + outer.after == []


# The code behind a call is that of who makes it.


class Where(torch_stream.Observer):
    slot = "calls"

    def before(self, call):
        if call.name == "relu":
            self.names = [frame.f_code.co_name for frame in callers()]


class Code(torch_stream.Observer):
    slot = "code"


def calls(x):
    return F.relu(x)


def test_the_engines_frames_in_the_middle_of_a_call_are_left_out():
    x = torch.ones(2)
    with Where() as where, Code():
        calls(x)
    between = where.names[: where.names.index("calls")]
    assert between == ["relu", "handle_torch_function", "relu"]  # all of torch


def test_outside_of_a_call_there_are_none():
    assert [*callers()] == []
