"""Whether a random stage of both sides draws by one law: what it makes of the same samples.

Of a picture that comes out, a few figures are kept: its mean and deviation, those of parts, some
pixels, some sums with random signs. Those of many draws must be two samples of one distribution,
by the tests of `two_sample`. All tests of one stage together refuse a right candidate with a
probability of at most FALSE_ALARM (Bonferroni's inequality). Imports no framework.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from equivalence.judge.two_sample import FALSE_ALARM, TESTS, evidence
from equivalence.loaders.stages import Loader
from equivalence.pipelines.pictures import Pictures, channels_last
from equivalence.words import percent

DRAWS = 500
"""Draws of each side for each sample: the chance of a flip may be off by 0.1 and pass."""

SAMPLES = 2
"""Samples that a stage is called with."""

GRID = 8
"""A picture is read at this many rows and columns for sums with random signs."""

SAME = 1e-4
"""Figures that are closer than this share of all of them are one: sides round differently."""

LEVEL = 1.0 / 255.0
"""Pictures of whole levels may be off by one: one side rounds where the other cuts off."""

SIGNS = 4
"""Sums with random signs of a picture."""

_SIGNS = np.random.default_rng(0).choice([-1.0, 1.0], (SIGNS, GRID * GRID))


def pairs(theirs: Sequence[str], ours: Sequence[str]) -> dict[str, str]:
    """Random stage of the reference -> that of the candidate: by name, else by order if as many.

    >>> pairs(["RandomCrop", "Flip"], ["RandomCrop", "RandomHorizontalFlip"])
    {'RandomCrop': 'RandomCrop', 'Flip': 'RandomHorizontalFlip'}
    """
    named = {name: name for name in theirs if name in ours}
    left = [[n for n in side if n not in named] for side in (theirs, ours)]
    if len(left[0]) == len(left[1]):
        named |= dict(zip(*left, strict=True))
    return named


def compare_laws(reference: Loader, candidate: Loader, seed: int) -> dict[str, str | None]:
    """Random stage -> how the candidate's law differs, in words; None where it does not."""
    paired = pairs(reference.random, candidate.random)
    found: dict[str, str | None] = {}
    for theirs, ours in paired.items():
        made = [
            (reference.draws(theirs, n, DRAWS, seed), candidate.draws(ours, n, DRAWS, seed))
            for n in range(SAMPLES)
        ]
        found[ours] = difference(made)
    for stage in reference.random:
        if stage not in paired:
            found[stage] = "the candidate has no such stage"
    for stage in candidate.random:
        if stage not in paired.values():
            found[stage] = "the reference has no such stage"
    return found


def difference(draws: Sequence[tuple[Pictures, Pictures]]) -> str | None:
    """How what the candidate draws is of another law, in words; None where it is not.

    draws: for each sample what the reference has made of it, and what the candidate has.
    """
    made = [[[*map(channels_last, side)] for side in both] for both in draws]
    shapes = [{each.shape for sample in made for each in sample[side]} for side in (0, 1)]
    if shapes[0] != shapes[1]:
        return f"it gives the shape {_shapes(shapes[1])} for {_shapes(shapes[0])}"
    worst: tuple[float, str] = (0.0, "")
    tests = 0
    for theirs, ours in made:
        table = [np.array([figures(each) for each in side]) for side in (theirs, ours)]
        level = LEVEL if theirs[0].dtype.kind in "ui" else 0.0
        for name, one, other in zip(NAMES, table[0].T, table[1].T, strict=True):
            found = decades(one, other, level)
            tests += len(TESTS)
            if found > worst[0]:
                worst = found, told(f"{name} of what it gives", one, other)
    if worst[0] <= -math.log10(FALSE_ALARM / max(tests, 1)):
        return None
    kept = [_kept(side) for side in zip(*made, strict=True)]
    if abs(kept[0] - kept[1]) > 0.1:
        return (
            f"the most frequent result comes in {percent(kept[1])} of its draws, and in "
            f"{percent(kept[0])} of the reference's"
        )
    return worst[1]


NAMES = (
    *("the mean", "the deviation", "the mean of the left half", "the mean of the upper half"),
    *("a corner", "the opposite corner", "the centre", "the mean of the first channel"),
    *("the mean of the last channel", *("a sum with signs",) * SIGNS),
)
"""What the figures of a picture are."""


def figures(picture: np.ndarray) -> list[float]:
    """What is kept of a picture (height, width, channels), or of any other array, in its unit."""
    values = np.atleast_1d(picture).astype(np.float64)
    if picture.dtype.kind in "ui":
        values = values / 255.0
    if values.ndim < 3:
        values = values.reshape(*values.shape[:2], *(1,) * (3 - values.ndim))
    height, width = values.shape[:2]
    rows, columns = (np.linspace(0, size - 1, GRID).astype(int) for size in (height, width))
    coarse = values[np.ix_(rows, columns)].mean(-1).ravel()
    return [
        float(values.mean()),
        float(values.std()),
        float(values[:, : max(width // 2, 1)].mean()),
        float(values[: max(height // 2, 1)].mean()),
        float(values[0, 0].mean()),
        float(values[-1, -1].mean()),
        float(values[height // 2, width // 2].mean()),
        float(values[..., 0].mean()),
        float(values[..., -1].mean()),
        *(_SIGNS @ coarse / coarse.size).tolist(),
    ]


def decades(one: np.ndarray, other: np.ndarray, level: float) -> float:
    """The evidence against one law of two samples; of whole levels, but for a level.

    That is the evidence that is left where means differ by at most a level and are made equal, and
    each value may be off by one.
    """
    plain = _evidence(*_snapped(one, other))
    if not level:
        return plain
    dithers = np.random.default_rng(0).uniform(-level, level, (2, one.size))
    shift = np.clip(one.mean() - other.mean(), -level, level)
    return min(plain, _evidence(one + dithers[0], other + dithers[1] + shift))


def _evidence(one: np.ndarray, other: np.ndarray) -> float:
    """Where one sample alone is constant, deviations have no ratio: it may be a rare result."""
    found = evidence(one, other)
    if (one == one[0]).all() != (other == other[0]).all():
        del found["deviation"]
    return max(found.values())


def _snapped(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both samples, in which values that only rounding tells apart are one."""
    both = np.concatenate([one, other])
    order = np.argsort(both, kind="stable")
    ranked = both[order]
    apart = np.diff(ranked, prepend=ranked[0]) > SAME * max(float(np.abs(ranked).max()), 1e-30)
    first = ranked[np.maximum.accumulate(np.where(apart, np.arange(ranked.size), 0))]
    both[order] = first
    return both[: one.size], both[one.size :]


def _kept(side: Sequence[Sequence[np.ndarray]]) -> float:
    """The share of draws that give the most frequent result, over all samples."""
    counts = 0
    for results in side:
        counts += max(Counter(each.tobytes() for each in results).values())
    return counts / sum(map(len, side))


def told(name: str, theirs: np.ndarray, ours: np.ndarray) -> str:
    """How a figure differs, in words: its mean and deviation on both sides."""
    mine, other = (f"{side.mean():.3g} +- {side.std():.2g}" for side in (ours, theirs))
    return f"{name} is {mine}, and {other} in the reference"


def _shapes(shapes: set[tuple[int, ...]]) -> str:
    return " or ".join(map(str, sorted(shapes)[:3]))
