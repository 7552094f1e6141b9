"""Defects are declared with sense, built as they are declared, and none is lost from the matrix."""

import json
import math
from dataclasses import replace

import pytest
from mindspore import nn

from equivalence.comparison.sides import build_candidate
from equivalence.errors import DeclarationError
from equivalence.targets import build
from tests import defects
from tests.defects import mutants
from tests.defects.defect import Defect
from tests.defects.matrix import ENOUGH, Correct, Matrix, Row, encode
from tests.defects.twins import TWINS

OTHER_EPSILON = {"edit": None, "arguments": {"eps": 1e-4}}


def defect(**changes):
    """A small defect, with changes."""
    declared = {
        "name": "slip",
        "mistake": "a slip of the pen",
        "twin": "batch_norm2d",
        "where": {},
        "culprit": ("",),
        "edit": lambda _: None,
    }
    return Defect(**declared | changes)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "a-b"}, "is no identifier"),
        ({"mistake": ""}, "does not say what the mistake is"),
        ({"edit": None}, "is made by nothing"),
        ({"rename": {}}, r"is made by \['edit', 'rename'\]"),
        ({"culprit": "bn1"}, "culprit is a string"),
        ({"culprit": ()}, "culprit is empty"),
    ],
)
def test_a_wrong_declaration_is_refused_with_the_reason(changes, complaint):
    with pytest.raises(DeclarationError, match=complaint):
        defect(**changes)


def test_a_name_taken_twice_is_refused(monkeypatch):
    monkeypatch.setattr(defects, "FAMILIES", ("operators", "operators"))
    with pytest.raises(DeclarationError, match="declared twice"):
        defects.catalogue()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"twin": "no_such_twin"}, "there is no twin 'no_such_twin'"),
        ({"where": {"num_features": 7}}, "has no case"),
        ({"where": {"dtype": "float64"}}, "has no case"),
    ],
)
def test_a_case_that_does_not_exist_is_refused(changes, complaint):
    with pytest.raises(DeclarationError, match=complaint):
        mutants.right_case(defect(**changes))


@pytest.mark.representative
def test_two_twins_of_one_name_are_refused():
    one, *_ = TWINS
    assert mutants.by_name([one, one]) == {one.name: one}
    with pytest.raises(DeclarationError, match=f"two twins are called '{one.name}'"):
        mutants.by_name([one, replace(one)])


def test_the_case_is_the_first_that_matches():
    case = mutants.right_case(defect())
    assert (case.phase, case.dtype, case.execution) == ("train", "float32", "pynative")
    where = {"phase": "eval", "execution": "graph", "dtype": "float16"}
    case = mutants.right_case(defect(where=where))
    assert (case.phase, case.dtype, case.execution) == ("eval", "float16", "graph")


@pytest.mark.parametrize(
    ("changes", "built"),
    [
        (OTHER_EPSILON, lambda cell: cell.eps == 1e-4 and cell.num_features == 12),
        ({"edit": lambda cell: setattr(cell, "eps", 2.0)}, lambda cell: cell.eps == 2.0),
        ({"edit": lambda _: nn.ReLU()}, lambda cell: isinstance(cell, nn.ReLU)),
    ],
)
def test_the_candidate_has_the_defect_and_the_sample_is_the_same(monkeypatch, changes, built):
    slip = defect(**changes)
    monkeypatch.setattr(mutants, "_defects", lambda: {"slip": slip})
    right = mutants.right_case(slip)
    wrong = mutants.with_defect(right, slip)
    assert wrong.name == right.name
    assert built(build_candidate(wrong).cell)
    assert not built(build_candidate(right).cell)


def test_another_candidate_and_another_map_take_their_places():
    other = defect(edit=None, candidate="mindspore.nn:ReLU")
    assert mutants.with_defect(mutants.right_case(other), other).twin.candidate == other.candidate
    other = defect(edit=None, rename={"gamma": "bias"})
    assert mutants.with_defect(mutants.right_case(other), other).twin.rename == other.rename


def test_a_defect_that_is_not_in_the_catalogue_is_no_target():
    with pytest.raises(DeclarationError, match="has no attribute 'nothing'"):
        build("tests.defects.mutants:nothing", {})


def row(name="slip", **changes):
    """An outcome, with changes."""
    known = {
        "family": "layers",
        "mistake": "a slip of the pen",
        "case": "batch_norm2d-train-float32-pynative",
        "killed": "output",
        "tensor": "output.0",
        "error": 123.0,
        "change": 0.5,
        "named": "the network",
        "culprit": "right",
        "caught": {"this suite": True, "another": False},
        "caught_in_outputs": {"this suite": False, "another": False},
    }
    return Row(name, **known | changes)


def matrix(*results):
    made = Matrix()
    for each in results:
        made.add(encode(each))
    return made


def test_survivors_and_wrong_culprits_are_told_in_full():
    made = matrix(row(), row("stroke", killed=None), row("lapse", culprit="wrong", named="bn7"))
    text = "\n".join(made.summary())
    assert "survivor: stroke (batch_norm2d-train-float32-pynative): a slip of the pen" in text
    assert "wrong culprit: lapse: bn7" in text
    assert "survivor: slip" not in text
    assert [each.name for each in made.survivors] == ["stroke"]


def test_totals_count_kinds_refusals_and_culprits():
    refused = {"killed": "WeightError", "culprit": "-", "error": math.nan, "caught": {}}
    made = matrix(
        row(error=40.0),
        row("b", killed="gradient of a weight"),
        row("c", killed="structure", error=math.inf),
        row("d", **refused),
        row("e", family="maps", **refused),
    )
    layers, maps, every = (line.split() for line in made.summary()[1:4])
    assert layers == ["layers", "4", "4", "1", "1", "0", "0", "1", "1", "3/3", "40"]
    assert maps == ["maps", "1", "1", "0", "0", "0", "0", "0", "1", "-", "-"]
    assert every == ["all", "5", "5", "1", "1", "0", "0", "1", "2", "3/3", "40"]


def test_rules_are_counted_over_what_was_compared():
    made = matrix(
        row(),
        row("b", killed="WeightError", caught={}, caught_in_outputs={}),
        Correct("relu", {"this suite": False, "another": True}),
        Correct("relu6", {"this suite": False, "another": False}),
    )
    ours, another = (line.split() for line in made.summary()[-2:])
    assert ours == ["this", "suite", "1/1", "0/1", "0/2"]
    assert another == ["another", "0/1", "0/1", "1/2"]


def test_too_many_wrong_culprits_mislead_and_few_diagnoses_say_nothing():
    right = [row(f"right{i}") for i in range(ENOUGH - 1)]
    wrong = row("wrong", culprit="wrong")
    none = row("none", culprit="-")
    assert not matrix(*right, wrong, none).misled, "19 of 20 are 95%"
    assert matrix(*right, wrong, wrong, none).misled
    assert not matrix(wrong, wrong).misled


def test_the_reports_hold_every_row_and_take_the_place_of_earlier_ones(tmp_path):
    right = Correct("relu", {"this suite": False, "another": True})
    made = matrix(row(), row("stroke", killed=None, error=math.inf), right)
    (tmp_path / "defects.md").write_text("old")
    markdown, data = made.write(tmp_path)
    assert "| `stroke` | a slip of the pen | **survived**" in markdown.read_text()
    assert "| `slip` |" in markdown.read_text()
    stored = json.loads(data.read_text())
    assert [each["name"] for each in stored["defects"]] == ["slip", "stroke"]
    assert stored["defects"][1]["error"] is None
    assert stored["correct"] == [{"case": "relu", "refused": right.refused}]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["defects.json", "defects.md"]
