"""Phrases that several reports use."""

import difflib
import math
from collections.abc import Iterable, Sequence

NAMED = 3
"""How many items of a list a line names; the others are only counted."""


def listed(values: Sequence[object], most: int = NAMED) -> str:
    """The first values, and the number of the others: "a, b, c and 4 more"."""
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(str, values[:most])) + more


def raised(error: BaseException) -> str:
    """The class of an exception and the first line of its message.

    >>> raised(KeyError("stride"))
    "KeyError: 'stride'"
    """
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def nearest(name: str, names: Iterable[str]) -> str:
    """The most similar of `names`, as the end of a sentence; "" where none is similar."""
    close = difflib.get_close_matches(name, [*names], n=1)
    return f"; nearest: {close[0]}" if close else ""


def counted(count: int, thing: str) -> str:
    """How many there are of a thing.

    >>> counted(1, "case"), counted(0, "case")
    ('1 case', '0 cases')
    """
    return f"{count} {thing}{'' if count == 1 else 's'}"


def left(seconds: float, done: int, total: int) -> str:
    """How long the rest takes, as the end of a line; "" where nothing tells yet, or below 1 s.

    seconds: what `done` of `total` parts took.

    >>> left(600.0, 2, 3), left(9.0, 3, 4), left(9.0, 0, 4)
    (', about 5 min left', ', about 3 s left', '')
    """
    if not done or done >= total:
        return ""
    rest = seconds / done * (total - done)
    if rest < 1.0:
        return ""
    return f", about {rest / 60:.0f} min left" if rest > 90 else f", about {rest:.0f} s left"


def number(value: float) -> str:
    """An error in roundings, as text; "-" for NaN, where it was not measured."""
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if 0.01 <= value < 1000 else f"{value:.2g}"
