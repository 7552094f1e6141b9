"""Names for what an initialiser draws: its family, gain and fan. Imports no framework.

A weight of shape (out, in, ...) with receptive field r = product of the rest has fan_in = in * r
and fan_out = out * r. He et al. (2015, section 2.2) draw with standard deviation gain / sqrt(fan),
Glorot and Bengio (2010, equation 16) with the mean of both fans; a uniform distribution of that
standard deviation is bounded by sqrt(3) of it.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from equivalence.initials.two_sample import Moments, log_deviation_error

# Family -> kurtosis. A normal distribution cut off at two standard deviations has 2.365.
KURTOSIS = {"uniform": 1.8, "truncated normal": 2.365, "normal": 3.0}

GAINS = {"1": 1.0, "sqrt(2)": math.sqrt(2.0), "sqrt(1/3)": math.sqrt(1 / 3), "5/3": 5 / 3}

# Standard deviations, or bounds, that are given as they are.
NUMBERS = ("0.001", "0.01", "0.02", "0.05", "0.07", "0.1", "1")

SAME_KURTOSIS = 0.3
SAME_DEVIATION = 4.0
"""Standard errors within which a sample has the standard deviation of a convention."""

# What goes wrong between a formula and a family -> the deviation's share that is left of it.
SLIPS = {
    "uniform": ("the std taken for the bound", 1 / math.sqrt(3.0)),
    "normal": ("the bound taken for the std", math.sqrt(3.0)),
    "truncated normal": ("cut off at 2 std without being rescaled", 0.87962566),
}


@dataclass(frozen=True)
class Convention:
    """One way to come to a sample's standard deviation; an empty `fan` is a gain by itself."""

    family: str
    gain: str
    fan: str
    slip: str = ""


def family(found: Moments) -> str:
    """Which family a sample is of, by its kurtosis; "unknown" is one, too."""
    name = min(KURTOSIS, key=lambda each: abs(found.kurtosis - KURTOSIS[each]))
    return name if abs(found.kurtosis - KURTOSIS[name]) < SAME_KURTOSIS else "unknown"


def fans(shape: tuple[int, ...]) -> dict[str, float]:
    """Name -> fan of a weight of that shape; none of a vector."""
    if len(shape) < 2:
        return {}
    field = math.prod(shape[2:])
    into, out = shape[1] * field, shape[0] * field
    if into == out:
        return {"fan": float(into)}
    return {"fan_in": float(into), "fan_out": float(out), "mean fan": (into + out) / 2}


def conventions(found: Moments, fan_of: Mapping[str, float]) -> Iterator[Convention]:
    """Every known convention that a sample's standard deviation agrees with."""
    kind = family(found)
    slips = {"": 1.0} | dict([SLIPS[kind]] if kind in SLIPS else [])
    error = log_deviation_error(found.count, found.kurtosis)
    formulas = {(gain, ""): float(gain) for gain in NUMBERS}
    for gain, fan in itertools.product(GAINS, fan_of):
        formulas[gain, fan] = GAINS[gain] / math.sqrt(fan_of[fan])
    for ((gain, fan), deviation), slip in itertools.product(formulas.items(), slips):
        apart = math.log(found.deviation / (deviation * slips[slip]))
        if abs(apart) <= SAME_DEVIATION * error:
            yield Convention(kind, gain, fan, slip)


def difference(reference: Moments, candidate: Moments, fan_of: Mapping[str, float]) -> str:
    """How the candidate's convention differs from the reference's: "fan_in for fan_out".

    Of all pairs of conventions that fit, those that differ in the least; "" if nothing fits.
    """
    ranked: dict[tuple, list[str]] = {}
    for one in conventions(reference, fan_of):
        for other in conventions(candidate, fan_of):
            if told := _apart(one, other):
                # A number that a formula happens to give, and a slip of the reference, come last.
                rank = bool(one.fan) != bool(other.fan), len(told), bool(one.slip)
                ranked.setdefault(rank, []).append(", ".join(told))
    if ranked:
        return " or ".join(dict.fromkeys(ranked[min(ranked)]))
    names = family(reference), family(candidate)
    return f"{names[1]} for {names[0]}" if names[0] != names[1] else ""


def _apart(reference: Convention, candidate: Convention) -> list[str]:
    told = []
    if candidate.family != reference.family:
        told.append(f"{candidate.family} for {reference.family}")
    if candidate.gain != reference.gain:
        word = "gain " if candidate.fan and reference.fan else ""
        told.append(f"{word}{candidate.gain} for {word}{reference.gain}")
    if candidate.fan != reference.fan:
        told.append(f"{candidate.fan or 'no fan'} for {reference.fan or 'no fan'}")
    if candidate.slip != reference.slip:
        told.append(candidate.slip or f"not {reference.slip}")
    return told
