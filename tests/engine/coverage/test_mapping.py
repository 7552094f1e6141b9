"""MindSpore's published mapping beside the suite: its rows, and what contradicts them."""

from pathlib import Path

import pytest

from equivalence.coverage.known import DeclaredAPIs, load
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import along, unary
from equivalence.findings.scripts import Finding
from tests.engine.coverage import mapping

FINDING = Finding(
    Path("findings/kernel/floor.py"),
    "kernel",
    "mindspore.mint.floor",
    "mint.floor rounds up.",
    "silent",
    "",
    ("torch.floor",),
    (),
    "",
)


@pytest.fixture(scope="module")
def real():
    return mapping.read(load())


@pytest.fixture
def rows():
    operators = (
        Operator("torch.floor", unary(), to("mint.floor")),
        Operator("torch.flatten", unary(), to("ops.flatten", defaults={"start_dim": (0, 1)})),
        Operator("torch.softmax", along(), to("ops.softmax", dim="axis")),
    )
    known = DeclaredAPIs(operators, [], {}, {}, {"operators": {}, "twins": {}}, [FINDING])
    pairs = (
        ("torch.floor", "mint.floor"),
        ("torch.flatten", "ops.flatten"),
        ("torch.nn.functional.softmax", "mint.softmax"),
        ("torch.nothing", "mint.nothing"),
    )
    return [mapping.row(known, *pair, mapping.CONSISTENT) for pair in pairs]


def test_a_finding_or_a_default_contradicts_a_row(rows):
    assert [each.torch for each in mapping.contradicted(rows)] == ["torch.floor", "torch.flatten"]


def test_a_row_that_is_compared_with_another_call_alone_is_listed(rows):
    assert [each.torch for each in mapping.elsewhere(rows)] == ["torch.nn.functional.softmax"]


def test_a_row_that_says_of_itself_that_it_differs_is_not_contradicted(rows):
    told = [each._replace(said="differs") for each in rows]
    assert mapping.contradicted(told) == mapping.elsewhere(told) == []


def test_the_page_counts_what_has_no_row_here(rows):
    source = {"mindspore": "1", "torch": "2", "source": "there"}
    assert "| torch | 3 | 3 | 2 | 0 | 1 |" in mapping.page(source, rows)


def test_the_published_mapping_is_there_whole(real):
    _, rows = real
    assert len({each.torch for each in rows}) == len(rows) > 500
    assert {each.said for each in rows} == {mapping.CONSISTENT, "differs"}


def test_the_page_is_that_of_todays_declarations_and_findings(real):
    assert mapping.PAGE.read_text(encoding="utf-8") == mapping.page(*real), (
        "run python -m tests.engine.coverage.mapping"
    )
