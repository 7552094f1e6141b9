"""The tests of a network's weights, and what their failures mean. Imports no framework."""

import math
from collections.abc import Sequence

import numpy as np

from equivalence.initials import conventions, two_sample
from equivalence.initials.values import Weight, fixed, leading_positions

FALSE_ALARM = 1e-6
"""Probability that a case refuses a right candidate."""

LEADING, REPEATS = 256, 64
"""Leading elements of a weight, and builds, by which weights are compared with each other."""


def examine(made: Sequence[Weight]) -> float:
    """Test every weight, note evidence, problems and causes, and return the budget in decades.

    The budget is -log10(FALSE_ALARM / tests): by Bonferroni's inequality all tests together refuse
    a right candidate with no more than that probability.
    """
    for each in made:
        _structure(each)
        if not each.problem:
            _constants(each)
    compared = [each for each in made if not each.problem]
    drawn = [each for each in compared if each.drawn[0].size]
    theirs = copies([(each, each.reference) for each in drawn])
    ours = copies([(each, each.candidate) for each in drawn])
    tests = 2 * len(compared) + len(two_sample.TESTS) * len(drawn) + len(theirs) + len(ours)
    budget = -math.log10(FALSE_ALARM / max(tests, 1))
    shapes = {each.name: each.slot.shape for each in made}
    for each in compared:
        _one_value(each, budget)
    _copied({each.name: each for each in drawn}, theirs, ours, budget)
    for each in drawn:
        if not each.problem:  # copies have fewer elements of their own than the tests assume
            _distribution(each, budget, conventions.fans(_kernel(each, shapes)))
    return budget


def _kernel(weight: Weight, shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that gives a weight its fans: a bias has those of the kernel beside it."""
    shape, prefix = weight.slot.shape, weight.name.rpartition(".")[0]
    return shape if len(shape) > 1 else shapes.get(f"{prefix}.weight".lstrip("."), shape)


def _structure(weight: Weight) -> None:
    """Other dtypes, and values that are not finite, cannot be compared."""
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


def _constants(weight: Weight) -> None:
    """What both sides fix has one value; where a side fixes all elements, the other does, too."""
    theirs, ours = weight.fixed
    wrong = np.flatnonzero(theirs & ours & (weight.reference[0] != weight.candidate[0]))
    if not wrong.size and theirs.all() == ours.all():
        return
    weight.problem = f"{told(weight.reference)} (reference) {told(weight.candidate)} (candidate)"
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


def told(values: np.ndarray) -> str:
    """What an initialiser does, in a few words. values: shape (builds, n)."""
    if _constant(values):
        return _kind(values)
    found = two_sample.moments(values.ravel().astype(float))
    again = " in every build the same" if fixed(values).all() else ""
    return f"{conventions.family(found)} of std {found.deviation:.4g}{again}"


def _one_value(weight: Weight, budget: float) -> None:
    """Elements that one side alone fixes, such as a row of padding, are more than chance allows.

    A random element has one value in b builds with a probability of at most f^(b - 1), f being the
    share of the most frequent value.
    """
    theirs, ours = weight.fixed
    loose = [v[:, ~(theirs | ours)].ravel() for v in (weight.reference, weight.candidate)]
    counts = np.unique(np.concatenate(loose), return_counts=True)[1]
    chance = (counts.max() / counts.sum()) ** (len(weight.reference) - 1) if counts.size else 0.0
    for side, alone in (("reference", theirs & ~ours), ("candidate", ours & ~theirs)):
        found = two_sample.decades_of_binomial(int(alone.sum()), alone.size, chance)
        weight.evidence[f"fixed by the {side}"] = found
        if found > budget:
            weight.problem = (
                f"{alone.sum()} of {alone.size} elements are constant in the {side} alone, the "
                f"first is element {np.flatnonzero(alone)[0]}"
            )


def _distribution(weight: Weight, budget: float, fans: dict[str, float]) -> None:
    """What both sides draw has one distribution."""
    found = two_sample.evidence(*weight.drawn)
    weight.evidence |= found
    over = [test for test in two_sample.TESTS if found[test] > budget]
    if not over:
        return
    theirs, ours = map(two_sample.moments, weight.drawn)
    shown = {"std": (theirs.deviation, ours.deviation)}
    if "mean" in over:
        shown["mean"] = theirs.mean, ours.mean
    if not {"mean", "deviation"} & set(over):
        shown["minimum"], shown["maximum"] = (theirs.low, ours.low), (theirs.high, ours.high)
    weight.problem = ", ".join(
        f"{name} {want:.4g} (reference) {got:.4g} (candidate)"
        for name, (want, got) in shown.items()
    )
    if "deviation" in over and theirs.deviation:
        weight.problem += f", ratio {ours.deviation / theirs.deviation:.3f}"
    weight.cause = conventions.difference(theirs, ours, fans)


def copies(side: Sequence[tuple[Weight, np.ndarray]]) -> dict[tuple[str, str], float]:
    """Decades against the independence of each pair of a side's weights, by their correlation.

    The pair of a weight with itself stands for its first row and its second.
    """
    leading = np.zeros((len(side), REPEATS, LEADING))
    known = np.zeros_like(leading)
    found: dict[tuple[str, str], float] = {}
    for row, (weight, values) in enumerate(side):
        loose = ~fixed(values)
        part = values[:REPEATS, :LEADING].astype(float)
        shape = row, slice(part.shape[0]), slice(part.shape[1])
        known[shape] = loose[:LEADING]
        leading[shape] = part - part[:, loose[:LEADING]].sum() / max(known[shape].sum(), 1.0)
        if (score := _rows(weight, values, loose)) is not None:
            found[weight.name, weight.name] = two_sample.decades_of_normal(score)
    flat = len(side), REPEATS * LEADING
    leading, known = (leading * known).reshape(flat), known.reshape(flat)
    norms = (leading**2) @ known.T
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = (leading @ leading.T) / np.sqrt(norms * norms.T) * np.sqrt(known @ known.T - 1)
    for i, (one, _) in enumerate(side):
        for j in range(i):
            score = np.nan_to_num(scores[i, j])
            found[side[j][0].name, one.name] = two_sample.decades_of_normal(float(score))
    return found


def _rows(weight: Weight, values: np.ndarray, loose: np.ndarray) -> float | None:
    """The score of a kernel's first row with its second; None where they cannot be seen."""
    shape = weight.slot.shape
    if len(shape) < 2 or shape[0] < 2:
        return None
    length = math.prod(shape[1:])
    seen = min(length, LEADING, leading_positions(shape) - length)
    if seen <= 0:
        return None
    first, second = slice(0, seen), slice(length, length + seen)
    both = loose[first] & loose[second]
    one, other = (values[:REPEATS, part][:, both].ravel().astype(float) for part in (first, second))
    return two_sample.correlation_score(one, other) if one.size > 1 else None


def _copied(
    drawn: dict[str, Weight],
    theirs: dict[tuple[str, str], float],
    ours: dict[tuple[str, str], float],
    budget: float,
) -> None:
    """Weights that depend on each other do so on both sides."""
    for (one, other), found in ours.items():
        weight = drawn[other]
        expected = theirs.get((one, other), 0.0)
        if (found > budget) == (expected > budget) or weight.problem:
            continue
        side = "candidate" if found > budget else "reference"
        weight.evidence["copies"] = max(found, expected)
        weight.problem = f"the rows depend on each other in the {side} alone"
        if one != other:
            weight.problem = f"depends on {one} in the {side} alone"
        if side == "candidate":
            weight.cause = "drawn again from the same seed"
