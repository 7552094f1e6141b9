"""A checklist is filled in on both sides, row by row; what is missing or unlike is told."""

import pytest

from equivalence.errors import DeclarationError, EquivalenceError
from tests.checklist import ROWS, Checklist

FULL = {row: {"any": False} for row in ROWS}


def filled(**changes):
    """All rows, with changes; a row that is None is left out."""
    rows = FULL | {name.replace("_", " "): items for name, items in changes.items()}
    return {row: items for row, items in rows.items() if items is not None}


SIDES = {
    "full": FULL,
    "close": filled(optimiser={"momentum": 0.9}),
    "closer": filled(optimiser={"momentum": 0.9 * (1 + 1e-8)}),
    "other": filled(optimiser={"momentum": 0.875}),
    "one": filled(tricks={"average": 1}),
    "true": filled(tricks={"average": True}),
    "none": filled(tricks={"average": None}),
    "short": filled(data={"stages": ("mosaic",)}),
    "long": filled(data={"stages": ("mosaic", "mixup")}),
    "without": filled(learning_rate=None),
    "empty": filled(learning_rate={}),
    "misspelled": filled(learning_rates={"any": 1}),
    "flat": {"optimiser": "SGD"},
}


def side(which):
    """What a side fills in."""
    return SIDES[which]


def reference(pair):
    return side(pair[0])


def candidate(pair):
    return side(pair[1])


def checklist(*pair):
    return Checklist(
        "run",
        "tests.engine.test_checklist:reference",
        "tests.engine.test_checklist:candidate",
        {"pair": pair},
    )


@pytest.mark.parametrize("pair", [("full", "full"), ("close", "closer"), ("long", "long")])
def test_sides_that_say_the_same_have_no_complaint(pair):
    assert list(checklist(*pair).complaints()) == []


@pytest.mark.parametrize(
    ("pair", "complaint"),
    [
        (("close", "other"), "optimiser: momentum is 0.9 (reference), 0.875 (candidate)"),
        (("true", "one"), "tricks: average is True (reference), 1 (candidate)"),
        (
            ("long", "short"),
            "data: stages is ('mosaic', 'mixup') (reference), ('mosaic',) (candidate)",
        ),
        (("true", "none"), "tricks: the candidate does not fill in 'average'"),
        (("none", "true"), "tricks: the reference does not fill in 'average'"),
        (("full", "without"), "the candidate does not fill in the row 'learning rate': "),
        (("empty", "full"), "the reference does not fill in the row 'learning rate': "),
    ],
)
def test_what_is_missing_or_unlike_is_told_in_one_sentence(pair, complaint):
    (told,) = checklist(*pair).complaints()
    assert told.startswith(complaint)


def test_an_item_of_one_side_alone_is_missing_on_the_other():
    told = list(checklist("true", "full").complaints())
    assert "tricks: the candidate does not fill in 'average'" in told
    assert "tricks: the reference does not fill in 'any'" in told


@pytest.mark.parametrize(
    ("which", "complaint"),
    [
        ("misspelled", "fills in 'learning rates', which is no row"),
        ("flat", "returns no row -> item -> value; return a dict"),
    ],
)
def test_what_is_no_checklist_is_refused(which, complaint):
    with pytest.raises(EquivalenceError, match=complaint):
        list(checklist("full", which).complaints())


def test_a_wrong_declaration_is_refused():
    with pytest.raises(DeclarationError, match="name is no identifier"):
        Checklist("a run", "tests:reference", "tests:candidate", {})
