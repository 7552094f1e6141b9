"""The one table of kinds: each row is complete, and a case is checked by its own row."""

import pickle
import typing

import pytest

from equivalence import kinds
from equivalence.declare.data_parallel import DataParallel, DataParallelCase
from equivalence.declare.draws import normal
from equivalence.declare.initial import Initial, InitialCase
from equivalence.declare.operator import Operator, OperatorCase, operator_case, to
from equivalence.declare.pipeline import Pipeline, PipelineCase
from equivalence.declare.spaces import unary
from equivalence.declare.twin import LayeredCase, MindSporeCase, TorchCase, Twin, TwinCase
from equivalence.errors import SideError, blaming
from equivalence.targets import resolve

SIDES = {"reference": "torch.nn:ReLU", "candidate": "mindspore.nn:ReLU"}
ABS = Operator("torch.abs", unary(), to("ops.abs"))
SAMPLES = {"inputs": [normal(4)], "batch_size": 2, "steps": 2}

CASES = [
    TwinCase(Twin("a", inputs=[normal(2)], **SIDES), {}, "train", "float32", "pynative", "cpu"),
    LayeredCase(
        *(Twin("a", inputs=[normal(2)], by_layer=True, **SIDES), {}, "train", "float32"),
        *("pynative", "cpu"),
    ),
    TorchCase(Twin("a", inputs=[normal(2)], **SIDES), {}, "train", "float32", "pynative", "cpu"),
    MindSporeCase(Twin("a", inputs=[normal(2)], **SIDES), {}, "train", "float32", "graph", "cpu"),
    operator_case(ABS, ABS.counterparts[0], ABS.example("abs(normal(2))"), "pynative", "cpu"),
    PipelineCase(Pipeline("a", files="m:f", **SIDES), {}),
    InitialCase(Initial("a", **SIDES), {}),
    DataParallelCase(DataParallel("a", **SAMPLES, **SIDES), {}, "graph"),
]


def test_every_kind_is_tried_here():
    classes = [kind.case for kind in kinds.KINDS]
    assert [type(case) for case in CASES] == classes
    others = {OperatorCase, PipelineCase, InitialCase, DataParallelCase}
    assert set(classes) == {TwinCase, LayeredCase, TorchCase, MindSporeCase, *others}


@pytest.mark.parametrize("case", CASES, ids=lambda case: type(case).__name__)
def test_a_case_has_what_the_protocol_says(case):
    for protocol, value in ((kinds.Case, case), (kinds.Declared, case.twin)):
        names = {*typing.get_type_hints(protocol), *vars(protocol)} - {*vars(typing.Protocol)}
        names = {name for name in names if not name.startswith("_")}
        assert len(names) >= 3
        assert [name for name in sorted(names) if not hasattr(value, name)] == []


@pytest.mark.parametrize("kind", kinds.KINDS, ids=lambda kind: kind.case.__name__)
def test_what_a_row_names_is_there(kind):
    assert callable(resolve(kind.check))
    assert callable(resolve(kind.diagnose))
    assert kind.part


def test_a_case_is_checked_and_diagnosed_by_its_row(monkeypatch):
    here = {"check": f"{__name__}:checked", "diagnose": f"{__name__}:diagnosed"}
    others = [kind for kind in kinds.KINDS if kind.case is not PipelineCase]
    row = kinds.Kind(PipelineCase, part="stage", **here)
    monkeypatch.setattr(kinds, "KINDS", (*others, row))
    case = next(each for each in CASES if type(each) is PipelineCase)
    assert kinds.check(case, 7) == ("checked", case, 7)
    assert kinds.diagnose(case, 7) == ("diagnosed", case, 7, False)


def checked(case, seed):
    return "checked", case, seed


def diagnosed(case, seed, every):
    return "diagnosed", case, seed, every


def test_what_is_no_case_is_refused():
    with pytest.raises(TypeError, match="Twin is no kind of case; see the table"):
        kinds.check(Twin("a", inputs=[normal(2)], **SIDES), 0)


@pytest.mark.parametrize("side", ["reference", "candidate"])
def test_an_error_knows_the_side_that_raised(side):
    """Whoever decides by it reads no words; it survives the way between processes."""
    message = f"net: the {side} raised KeyError"
    with pytest.raises(SideError, match=message) as raised, blaming(side, "net"):
        raise KeyError("a")
    assert raised.value.side == side
    assert pickle.loads(pickle.dumps(raised.value)).side == side
