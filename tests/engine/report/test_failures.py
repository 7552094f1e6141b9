"""The line of results of a failed test."""

import json

import pytest

from equivalence import Twin, cases, normal
from equivalence.report import failures
from tests.engine.parts.results import failure, tensor

RELU = next(cases(Twin("relu", "torch.nn:ReLU", "mindspore.nn:ReLU", [normal(2)]), "cpu"))


def test_it_has_the_fields_of_its_case_and_the_text():
    test = f"tests/test_twins.py::test_twin[{RELU.name}]"
    line = json.loads(failures.line(RELU, 3, "it differs", test, {"layers": []}))
    assert line == {
        "case": RELU.name,
        "twin": "relu",
        "device": "cpu",
        "seed": 3,
        "failure": "it differs",
        "test": test,
        "diagnosis": {"layers": []},
    }


def test_a_test_that_died_is_named_by_its_id():
    line = json.loads(failures.line(None, 0, "crashed", "test_x.py::test_twin[a[1]-cpu]"))
    assert line["case"] == "a[1]-cpu"
    assert json.loads(failures.line(None, 0, "", "test_x.py::test_all"))["case"] == (
        "test_x.py::test_all"
    )


@pytest.mark.parametrize(
    ("line", "red"),
    [
        (tensor(), False),
        (tensor(error=99.0), True),
        (tensor(error=99.0, declared=1.0), False),
        (tensor(error=99.0, declared=1.0, unexpected=True), True),
        (tensor(ill_posed="zeros would pass"), True),
        (failure(), True),
        ({"case": "c", "seed": 0, "raises": "ValueError"}, False),
    ],
)
def test_a_red_line_is_told_from_others(line, red):
    assert failures.is_red(line) == red
