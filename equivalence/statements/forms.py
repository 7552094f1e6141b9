"""A value of the reference in the form that the candidate has it in: layout, kind of mask."""

from collections.abc import Iterator, Sequence

import numpy as np

from equivalence.statements.same import MASKED, PARTS, layouts

FORMS = 4
"""At most this many layouts of one value are tried."""


def forms(truth: np.ndarray, values: np.ndarray) -> Iterator[np.ndarray]:
    """The reference's value in the shape of the candidate's, the likeliest layout first.

    truth: the value of the reference.
    values: the value of the candidate that it may take the place of.
    """
    if truth.size == values.size:
        shapes = [*layouts(truth, values.shape)]
    elif truth.size < values.size:
        shapes = [*_broadcast(truth, values.shape)]
    else:
        shapes = [*parts(truth, values.shape)]
    # As it is comes first: what is alike in another layout may just be laid out wrongly.
    rest = sorted(shapes[1:], key=lambda each: -likeness(each, values))
    # The shape may be wrong, as of a mean along another axis.
    own = [truth] if truth.ndim == values.ndim and truth.shape != values.shape else []
    for each in [*shapes[:1], *own, *rest][:FORMS]:
        yield from _as_mask(each, values) if each.shape == values.shape else [each]


def filled(
    truth: np.ndarray, values: np.ndarray, masks: Sequence[np.ndarray]
) -> Iterator[np.ndarray]:
    """An array with the reference's value in those of its rows that a mask selects."""
    for mask in masks:
        if truth.shape[:1] != (int(mask.sum()),) or values.shape[: mask.ndim] != mask.shape:
            continue
        if truth.shape[1:] == values.shape[mask.ndim :]:
            whole = values.copy()
            whole[mask] = truth
            yield whole


def parts(truth: np.ndarray, shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    """The parts of this shape along one axis of an array: blocks, every other index, one index."""
    for axis, length in enumerate(truth.shape):
        rest = truth.shape[:axis] + truth.shape[axis + 1 :]
        if rest == shape and length <= PARTS:
            yield from (truth.take(index, axis) for index in range(length))
        if truth.ndim != len(shape) or rest != shape[:axis] + shape[axis + 1 :]:
            continue
        part = shape[axis]
        if not 0 < part < length:
            continue
        starts = {0, length - part}
        if length % part == 0 and length // part <= PARTS:
            starts.update(range(0, length, part))
        cuts = [slice(start, start + part) for start in sorted(starts)]
        if length % part == 0 and length // part <= PARTS:
            step = length // part
            cuts += [slice(start, None, step) for start in range(step)]
        for cut in cuts:
            index = (*(slice(None),) * axis, cut)
            yield truth[index]


def blocks(values: np.ndarray) -> Iterator[list[np.ndarray]]:
    """An array cut along one axis into 2, 3, 4 or 6 blocks of one length, in every way."""
    for axis, length in enumerate(values.shape):
        for number in (2, 3, 4, 6):
            if length % number == 0:
                yield np.split(values, number, axis)


def likeness(one: np.ndarray, other: np.ndarray) -> float:
    """How far two arrays are alike: the size of their correlation, 0 to 1; 0.4 for other shapes."""
    if one.shape != other.shape:
        return 0.4
    one, other = (_bounded(side) for side in (one, other))
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return abs(float(one @ other)) / scale if scale else 0.0


def _bounded(values: np.ndarray) -> np.ndarray:
    flat = np.clip(values.astype(np.float64).ravel(), MASKED, -MASKED)
    return flat - flat.mean() if flat.size else flat


def marks_alike(values: np.ndarray, truth: np.ndarray) -> bool:
    """Whether both are masks of the same elements, whichever of two values marks them."""
    ours, theirs = _blocked(values), _blocked(truth)
    if ours is None or theirs is None or ours.size != theirs.size:
        return False
    return bool((ours.ravel() == theirs.ravel()).all() or (ours.ravel() != theirs.ravel()).all())


def _broadcast(truth: np.ndarray, shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    try:
        yield np.broadcast_to(truth, shape)
    except ValueError:
        return


def _as_mask(truth: np.ndarray, values: np.ndarray) -> Iterator[np.ndarray]:
    """The values as they are; a mask also as the candidate's kind of mask, and inverted."""
    theirs, ours = _blocked(truth), _blocked(values)
    if theirs is None or ours is None:
        yield truth
        return
    # One that marks everything, or nothing, has one of its two values alone.
    marked, low, high = theirs, values.min(), values.max()
    if values.dtype == bool:
        low, high = np.False_, np.True_
    yield np.where(marked, high, low).astype(values.dtype)
    yield np.where(marked, low, high).astype(values.dtype)


def _blocked(values: np.ndarray) -> np.ndarray | None:
    """Which elements a mask marks; None for values that are no mask."""
    if values.dtype == bool:
        return values
    distinct = np.unique(values.ravel()[:4096])
    if len(distinct) == 2 and (set(distinct) == {0, 1} or distinct[0] < MASKED):
        return values == distinct[1]
    return None
