"""Names for what an initialiser draws: its family, gain and fan. Imports no framework.

A weight of shape (out, in, ...), whose other axes have r elements together (the receptive field),
has fan_in = in * r and fan_out = out * r. He et al. (2015, section 2.2) draw with standard
deviation gain / sqrt(fan), Glorot and Bengio (2010, equation 16) with the mean of both fans. A
uniform distribution with standard deviation s is bounded by sqrt(3) s.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from equivalence.judge.two_sample import Moments, log_deviation_error

KURTOSIS = {"uniform": 1.8, "truncated normal": 2.365, "normal": 3.0}
"""Family -> kurtosis; "truncated normal" is cut off at two standard deviations."""

GAINS = {"1": 1.0, "sqrt(2)": math.sqrt(2.0), "sqrt(1/3)": math.sqrt(1 / 3), "5/3": 5 / 3}
"""Spelling of a gain -> its value; the standard deviation is gain / sqrt(fan)."""

NUMBERS = ("0.001", "0.01", "0.02", "0.05", "0.07", "0.1", "1")
"""Standard deviations that are given as a number, without a fan."""

SAME_KURTOSIS = 0.3
"""A sample is of a family if its kurtosis is nearer than this; else its family is "unknown"."""
SAME_DEVIATION = 4.0
"""A sample fits a convention if their standard deviations differ by no more standard errors."""

SLIPS = {
    "uniform": ("the std taken for the bound", 1 / math.sqrt(3.0)),
    "normal": ("the bound taken for the std", math.sqrt(3.0)),
    "truncated normal": ("cut off at 2 std without being rescaled", 0.87962566),
}
"""Family -> (a common mistake, the factor by which it changes the standard deviation)."""


@dataclass(frozen=True)
class Convention:
    """One way to choose a standard deviation.

    family: a key of KURTOSIS, or "unknown".
    gain: a key of GAINS; without a fan, one of NUMBERS.
    fan: a key of `fans`; empty: the gain is the standard deviation itself.
    slip: a common mistake; empty: none.
    """

    family: str
    gain: str
    fan: str
    slip: str = ""


def family(sample: Moments) -> str:
    """The family of a sample, by its kurtosis; "unknown" where none is near enough."""
    name = min(KURTOSIS, key=lambda name: abs(sample.kurtosis - KURTOSIS[name]))
    return name if abs(sample.kurtosis - KURTOSIS[name]) < SAME_KURTOSIS else "unknown"


def fans(shape: tuple[int, ...]) -> dict[str, float]:
    """Name -> fan of a weight of that shape; empty for a vector."""
    if len(shape) < 2:
        return {}
    field = math.prod(shape[2:])
    into, out = shape[1] * field, shape[0] * field
    if into == out:
        return {"fan": float(into)}
    return {"fan_in": float(into), "fan_out": float(out), "mean fan": (into + out) / 2}


def conventions(sample: Moments, fan_of: Mapping[str, float]) -> Iterator[Convention]:
    """Every convention that fits a sample's standard deviation."""
    family_name = family(sample)
    slips = {"": 1.0} | dict([SLIPS[family_name]] if family_name in SLIPS else [])
    error = log_deviation_error(sample.count, sample.kurtosis)
    formulas = {(gain, ""): float(gain) for gain in NUMBERS}
    for gain, fan in itertools.product(GAINS, fan_of):
        formulas[gain, fan] = GAINS[gain] / math.sqrt(fan_of[fan])
    for ((gain, fan), deviation), slip in itertools.product(formulas.items(), slips):
        distance = math.log(sample.deviation / (deviation * slips[slip]))
        if abs(distance) <= SAME_DEVIATION * error:
            yield Convention(family_name, gain, fan, slip)


def difference(reference: Moments, candidate: Moments, fan_of: Mapping[str, float]) -> str:
    """How the candidate's convention differs from the reference's, such as "fan_in for fan_out".

    Among all pairs of conventions that fit, those count that differ least; "" where nothing fits.
    """
    ranked: dict[tuple, list[str]] = {}
    for one in conventions(reference, fan_of):
        for other in conventions(candidate, fan_of):
            if differences := _differences(one, other):
                # Last: a number that a formula gives by chance, and a slip of the reference.
                rank = bool(one.fan) != bool(other.fan), len(differences), bool(one.slip)
                ranked.setdefault(rank, []).append(", ".join(differences))
    if ranked:
        return " or ".join(dict.fromkeys(ranked[min(ranked)]))
    names = family(reference), family(candidate)
    return f"{names[1]} for {names[0]}" if names[0] != names[1] else ""


def _differences(reference: Convention, candidate: Convention) -> list[str]:
    """What the two conventions differ in, in words; empty where they are equal."""
    words = []
    if candidate.family != reference.family:
        words.append(f"{candidate.family} for {reference.family}")
    if candidate.gain != reference.gain:
        word = "gain " if candidate.fan and reference.fan else ""
        words.append(f"{word}{candidate.gain} for {word}{reference.gain}")
    if candidate.fan != reference.fan:
        words.append(f"{candidate.fan or 'no fan'} for {reference.fan or 'no fan'}")
    if candidate.slip != reference.slip:
        words.append(candidate.slip or f"not {reference.slip}")
    return words
