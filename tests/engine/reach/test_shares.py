"""The share of decisions that an option demands."""

import argparse

import pytest

from equivalence.reach.shares import share


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "nan", "most", ""])
def test_what_is_no_share_is_refused_in_words(text):
    with pytest.raises(argparse.ArgumentTypeError, match="is no share; write one above 0"):
        share(text)


def test_1_is_a_share():
    assert share("1") == 1.0
