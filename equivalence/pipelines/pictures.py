"""What a pipeline did to pictures, as the pictures alone show it. NumPy only.

Every function takes lists of arrays of shape (height, width, channels): `got`, the candidate's,
and `want`, the reference's. A phrase is given only if it holds for all of them.
"""

from collections.abc import Callable, Sequence

import numpy as np

Pictures = Sequence[np.ndarray]
"""Pictures of shape (height, width, channels) each."""

LARGEST_SHIFT = 8
"""Shifts of up to this many pixels are found; larger ones are reported as other values."""

LOOKED_AT = 4
"""So many pictures of a batch are looked at."""

ALIKE_SHARE = 1e-5
"""Floating pictures are alike if they differ by at most this share of the largest value."""


def channels_last(image: np.ndarray) -> np.ndarray:
    """A picture in either layout with its channels last; any other array unchanged."""
    if image.ndim == 3 and image.shape[0] in (1, 3) and image.shape[-1] not in (1, 3):
        return image.transpose(1, 2, 0)
    return image


def alike(got: np.ndarray, want: np.ndarray) -> bool:
    """Whether two pictures are the same; floating ones may differ by rounding."""
    if got.shape != want.shape:
        return False
    if got.dtype.kind != "f" and want.dtype.kind != "f":
        return bool(np.array_equal(got, want))
    difference = np.abs(got.astype(np.float64) - want)
    return bool(difference.max(initial=0.0) <= ALIKE_SHARE * np.abs(want).max(initial=0.0))


def explain(got: Pictures, want: Pictures) -> str:
    """How the pictures differ, in one phrase."""
    shapes = [(g.shape, w.shape) for g, w in zip(got, want, strict=True) if g.shape != w.shape]
    if shapes:
        return _shape(*shapes[0], got, want)
    if got[0].dtype.kind != want[0].dtype.kind:
        return f"{got[0].dtype} for {want[0].dtype}"
    if any(w.ndim != 3 for w in want):
        return "other values"
    return _changed(got, want) or _levels(got, want)


def of_batch(got: np.ndarray, want: np.ndarray) -> str | None:
    """What makes the pictures of a batch those of another, in one phrase; None: nothing known does.

    got, want: batches of shape (samples, channels, height, width) or (samples, height, width,
    channels), of numbers. The first samples are looked at.

    >>> want = np.linspace(0, 1, 24).reshape(2, 3, 2, 2)
    >>> of_batch((want - 0.5) / 0.25, want)
    'normalised once more, by mean 0.5 0.5 0.5, standard deviation 0.25 0.25 0.25'
    """
    if got.shape != want.shape or got.ndim != 4:
        return None
    sides = [[*map(channels_last, batch[:LOOKED_AT])] for batch in (got, want)]
    if told := _changed(*sides):
        return told
    normalized = normalization(sides[1], sides[0])
    if normalized is None:
        return None
    mean, deviation = map(_figures, normalized)
    return f"normalised once more, by mean {mean}, standard deviation {deviation}"


def _changed(got: Pictures, want: Pictures) -> str | None:
    """The known change that all pictures have, in one phrase."""
    for phrase, change in _CHANGES.items():
        if all(alike(g, change(w)) for g, w in zip(got, want, strict=True)):
            return phrase
    return _flipped(got, want) or _shifted(got, want) or _scaled(got, want)


_CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "the channels are reversed: BGR for RGB": lambda w: w[..., ::-1],
    "height and width are exchanged": lambda w: w.swapaxes(0, 1),
    "three planes are read as if they were rows of pixels": lambda w: np.ascontiguousarray(
        w.transpose(2, 0, 1)
    ).reshape(w.shape),
    "rows of pixels are read as if they were three planes": lambda w: (
        np.ascontiguousarray(w).reshape(w.shape[2], *w.shape[:2]).transpose(1, 2, 0)
    ),
    "flipped upside down": lambda w: w[::-1],
    "only the first channel is left": lambda w: w * (np.arange(w.shape[2]) == 0),
    "the first channel is repeated": lambda w: np.broadcast_to(w[..., :1], w.shape),
    "zero everywhere": np.zeros_like,
}
"""Phrase -> what it does to the reference's picture."""


def _shape(got: tuple, want: tuple, all_got: Pictures, all_want: Pictures) -> str:
    phrase = f"shape {got} for {want}"
    pairs = [*zip(all_got, all_want, strict=True)]
    if all(g.ndim == w.ndim == 3 and alike(g, w.transpose(2, 0, 1)) for g, w in pairs):
        return f"{phrase}: CHW for HWC"
    if all(g.ndim == w.ndim == 3 and alike(g, w.transpose(1, 2, 0)) for g, w in pairs):
        return f"{phrase}: HWC for CHW"
    if len(got) == len(want) == 3 and got[0] == got[1] and want[0] != want[1]:
        return f"{phrase}: square, where the ratio of the sides is to be kept"
    return phrase


