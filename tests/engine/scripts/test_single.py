"""The set of layers that have to be in float32 is found by trying, and is a smallest one."""

import itertools

import pytest

from equivalence.scripts.single import Float32Trials, search

LAYERS = list("abcdefgh")


@pytest.mark.parametrize("needed", ["a", "h", "ah", "cde", "bdfh", "abcdefgh"])
def test_what_is_needed_is_found_and_no_more(needed):
    found = search(lambda kept: {*needed} <= {*kept}, LAYERS, 100.0)
    assert "".join(found.layers) == needed
    assert found.smallest
    assert found.trials <= 30


def test_either_of_two_layers_is_enough_and_one_is_given():
    found = search(lambda kept: bool({"b", "g"} & {*kept}), LAYERS, 100.0)
    assert len(found.layers) == 1


def test_where_all_layers_do_not_help_one_trial_tells():
    assert search(lambda _: False, LAYERS, 100.0) == Float32Trials((), 8, 1)


def test_when_the_time_is_over_what_is_left_is_not_called_the_smallest():
    clock = itertools.count(step=40.0)
    found = search(lambda kept: "c" in kept, LAYERS, 100.0, lambda: next(clock))
    assert not found.smallest
    assert "c" in found.layers
