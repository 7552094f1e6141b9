"""Whether the workers of a loader draw the same numbers, each as the others. Imports no framework.

A generator that is made before the workers are, and copied into each, gives all of them the same
numbers: of four pictures in a row all are cropped alike. MindSpore's processes copy NumPy's and
their own, unless a seed is set for its data, to which each adds its number; PyTorch's workers seed
NumPy's, Python's and its own, not one that a data set keeps.
"""

from collections import Counter
from collections.abc import Sequence

from equivalence.judge.two_sample import FALSE_ALARM
from equivalence.loaders.stages import Loader

ROUNDS = 40
"""Samples or batches that each worker makes."""


def compare_workers(reference: Loader, candidate: Loader) -> dict[str, str | None]:
    """`workers` -> what is wrong in words, where either side has several; None where nothing is."""
    if max(reference.workers, candidate.workers) < 2:
        return {}
    theirs, ours = (alike(side.by_workers(ROUNDS)) for side in (reference, candidate))
    if ours and not theirs:
        return {
            "workers": f"the {candidate.workers} workers of the candidate draw the same numbers; "
            "a seed (`mindspore.set_seed`) gives each its own"
        }
    return {"workers": None}


def alike(by_worker: Sequence[Sequence[bytes]]) -> bool:
    """Whether each worker made what the first one made, and that not by chance.

    by_worker: what each has made of one sample, in order.

    >>> alike([[b"a", b"b"] * 20, [b"a", b"b"] * 20])
    True
    """
    if len(by_worker) < 2 or any(list(each) != list(by_worker[0]) for each in by_worker):
        return False
    first = by_worker[0]
    chance = sum((count / len(first)) ** 2 for count in Counter(first).values())
    return chance ** len(first) < FALSE_ALARM
