"""Other inputs for a case: as draws where these can write them, else as files that hold them."""

from dataclasses import replace

import numpy as np
import pytest

from equivalence.comparison.sides import draw
from equivalence.declare.draws import booleans, file, given, integers, normal, uniform
from equivalence.declare.twin import Raised, Twin, cases
from equivalence.errors import DeclarationError
from equivalence.further.variant import GivenInputs, Variant, keep

RELU = ("torch.nn:ReLU", "mindspore.nn:ReLU")


def case_of(*inputs, **fields):
    return next(cases(Twin("relu", *RELU, list(inputs), **fields), "cpu"))


def given_of(folder, *inputs):
    case = case_of(*inputs)
    return GivenInputs(case, tuple(inputs), tuple(draw(case, 0).inputs()), folder)


def test_a_case_gets_other_inputs_and_keeps_its_name_so_that_its_weights_stay(tmp_path):
    of = given_of(tmp_path, normal(2, 4))
    case = of.resized("a batch of 1", [(1, 4)]).case(of.case)
    assert list(map(str, case.twin.inputs)) == ["normal(1, 4)"]
    assert case.name == of.case.name


def test_structures_keywords_and_what_is_no_draw_stay_as_they_are():
    case = case_of(
        {"x": normal(2, "C"), "on": True, "y": normal("LEFT")}, configs=[{"C": 3, "LEFT": None}]
    )
    changed = Variant("", (normal(1, 3),)).case(case)
    assert changed.twin.inputs == [{"x": normal(1, 3), "on": True}] or changed.twin.inputs == (
        {"x": normal(1, 3), "on": True},
    )


def test_values_of_a_file_are_repeated_or_cut_off(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(4, dtype=np.float32).reshape(2, 2))
    of = given_of(tmp_path, file(path))
    (larger,) = of.resized("", [(3, 1)]).draws
    assert larger.array(None, (3, 1)).tolist() == [[0.0], [2.0], [0.0]]


def test_a_scale_is_written_by_the_draw_where_it_can_be(tmp_path):
    of = given_of(tmp_path, normal(2, 4, shift=1.0), uniform(2, 4), given(2, values=(1.5, 2.0)))
    scaled = of.scaled("", 3.0, [0, 1, 2]).draws
    assert [str(each) for each in scaled[:2]] == [
        "normal(2, 4, scale=3.0, shift=3.0)",
        "uniform(2, 4, high=3.0)",
    ]
    assert scaled[2].array(None, (2,)).tolist() == [4.5, 6.0]
    assert not scaled[2].differentiable


def test_inputs_are_numbers_masks_or_indices(tmp_path):
    inputs = normal(2, 3), booleans(2, 3), given(2, 3, values=(1,) * 6), integers(2, high=9)
    of = given_of(tmp_path, *inputs)
    assert (of.floats, of.masks, of.indices) == ([0], [1, 2], [3])


def test_complex_inputs_are_neither_numbers_nor_masks_nor_indices(tmp_path):
    path = tmp_path / "z.npy"
    np.save(path, np.ones((2, 3), np.complex64))
    of = given_of(tmp_path, file(path))
    assert (of.floats, of.masks, of.indices) == ([], [], [])


def test_whole_numbers_and_booleans_keep_their_dtype(tmp_path):
    of = given_of(tmp_path, integers(2, high=9), booleans(2, 3))
    saved = of.replaced("", {0: np.array([1, 2]), 1: np.zeros((2, 3))}).draws
    assert [each.stored.dtype for each in saved] == ["int32", "bool"]


def test_a_number_without_axes_stays_one(tmp_path):
    of = given_of(tmp_path, given(values=7))
    assert of.replaced("", {0: np.array(8)}).draws[0].stored.shape == ()


def test_what_shows_a_difference_is_kept_in_a_folder_that_stays(tmp_path):
    of = given_of(tmp_path, normal(2, 3), normal(2, 3).constant())
    moved = of.replaced("", {1: np.ones((2, 3))})
    kept = keep(moved, tmp_path / "kept", "net")
    assert kept.draws[0] is moved.draws[0]
    assert str(kept.draws[1]) == f"file('{tmp_path}/kept/net_1.npy').constant()"
    assert keep(kept, tmp_path / "kept", "net") == kept


@pytest.mark.parametrize(
    "fields", [{"by_layer": True}, {"raises": Raised("ValueError", "no")}, {"degenerate": True}]
)
def test_what_is_declared_of_the_inputs_leaves_no_others(fields):
    case = case_of(normal(2, 4))
    assert case.varies
    assert not replace(case, twin=replace(case.twin, **fields)).varies


def test_a_shape_that_a_draw_cannot_have_is_refused():
    case = case_of(normal(2, 4))
    with pytest.raises(DeclarationError):
        Variant("", (normal(0, 4),)).case(case)
