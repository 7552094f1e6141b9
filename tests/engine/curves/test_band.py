"""The band: what it allows, at which width, and where chance alone would make it too narrow."""

import numpy as np

from equivalence.curves.band import Band
from equivalence.curves.series import Series


def runs(*values):
    return [Series.of((step, v, 0.0) for step, v in enumerate(each, 1)) for each in values]


def noisy(count, length, size, seed=0):
    draws = np.random.default_rng(seed)
    plain = 1 + np.exp(-np.arange(length) / 50)
    return plain, [plain + size * draws.standard_normal(length) for _ in range(count)]


def test_a_curve_within_eight_spreads_stays_and_one_beyond_leaves():
    plain, own = noisy(5, 200, 1e-5)
    band = Band.of(runs(plain, *own))
    spread = band.allowed()
    assert band.leaving(plain + 0.99 * spread * np.where(np.arange(200) % 2, 1, -1)) is None
    assert band.leaving(plain + np.where(np.arange(200) == 70, 1.01, 0.0) * spread).step == 71


def test_a_small_difference_that_stays_shows_in_means():
    plain, own = noisy(5, 300, 1e-3)
    off = np.where(np.arange(300) >= 100, 8e-3, 0.0)
    left = Band.of(runs(plain, *own)).leaving(plain + off)
    assert left.width > 1
    assert 101 <= left.step <= 240


def test_right_curves_of_chaotic_growth_stay():
    draws = np.random.default_rng(0)
    plain = 1 + 0.3 * np.sin(np.arange(300))
    size = np.minimum(1e-7 * 1.08 ** np.arange(300), 0.05)
    ways = [plain + size * draws.standard_normal(300) for _ in range(400)]
    for count in (2, 3, 6):
        refused = sum(
            Band.of(runs(plain, *ways[i : i + count])).leaving(ways[i + count]) is not None
            for i in range(0, 390, count + 1)
        )
        assert refused == 0


def test_where_all_runs_cross_the_band_is_that_of_the_steps_beside():
    plain = np.ones(40)
    way = np.sin(np.arange(40) / 3) * 1e-5
    band = Band.of(runs(plain, plain + way, plain - way))
    assert band.leaving(plain + 2 * way + 1e-5 * np.cos(np.arange(40) / 3)) is None


def test_one_sample_of_an_accuracy_may_flip_where_own_runs_flip_some():
    plain = np.repeat([0.25, 0.5, 0.75, 1.0], 10)
    flipped = plain + np.where(np.arange(40) == 12, 1 / 64, 0)
    other = plain - np.where(np.arange(40) == 30, 1 / 64, 0)
    assert Band.of(runs(plain, flipped, plain)).leaving(other) is None
    assert Band.of(runs(plain, flipped, plain)).leaving(plain - 0.25) is not None
    assert Band.of(runs(plain, plain, plain)).leaving(other).step == 31


def test_digits_of_a_log_widen_the_band():
    plain, own = noisy(3, 50, 1e-7)
    band = Band.of(runs(plain, *own))
    rounded = np.round(plain, 3)
    assert band.leaving(rounded) is not None
    assert band.leaving(rounded, np.full(50, 5e-4)) is None


def test_a_run_of_its_own_that_leaves_the_others_is_told():
    plain, own = noisy(3, 50, 1e-7)
    own[1] = own[1] + 1e-3
    assert Band.of(runs(plain, *own)).unsound() == 2
    assert Band.of(runs(plain, *noisy(3, 50, 1e-7)[1])).unsound() is None
