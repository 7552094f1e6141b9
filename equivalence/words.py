"""Words that several reports share."""

from collections.abc import Sequence

NAMED = 3
"""So many of a list are named where a line has room for no more."""


def listed(values: Sequence[object], most: int = NAMED) -> str:
    """The first values, and how many there are more: "a, b, c and 4 more"."""
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(str, values[:most])) + more
