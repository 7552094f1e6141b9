"""Two samples of one distribution: how often right ones are refused, and what wrong ones show."""

import math

import numpy as np
import pytest
from scipy import stats

from equivalence.judge import two_sample
from equivalence.judge.two_sample import (
    TESTS,
    correlation_score,
    decades_of_binomial,
    decades_of_normal,
    evidence,
)


def rng(seed=0):
    return np.random.default_rng(seed)


def normal(generator, count):
    return generator.standard_normal(count)


def uniform(generator, count):
    return generator.uniform(-1, 1, count)


def truncated(generator, count):
    values = generator.standard_normal(2 * count)
    return values[np.abs(values) < 2][:count]


FAMILIES = {"normal": normal, "uniform": uniform, "truncated": truncated}


@pytest.mark.parametrize("family", FAMILIES)
def test_p_values_of_right_samples_are_uniform_or_larger(family):
    generator, draw, rounds = rng(), FAMILIES[family], 2000
    found = [evidence(draw(generator, 500), draw(generator, 500)) for _ in range(rounds)]
    for test in TESTS:
        p = 10.0 ** -np.array([each[test] for each in found])
        assert ((p > 0) & (p <= 1)).all()
        for level in (0.3, 0.1, 0.01):
            # four standard errors of a share; bounds of discrete tests are conservative
            allowed = level + 4 * math.sqrt(level / rounds)
            assert (p <= level).mean() <= allowed, (test, level)
            if test in ("mean", "deviation", "shape"):
                assert (p <= level).mean() >= level - 4 * math.sqrt(level / rounds), (test, level)


def test_samples_of_unequal_length_are_compared():
    generator = rng(1)
    found = [evidence(normal(generator, 300), normal(generator, 1200)) for _ in range(500)]
    for test in TESTS:
        assert (np.array([each[test] for each in found]) > 2).mean() < 0.03


def test_the_shape_is_that_of_scipy():
    one, other = normal(rng(2), 4096), 1.1 * normal(rng(3), 4096)
    known = -math.log10(stats.ks_2samp(one, other, method="asymp").pvalue)
    assert evidence(one, other)["shape"] == pytest.approx(known, rel=0.01)


def test_the_bounds_are_exact():
    # 3 of the 4 values lie above: 4/8 * 3/7 * 2/6, on either side
    found = evidence(np.array([1.0, 5, 6, 7]), np.array([0.0, 2, 3, 4]))["top"]
    assert found == pytest.approx(-math.log10(2 * 4 / 8 * 3 / 7 * 2 / 6))


@pytest.mark.parametrize(
    ("change", "test"),
    [
        (lambda x: x + 0.2, "mean"),
        (lambda x: 1.2 * x, "deviation"),
        (lambda x: np.where(np.abs(x) < 2, x, x / 4), "top"),
        (lambda x: np.where(np.abs(x) < 2, x, x / 4), "bottom"),
        (lambda x: math.sqrt(3) * (2 * stats.norm.cdf(x) - 1), "top"),
        (lambda x: np.sign(x) * 1.0, "shape"),
    ],
)
def test_each_test_sees_what_it_is_for(change, test):
    one, other = normal(rng(4), 4096), change(normal(rng(5), 4096))
    assert evidence(one, other)[test] > 9


@pytest.mark.parametrize(("family", "factor"), [("normal", 1.0), ("uniform", math.sqrt(0.4))])
def test_the_stated_power_is_had(family, factor):
    """A standard deviation that is twice the stated share off is always seen; half of it never."""
    draw, count = FAMILIES[family], 4096
    apart = 6.2 * factor / math.sqrt(count)
    for seed in range(20):
        one, other = draw(rng(seed), count), draw(rng(seed + 100), count)
        assert evidence(one, (1 + 2 * apart) * other)["deviation"] > 9
        assert evidence(one, (1 + apart / 2) * other)["deviation"] < 9


def test_evidence_is_finite_however_strong():
    found = evidence(np.full(5000, 1.0) + 1e-9 * normal(rng(6), 5000), uniform(rng(7), 5000))
    assert all(math.isfinite(value) for value in found.values())
    assert evidence(np.zeros(9), np.ones(9))["mean"] == two_sample.CERTAIN
    assert evidence(np.zeros(9), np.zeros(9))["deviation"] == 0.0


def test_decades_are_logarithms_of_probabilities():
    assert decades_of_normal(1.959964) == pytest.approx(-math.log10(0.05), rel=1e-6)
    assert decades_of_normal(-1.959964) == pytest.approx(-math.log10(0.05), rel=1e-6)
    assert decades_of_normal(40.0) == pytest.approx(349.1, abs=0.1)
    assert decades_of_binomial(0, 10, 0.5) == 0.0
    assert decades_of_binomial(10, 10, 0.5) == pytest.approx(10 * math.log10(2))
    assert decades_of_binomial(1, 10, 0.0) == two_sample.CERTAIN


def test_the_score_of_copies_is_large_and_that_of_others_standard_normal():
    one, generator = normal(rng(8), 1000), rng(9)
    assert correlation_score(one, 3 * one + 1) == pytest.approx(math.sqrt(999))
    scores = [correlation_score(one, uniform(generator, 1000)) for _ in range(500)]
    assert np.std(scores) == pytest.approx(1.0, abs=0.15)
    assert correlation_score(one, np.zeros(1000)) == 0.0
