"""What sees every operator of a run of MindSpore, and what its compiler reads meanwhile."""

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn, ops
from mindspore.graph import _parse

from equivalence.host.isolation import isolated
from equivalence.stream import mindspore_stream
from equivalence.stream.mindspore_stream import Call, Observer, reading
from equivalence.stream.observer import RUN, installed


@pytest.fixture(autouse=True)
def isolation():
    with isolated():
        yield


exponential = ops.exp


class Exponential(nn.Cell):
    def construct(self, x):
        return exponential(x)


def doubled(x):
    return x + x


def replaced(value):
    return doubled if value is ops.exp else value


class Draws(Observer):
    slot = "draws"
    told = ()

    def before(self, call):
        self.told = [*self.told, (self.slot, call.name)]


class Kernels(Draws):
    slot = "kernels"


@pytest.mark.parametrize("turn", [False, True])
def test_the_order_is_that_of_the_stream_however_they_are_given(monkeypatch, turn):
    told = []
    monkeypatch.setattr(Draws, "before", lambda self, call: told.append((self.slot, call.name)))
    with installed(*(Draws(), Kernels())[:: -1 if turn else 1]):
        got = ops.exp(ms.Tensor([0.0]))
    assert told[:2] == [("draws", "Exp"), ("kernels", "Exp")]
    assert got.asnumpy() == [1.0]


def test_out_of_order_is_an_error_and_leaves_nothing_behind():
    told = r"Kernels \(kernels\) is opened inside Draws"
    with Draws(), pytest.raises(RuntimeError, match=told), Kernels():
        pass
    with Kernels(), Draws() as draws:
        ops.exp(ms.Tensor([0.0]))
    assert draws.told == [("draws", "Exp")]


def test_an_operator_with_settings_and_one_without_are_the_same_to_an_observer():
    class Halved(Observer):
        slot = "arithmetic"

        def replace(self, call):
            if call.name not in ("ReduceSum", "Exp"):
                return RUN
            self.primitive = call.primitive
            return call.proceed(call.args[0] / 2, *call.args[1:])

    x = ms.Tensor([2.0, 4.0])
    with Halved() as halved:
        assert ops.ReduceSum()(x, 0).asnumpy() == 3.0
        assert halved.primitive is not None
        assert ops.exp(x - x).asnumpy().tolist() == [1.0, 1.0]
        assert halved.primitive is None


def test_arguments_can_be_replaced_before_it_runs():
    class Zeros(Observer):
        slot = "calls"

        def before(self, call):
            if call.name == "Exp":
                call.args = (ops.zeros_like(call.args[0]),)

    with Zeros():
        assert ops.exp(ms.Tensor([2.0])).asnumpy() == [1.0]


def test_a_call_without_arguments_runs():
    class Seed:
        name = "Seed"

        def __call__(self):
            return 7

    assert Call(Seed(), ()).proceed() == 7


def test_a_gradient_that_a_network_asks_for_is_seen():
    asked = []

    def grad(pull, inputs):
        asked.append(len(inputs))
        return pull(*inputs)

    of_square = ms.grad(lambda x: x * x)
    with mindspore_stream.asking(grad):
        assert of_square(ms.Tensor([3.0])).asnumpy() == [6.0]
    assert asked == [1]
    of_square(ms.Tensor([3.0]))
    assert asked == [1]


@pytest.mark.parametrize("cotangent", [None, 3.0])
def test_what_is_differentiated_and_its_gradients_are_told(cotangent):
    weight = ms.Parameter(ms.Tensor([2.0]), name="w")
    told = []

    def forward(run):
        told.append("forward")
        return run()

    def backward(weights, factor, gradients):
        told.append(([each.name for each in weights], factor, float(gradients[0].asnumpy()[0])))

    grad = ops.GradOperation(get_by_list=True, sens_param=cotangent is not None)
    given = [] if cotangent is None else [ms.Tensor([cotangent])]
    with mindspore_stream.differentiating(forward, backward):
        grad(lambda x: x * weight, ms.ParameterTuple([weight]))(ms.Tensor([5.0]), *given)
    factor = cotangent or 1.0
    assert told == ["forward", (["w"], factor, 5.0 * factor)]


def test_the_cells_that_run_are_known():
    network, told = nn.SequentialCell(nn.ReLU(), nn.Tanh()), []

    def left(path, cell, inputs):
        told.append((path, type(cell).__name__, len(inputs), [*paths]))

    with mindspore_stream.layers(network, left=left) as paths:
        network(ms.Tensor([1.0]))
    assert told[0] == ("0", "ReLU", 1, [""])
    assert told[-1] == ("", "SequentialCell", 1, [])
    network(ms.Tensor([1.0]))
    assert len(told) == 3


@pytest.mark.parametrize(("own", "value"), [("another", 6.0), (__name__, np.exp(np.float32(3.0)))])
def test_the_compiler_reads_the_replacement_but_in_its_own_module(own, value):
    ms.set_context(mode=ms.GRAPH_MODE)
    with reading(replaced, own):
        got = Exponential()(ms.Tensor([3.0], ms.float32))
    assert got.asnumpy() == pytest.approx(value)


def test_an_error_leaves_the_compiler_as_it_was():
    resolve = _parse.resolve_symbol
    with pytest.raises(ValueError, match="any"), reading(replaced, "another"):
        raise ValueError("any")
    assert _parse.resolve_symbol is resolve


def test_the_compiler_reads_the_replacement_only_meanwhile():
    resolve = _parse.resolve_symbol
    with reading(replaced, "another"):
        assert _parse.resolve_symbol is not resolve
    assert _parse.resolve_symbol is resolve
