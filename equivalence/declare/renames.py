"""What a rename says: names, and how the elements of weights are rearranged between them.

"q + k + v" joins along the first axis, on either side; ".T" transposes, ".transpose(2, 0, 1)"
permutes axes as NumPy does, ".reshape()" takes the candidate's shape.
"""

import re
from dataclasses import dataclass

JOIN = " + "
"""What stands between the names of joined weights."""

TRANSPOSED, RESHAPED = ".T", ".reshape()"
"""The ends of a name whose weight is transposed, or reshaped."""

NAME = r"[\w-]+(?:\.[\w-]+)*?"
_AXES = r"\.transpose\((?P<axes>\d+(?:, ?\d+)*)\)"
_TERM = re.compile(rf"(?P<name>{NAME})(?P<order>\.T|{_AXES})?(?P<reshaped>\.reshape\(\))?")


@dataclass(frozen=True)
class Term:
    """A weight of the reference as a rename writes it.

    name: its name, or a run of the name's parts.
    axes: the order of its axes; () reverses them, None leaves them.
    reshaped: whether the candidate's weight may have any shape with as many elements.
    """

    name: str
    axes: tuple[int, ...] | None = None
    reshaped: bool = False

    def order(self, rank: int) -> tuple[int, ...] | None:
        """The order of the axes of a weight of that rank; None where it has other axes."""
        axes = tuple(range(rank)) if self.axes is None else self.axes or tuple(range(rank))[::-1]
        return axes if sorted(axes) == list(range(rank)) else None


def terms(text: str) -> tuple[Term, ...] | None:
    """The weights of the reference that a rename's value names; None where it cannot be read.

    >>> terms("q + k.T")
    (Term(name='q', axes=None, reshaped=False), Term(name='k', axes=(), reshaped=False))
    """
    texts = text.split(JOIN)
    found = [match for match in map(_TERM.fullmatch, texts) if match]
    if len(found) < len(texts):
        return None
    return tuple(
        Term(
            term["name"],
            tuple(map(int, term["axes"].split(","))) if term["axes"] else () if term[2] else None,
            bool(term["reshaped"]),
        )
        for term in found
    )


def is_plain(old: str, new: str) -> bool:
    """Whether a rename only renames: it rearranges no elements."""
    return re.fullmatch(NAME, old) is not None and terms(new) == (Term(new),)


def has_run(name: str, run: str) -> bool:
    """Whether a dotted name has this run of parts."""
    return f".{run}." in f".{name}."
