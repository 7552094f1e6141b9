"""What no comparison can be made of: a reference of zeros, a candidate that leaves or borrows."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from mindspore import nn

from equivalence import kinds
from equivalence.comparison.check import check
from equivalence.declare.difference import Raised
from equivalence.declare.draws import normal, uniform
from equivalence.declare.operator import Operator, operator_case, to
from equivalence.declare.spaces import unary
from equivalence.errors import (
    BorrowingError,
    DeclarationError,
    EquivalenceError,
    SideError,
    blaming,
    staying,
    words,
)
from equivalence.judge.expected import Expected
from equivalence.judge.verdict import HOLLOW, demand_values, judge
from equivalence.report import text as report
from equivalence.stream.borrowing import without_torch
from tests.engine.parts import small

HERE = "tests.engine.parts.leaving_ms:"
U = 2.0**-24


def judged(**truths):
    expected = {name.replace("__", ":"): Expected(v, "float32") for name, v in truths.items()}
    trace = {name: tensor.truth.astype(np.float32) for name, tensor in expected.items()}
    return demand_values(judge(expected, trace, U))


def test_a_reference_of_zeros_is_ill_posed_whatever_the_candidate():
    assert judged(output=np.zeros(3)).ill_posed == HOLLOW
    assert judged(output=np.zeros((0, 3))).ill_posed == HOLLOW
    assert judged(output=np.zeros(3), gradient__w=np.ones(3)).ill_posed == HOLLOW
    assert judged(output=np.zeros(3), other=np.zeros((0,))).ill_posed == HOLLOW


def test_zeros_among_other_values_are_compared():
    """The gradient of a weight that is not used, one of two outputs, an element."""
    assert judged(output=np.ones(3), gradient__w=np.zeros(3)).equal
    assert judged(output=np.zeros(3), other=np.ones(3)).equal
    assert judged(output=np.array([0.0, 0.0, 1.0])).equal


def test_a_case_of_zeros_is_red_and_says_so():
    below = uniform(4, 8, low=-2.0, high=-1.0)
    outcome = kinds.check(small.case("torch.nn:ReLU", "mindspore.nn:ReLU", below), 0)
    assert not outcome.passed
    assert f"ill-posed: {HOLLOW}" in report.failure(outcome, "pytest this")


@pytest.mark.parametrize("shape", [(0, 8), (2, 0)])
def test_a_twin_with_an_input_of_no_element_cannot_be_declared(shape):
    with pytest.raises(DeclarationError, match="no size may be zero or less"):
        small.case("torch.nn:ReLU", "mindspore.nn:ReLU", normal(*shape))


def test_an_example_of_an_operator_may_be_empty_and_is_counted_apart():
    counterpart = to("ops.abs")
    operator = Operator("torch.abs", unary(), counterpart)
    lines = []
    for spelled in ("abs(normal(0, 3))", "abs(normal(2, 3))"):
        example = operator.example(spelled)
        outcome = kinds.check(operator_case(operator, counterpart, example, "pynative", "cpu"), 0)
        assert outcome.passed
        lines.append([json.loads(line) for line in report.lines(outcome)])
    empty, full = lines
    assert all(line["structure"] for line in empty)
    assert not any("structure" in line for line in full)
    told = "structure alone  1 case, of zeros or of no element"
    assert told in report.summary(empty + full)
    assert "structure" not in report.summary(full)


@pytest.mark.parametrize(
    ("candidate", "told"),
    [
        ("Skips", "the candidate raised LeavingError: Skipped would end the test: no kernel here"),
        ("skipping", "the candidate raised LeavingError: Skipped would end the test: no kernel"),
        ("Quits", "the candidate raised LeavingError: SystemExit would end the test: 0"),
        ("Vanishes", r"the candidate raised LeavingError: os\._exit\(0\) would end the run"),
        ("Borrows", r"the candidate raised BorrowingError: it calls torch \(aten\."),
    ],
)
def test_a_candidate_that_leaves_or_borrows_is_red(candidate, told):
    with pytest.raises(SideError, match=told):
        kinds.check(small.case("torch.nn:Identity", HERE + candidate, normal(3, 4)), 0)


@pytest.mark.parametrize("candidate", ["Skips", "Quits", "Vanishes"])
def test_to_leave_is_not_the_error_that_a_twin_must_raise(candidate):
    refused = Raised("LeavingError", "would end")
    case = small.case(small.PT + "Refusing", HERE + candidate, normal(3, 4), raises=refused)
    with pytest.raises(EquivalenceError, match="raised"):
        kinds.check(case, 0)


def test_torch_that_the_candidate_imports_is_refused(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch")
    with pytest.raises(BorrowingError, match="it imports torch"), without_torch():
        monkeypatch.setitem(sys.modules, "torch", sys)


def test_the_reference_computes_with_torch():
    import torch

    with blaming("reference", "case"):
        assert torch.ones(2).sum() == 2


def test_only_a_peaceful_end_is_refused():
    """A child may end, and another exit code than 0 ends the run as ever, which is then red."""
    with staying():
        child = subprocess.run([sys.executable, "-c", "import os; os._exit(0)"], check=False)
        assert child.returncode == 0
        forked = os.fork()
        if not forked:
            os._exit(0)
        assert os.waitpid(forked, 0)[1] == 0
    left = "import os\nfrom equivalence.errors import staying\nwith staying(): os._exit(3)"
    assert subprocess.run([sys.executable, "-c", left], check=False).returncode == 3


# What is refused is told with the line, the partner and the likely cause.


@pytest.mark.parametrize(
    ("reference", "candidate", "told"),
    [
        (
            "Net",
            "Listed",
            "candidate blocks is a list, tuple or dict of Python, so that its cells are none of "
            "the network's: write nn.CellList",
        ),
        (
            "Net",
            "Unbiased",
            "reference head.bias (parameter (8,)) has no partner in the candidate: the candidate's "
            "head has only weight; nn.Dense and nn.Conv2d take has_bias=True",
        ),
        (
            "Tied",
            "Net",
            "candidate head.weight (parameter (8, 8)) maps to head.weight, which the reference "
            "does not have: it ties head.weight to blocks.0.weight; share the parameter",
        ),
        ("Net", "Unbuilt", "Dense(8, 8)); call super().__init__() first in its __init__"),
        (
            "Net",
            "Minted",
            "in construct: return mint.cummin(super().construct(x), 0)[0]); this device has "
            "no kernel for it: use mindspore.ops.cummin there, not mindspore.mint's",
        ),
        ("Net", "Misshapen", "in construct: x = block(x))"),
        ("Net", "Irreversible", "'out_channel': 4. (while its gradients were computed)"),
    ],
)
def test_a_port_that_cannot_be_compared_is_told_with_its_line_and_the_likely_cause(
    reference, candidate, told
):
    case = small.case(
        f"tests.engine.parts.refused_pt:{reference}",
        f"tests.engine.parts.refused_ms:{candidate}",
        normal(4, 8),
    )
    with pytest.raises(EquivalenceError) as caught:
        check(case, 0)
    assert told in str(caught.value)


def test_what_is_likely_is_said_of_known_messages_alone(monkeypatch):
    assert words(ValueError("no shape pleases me")) == "no shape pleases me"
    told = words(RuntimeError("The kernel NoSuchThingExt unregistered."))
    assert told.endswith("use what mindspore.ops has for it there, not mindspore.mint's")
    refused = "Select CPU operator[MatMul] fail!\nThe supported data types are x\nget BFloat16"
    told = words(TypeError(refused))
    assert "supported" not in told
    assert "MindSpore has no bfloat16 kernel of MatMul on a CPU: round to bfloat16" in told
    raised = "<built-in method pyboost_pow of x> returned a result with an exception set"
    assert words(SystemError(raised)) == raised
    monkeypatch.setattr(np, "__version__", "2.2.6")
    told = words(SystemError(raised))
    assert told.endswith(
        "; MindSpore is built for NumPy 1, and 2.2.6 is installed: pip install 'numpy<2'"
    )
    kept = "Failure info [Try to backward the graph twice,  Specify retain_graph=True]."
    assert words(RuntimeError(kept)).endswith("or keep ops.stop_gradient of it")
    slice_ = "For 'StridedSliceGrad, %d input memory out of bounds."
    without = "Cannot access data pointer of Tensor that doesn't have storage"
    assert "a transform of torch.func" in words(RuntimeError(without))
    assert "ops.gather(x, ops.arange(" in words(RuntimeError(slice_ % 6))
    assert words(RuntimeError(slice_ % 0)) == slice_ % 0  # of no rows: another fault
    told = words(AttributeError("cannot assign module before Module.__init__() call"))
    assert told.endswith("; call super().__init__() first in its __init__")


class StillReference(torch.nn.Module):
    """A step that trains nothing."""

    def __init__(self):
        super().__init__()
        self.network = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.network(x).sum()


class Still(nn.Cell):
    """Its partner."""

    def __init__(self):
        super().__init__()
        self.network = nn.Dense(4, 2)

    def construct(self, x):
        return self.network(x).sum()


def test_a_step_that_trains_nothing_is_refused():
    here = f"{__name__}:"
    sides = here + "StillReference", here + "Still", normal(3, 4)
    with pytest.raises(DeclarationError, match="moves no weight in 2 calls, so that no update is"):
        check(small.case(*sides, steps=2, phases=("train",)), 0)
    check(small.case(*sides, steps=2, phases=("train",), degenerate=True), 0)
