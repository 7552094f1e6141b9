"""What has grown is found with the run where it began; noise is not called growth."""

import math
import random

import pytest

from equivalence.trend.growth import grown, growth_of, series
from equivalence.trend.history import History
from tests.engine.parts.histories import history, result, run

NOISE = (1.00, 1.04, 0.97, 1.02, 0.95, 1.03, 0.99, 1.05, 0.96, 1.01)
"""Factors of ten runs."""


def planted(error, times, since):
    """The errors of ten runs, which are larger from run `since` on, counted from 1."""
    return [error * each * (times if day >= since else 1.0) for day, each in enumerate(NOISE, 1)]


@pytest.mark.parametrize("times", [1.5, 2.0, 30.0])
@pytest.mark.parametrize("since", range(2, 11))
def test_a_planted_growth_is_found_with_the_run_where_it_began(times, since):
    (found,) = grown(history(conv=planted(2.0, times, since), relu=planted(3.0, 1.0, 1)))
    assert found.now.name == "conv"
    assert (found.before.commit, found.since.commit) == (f"c{since - 1}", f"c{since}")
    assert found.times == pytest.approx(times, rel=0.1)


def test_noise_is_not_called_growth():
    draw = random.Random(0)
    for spread in (0.0, 0.03, 0.1):
        for _ in range(300):
            errors = [4.0 * draw.uniform(1 - spread, 1 + spread) for _ in range(10)]
            assert grown(history(conv=errors)) == []


def test_noise_that_was_always_there_is_not_called_growth_however_wide():
    wide = [2.0, 3.1, 1.4, 2.7, 1.6, 3.3, 2.2, 1.2, 2.9, 3.3]
    assert grown(history(conv=wide)) == []
    assert [each.since.commit for each in grown(history(conv=[*wide, 30.0]))] == ["c11"]


@pytest.mark.parametrize(
    ("errors", "commit"),
    [
        ([2.0, 9.0], "c2"),
        ([2.0, 2.6, 2.6, 2.6, 9.0, 9.0], "c5"),  # the larger of two steps
        ([2.0, 9.0, 2.0], None),  # mended
        ([9.0, 9.0, 2.0, 2.0], None),  # shrunk
        ([9.0, 2.0, 2.0, 9.0], "c4"),  # mended, and back
        ([0.01, 0.01, 0.9], None),  # below a rounding
        ([0.0, 0.0, 3.0], "c3"),
        ([2.0], None),
        ([2.0, 2.0, math.inf, 2.0, 2.0], None),
        ([2.0, 2.0, math.inf], "c3"),
        ([2.0, 2.0, None], None),
        ([2.0, 2.0, None, 40.0, 40.0], "c4"),
    ],
)
def test_growth_is_to_what_it_is_now(errors, commit):
    found = grown(history(conv=errors))
    assert [each.since.commit for each in found] == ([commit] if commit else [])


def test_those_that_grew_most_come_first():
    found = grown(history(conv=[1.0, 2.0], relu=[1.0, 8.0], gelu=[0.0, 4.0]))
    assert [each.now.name for each in found] == ["gelu", "relu", "conv"]


def test_it_says_from_what_to_what_and_which_versions_changed():
    then, since = run(3), run(4, versions={"mindspore": "2.10.0", "torch": "2.9.0"})
    found = History(((then, (result(error=0.5),)), (since, (result(error=4.0),))))
    assert str(*grown(found)) == (
        "relu-cpu: 0.5 -> 4 of 16 roundings (8 times), output.0, since 2026-11-04 02:17, "
        "commit c4; the run before: 2026-11-03 02:17, commit c3; mindspore 2.9.0 -> 2.10.0; "
        "torch absent -> 2.9.0"
    )


def test_another_seed_and_another_number_of_tensors_are_not_compared():
    small, large = result(error=2.0), result(error=9.0)
    others = [(run(1), (small,)), (run(2, seed=7), (large,)), (run(3), (small,))]
    assert grown(History(tuple(others))) == []
    more = large._replace(tensors=4)
    assert growth_of([(run(1), small), (run(2), more)]) is None
    assert growth_of([(run(1), small), (run(2), large)]).times == 4.5


def test_a_series_has_the_runs_that_have_the_case():
    found = series(history(conv=[1.0, 2.0], relu=[1.0]))
    assert {key: len(each) for key, each in found.items()} == {("conv", 0): 2, ("relu", 0): 1}
