"""The decisions that a sample takes by its shapes, masks and draws. Imports no framework."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from equivalence.reach.decision import REFERENCE, SAMPLE, SIZE, Decision, Key, numberless
from equivalence.reach.words import BATCH, DROPOUT, MASKED_ROW, PADDED_LEFT, PADDED_RIGHT


def of_inputs(
    calls: Sequence[Sequence[np.ndarray]], names: Mapping[int, str] | Sequence[str]
) -> Iterator[Decision]:
    """The decisions of the inputs of one call, or of several.

    A batch of one, another size than that of the first call, and, in an input of zeros and ones,
    rows that are zero as a whole, or begin or end with zeros.

    calls: the inputs of each call.
    names: the name of each input.

    >>> import numpy as np
    >>> [each.key.kind for each in of_inputs([[np.ones((2, 3))]], ["input[0]"])][:2]
    ['batch of 1', 'other size']
    """
    ranked = [[values for values in call if values.ndim > 1] for call in calls]
    if not any(ranked):
        return
    batches = [call[0].shape[0] for call in ranked if call]
    ones = sum(batch == 1 for batch in batches)
    yield Decision(Key(SAMPLE, BATCH), ones, len(batches) - ones)
    shapes = {tuple(values.shape[1:] for values in call) for call in ranked}
    yield Decision(Key(SAMPLE, SIZE), len(shapes) - 1, 1, detail=_sizes(ranked[0]))
    for i, first in enumerate(calls[0]):
        if _is_mask(first):
            yield from _of_mask([np.asarray(call[i]) for call in calls], names[i])


def of_draws(draws: Iterable[tuple[str, str]], replayed: bool = False) -> Iterator[Decision]:
    """The draws of random numbers of a run, which are pinned, so that nothing is dropped.

    draws: the path of the layer of each, and its kind.
    replayed: whether they are not pinned: both sides draw the same numbers.

    >>> [each.key.layer for each in of_draws([("blocks.0.drop", "dropout")])]
    ['blocks.*.drop']
    """
    for path, kind in draws:
        text = "" if kind == DROPOUT else kind
        yield Decision(Key(REFERENCE, DROPOUT, layer=numberless(path), text=text), int(replayed), 1)


def _sizes(inputs: Sequence[np.ndarray]) -> str:
    """The sizes of some inputs, in words."""
    shapes = ["x".join(map(str, values.shape)) for values in inputs]
    return ", ".join(dict.fromkeys(shapes))


def _is_mask(values: np.ndarray) -> bool:
    """Whether an input is a mask: of rank two or more, and of zeros and ones alone."""
    if values.ndim < 2 or not values.size:
        return False
    return values.dtype == np.bool_ or bool(np.isin(values, (0, 1)).all())


def _of_mask(masks: Sequence[np.ndarray], name: str) -> Iterator[Decision]:
    """The decisions of a mask in which zero is what is left out."""
    rows = np.concatenate([each.astype(bool).reshape(-1, each.shape[-1]) for each in masks])
    kinds = {
        MASKED_ROW: ~rows.any(1),
        PADDED_LEFT: ~rows[:, 0] & rows.any(1),
        PADDED_RIGHT: ~rows[:, -1] & rows.any(1),
    }
    for kind, taken in kinds.items():
        yes = int(taken.sum())
        yield Decision(Key(SAMPLE, kind, layer=name), yes, len(rows) - yes)
