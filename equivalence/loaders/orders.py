"""The order in which a loader gives its samples, as data. Imports no framework."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from equivalence.words import counted


@dataclass(frozen=True)
class Order:
    """The order of the samples of an epoch.

    drawn: whether it is drawn; else it is that of the data, or of a sampler that draws nothing.
    buffer: the samples among which the next one is drawn; None: all.
    weights: the weight of each sample; None where all have one.
    replacement: whether a sample may come twice.
    part: the number of the part that a rank reads, from 0, and of how many; None: not known.
    """

    drawn: bool = False
    buffer: int | None = None
    weights: Sequence[float] | None = None
    replacement: bool = False
    part: tuple[int, int] | None = None


def difference(theirs: Order, ours: Order, samples: int | None) -> str | None:
    """How the candidate's order is of another law, in words; None where it is not.

    samples: how many there are in an epoch; None where that is not known.

    >>> difference(Order(), Order(drawn=True), 9)
    'the candidate shuffles, and the reference does not'
    """
    if theirs.drawn != ours.drawn:
        which = ("reference", "candidate") if theirs.drawn else ("candidate", "reference")
        return f"the {which[0]} shuffles, and the {which[1]} does not"
    if not theirs.drawn:
        return None
    if theirs.replacement != ours.replacement:
        which = ("reference", "candidate") if theirs.replacement else ("candidate", "reference")
        return f"the {which[0]} draws with replacement, and the {which[1]} without"
    if problem := _weights(theirs.weights, ours.weights):
        return problem
    if theirs.part and ours.part and theirs.part != ours.part:
        told = [f"part {part} of {parts}" for part, parts in (ours.part, theirs.part)]
        return f"the candidate reads {told[0]} of the samples, and the reference {told[1]}"
    buffers = [_within(each.buffer, samples) for each in (theirs, ours)]
    if buffers[0] != buffers[1]:
        told = ["all" if each is None else counted(each, "sample") for each in buffers]
        return f"the candidate draws the next sample among {told[1]}, the reference among {told[0]}"
    return None


def _within(buffer: int | None, samples: int | None) -> int | None:
    """The buffer of a shuffle; None where it holds an epoch."""
    return None if buffer is None or (samples is not None and buffer >= samples) else buffer


def _weights(theirs: Sequence[float] | None, ours: Sequence[float] | None) -> str | None:
    """How the weights of samples differ; their sum does not count."""
    if (theirs is None) != (ours is None):
        which = ("reference", "candidate") if theirs is not None else ("candidate", "reference")
        return f"the {which[0]} draws samples by weights, and the {which[1]} does not"
    if theirs is None or ours is None:
        return None
    if len(theirs) != len(ours):
        return f"the candidate has {counted(len(ours), 'weight')} of samples for {len(theirs)}"
    one, other = (np.asarray(each, np.float64) / np.sum(each) for each in (theirs, ours))
    wrong = np.flatnonzero(~np.isclose(one, other, rtol=1e-5, atol=0.0))
    if not wrong.size:
        return None
    at = int(wrong[0])
    return (
        f"sample {at} is drawn with the probability {other[at]:.4g} for {one[at]:.4g}, and "
        f"{len(wrong) - 1} others"
    )
