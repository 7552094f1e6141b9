"""Several sizes of one twin: one candidate, compiled once, and what it keeps of a size shows."""

import numpy as np
import pytest
from mindspore import nn, ops
from mindspore.graph.api import _CellGraphExecutor

from benchmarks.false_alarms import outcomes
from equivalence.comparison import kept, sides
from equivalence.comparison.check import check
from equivalence.declare.difference import Raised
from equivalence.declare.draws import given, integers, normal
from equivalence.declare.twin import Twin, cases, sample_of
from equivalence.diagnosis import text as explanation
from equivalence.diagnosis.diagnose import diagnose
from equivalence.errors import DeclarationError, SideError
from equivalence.host.isolation import isolated
from equivalence.judge.verdict import HOLLOW
from equivalence.report import text as report
from equivalence.sides.mindspore_network import MindSporeNetwork

HERE = "tests.engine.comparison.test_sizes:"
ROWS = (normal("N", "H"),)
SIZES = ({"N": 4, "H": 6}, {"N": 3, "H": 9})
EXECUTIONS = ("pynative", "graph")


@pytest.fixture(autouse=True)
def isolation():
    with isolated():
        yield


def mean_of_rows():
    """The reference: N,H -> N."""
    return lambda x: x.mean(1)


def positive():
    """The reference: the positive elements and their places."""
    return lambda x: (x[x > 0], (x > 0).nonzero())


def scaled_rows():
    """The reference of `Layers`."""
    import torch

    class Layers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.same, self.mean = torch.nn.Identity(), torch.nn.AdaptiveAvgPool1d(1)

        def forward(self, x):
            return self.mean(self.same(x))

    return Layers()


def zeros():
    """The reference: nothing but zeros, of every size."""
    return lambda x: x * 0.0


class Zeros(nn.Cell):
    def construct(self, x):
        return x * 0.0


class Mean(nn.Cell):
    def construct(self, x):
        return x.mean(1)


class ConstantMean(nn.Cell):
    """Divides by the width of the first size, a constant."""

    def construct(self, x):
        return x.sum(1) / 6


class KeptMean(nn.Cell):
    """Divides by the width that it was first called with."""

    width = None

    def construct(self, x):
        if self.width is None:
            self.width = x.shape[1]
        return x.sum(1) / self.width


class ReshapedMean(nn.Cell):
    """Has the first size written into a shape."""

    def construct(self, x):
        return x.reshape(4, 6).mean(1)


class MaskedMean(nn.Cell):
    """Leaves out what lies beyond the first width."""

    def construct(self, x):
        return ops.where(ops.arange(x.shape[1]) < 6, x, 0 * x).mean(1)


class WrongAtOnce(nn.Cell):
    def construct(self, x):
        return x.sum(1)


class Lengthened(nn.Cell):
    """A row too many at every size but the first."""

    def construct(self, x):
        mean = x.mean(1)
        if x.shape[1] > 6:
            mean = ops.cat((mean, mean[:1]))
        return mean


class Positive(nn.Cell):
    def construct(self, x):
        return ops.masked_select(x, x > 0), ops.nonzero(x > 0)


class NotNegative(nn.Cell):
    """Another number of elements, and of places."""

    def construct(self, x):
        return ops.masked_select(x, x > -0.5), ops.nonzero(x > -0.5)


class Swapped(nn.Cell):
    """The places with their columns exchanged."""

    def construct(self, x):
        return ops.masked_select(x, x > 0), ops.nonzero(x > 0)[:, ::-1]


class KeptPool(nn.Cell):
    """`KeptMean` as a layer: N,C,L -> N,C,1."""

    width = None

    def construct(self, x):
        if self.width is None:
            self.width = x.shape[2]
        return x.sum(2, keepdims=True) / self.width


class Layers(nn.Cell):
    def __init__(self):
        super().__init__()
        self.same, self.mean = nn.Identity(), KeptPool()

    def construct(self, x):
        return self.mean(self.same(x))


