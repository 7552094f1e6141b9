"""bfloat16 as NumPy has it here: rounded as PyTorch rounds, and known by its mark."""

import pickle

import numpy as np
import pytest
import torch

from equivalence import dtypes


def narrow(values):
    return dtypes.rounded(np.asarray(values), "bfloat16")


def test_values_are_rounded_as_pytorch_rounds_them():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((40, 25), np.float32) * 10.0 ** rng.integers(-42, 38, (40, 25))
    ties = np.float32([1.00390625, 1.01171875, -1.00390625, 3.4e38, 0.0, -0.0])
    for each in (values.astype(np.float32), ties, np.float32([np.inf, -np.inf, np.nan])):
        theirs = torch.from_numpy(each).bfloat16().float().numpy()
        np.testing.assert_array_equal(narrow(each), theirs)


def test_float64_and_arrays_of_any_layout_are_rounded():
    values = np.random.default_rng(1).standard_normal((3, 4)).T
    np.testing.assert_array_equal(narrow(values), narrow(np.ascontiguousarray(values)))
    assert float(narrow(1.003)) == 1.0


@pytest.mark.parametrize(
    "kept",
    [
        np.copy,
        np.array,
        np.ascontiguousarray,
        lambda x: x[:2],
        lambda x: x.reshape(-1, 1),
        lambda x: pickle.loads(pickle.dumps(x)),
        lambda x: np.split(x, 2)[1],
    ],
)
def test_the_mark_stays_with_what_holds_the_same_numbers(kept):
    assert dtypes.name(kept(narrow([1.0, 2.0, 3.0, 4.0])).dtype) == "bfloat16"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_computed_in_another_dtype_has_no_mark(dtype):
    assert dtypes.name(narrow([1.0]).astype(dtype).dtype) == dtype
    assert dtypes.name(dtypes.plain(narrow([1.0])).dtype) == "float32"


def test_other_dtypes_are_those_of_numpy():
    assert dtypes.rounded(np.ones(2), "float16").dtype == np.float16
    assert dtypes.name(np.dtype("int64")) == "int64"
