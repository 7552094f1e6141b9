"""Where MindSpore has no kernel on a CPU, stand-ins run; nowhere else, and they are counted."""

import contextlib
from pathlib import Path
from types import SimpleNamespace

import mindspore as ms
import numpy as np
import pytest
from mindspore import mint, nn, ops
from mindspore.graph import _parse
from mindspore.ops import functional_overload
from mindspore.ops.auto_generate import gen_ops_prim

from equivalence import on_cpu
from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.errors import EquivalenceError
from equivalence.host.isolation import isolated
from equivalence.report import text
from equivalence.stand_ins import context
from equivalence.stand_ins.context import lacks_kernel
from equivalence.stand_ins.table import FALLBACKS, LATE, METHODS, OVERLOADS, PARTLY, STAND_INS
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


def padded(kind, execution):
    """A reflection beside a padding of some kind."""
    pair = ("torch.nn:ReflectionPad1d", f"mindspore.mint.nn:{kind}Pad1d")
    return case(*pair, normal(2, 3, 5), execution=execution, config={"padding": (1, 2)})


@both
def test_a_block_for_an_ascend_is_compared_on_a_cpu_and_the_result_says_how(execution):
    with isolated():
        outcome = check(block(execution=execution), 0)
    assert outcome.passed
    assert outcome.stand_ins == USED
    lines = [text.json.loads(line) for line in text.lines(outcome)]
    told = text.summary(lines)
    assert "  stand-ins  on the CPU in 1 case, for mint.nn.functional.gelu 1, " in told


@both
@pytest.mark.parametrize(
    ("candidate", "right"), [("Attention", True), ("MadeAnew", True), ("other_scale", False)]
)
def test_settings_come_after_the_inputs_that_a_call_leaves_out(candidate, right, execution):
    sides = (f"{PARTS}pt:Attention", f"{PARTS}ms:{candidate}")
    with isolated():
        outcome = check(case(*sides, *[normal(2, 2, 5, 8)] * 3, execution=execution), 0)
    assert outcome.passed is right
    assert outcome.stand_ins == ("ops.flash_attention_score",)


@both
def test_a_mistake_is_seen_through_stand_ins(execution):
    with isolated():
        assert not check(block("Mistaken", execution), 0).passed


def test_a_network_that_has_its_kernels_runs_without_stand_ins():
    with isolated():
        outcome = check(case("torch.nn:ReLU", "mindspore.nn:ReLU", normal(2, 3)), 0)
    assert outcome.stand_ins == ()
    assert "stand-ins" not in text.summary([text.json.loads(line) for line in text.lines(outcome)])


@both
def test_a_padding_that_would_end_a_compiled_process_is_compared(execution):
    with isolated():
        outcome = check(padded("Reflection", execution), 0)
    assert outcome.passed
    assert outcome.stand_ins == ("mint.nn.functional.pad",)


@both
def test_another_padding_is_seen_through_stand_ins(execution):
    with isolated():
        outcome = check(padded("Replication", execution), 0)
    assert not outcome.passed
    assert outcome.stand_ins == ("mint.nn.functional.pad",)


def test_only_what_falls_back_is_replaced_before_a_kernel_was_lacking():
    x = ms.Tensor(np.ones((2, 4), np.float32))
    with isolated(), context.StandIns(every=False)() as stand_ins:
        with pytest.raises(RuntimeError, match="CumsumExt"):
            mint.cumsum(x, 1).asnumpy()
        ms.set_context(mode=ms.GRAPH_MODE)
        mint.nn.LogSoftmax(1)(x)
        mint.nn.ReLU()(x)
    assert stand_ins.used == {"mint.nn.functional.log_softmax": 1}


def test_a_call_is_tried_once_more_where_a_kernel_is_lacking_and_nowhere_else():
    tried = []

    def failing(error, told=None):
        tried.append(error)
        raise error from told

    lacking = RuntimeError("The kernel CumsumExt unregistered")
    for error, told, count in (
        (lacking, None, 2),
        (EquivalenceError("the port raised"), lacking, 2),
        (ValueError("another"), None, 1),
    ):
        tried.clear()
        with pytest.raises(type(error)):
            context.StandIns(every=False).running(lambda e=error, t=told: failing(e, t))
        assert len(tried) == count


def test_what_falls_back_has_a_stand_in_and_a_finding():
    findings = {path.stem for path in Path("findings").rglob("*.py")}
    assert FALLBACKS.keys() | LATE.keys() <= STAND_INS.keys()
    assert {*FALLBACKS.values(), *LATE.values()} <= findings
    assert PARTLY.keys() <= (STAND_INS | OVERLOADS | METHODS).keys() - FALLBACKS.keys()


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def test_a_call_that_has_its_kernel_runs_as_it_is(mode):
    x = ms.Tensor(np.float32([-1.5, 2.5]))

    class Filled(nn.Cell):
        def construct(self, x):
            return ops.masked_fill(x, x > 0, 0), ops.masked_fill(x, x > 0, 0.5)

    ms.set_context(mode=mode)
    with on_cpu() as stand_ins:
        whole, broken = Filled()(x)
    assert stand_ins.used == {"ops.masked_fill": 1}
    assert whole.asnumpy().tolist() == [-1.5, 0.0]
    assert broken.asnumpy().tolist() == [-1.5, 0.5]


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


@pytest.mark.parametrize(
    ("message", "lacks"),
    [
        ("The kernel KLDiv unregistered.", True),
        ("Not found op FuncMaxPool2D on device CPU", True),
        ("Not found op N9mindspore6kernel7pyboost13FuncMaxPool2DE on device 1", True),  # 2.8
        ("For 'MatMul', the inputs must have the same dtype", False),
    ],
)
def test_what_mindspore_says_of_a_kernel_that_it_lacks_is_known(message, lacks):
    assert lacks_kernel(RuntimeError(message)) is lacks


def test_what_says_too_late_that_it_has_no_kernel_has_its_stand_in_at_once():
    with context.StandIns(every=False)() as stand_ins:
        normed = mint.nn.functional.layer_norm(ms.Tensor([1.0, 3.0]), (2,), eps=0.0)
        with pytest.raises(RuntimeError, match="unregistered"):
            mint.nn.functional.gelu(ms.Tensor([1.0])).asnumpy()
    assert normed.asnumpy().tolist() == [-1.0, 1.0]
    assert stand_ins.used == {"mint.nn.functional.layer_norm": 1}
