"""Which layers to keep in float32, found by trying. Imports no framework."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

LEAST = 20.0
"""Seconds that trials may take at least; they take as long as the comparison where that is more."""


@dataclass(frozen=True)
class Float32Trials:
    """What trials with layers in float32 have shown.

    layers: those with which the port is right, by their paths; none where it stays wrong with all.
    count: how many layers compute in half precision. trials: how often the port ran.
    smallest: whether the port is wrong without any one of them; else the time was over.
    casting: layers that compute in half precision all the same, since code casts within them.
    failed: how many of the trials could not run. why: what the first of them raised.
    """

    layers: tuple[str, ...]
    count: int
    trials: int
    smallest: bool = True
    casting: tuple[str, ...] = ()
    failed: int = 0
    why: str = ""


def search(
    is_right: Callable[[Collection[str]], bool],
    layers: Sequence[str],
    seconds: float,
    now: Callable[[], float] = time.monotonic,
) -> Float32Trials:
    """The layers that have to be in float32: a set of which none can be left out.

    is_right: whether the port is right with these layers in float32.
    seconds: what trials may take; what they have left out until then stays out.

    >>> search(lambda kept: {"a", "d"} <= {*kept}, ["a", "b", "c", "d"], 10.0).layers
    ('a', 'd')
    >>> search(lambda _: False, ["a", "b"], 10.0)
    Float32Trials(layers=(), count=2, trials=1, smallest=True, casting=(), failed=0, why='')
    """
    end, trials = now() + seconds, 1
    if not is_right(layers):
        return Float32Trials((), len(layers), trials)
    kept, size = [*layers], (len(layers) + 1) // 2
    while size:
        start = 0
        while start < len(kept):
            if len(kept) == 1:  # without any it is wrong, as is known
                return Float32Trials(tuple(kept), len(layers), trials)
            if now() > end:
                return Float32Trials(tuple(kept), len(layers), trials, smallest=False)
            rest = kept[:start] + kept[start + size :]
            trials += bool(rest)
            if rest and is_right(rest):
                kept = rest
            else:
                start += size
        size //= 2
    return Float32Trials(tuple(kept), len(layers), trials)
