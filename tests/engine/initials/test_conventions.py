"""Standard deviations get the names of the conventions that they come from."""

import math

import numpy as np
import pytest

from equivalence.initials.conventions import difference, family, fans
from equivalence.judge.two_sample import moments

SHAPE = (64, 24, 3, 3)
FAN_IN, FAN_OUT = 24 * 9, 64 * 9
COUNT = 20000


def of(kind, deviation, seed):
    """The moments of a sample of that family and standard deviation."""
    generator = np.random.default_rng(seed)
    if kind == "uniform":
        values = generator.uniform(-math.sqrt(3), math.sqrt(3), COUNT)
    else:
        values = generator.standard_normal(2 * COUNT)
        if kind == "truncated":
            values = values[np.abs(values) < 2] / 0.87962566
    return moments(deviation * values[:COUNT])


@pytest.mark.parametrize(
    ("kind", "name"),
    [("normal", "normal"), ("uniform", "uniform"), ("truncated", "truncated normal")],
)
def test_families_are_told_by_their_kurtosis(kind, name):
    assert family(of(kind, 0.3, seed=0)) == name


def test_two_values_are_of_no_family():
    assert family(moments(np.tile([-1.0, 1.0], 500))) == "unknown"


def test_fans_of_kernels():
    assert fans(SHAPE) == {"fan_in": FAN_IN, "fan_out": FAN_OUT, "mean fan": 396}
    assert fans((5, 3)) == {"fan_in": 3, "fan_out": 5, "mean fan": 4}
    assert fans((8, 8)) == {"fan": 8}
    assert fans((7,)) == {}


HE = math.sqrt(2 / FAN_OUT)


@pytest.mark.parametrize(
    ("reference", "candidate", "told"),
    [
        (("normal", HE), ("normal", math.sqrt(2 / FAN_IN)), "fan_in for fan_out"),
        (("normal", HE), ("normal", math.sqrt(1 / FAN_OUT)), "gain 1 for gain sqrt(2)"),
        (("normal", HE), ("uniform", HE), "uniform for normal"),
        (("normal", HE), ("normal", math.sqrt(3) * HE), "the bound taken for the std"),
        (("normal", 0.02), ("normal", 0.01), "0.01 for 0.02"),
        (
            ("normal", HE),
            ("normal", math.sqrt(2 / (FAN_IN + FAN_OUT))),
            "gain 1 for gain sqrt(2), mean fan for fan_out",
        ),
        (
            ("truncated", 1 / math.sqrt(FAN_IN)),
            ("truncated", 0.87962566 / math.sqrt(FAN_IN)),
            "cut off at 2 std without being rescaled",
        ),
        (
            ("uniform", 1 / math.sqrt(FAN_IN)),
            ("uniform", math.sqrt(1 / 3 / FAN_IN)),
            "the std taken for the bound or gain sqrt(1/3) for gain 1",
        ),
        (("normal", 0.0314), ("normal", 0.0577), ""),
        (("normal", 0.0314), ("uniform", 0.0577), "uniform for normal"),
    ],
)
def test_what_differs_is_named(reference, candidate, told):
    assert difference(of(*reference, seed=1), of(*candidate, seed=2), fans(SHAPE)) == told


def test_a_convention_that_both_follow_is_no_difference():
    assert difference(of("normal", HE, seed=3), of("normal", HE, seed=4), fans(SHAPE)) == ""
