"""What a rename says: names, and how the elements of weights are rearranged between them.

"q + k + v" joins along the first axis, on either side; ".T" transposes, ".transpose(2, 0, 1)"
permutes axes as NumPy does, ".reshape()" takes the candidate's shape. A ".reshape(16, 4, 4, 3)" in
front of them gives the weight these axes first.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

JOIN = " + "
"""What stands between the names of joined weights."""

TRANSPOSED, RESHAPED = ".T", ".reshape()"
"""The ends of a name whose weight is transposed, or reshaped."""

NAME = r"[\w-]+(?:\.[\w-]+)*?"
_VIEW = r"\.reshape\((?P<view>\d+(?:, ?\d+)*)\)"
_AXES = r"\.transpose\((?P<axes>\d+(?:, ?\d+)*)\)"
_TERM = re.compile(
    rf"(?P<name>{NAME})(?:{_VIEW}(?=\.T|\.transpose))?(?P<order>\.T|{_AXES})?(?P<reshaped>\.reshape\(\))?"
)


@dataclass(frozen=True)
class Term:
    """A weight of the reference as a rename writes it.

    name: its name, or a run of the name's parts.
    axes: the order of its axes; () reverses them, None leaves them.
    reshaped: whether the candidate's weight may have any shape with as many elements.
    view: the shape that it is given before its axes are ordered; None leaves its own.
    """

    name: str
    axes: tuple[int, ...] | None = None
    reshaped: bool = False
    view: tuple[int, ...] | None = None

    def order(self, rank: int) -> tuple[int, ...] | None:
        """The order of the axes of a weight of that rank; None where it has other axes."""
        axes = tuple(range(rank)) if self.axes is None else self.axes or tuple(range(rank))[::-1]
        return axes if sorted(axes) == list(range(rank)) else None


def terms(text: str) -> tuple[Term, ...] | None:
    """The weights of the reference that a rename's value names; None where it cannot be read.

    >>> [(each.name, each.axes) for each in terms("q + k.T") or ()]
    [('q', None), ('k', ())]
    """
    texts = text.split(JOIN)
    found = [match for match in map(_TERM.fullmatch, texts) if match]
    if len(found) < len(texts):
        return None
    return tuple(
        Term(
            term["name"],
            _numbers(term["axes"]) or (() if term["order"] else None),
            bool(term["reshaped"]),
            _numbers(term["view"]),
        )
        for term in found
    )


def _numbers(text: str | None) -> tuple[int, ...] | None:
    return tuple(map(int, text.split(","))) if text else None


def is_plain(old: str, new: str) -> bool:
    """Whether a rename only renames: it rearranges no elements."""
    return re.fullmatch(NAME, old) is not None and terms(new) == (Term(new),)


def matches(rename: str, names: Collection[str]) -> bool:
    """Whether each run of parts that a rename joins occurs in one of the names.

    >>> matches("q + k", ["attention.q", "attention.k"]), matches("q + v", ["attention.q"])
    (True, False)
    """
    return all(any(has_run(name, run) for name in names) for run in rename.split(JOIN))


def has_run(name: str, run: str) -> bool:
    """Whether a dotted name has this run of parts."""
    return f".{run}." in f".{name}."