def of(candidate, execution, reference="mean_of_rows", inputs=ROWS, sizes=SIZES):
    twin = Twin(
        "sized",
        HERE + reference,
        HERE + candidate,
        inputs,
        phases=("train",),
        executions=(execution,),
        sizes=sizes,
    )
    (case,) = cases(twin, "cpu")
    return case


def names(judgement, equal):
    return [v.name for v in judgement.verdicts if v.equal is equal]


@pytest.fixture
def compiled(monkeypatch):
    """The phases that were compiled."""
    phases, compiling = [], _CellGraphExecutor.compile

    def count(self, *arguments, **options):
        phase, fresh = compiling(self, *arguments, **options)
        if fresh:
            phases.append(phase)
        return phase, fresh

    monkeypatch.setattr(_CellGraphExecutor, "compile", count)
    return phases


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_every_size_is_compared_and_its_tensors_tell_it(execution):
    outcome = check(of("Mean", execution), 0)
    assert outcome.passed
    assert names(outcome.judgement, True) == [
        "output.0 at N=4, H=6",
        "gradient:input[0] at N=4, H=6",
        "output.0 at N=3, H=9",
        "gradient:input[0] at N=3, H=9",
    ]


def test_one_graph_serves_all_sizes_and_seeds(compiled):
    case = of("Mean", "graph")
    found = [outcome.passed for _, _, outcome in outcomes([case], [0, 1])]
    assert found == [True, True]
    assert len(compiled) == 1


def test_a_cell_that_is_compiled_for_each_size_is_refused(compiled, monkeypatch):
    monkeypatch.setattr(nn.Cell, "set_inputs", lambda *_: None)
    with pytest.raises(
        SideError, match=r"N3-H9.*: the candidate raised RuntimeError: compiled 2 times"
    ):
        check(of("Mean", "graph"), 0)
    assert len(compiled) == 2


def test_dimensions_that_sizes_give_are_unknown_and_no_others(monkeypatch):
    declared = []
    unknown = MindSporeNetwork._unknown

    def keep(self, arguments):
        declared.extend(tensor.shape for tensor in unknown(self, arguments))
        return unknown(self, arguments)

    monkeypatch.setattr(MindSporeNetwork, "_unknown", keep)
    check(of("Mean", "graph", inputs=[normal("N", 6)], sizes=[{"N": 2}, {"N": 5}]), 0)
    assert declared == [(-1, 6), (-1,)]


@pytest.mark.parametrize(
    ("candidate", "executions"),
    [
        ("ConstantMean", EXECUTIONS),
        ("KeptMean", ("pynative",)),
        ("MaskedMean", EXECUTIONS),
        ("Lengthened", EXECUTIONS),
    ],
)
def test_what_is_right_at_the_first_size_alone_is_refused(candidate, executions):
    for execution in executions:
        outcome = check(of(candidate, execution), 0)
        assert not outcome.passed
        right, wrong = names(outcome.judgement, True), names(outcome.judgement, False)
        assert right == ["output.0 at N=4, H=6", "gradient:input[0] at N=4, H=6"]
        assert "output.0 at N=3, H=9" in wrong
        assert "output.0 at N=3, H=9" in report.failure(outcome, "-")


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_a_reshape_to_a_constant_is_refused(execution):
    with pytest.raises(SideError, match=r"N3-H9-train.*the candidate raised"):
        check(of("ReshapedMean", execution), 0)


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(
    ("candidate", "problem"),
    [("NotNegative", "shape"), ("Swapped", "integers differ")],
)
def test_outputs_whose_shape_depends_on_the_data_are_compared_as_found(
    execution, candidate, problem
):
    assert check(of("Positive", execution, "positive"), 0).passed
    outcome = check(of(candidate, execution, "positive"), 0)
    for size in ("N=4, H=6", "N=3, H=9"):
        (found,) = (v for v in outcome.judgement.verdicts if v.name == f"output.1 at {size}")
        assert problem in found.problem


