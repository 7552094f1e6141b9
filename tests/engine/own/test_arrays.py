"""Inputs from files have the values of the files."""

import numpy as np
import pytest

from equivalence import DeclarationError
from equivalence.own.arrays import file, files_of

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int64", "bool"])
def test_values_and_dtypes_are_exact(tmp_path, dtype):
    values = np.arange(6).reshape(2, 3).astype(dtype)
    np.save(tmp_path / "x.npy", values)
    draw = file(tmp_path / "x.npy")
    got = draw.array(RNG, draw.resolve({}))
    assert got.dtype == values.dtype
    assert np.array_equal(got, values)
    assert draw.differentiable is (values.dtype.kind == "f")
    assert not draw.constant().differentiable


def test_every_array_of_a_file_is_an_input_in_its_order(tmp_path):
    np.savez(tmp_path / "x.npz", b=np.ones(2, "f"), a=np.zeros((1, 3), "f"))
    draws = files_of(tmp_path / "x.npz")
    assert [draw.resolve({}) for draw in draws] == [(2,), (1, 3)]
    assert str(draws[1]) == f"file('{tmp_path}/x.npz', 'a')"


def test_float64_is_never_cast_in_silence(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(3))
    with pytest.raises(DeclarationError, match="is float64, in which no case computes"):
        file(tmp_path / "x.npy")
