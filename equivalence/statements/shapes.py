"""Where a run first has a value in another shape than the other: with axes of length one more."""

from collections.abc import Sequence

import numpy as np

from equivalence.statements.calls import Recording, alike


def squeezed(values: np.ndarray) -> tuple[int, ...]:
    """A shape without axes of length one.

    >>> squeezed(np.zeros((3, 1, 4)))
    (3, 4)
    """
    return tuple(length for length in values.shape if length != 1)


def first_in_another_shape(
    recording: Recording, found: Sequence[Sequence[int]], truths: Sequence[np.ndarray], value: int
) -> tuple[int, int] | None:
    """The first value of another shape that leads to one, and what it is of the other run; or None.

    recording: the run.
    found: value -> the values of the other run that are the same quantity.
    truths: the values of the other run.
    value: the value that is followed back. Within a statement both may compute in other shapes, as
        the frameworks do in their own attention: what one gives to another alone counts.
    """
    calls, producers = recording.calls, recording.producers
    first, ahead = None, [value]
    while ahead:
        made = producers.get(ahead.pop(), -1)
        for taken in calls[made].inputs if made >= 0 else ():
            source = producers.get(taken, -1)
            if source >= 0 and alike(calls[source].statement, calls[made].statement):
                ahead.append(taken)
                continue
            shape, same = recording.values[taken].shape, found[taken]
            near = [n for n in same if squeezed(truths[n]) == squeezed(recording.values[taken])]
            if near and all(truths[n].shape != shape for n in same):
                first, ahead = (taken, near[0]), [taken]
                break
    return first
