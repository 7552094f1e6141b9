"""Unit roundoffs and budgets."""

from dataclasses import fields

import numpy as np
import pytest

from equivalence.declare.data_parallel import DataParallel
from equivalence.declare.initial import Initial
from equivalence.declare.pipeline import Pipeline
from equivalence.declare.twin import Twin
from equivalence.judge import precision


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_unit_roundoff_is_half_the_gap_above_one(dtype):
    assert precision.UNIT_ROUNDOFF[dtype] == np.finfo(dtype).eps / 2


@pytest.mark.parametrize(("mode", "bits"), [("tf32", 10), ("bfloat16", 7)])
def test_a_compute_mode_has_the_unit_roundoff_of_its_stored_bits(mode, bits):
    assert precision.UNIT_ROUNDOFF[mode] == 2.0 ** -(bits + 1)


def test_hf32_has_the_unit_roundoff_of_its_stored_bits_where_the_others_are_cut_off():
    assert precision.UNIT_ROUNDOFF["hf32"] == 2.0**-11


def test_there_is_one_budget_and_no_declaration_can_have_another():
    assert precision.BUDGET == 8.0
    declared = (Twin, Pipeline, Initial, DataParallel)
    assert not [f.name for kind in declared for f in fields(kind) if "budget" in f.name]
