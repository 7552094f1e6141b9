"""How samples or a batch differ, in one phrase: tokens, text or pictures. NumPy only."""

from collections.abc import Sequence

import numpy as np

from equivalence.pipelines import pictures, rows


def of_samples(wrong: Sequence[tuple[np.ndarray, np.ndarray]]) -> str:
    """How samples differ. wrong: pairs of arrays, the candidate's and the reference's.

    >>> of_samples([(np.array([0, 5, 6]), np.array([5, 6, 0]))])
    'is padded on the left: 0 5 6 for 5 6 0'
    """
    got, want = wrong[0]
    if max(got.ndim, want.ndim) < 3:
        for ours, theirs in wrong:
            told = rows.explain(
                *(each[None] if each.ndim == 1 else each for each in (ours, theirs))
            )
            if told is not None:
                return told.removeprefix("row 0 ")
    return pictures.explain(*zip(*wrong, strict=True))


def of_batch(got: np.ndarray, want: np.ndarray) -> str | None:
    """What makes a batch another one; None where nothing known does.

    got, want: of shape (samples,), (samples, length), or of a batch of pictures in either layout.

    >>> of_batch(np.array([[0, 5, 6], [7, 8, 9]]), np.array([[5, 6, 0], [7, 8, 9]]))
    'row 0 is padded on the left: 0 5 6 for 5 6 0'
    """
    return rows.explain(got, want) or pictures.of_batch(got, want)
