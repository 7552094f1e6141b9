"""A port that takes the given size alone is told of; one that raises at some sizes is wrong."""

import math

import pytest

from equivalence.comparison import check
from equivalence.declare.draws import normal
from equivalence.further.samples import tried
from tests.engine.further.conftest import case_of


def of(candidate, *shape, reference="turned"):
    case = case_of(reference, candidate, normal(*shape))
    outcome = check.check(case, 0)
    assert outcome.passed
    return tried([(case, ())], 0, outcome.reach, math.inf, lambda _: None)


def test_a_port_whose_code_holds_the_numbers_of_a_size_is_told_of_and_green(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    further, shown = of("turned_of_one_size", 2, 5, 7)
    assert shown is None
    rows, columns = further.fixed
    begins = "The port takes a size of 5 in axis 1 alone, and the original others: with another one"
    assert rows.startswith(begins)
    assert "x.reshape(x.shape[0], 7, 5)" in rows
    assert "a size of 7 in axis 2 alone" in columns
    assert further.tried  # a batch of one, and a larger one
    assert further.lines(None, "")[0] == rows


def test_so_is_one_that_gives_another_shape_where_the_numbers_fit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    further, shown = of("turned_of_any_batch", 2, 5, 6)
    assert (shown, len(further.fixed)) == (None, 2)


def test_so_is_one_that_takes_sizes_which_leave_a_map_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    further, shown = of("thinned_to_three", 2, 5, 11, reference="thinned")
    assert shown is None
    (told,) = further.fixed
    assert told.startswith("The port takes a size of 11 in axis 2 alone, and those beside it")


@pytest.mark.parametrize(
    ("candidate", "columns"), [("thinned_to_even", 12), ("thinned_wrongly_nearby", 11)]
)
def test_one_that_takes_every_other_size_or_is_wrong_nearby_is_wrong(
    candidate, columns, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    _, shown = of(candidate, 2, 5, columns, reference="thinned")
    assert shown is not None


def test_a_port_of_a_fixed_batch_is_wrong(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    further, shown = of("turned_of_one_batch", 2, 5, 7)
    assert shown is not None
    assert further.fixed == ()


@pytest.mark.parametrize(
    ("candidate", "shape"),
    [
        ("turned_of_squares", (2, 6, 6)),
        ("turned_of_many", (2, 5, 7)),
        ("turned_of_rows_alone", (2, 5, 7)),
    ],
)
def test_a_port_that_takes_other_sizes_and_raises_at_some_is_wrong(
    candidate, shape, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    _, shown = of(candidate, *shape)
    assert shown is not None


def test_a_right_port_holds_no_size(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    further, shown = of("turned", 2, 5, 7)
    assert (shown, further.fixed) == (None, ())