def _flipped(got: Pictures, want: Pictures) -> str | None:
    if all(alike(g, w[:, ::-1]) for g, w in zip(got, want, strict=True)):
        return "flipped left to right"
    return None


def _shifted(got: Pictures, want: Pictures) -> str | None:
    """Each shifted by a few pixels, all alike or not; the borders may hold anything."""
    shifts = [_shift(g, w) for g, w in zip(got, want, strict=True)]
    first = shifts[0]
    if first is None or None in shifts:
        return None
    down, right = first
    phrase = f"shifted by {down} pixels down and {right} to the right"
    return phrase if len(set(shifts)) == 1 else f"{phrase}, others by others"


def _shift(got: np.ndarray, want: np.ndarray) -> tuple[int, int] | None:
    """(down, right) such that got[y, x] is want[y - down, x - right]; the smallest, or None."""
    height, width = want.shape[:2]
    every = range(-LARGEST_SHIFT, LARGEST_SHIFT + 1)
    for down, right in sorted(((a, b) for a in every for b in every), key=lambda s: np.hypot(*s)):
        if max(abs(down) * 2, abs(right) * 2) > min(height, width) or (down, right) == (0, 0):
            continue
        inner = got[max(down, 0) : height + min(down, 0), max(right, 0) : width + min(right, 0)]
        moved = want[max(-down, 0) : height - max(down, 0), max(-right, 0) : width - max(right, 0)]
        if alike(inner, moved):
            return down, right
    return None


def _scaled(got: Pictures, want: Pictures) -> str | None:
    ours, theirs = (
        np.concatenate([p.ravel() for p in pictures]).astype(float) for pictures in (got, want)
    )
    factor = float(ours @ theirs) / float(theirs @ theirs) if theirs.any() else 0.0
    if not factor or not alike(ours, factor * theirs):
        return None
    for usual, reason in ((255.0, "not divided by 255"), (1 / 255.0, "divided by 255 twice")):
        if np.isclose(factor, usual, rtol=1e-4):
            return f"{factor:.4g} times as much: {reason}"
    return f"{factor:.4g} times as much"


def _levels(got: Pictures, want: Pictures) -> str:
    differences = [np.abs(g.astype(np.float64) - w) for g, w in zip(got, want, strict=True)]
    most, mean = max(a.max() for a in differences), np.mean([a.mean() for a in differences])
    if want[0].dtype.kind == "f":
        return f"off by up to {most:.3g}, {mean:.2g} in the mean"
    return f"off by up to {most:.0f} of 255 levels, {mean:.2f} in the mean"


Normalization = tuple[np.ndarray, np.ndarray]
"""The mean and the standard deviation of each channel, in the unit of the normalised picture."""


def normalization(before: Pictures, after: Pictures) -> Normalization | None:
    """Mean m and deviation s per channel, if `after` is (before - m) / s; else None."""
    if any(b.shape != a.shape or a.ndim != 3 for b, a in zip(before, after, strict=True)):
        return None
    x, y = (
        np.concatenate([p.reshape(-1, p.shape[2]) for p in pictures]).astype(np.float64)
        for pictures in (before, after)
    )
    moved = x - x.mean(0)
    spread = (moved**2).sum(0)
    slope = np.divide((moved * y).sum(0), spread, out=np.zeros(x.shape[1]), where=spread > 0)
    offset = y.mean(0) - slope * x.mean(0)
    if not slope.all() or not alike(x * slope + offset, y):
        return None
    return -offset / slope, 1.0 / slope


UNSCALED = "the picture is not divided by 255"
"""The cause that a missing stage explains as well."""


def misnormalized(got: Normalization, want: Normalization) -> str:
    """Why a normalisation of the same pictures has another mean or deviation."""
    (mean, std), (their_mean, their_std) = got, want

    def equal(one: np.ndarray, two: np.ndarray) -> bool:
        return bool(np.allclose(one, two, rtol=1e-3))

    if equal(mean, their_mean / 255) and equal(std, their_std / 255):
        return UNSCALED
    causes = {
        "mean and standard deviation are exchanged": (their_std, their_mean),
        "both are those of the channels in reverse": (their_mean[::-1], their_std[::-1]),
        "both are in levels of 255": (255 * their_mean, 255 * their_std),
        "the mean is in levels of 255": (255 * their_mean, their_std),
        "the standard deviation is in levels of 255": (their_mean, 255 * their_std),
        "the standard deviation is a share of 255": (their_mean, their_std / 255),
        "the variance stands for the standard deviation": (their_mean, their_std**2),
        "the mean is not subtracted": (0 * their_mean, their_std),
        "it is not divided by the standard deviation": (their_mean, np.ones_like(their_std)),
    }
    for cause, (other_mean, other_std) in causes.items():
        near = np.allclose(mean, other_mean, rtol=1e-3, atol=1e-4)
        if near and equal(std, other_std):
            return cause
    return f"by mean {_figures(mean)}, standard deviation {_figures(std)}"


def _figures(values: np.ndarray) -> str:
    return " ".join(f"{value:.4g}" for value in values)
