"""Lines that are called verified, run: the arguments of PyTorch's calls in MindSpore's."""

import dataclasses

import pytest
import torch

from equivalence.coverage.known import Declarations
from equivalence.coverage.verdict import Danger, Judge
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import unary
from tests.engine.coverage.replayed import PARTS, ROOT, files_of, judged, look, watch
from tests.engine.coverage.watched import Recorder

FIGURES = {"versions": {}, "operators": {}, "twins": {}}


@pytest.fixture(scope="module")
def judge():
    operators = (
        Operator("torch.floor", unary(), to("ops.floor")),
        Operator("torch.ceil", unary(), to("ops.floor"), name="wrong"),
        Operator("torch.round", unary(), to("ops.round")),
        Operator("torch.nn.functional.relu", unary(), to("ops.relu")),
    )
    return Judge(Declarations(operators, [], {}, {}, FIGURES))


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


def test_each_part_has_files():
    assert all(files_of(code) for code, _ in PARTS.values())
