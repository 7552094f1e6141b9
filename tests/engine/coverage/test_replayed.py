"""Lines that are called verified, run: the arguments of PyTorch's calls in MindSpore's."""

import dataclasses

import mindspore as ms
import pytest
import torch

from equivalence.coverage.known import DeclaredAPIs
from equivalence.coverage.verdict import Danger, Judge
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import unary
from tests.engine.coverage.calls import places
from tests.engine.coverage.replayed import PARTS, ROOT, files_of, judged, look, watch
from tests.engine.coverage.watched import Kept, Recorder
from tests.twins.operators.spaces_indexing import best

FIGURES = {"versions": {}, "operators": {}, "twins": {}}


def widened(x):
    """Integers in 64 bits."""
    return ms.ops.neg(x).astype(ms.int64)


@pytest.fixture(scope="module")
def judge():
    operators = (
        Operator("torch.floor", unary(), to("ops.floor")),
        Operator("torch.ceil", unary(), to("ops.floor"), name="wrong"),
        Operator("torch.round", unary(), to("ops.round")),
        Operator("torch.nn.functional.relu", unary(), to("ops.relu")),
        Operator("torch.hstack", unary(), to("ops.hstack"), packed=True),
        Operator("torch.vstack", unary(), to("ops.hstack"), packed=True),
        Operator("torch.abs", unary(), to("ops.abs")),
        Operator("torch.neg", unary(), to("ops.neg", through=f"{__name__}:widened")),
        Operator("torch.topk", best(), to("ops.topk", integers="int32")),
    )
    return Judge(DeclaredAPIs(operators, [], {}, {}, FIGURES))


@pytest.fixture(scope="module")
def sites(judge):
    found = judged([ROOT / "tests/engine/parts/watched_pt.py"], judge)
    return [each for each in found if each.verdict.danger is Danger.VERIFIED]


@pytest.fixture(scope="module")
def ran(sites):
    return watch(sites, "tests.engine.parts.watched_pt:run")


def test_each_call_that_runs_has_its_arguments_kept(sites, ran):
    kept, reached = ran
    apis = {sites[number].call.api for number in reached}
    assert apis == {"torch.floor", "torch.ceil", "torch.nn.functional.relu"}
    for number in reached:
        assert kept[number][0].arguments[0].ndim == 3


def test_a_right_counterpart_is_equal_and_a_wrong_one_differs(sites, ran, judge):
    found = {sites[n].call.api: look(sites[n], kept, judge)[0] for n, kept in ran[0].items()}
    assert found == {
        "torch.floor": "equal",
        "torch.ceil": "differs",
        "torch.nn.functional.relu": "equal",
    }


def test_a_hint_that_raises_differs(sites, ran, judge):
    number = next(n for n in ran[0] if sites[n].call.api == "torch.floor")
    verdict = sites[number].verdict
    counterpart = dataclasses.replace(verdict.counterpart, api="ops.nothing")
    site = dataclasses.replace(
        sites[number], verdict=dataclasses.replace(verdict, counterpart=counterpart)
    )
    word, why = look(site, ran[0][number], judge)
    assert word == "differs", why
    assert "nothing" in why


def test_the_arguments_are_those_before_the_call():
    recorder, x = Recorder(), torch.zeros(2)
    recorder(0, "add_", x, 1)
    assert recorder.kept[0][0].arguments[0].tolist() == [0, 0]


def test_of_a_layer_that_is_built_its_input_is_kept():
    recorder = Recorder()
    layer = recorder(0, torch.nn.ReLU)
    layer(torch.ones(3))
    assert recorder.kept[0][0].inputs[0][0].tolist() == [1, 1, 1]


@pytest.fixture
def line(judge, tmp_path):
    """What becomes of a line with these arguments: (word, why)."""

    def play(text, *arguments, judge=judge):
        path = tmp_path / "net.py"
        path.write_text(f"import torch\ndef f(x, y):\n    {text}\n")
        (site,) = judged([path], judge)
        return look(site, [Kept(arguments, {})], judge)

    return play


@pytest.mark.parametrize(
    "x", [torch.zeros(0, 3), torch.zeros(2, 0, dtype=torch.float16)], ids=["rows", "half"]
)
def test_a_call_of_an_empty_tensor_is_judged(line, x):
    assert line("torch.round(x)", x) == ("equal", "")
    assert line("torch.neg(x)", x.int())[0] == "differs"  # is told to widen it


def test_an_empty_tensor_beside_another_is_judged(line):
    x = torch.arange(6.0).reshape(2, 3)
    assert line("torch.hstack((x, y))", (x, torch.zeros(2, 0))) == ("equal", "")
    assert line("torch.vstack((x, y))", (x, torch.zeros(0, 3)))[0] == "differs"  # told otherwise


def test_integers_have_the_dtype_that_the_call_had(line):
    x = torch.arange(-3, 3, dtype=torch.int32)
    assert line("torch.abs(x)", x) == ("equal", "")
    assert line("torch.neg(x)", x)[0] == "differs"  # is told to widen them


def test_of_equal_values_it_is_not_asked_which_is_first(line):
    x = torch.tensor([1.0, 3.0, 3.0, 3.0, 2.0])
    assert line("torch.topk(x, 2)", x, 2) == ("equal", "")


def test_places_keep_the_order():
    x = torch.tensor([[0.5, -1.0], [0.5, 7.0]])
    assert places(x).tolist() == [[-1.0, -2.0], [0.0, 1.0]]


def test_each_part_has_files():
    assert all(files_of(code) for code, _ in PARTS.values())
