"""What is a sample of a reference, and what is none."""

import pytest

from equivalence.declare.draws import normal
from equivalence.further.trial import EMPTY, Trials
from equivalence.further.variant import Variant
from tests.engine.further.conftest import case_of


def tried(name, given, other):
    case = case_of(name, name, given)
    return Trials(case, 0, Variant("", (given,)))(Variant("", (other,)))


def test_a_sample_tells_what_it_reaches():
    found = tried("gated", normal(2, 4), normal(1, 4))
    assert {"comparison", "batch of 1"} <= {key.kind for key in found.reach.decisions}


def test_a_size_that_the_reference_refuses_is_no_sample():
    found = tried("halved", normal(2, 4), normal(2, 5))
    assert found.reach is None
    assert found.refused == "the original raises RuntimeError"


@pytest.mark.parametrize("name", ["paired", "summed_behind", "behind"])
def test_a_size_at_which_a_tensor_has_no_element_is_no_sample(name):
    assert tried(name, normal(2, 6), normal(2, 1)).refused == EMPTY


def test_a_part_without_elements_that_is_written_to_is_a_sample():
    assert tried("marked", normal(2, 6), normal(2, 3)).reach is not None


def test_values_at_which_the_reference_gives_nan_are_no_sample():
    found = tried("rooted", normal(2, 4), normal(2, 4, scale=1e3))
    assert found.refused == "the original gives NaN or infinity"


@pytest.mark.parametrize(
    ("given", "other", "refused"),
    [
        (normal(2, 4), normal(2, 5), "the original warns: an odd length: 5"),
        (normal(2, 4), normal(3, 4), ""),
        (normal(2, 5), normal(2, 3), ""),  # it is so with the given inputs, too
    ],
)
def test_what_the_reference_warns_of_is_no_sample(given, other, refused, recwarn):
    found = tried("even_mean", given, other)
    assert (found.refused[: len(refused)], bool(found.refused)) == (refused, bool(refused))
    assert not recwarn.list
