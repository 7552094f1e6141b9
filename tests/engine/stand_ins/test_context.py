"""Where MindSpore has no kernel on a CPU, stand-ins run; nowhere else, and they are counted."""

import contextlib
from types import SimpleNamespace

import mindspore as ms
import numpy as np
import pytest
from mindspore import mint, ops
from mindspore.graph import _parse
from mindspore.ops import functional_overload
from mindspore.ops.auto_generate import gen_ops_prim

from equivalence import on_cpu
from equivalence.declare.draws import normal
from equivalence.errors import EquivalenceError
from equivalence.host.isolation import isolated
from equivalence.report import text
from equivalence.stand_ins import context
from equivalence.twins.check import check
from tests.engine.parts.small import case

PARTS = "tests.engine.parts.only_ascend_"
USED = (
    "mint.nn.functional.gelu",
    "mint.nn.functional.layer_norm",
    "mint.tril",
    "ops.flash_attention_score",
)

both = pytest.mark.parametrize("execution", ["pynative", "graph"])


def block(candidate="Block", execution="pynative"):
    reference = f"{PARTS}pt:Block"
    return case(reference, f"{PARTS}ms:{candidate}", normal(2, 5, 8), execution=execution)


@both
def test_a_block_for_an_ascend_is_compared_on_a_cpu_and_the_result_says_how(execution):
    with isolated():
        outcome = check(block(execution=execution), 0)
    assert outcome.passed
    assert outcome.stand_ins == USED
    lines = [text.json.loads(line) for line in text.lines(outcome)]
    told = text.summary(lines)
    assert "; stand-ins on the CPU in 1 case, for mint.nn.functional.gelu 1, " in told


@both
def test_a_mistake_is_seen_through_stand_ins(execution):
    with isolated():
        assert not check(block("Mistaken", execution), 0).passed


def test_a_network_that_has_its_kernels_runs_without_stand_ins():
    with isolated():
        outcome = check(case("torch.nn:ReLU", "mindspore.nn:ReLU", normal(2, 3)), 0)
    assert outcome.stand_ins == ()
    assert "stand-ins" not in text.summary([text.json.loads(line) for line in text.lines(outcome)])


def test_what_has_no_stand_in_is_an_error_that_names_the_kernel():
    wrong = case(f"{PARTS}pt:Lacking", f"{PARTS}ms:Lacking", normal(2, 3))
    with isolated(), pytest.raises(EquivalenceError, match="CumminExt"):
        check(wrong, 0)


def test_everything_is_put_back_after_an_error_too():
    owners = [(_parse, "resolve_symbol"), (functional_overload, "_gelu_instance")]
    owners += [(gen_ops_prim.LayerNormExt, "__call__"), (gen_ops_prim.Arange, "__call__")]
    before = [getattr(owner, name) for owner, name in owners]
    with contextlib.suppress(ZeroDivisionError), on_cpu():
        assert all(getattr(*each) != was for each, was in zip(owners, before, strict=True))
        _ = 1 / 0
    assert [getattr(owner, name) for owner, name in owners] == before


def test_on_an_ascend_nothing_is_replaced(monkeypatch):
    ascend = SimpleNamespace(get_context=lambda _: "Ascend")
    monkeypatch.setattr(context, "ms", ascend)
    before = gen_ops_prim.Arange.__call__
    with on_cpu():
        assert gen_ops_prim.Arange.__call__ is before


def test_each_call_is_counted_and_contexts_may_be_nested():
    x = ms.Tensor(np.ones((2, 4), np.float32))
    with on_cpu() as outer:
        mint.cumsum(x, 1)
        with on_cpu() as inner:
            mint.cumsum(x, 1)
            ops.rms_norm(x, ms.Tensor(np.ones(4, np.float32)))
    assert outer.used == {"mint.cumsum": 1}
    assert inner.used == {"mint.cumsum": 1, "ops.rms_norm": 1}
