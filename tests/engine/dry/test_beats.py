import numpy as np
import pytest

from equivalence.dry.beats import Beat, Share


def test_a_share_has_what_is_no_multiple():
    found = Share.of(np.array([2.0, 2.0]), np.array([1.0, 0.0]))
    assert found.factor == 2.0
    assert found.rest == 2.0


def test_settings_are_kept_once_where_all_weights_have_the_same():
    beat = Beat()
    beat.keep({"lr": {"a": 0.1, "b": 0.2}, "eps": {"a": 1e-8, "b": 1e-8}})
    assert beat.settings == {"lr": (0.1, 0.2), "eps": 1e-8}
    assert beat.told("lr") == {"a": 0.1, "b": 0.2}
    assert beat.told("eps") == {"a": 1e-8, "b": 1e-8}


def test_a_pair_that_all_weights_have_is_no_value_of_each():
    beat = Beat()
    beat.keep({"betas": {"a": (0.9, 0.99), "b": (0.9, 0.99)}})
    assert beat.told("betas") == {"a": (0.9, 0.99), "b": (0.9, 0.99)}


@pytest.mark.parametrize("values", [np.array([np.nan]), np.array([np.inf])])
def test_what_is_not_finite_stays_so(values):
    assert not np.isfinite(Share.of(values, np.ones(1)).factor)
