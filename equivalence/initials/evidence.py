"""Tests the weights of a network, and names the causes of what differs. Imports no framework."""

import math
from collections.abc import Sequence

import numpy as np

from equivalence.initials import conventions
from equivalence.initials.values import BuiltWeight, fixed, leading_positions, whole
from equivalence.judge import two_sample

LEADING, REPEATS = 256, 64
"""Leading elements of a weight, and builds, that the comparison of weights with each other uses."""


SAME = 1e-3
"""Singular values that are closer than this share of the largest one are equal."""


def examine(weights: Sequence[BuiltWeight]) -> float:
    """Test every weight, note its evidence, problem and cause, and return the budget in decades.

    The budget is -log10(FALSE_ALARM / tests). By Bonferroni's inequality, all tests together refuse
    a right candidate with a probability of at most FALSE_ALARM.
    """
    for weight in weights:
        _check_structure(weight)
        if not weight.problem:
            _check_constants(weight)
    compared = [weight for weight in weights if not weight.problem]
    random_weights = [weight for weight in compared if weight.drawn[0].size]
    theirs = copies([(weight, weight.reference) for weight in random_weights])
    ours = copies([(weight, weight.candidate) for weight in random_weights])
    tests = 2 * len(compared) + len(two_sample.TESTS) * len(random_weights)
    tests += len(theirs) + len(ours) + sum(map(_is_matrix, random_weights))
    budget = -math.log10(two_sample.FALSE_ALARM / max(tests, 1))
    shapes = {weight.name: weight.slot.shape for weight in weights}
    for weight in compared:
        _check_fixed(weight, budget)
    _check_copies({weight.name: weight for weight in random_weights}, theirs, ours, budget)
    for weight in random_weights:
        if not weight.problem:  # copies have fewer elements of their own than the tests assume
            _check_distribution(weight, budget, conventions.fans(_kernel_shape(weight, shapes)))
        if not weight.problem and _is_matrix(weight):
            _check_singular_values(weight, budget)
    return budget


def _is_matrix(weight: BuiltWeight) -> bool:
    """Whether a weight is kept whole, and has rows and columns; a kernel has a row per filter."""
    shape = weight.slot.shape
    return len(shape) > 1 and min(shape[0], math.prod(shape[1:])) > 1 and whole(shape)


def _check_singular_values(weight: BuiltWeight, budget: float) -> None:
    """Note a problem where singular values are not of one distribution: an orthogonal matrix has
    the same elements as a random one, seen one by one, and all of its singular values are equal.

    The singular values of a random matrix repel each other. So their distribution functions are
    closer than those of independent values, and the test refuses less often than it says.
    """
    shape = weight.slot.shape[0], math.prod(weight.slot.shape[1:])
    theirs, ours = (
        np.linalg.svd(v[:REPEATS].astype(float).reshape(-1, *shape), compute_uv=False).ravel()
        for v in (weight.reference, weight.candidate)
    )
    # Equal values stay equal: the rounding of an orthogonal matrix is of no distribution.
    grid = SAME * max(theirs.max(), ours.max())
    rounded = [np.sort(np.round(values / grid)) for values in (theirs, ours)]
    decades = weight.evidence["singular values"] = two_sample.kolmogorov(*rounded)
    if decades > budget:
        ranges = [f"{v.min():.4g} to {v.max():.4g}" for v in (theirs, ours)]
        weight.problem = f"singular values {ranges[0]} (reference) {ranges[1]} (candidate)"
        equal = [bool((v == v[0]).all()) for v in rounded]
        if equal[0] != equal[1]:
            weight.cause = f"orthogonal in the {'reference' if equal[0] else 'candidate'} alone"


