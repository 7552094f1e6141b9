"""Unit roundoffs and budgets."""

import numpy as np
import pytest

from equivalence.judge import precision


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_unit_roundoff_is_half_the_gap_above_one(dtype):
    assert precision.UNIT_ROUNDOFF[dtype] == np.finfo(dtype).eps / 2


@pytest.mark.parametrize(("mode", "bits"), [("tf32", 10), ("bfloat16", 7)])
def test_a_compute_mode_has_the_unit_roundoff_of_its_stored_bits(mode, bits):
    assert precision.UNIT_ROUNDOFF[mode] == 2.0 ** -(bits + 1)


def test_hf32_has_the_unit_roundoff_of_its_stored_bits_where_the_others_are_cut_off():
    assert precision.UNIT_ROUNDOFF["hf32"] == 2.0**-11


def test_every_twin_has_the_one_budget():
    assert precision.budget("conv3x3") == precision.BUDGET == 16.0


def test_only_a_reviewed_twin_has_a_budget_of_its_own(monkeypatch):
    monkeypatch.setattr(precision, "REVIEWED_BUDGETS", {"tanh": (40.0, "measured: 31.7")})
    assert precision.budget("tanh") == 40.0
    assert precision.budget("tanhshrink") == precision.BUDGET
