"""Operators are seen as they run; the compiler reads what replaces a name, and only meanwhile."""

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn, ops
from mindspore.graph import _parse

from equivalence.host.isolation import isolated
from equivalence.randomness.interception import Dispatch, intercepted


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


def test_the_innermost_context_gets_an_operator_first():
    seen = []

    def seen_by(name):
        def run(func, arguments):
            seen.append((name, func.name))
            return func(*arguments)

        return run

    with Dispatch(seen_by("outer")), Dispatch(seen_by("inner")):
        got = ops.exp(ms.Tensor([0.0]))
    assert seen[0] == ("inner", "Exp")
    assert got.asnumpy() == [1.0]


@pytest.mark.parametrize(("own", "value"), [("another", 6.0), (__name__, np.exp(np.float32(3.0)))])
def test_the_compiler_reads_the_replacement_but_in_its_own_module(own, value):
    ms.set_context(mode=ms.GRAPH_MODE)
    with intercepted(lambda func, arguments: func(*arguments), replaced, own):
        got = Exponential()(ms.Tensor([3.0], ms.float32))
    assert got.asnumpy() == pytest.approx(value)


def test_an_error_leaves_the_compiler_as_it_was():
    resolve = _parse.resolve_symbol
    context = intercepted(lambda func, arguments: func(*arguments), replaced, "another")
    with pytest.raises(ValueError, match="any"), context:
        raise ValueError("any")
    assert _parse.resolve_symbol is resolve


def test_the_compiler_reads_the_replacement_only_meanwhile():
    resolve = _parse.resolve_symbol
    with intercepted(lambda func, arguments: func(*arguments), replaced, "another"):
        assert _parse.resolve_symbol is not resolve
    assert _parse.resolve_symbol is resolve
