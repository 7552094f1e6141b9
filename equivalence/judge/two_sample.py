"""Statistical tests: are two samples of one distribution? Imports no framework.

Each test gives evidence in decades: -log10 of the probability that two samples of one continuous
distribution differ at least as much as these. 3 decades are one chance in a thousand.

    mean        difference of the means over its standard error (Welch)
    deviation   difference of the logarithms of the standard deviations, whose standard error is
                sqrt((kurtosis - 1) / 4n) per sample, the kurtosis taken over both
    shape       Kolmogorov and Smirnov's largest gap between the distribution functions
    top, bottom how many values of one sample lie beyond all of the other's: among n of 2n, k such
                values have the probability (n)_k / (2n)_k, about 2^-k, whatever the distribution

The first two scores are normal in the limit of large samples, Kolmogorov's distribution is the
limit of the third, and the others are exact. For 4096 values in each sample, the limits are right
to a tenth of a decade at 12 decades.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

TESTS = ("mean", "deviation", "shape", "top", "bottom")
"""Names of the tests, in the order of the reports."""

FALSE_ALARM = 1e-6
"""The probability that one case refuses a right candidate is at most this."""

CERTAIN = 1e4
"""Decades of a difference that cannot happen by chance at all."""


@dataclass(frozen=True)
class Moments:
    """The moments and bounds of one sample.

    count: number of values.
    mean: their mean.
    deviation: their standard deviation.
    kurtosis: 3 for a normal, 1.8 for a uniform distribution; NaN where all values are equal.
    low: the smallest value.
    high: the largest value.
    """

    count: int
    mean: float
    deviation: float
    kurtosis: float
    low: float
    high: float


def moments(values: np.ndarray) -> Moments:
    """The moments and bounds of a sample of shape (n,), n > 0."""
    mean, deviation = float(values.mean()), float(values.std())
    centred = values - mean
    kurtosis = float((centred**4).mean()) / deviation**4 if deviation else math.nan
    return Moments(values.size, mean, deviation, kurtosis, float(values.min()), float(values.max()))


def evidence(one: np.ndarray, other: np.ndarray) -> dict[str, float]:
    """Test -> decades against one distribution of both samples, which are float64 of shape (n,)."""
    a, b = moments(one), moments(other)
    one, other = np.sort(one), np.sort(other)
    return {
        "mean": decades_of_normal(_quotient(a.mean - b.mean, _mean_error(a, b))),
        "deviation": decades_of_normal(_deviation_score(a, b)),
        "shape": kolmogorov(one, other),
        "top": _beyond(one, other),
        "bottom": _beyond(-one[::-1], -other[::-1]),
    }


def decades_of_normal(score: float) -> float:
    """Evidence of a standard normal score at least as large as `score` in absolute value."""
    if math.isinf(score):
        return CERTAIN
    return max(0.0, -(float(special.log_ndtr(-abs(score))) + math.log(2.0)) / math.log(10.0))


def decades_of_binomial(successes: int, trials: int, chance: float) -> float:
    """Evidence of at least that many successes, if each trial succeeds with at most this chance."""
    probability = float(special.bdtrc(successes - 1, trials, chance)) if successes else 1.0
    return -math.log10(probability) if probability else CERTAIN


def correlation_score(one: np.ndarray, other: np.ndarray) -> float:
    """r sqrt(n - 1) of two samples of equal length, standard normal if they are independent."""
    one, other = one - one.mean(), other - other.mean()
    norm = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / norm * math.sqrt(one.size - 1) if norm else 0.0


def _quotient(difference: float, error: float) -> float:
    if error:
        return difference / error
    return math.copysign(math.inf, difference) if difference else 0.0


def _mean_error(a: Moments, b: Moments) -> float:
    return math.sqrt(a.deviation**2 / a.count + b.deviation**2 / b.count)


def _deviation_score(a: Moments, b: Moments) -> float:
    if not (a.deviation and b.deviation):
        return math.inf if a.deviation != b.deviation else 0.0
    return math.log(a.deviation / b.deviation) / math.hypot(
        log_deviation_error(a.count, (a.kurtosis + b.kurtosis) / 2),
        log_deviation_error(b.count, (a.kurtosis + b.kurtosis) / 2),
    )


def log_deviation_error(count: int, kurtosis: float) -> float:
    """Standard error of the logarithm of a sample's standard deviation."""
    return math.sqrt(max(kurtosis - 1.0, 1.0 / count) / (4 * count))


def kolmogorov(one: np.ndarray, other: np.ndarray) -> float:
    """Evidence of the largest gap between the distribution functions of two sorted samples."""
    at = np.concatenate([one, other])
    shares = [np.searchsorted(values, at, "right") / values.size for values in (one, other)]
    gap = float(np.abs(shares[0] - shares[1]).max())
    scaled = gap * math.sqrt(one.size * other.size / (one.size + other.size))
    if scaled < 1.0:
        return max(0.0, -math.log10(float(special.kolmogorov(scaled))))
    # The first term of the series; the next one is smaller by the factor exp(-6 scaled^2).
    return (2.0 * scaled**2 - math.log(2.0)) / math.log(10.0)


def _beyond(one: np.ndarray, other: np.ndarray) -> float:
    """Evidence of the number of values of one sorted sample above all values of the other."""
    longer, shorter = (one, other) if one[-1] > other[-1] else (other, one)
    above = int(longer.size - np.searchsorted(longer, shorter[-1], "right"))
    total = one.size + other.size
    logs = np.log(np.arange(longer.size, longer.size - above, -1.0))
    logs -= np.log(np.arange(total, total - above, -1.0))
    return max(0.0, -(float(logs.sum()) + math.log(2.0)) / math.log(10.0))
