"""Two arrays with a known relation, and what is told of it."""

import numpy as np
import pytest

from equivalence import dtypes
from equivalence.dumps.relation import BITS, OTHER, STORAGE, Sketched, between, of_sketches

RNG = np.random.default_rng(7)
X = RNG.normal(size=(6, 5, 8))
SINGLE = X.astype(np.float32)
SQUARE = RNG.normal(size=(24, 24)).astype(np.float32)
WHOLE = np.arange(120).reshape(6, 20)
HOLES = np.where(np.abs(SINGLE) > 1.5, np.nan, SINGLE)

EQUAL = {
    "itself": (SINGLE, SINGLE, BITS),
    "float64": (X, X.copy(), BITS),
    "integers": (WHOLE, WHOLE.copy(), BITS),
    "booleans": (WHOLE > 50, WHOLE > 50, BITS),
    "NaN in the same places": (HOLES, HOLES.copy(), BITS),
    "infinity": (np.full(4, np.inf), np.full(4, np.inf), BITS),
    "empty": (np.ones((0, 3)), np.ones((0, 3)), BITS),
    "a number": (np.float32(2.5)[()] * np.ones(()), np.float32(2.5) * np.ones(()), BITS),
    "complex": (SQUARE + 1j * SQUARE.T, SQUARE + 1j * SQUARE.T, BITS),
    "float32 of float64": (SINGLE, X, STORAGE),
    "float64 of float32": (X, SINGLE, STORAGE),
    "float16 of float32": (SINGLE.astype(np.float16), SINGLE, STORAGE),
    "bfloat16 of float32": (dtypes.rounded(SINGLE, "bfloat16"), SINGLE, STORAGE),
    "float32 of bfloat16": (SINGLE, dtypes.rounded(SINGLE, "bfloat16"), STORAGE),
    "int32 of int64": (WHOLE.astype(np.int32), WHOLE, STORAGE),
    "a float of integers": (WHOLE.astype(np.float32), WHOLE, STORAGE),
    "zero and minus zero": (np.zeros(3), -np.zeros(3), BITS),
}


@pytest.mark.parametrize("name", EQUAL)
def test_the_same_numbers_are_told_so(name):
    candidate, reference, kind = EQUAL[name]
    found = between(np.asarray(candidate), np.asarray(reference))
    assert (found.kind, found.equal, found.relative <= 2.0**-8) == (kind, True, True)


DIFFERENT = {
    "a factor": (SINGLE * 2, SINGLE, "a constant factor of 2"),
    "a sign": (-SINGLE, SINGLE, "the truth negated"),
    "half": (SINGLE / 2, SINGLE, "a constant factor of 0.5"),
    "a mean for a sum": (SINGLE / 8, SINGLE, "a constant factor of 0.125"),
    "an offset": (SINGLE + 3, SINGLE, "a constant offset of 3"),
    "zeros": (SINGLE * 0, SINGLE, "zero"),
    "transposed": (SQUARE.T, SQUARE, "transposed"),
    "flipped": (SQUARE[::-1], SQUARE, "reversed along axis 0"),
    "rolled": (np.roll(SQUARE, 1, 0), SQUARE, "rolled"),
    "channels permuted": (SQUARE[RNG.permutation(24)], SQUARE, "permut"),
    "another layout": (X.transpose(2, 0, 1), X, "shape (8, 6, 5) for (6, 5, 8)"),
    "an axis more": (SINGLE[None], SINGLE, "shape (1, 6, 5, 8) for (6, 5, 8)"),
    "one element": (np.where(SINGLE[0, 0, 0] == SINGLE, 9, SINGLE), SINGLE, "1 of 240"),
    "clamped": (SINGLE.clip(-1, 1), SINGLE, "never below -1 nor above 1"),
    "rectified": (SINGLE.clip(0), SINGLE, ""),
    "NaN where there is none": (HOLES, SINGLE, "nan"),
    "infinity for a number": (np.where(SINGLE > 2, np.inf, SINGLE), SINGLE, "inf"),
    "whole numbers": (np.rint(SINGLE * 9), SINGLE * 9, "whole numbers"),
    "a float16 computation": (SINGLE.astype(np.float16).astype(np.float32), SINGLE, "float16"),
    "another integer": (WHOLE + (WHOLE == 7), WHOLE, ""),
    "other integers": (WHOLE[::-1].copy(), WHOLE, ""),
    "another": (RNG.normal(size=(6, 5, 8)), X, ""),
    "close": ((SINGLE * (1 + 1e-6 * X)).astype(np.float32), SINGLE, ""),
    "a channel's factor": (SINGLE * np.arange(1, 9), SINGLE, "axis 2"),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_told_in_a_phrase(name):
    candidate, reference, phrase = DIFFERENT[name]
    found = between(np.asarray(candidate), np.asarray(reference))
    assert found.kind == OTHER
    assert not found.equal
    assert phrase in found.phrase.lower()


def test_how_far_two_arrays_are_apart():
    found = between(np.array([3.0, 4.0, np.inf, np.nan]), np.array([3.0, 0.0, np.inf, np.nan]))
    assert found.relative == pytest.approx(4 / 3)
    assert found.largest == 4.0


def sketched(values, digest, dtype="float32"):
    return Sketched(dtype, (4096,), digest, values)


def test_sketches_tell_equal_bits_a_factor_and_how_far():
    values = RNG.normal(size=256)
    one = sketched(values, "a")
    assert of_sketches(one, one).kind == BITS
    assert of_sketches(sketched(values * 2, "b"), one).phrase == "a constant factor of 2"
    near = of_sketches(sketched(values * (1 + 1e-3 * RNG.normal(size=256)), "c"), one)
    assert (near.kind, near.phrase) == (OTHER, "known by sketches only")
    assert near.relative == pytest.approx(1e-3, rel=0.5)


def test_what_sketches_do_not_tell_is_never_equal():
    values = RNG.normal(size=256)
    one = sketched(values, "a")
    for other in (
        sketched(values, "b"),  # the same sums of other bits
        sketched(values, "a", "float16"),
        Sketched("float32", (64, 64), "a", values),
        sketched(np.full(256, np.nan), "c"),
        sketched(np.zeros(256), "d"),
    ):
        assert not of_sketches(other, one).equal
        assert not of_sketches(one, other).equal
    bits = np.zeros(32, np.uint8)
    assert of_sketches(sketched(bits, "a"), sketched(bits + 1, "b")).kind == OTHER
