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


def nearest(name: str, names: Iterable[str]) -> str:
    """The most similar of `names`, as the end of a sentence; "" where none is similar."""
    close = difflib.get_close_matches(name, [*names], n=1)
    return f"; nearest: {close[0]}" if close else ""


def number(value: float) -> str:
    """An error in roundings, as text; "-" for NaN, where it was not measured."""
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if 0.01 <= value < 1000 else f"{value:.2g}"
