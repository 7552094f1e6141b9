"""How two arrays belong together, as far as their numbers alone tell."""

import math
from dataclasses import dataclass

import numpy as np

from equivalence import dtypes
from equivalence.diagnosis import pattern
from equivalence.diagnosis.residual import ROUNDINGS
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.words import number

BITS, STORAGE, OTHER = "equal to the bit", "equal as stored", "different"
WITHIN = "within rounding of storage"
"""The kinds of a relation; what is within rounding of storage may be a small mistake, too."""

EXACT = 2.0**-53


@dataclass(frozen=True)
class Relation:
    """What two arrays have in common.

    kind: `BITS`; `STORAGE`, where each number of one is the other's, rounded to the shorter of the
        two dtypes; `WITHIN`, where they are at most 8 roundings of the shorter dtype apart, as the
        judge counts them without noise; else `OTHER`.
    phrase: what is different, such as "a constant factor of 2"; "" of what is equal, and where
        nothing simple explains it.
    relative: ||candidate - reference|| / ||reference||; NaN where that is no number.
    largest: the largest difference of two elements.
    """

    kind: str
    phrase: str = ""
    relative: float = math.nan
    largest: float = math.nan

    @property
    def equal(self) -> bool:
        """Whether the numbers are the same, as far as they were stored."""
        return self.kind in (BITS, STORAGE)


def between(candidate: np.ndarray, reference: np.ndarray) -> Relation:
    """The relation of a candidate's array to the reference's, of any shape and dtype.

    >>> between(np.ones(3, np.float32), np.ones(3, np.float32)).kind
    'equal to the bit'
    >>> between(np.full(3, 1 / 3, np.float32), np.full(3, 1 / 3)).kind
    'equal as stored'
    >>> between(np.arange(32.0) * 2.0, np.arange(32.0)).phrase
    'a constant factor of 2'
    """
    names = [dtypes.name(each.dtype) for each in (candidate, reference)]
    candidate, reference = map(dtypes.paired, (candidate, reference))
    if candidate.shape != reference.shape:
        return Relation(
            OTHER, pattern.describe(candidate, reference, 0.0) or _shapes(candidate, reference)
        )
    if names[0] == names[1] and _same(candidate, reference):
        return Relation(BITS, relative=0.0, largest=0.0)
    got, want = candidate.astype(np.float64), reference.astype(np.float64)
    relative, largest = _apart(got, want)
    if _same_as_stored(got, want, names):
        return Relation(
            STORAGE, "" if names[0] == names[1] else " for ".join(names), relative, largest
        )
    unit = max(map(_unit, names)) * float(
        np.linalg.norm(np.nan_to_num(want, posinf=0.0, neginf=0.0))
    )
    if near := _within(got, want, names):
        return Relation(WITHIN, near, relative, largest)
    return Relation(OTHER, pattern.describe(got, want, unit) or "", relative, largest)


def _within(got: np.ndarray, want: np.ndarray, names: list[str]) -> str:
    """How many roundings of storage two arrays are apart, in words; "" beyond the budget."""
    unit_roundoff = max(map(_unit, names))
    if unit_roundoff <= EXACT or want.dtype.kind != "f":
        return ""
    count = max(Expected.whole(want).errors(got, unit_roundoff))
    return f"{number(count)} roundings of {max(names, key=_unit)}" if count <= BUDGET else ""


@dataclass(frozen=True)
class Sketched:
    """An array that is known by its sketch: its dtype and shape, the checksum of its numbers."""

    dtype: str
    shape: tuple[int, ...]
    digest: str
    values: np.ndarray


def of_sketches(candidate: Sketched, reference: Sketched) -> Relation:
    """The relation of two arrays by their sketches: equal to the bit, a factor, or how far."""
    if candidate.shape != reference.shape:
        return Relation(OTHER, _shapes(candidate, reference))
    if candidate.digest == reference.digest and candidate.dtype == reference.dtype:
        return Relation(BITS, relative=0.0, largest=0.0)
    names = [candidate.dtype, reference.dtype]
    other = "" if names[0] == names[1] else f", {' for '.join(names)}"
    got, want = candidate.values, reference.values
    if got.dtype.kind != "f" or want.dtype.kind != "f":
        return Relation(OTHER, f"known by checksums only{other}")
    relative, _ = _apart(got, want)  # of norms that a sketch tells within a few per cent
    with np.errstate(all="ignore"):
        factor = float(got @ want / (want @ want))
        left = float(np.linalg.norm(got - factor * want))
        size = float(np.linalg.norm(want))
    if left <= ROUNDINGS * max(map(_unit, names)) * size < abs(factor - 1) * size:
        return Relation(OTHER, f"a constant factor of {factor:.3g}{other}", relative)
    if near := _within(got, want, names):
        return Relation(WITHIN, f"{near}, known by sketches only{other}", relative)
    return Relation(OTHER, f"known by sketches only{other}", relative)


def _shapes(candidate: np.ndarray | Sketched, reference: np.ndarray | Sketched) -> str:
    return f"shape {candidate.shape} for {reference.shape}"


def _same(one: np.ndarray, two: np.ndarray) -> bool:
    """Equal to the bit; a NaN is another NaN's equal."""
    return bool(np.array_equal(one, two, equal_nan=one.dtype.kind in "fc"))


def _same_as_stored(got: np.ndarray, want: np.ndarray, names: list[str]) -> bool:
    """Whether all numbers are the same once both are rounded to the shorter dtype."""
    shorter = max(names, key=_unit)
    if names[0] == names[1]:
        return _same(got, want)  # other bits of the same numbers: 0 and -0
    with np.errstate(over="ignore", invalid="ignore"):
        if np.dtype("float32" if shorter == "bfloat16" else shorter).kind != "f":
            return _same(got, want)
        return _same(*(dtypes.plain(dtypes.rounded(each, shorter)) for each in (got, want)))


def _unit(name: str) -> float:
    """The unit roundoff of a dtype; that of float64 for whole numbers."""
    return UNIT_ROUNDOFF.get(name, EXACT)


def _apart(got: np.ndarray, want: np.ndarray) -> tuple[float, float]:
    """The relative difference by the Euclidean norm, and the largest one of two elements."""
    with np.errstate(all="ignore"):
        delta = np.where(got == want, 0.0, got - want)  # infinities of one sign are equal
        delta = np.where(np.isnan(got) & np.isnan(want), 0.0, delta)
        size = float(np.linalg.norm(want[np.isfinite(want)]))
        away = float(np.linalg.norm(delta))
        relative = 0.0 if away == 0.0 else away / size if size else math.inf
        return relative, float(np.abs(delta).max(initial=0.0))