def _kernel_shape(weight: BuiltWeight, shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that gives a weight its fans; a bias has the fans of the kernel in its layer."""
    shape, prefix = weight.slot.shape, weight.name.rpartition(".")[0]
    return shape if len(shape) > 1 else shapes.get(f"{prefix}.weight".lstrip("."), shape)


def _check_structure(weight: BuiltWeight) -> None:
    """Note a problem where dtypes differ or values are not finite."""
    theirs, ours = weight.reference, weight.candidate
    if theirs.dtype != ours.dtype:
        weight.problem = f"dtype {ours.dtype}, expected {theirs.dtype}"
        return
    sides = {"reference": theirs, "candidate": ours}
    wrong = [f"the {s}'s {v[~np.isfinite(v)][0]}" for s, v in sides.items() if not _finite(v)]
    if wrong:
        weight.problem = f"not finite: {' and '.join(wrong)}"


def _finite(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all())


def _check_constants(weight: BuiltWeight) -> None:
    """Note a problem where a constant differs, or where one side alone fixes the whole weight."""
    theirs, ours = weight.fixed
    wrong = np.flatnonzero(theirs & ours & (weight.reference[0] != weight.candidate[0]))
    if not wrong.size and theirs.all() == ours.all():
        return
    weight.problem = (
        f"{describe_values(weight.reference)} (reference) "
        f"{describe_values(weight.candidate)} (candidate)"
    )
    if wrong.size:
        where, values = wrong[0], (weight.reference[0], weight.candidate[0])
        if wrong.size < theirs.size:
            weight.problem += (
                f": {wrong.size} of {theirs.size} constants differ, first element {where}: "
                f"{values[0][where]:.6g} (reference) {values[1][where]:.6g} (candidate)"
            )
        zeroed = [not np.any(v) for v in values]
        if len(weight.slot.shape) == 1 and weight.name.endswith("weight") and any(zeroed):
            weight.cause = f"zero_init_residual: this scale is{'' if zeroed[0] else ' not'} to be 0"
    elif ours.all() and not _constant(weight.candidate):
        weight.cause = "the same values in every build: the initialiser's seed is fixed"
    else:
        weight.cause = f"{_kind(weight.candidate)} for {_kind(weight.reference)}"


def _constant(values: np.ndarray) -> bool:
    return bool((values == values[0, 0]).all())


def _kind(values: np.ndarray) -> str:
    return f"constant {values[0, 0]:.6g}" if _constant(values) else "random"


def describe_values(values: np.ndarray) -> str:
    """What an initialiser does, in a few words. values: shape (builds, n)."""
    if _constant(values):
        return _kind(values)
    moments = two_sample.moments(values.ravel().astype(float))
    suffix = " in every build the same" if fixed(values).all() else ""
    return f"{conventions.family(moments)} of std {moments.deviation:.4g}{suffix}"


def _check_fixed(weight: BuiltWeight, budget: float) -> None:
    """Note a problem where one side alone fixes more elements than chance allows.

    An example is a row of padding. A random element has one value in b builds with a probability of
    at most f^(b - 1), where f is the share of the most frequent value.
    """
    theirs, ours = weight.fixed
    free = [v[:, ~(theirs | ours)].ravel() for v in (weight.reference, weight.candidate)]
    counts = np.unique(np.concatenate(free), return_counts=True)[1]
    chance = (counts.max() / counts.sum()) ** (len(weight.reference) - 1) if counts.size else 0.0
    for side, one_sided in (("reference", theirs & ~ours), ("candidate", ours & ~theirs)):
        decades = two_sample.decades_of_binomial(int(one_sided.sum()), one_sided.size, chance)
        weight.evidence[f"fixed by the {side}"] = decades
        if decades > budget:
            weight.problem = (
                f"{one_sided.sum()} of {one_sided.size} elements are constant in the {side} alone, "
                f"the first is element {np.flatnonzero(one_sided)[0]}"
            )


def _check_distribution(weight: BuiltWeight, budget: float, fans: dict[str, float]) -> None:
    """Note a problem where the elements that both sides draw are not of one distribution."""
    decades = two_sample.evidence(*weight.drawn)
    weight.evidence |= decades
    over = [test for test in two_sample.TESTS if decades[test] > budget]
    if not over:
        return
    theirs, ours = map(two_sample.moments, weight.drawn)
    figures = {"std": (theirs.deviation, ours.deviation)}
    if "mean" in over:
        figures["mean"] = theirs.mean, ours.mean
    if not {"mean", "deviation"} & set(over):
        figures["minimum"], figures["maximum"] = (theirs.low, ours.low), (theirs.high, ours.high)
    weight.problem = ", ".join(
        f"{name} {want:.4g} (reference) {got:.4g} (candidate)"
        for name, (want, got) in figures.items()
    )
    if "deviation" in over and theirs.deviation:
        weight.problem += f", ratio {ours.deviation / theirs.deviation:.3f}"
    weight.cause = conventions.difference(theirs, ours, fans)


def copies(side: Sequence[tuple[BuiltWeight, np.ndarray]]) -> dict[tuple[str, str], float]:
    """Decades against the independence of each pair of weights of a side, by their correlation.

    The pair of a weight with itself compares its first row with its second.
    """
    leading = np.zeros((len(side), REPEATS, LEADING))
    mask = np.zeros_like(leading)
    decades: dict[tuple[str, str], float] = {}
    for row, (weight, values) in enumerate(side):
        free = ~fixed(values)
        part = values[:REPEATS, :LEADING].astype(float)
        shape = row, slice(part.shape[0]), slice(part.shape[1])
        mask[shape] = free[:LEADING]
        leading[shape] = part - part[:, free[:LEADING]].sum() / max(mask[shape].sum(), 1.0)
        if (score := _row_score(weight, values, free)) is not None:
            decades[weight.name, weight.name] = two_sample.decades_of_normal(score)
    flat = len(side), REPEATS * LEADING
    leading, mask = (leading * mask).reshape(flat), mask.reshape(flat)
    norms = (leading**2) @ mask.T
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = (leading @ leading.T) / np.sqrt(norms * norms.T) * np.sqrt(mask @ mask.T - 1)
    for i, (one, _) in enumerate(side):
        for j in range(i):
            score = np.nan_to_num(scores[i, j])
            decades[side[j][0].name, one.name] = two_sample.decades_of_normal(float(score))
    return decades


def _row_score(weight: BuiltWeight, values: np.ndarray, free: np.ndarray) -> float | None:
    """The score of a kernel's first row against its second; None where too few elements remain."""
    shape = weight.slot.shape
    if len(shape) < 2 or shape[0] < 2:
        return None
    length = math.prod(shape[1:])
    length_kept = min(length, LEADING, leading_positions(shape) - length)
    if length_kept <= 0:
        return None
    first, second = slice(0, length_kept), slice(length, length + length_kept)
    both = free[first] & free[second]
    one, other = (values[:REPEATS, part][:, both].ravel().astype(float) for part in (first, second))
    return two_sample.correlation_score(one, other) if one.size > 1 else None


def _check_copies(
    drawn: dict[str, BuiltWeight],
    theirs: dict[tuple[str, str], float],
    ours: dict[tuple[str, str], float],
    budget: float,
) -> None:
    """Note a problem where weights depend on each other on one side only."""
    for (one, other), decades in ours.items():
        weight = drawn[other]
        expected = theirs.get((one, other), 0.0)
        if (decades > budget) == (expected > budget) or weight.problem:
            continue
        side = "candidate" if decades > budget else "reference"
        weight.evidence["copies"] = max(decades, expected)
        weight.problem = f"the rows depend on each other in the {side} alone"
        if one != other:
            weight.problem = f"depends on {one} in the {side} alone"
        if side == "candidate":
            weight.cause = "drawn again from the same seed"