def test_the_truth_of_a_size_is_shared_by_both_executions(monkeypatch):
    kept.forget()
    drawn, draw = [], sides.draw
    monkeypatch.setattr(
        sides, "draw", lambda case, seed: drawn.append(case.size) or draw(case, seed)
    )
    for execution in EXECUTIONS:
        check(of("Mean", execution), 0)
    called_before = SIZES[0]  # with other values, by each candidate
    assert drawn == [SIZES[0], called_before, *SIZES[1:], called_before]


def test_a_case_of_sizes_has_one_name_and_each_size_its_own():
    case = of("Mean", "graph")
    assert case.name == "sized-train-float32-graph-cpu"
    assert [sample_of(one.name) for one in case.sizes] == [
        "sized-N4-H6-train-float32",
        "sized-N3-H9-train-float32",
    ]
    assert [one.sizes for one in case.sizes] == [[one] for one in case.sizes]


def test_the_layer_that_keeps_a_size_is_named():
    inputs, sizes = (normal("N", 2, "H"),), ({"N": 4, "H": 6}, {"N": 3, "H": 9})
    case = of("Layers", "pynative", "scaled_rows", inputs, sizes)
    found = diagnose(case, 0)
    assert [layer.reference for layer in found.culprits] == ["mean"]
    text = "\n".join(explanation.brief(found))
    assert "right when it is built anew; it keeps another size at N=3, H=9" in text


def test_what_is_wrong_at_the_first_size_is_not_put_down_to_another():
    found = diagnose(of("WrongAtOnce", "pynative"), 0)
    assert [layer.reference for layer in found.culprits] == [""]
    assert "keeps" not in "\n".join(explanation.brief(found))


def test_a_right_candidate_has_no_culprit():
    assert diagnose(of("Mean", "graph"), 0).culprits == []


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"sizes": [{"N": 2, "H": 3}]}, "sizes has one entry"),
        ({"sizes": [{"N": 2, "H": 3}, {"N": 2}]}, "name different things"),
        ({"sizes": [{"N": 2, "H": 3}, {"N": 2, "H": 3}]}, "the same size is given twice"),
        ({"sizes": [{"N": 2, "h": 3}, {"N": 1, "h": 3}]}, "in capitals"),
        ({"sizes": [{"N": 2, "H": 3, "K": 1}, {"N": 1, "H": 3, "K": 1}]}, "which no input has"),
        ({"configs": [{"H": 3}]}, "is in sizes and in"),
        ({"sizes": [{"N": 2}, {"N": 1}]}, "an input shape names"),
        ({"steps": 1}, "can neither train nor raise"),
        ({"raises": Raised("ValueError", "x")}, "can neither train nor raise"),
    ],
)
def test_sizes_declared_wrongly_are_refused(changes, complaint):
    options = {"phases": ("train",), "sizes": SIZES, **changes}
    with pytest.raises(DeclarationError, match=complaint):
        Twin("sized", HERE + "mean_of_rows", HERE + "Mean", [normal("N", "H")], **options)


def test_given_values_are_not_drawn():
    rng = np.random.default_rng(0)
    pattern = given(2, 2, values="PATTERN")
    assert pattern.names == {"PATTERN"}
    for values in ((0, 1, 2, 3), ((0, 1), (2, 3))):
        filled = pattern.filled({"PATTERN": values})
        array = filled.array(rng, filled.resolve({}))
        assert array.dtype == np.int32
        assert array.tolist() == [[0, 1], [2, 3]]
    assert given(values=3).array(rng, ()) == 3
    assert not given(values=3).differentiable
    assert integers(3, high=5).filled({"high": 7}) == integers(3, high=5)


def test_sizes_of_nothing_but_zeros_are_ill_posed():
    twin = Twin("zeros", HERE + "zeros", HERE + "Zeros", ROWS, sizes=SIZES)
    for case in cases(twin, "cpu"):
        assert check(case, 0).judgement.ill_posed == HOLLOW
