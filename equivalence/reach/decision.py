"""A decision of a network, and the decisions of a run.

A decision has two sides: a bound that an element is above or not, a condition that holds or not. It
is reached where both were taken. It is one line of code, whatever calls it: a loop over 50 blocks
takes the same decision 50 times.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

SIZE = "other size"
"""The kind of the decision that another size of an input reaches."""

REFERENCE, CANDIDATE, SAMPLE = "reference", "candidate", "sample"
"""Whose decision it is: that of a network's code, or one of shapes and masks of the sample."""


class Key(NamedTuple):
    """What a decision is known by, in every run.

    side: whose it is.
    kind: what it decides, one of `words.KINDS`.
    file: the file of the code, below the folder that it is imported from; "" where no code of the
        network's own takes it.
    line: the line in it, from 1; 0 where there is none.
    layer: the path of the layer of PyTorch that takes it, below the code's own layer; numbers in
        it are `*`. From the root where no own code takes it.
    text: what else tells it from others of the line: a condition, or the name of an input.
    """

    side: str
    kind: str
    file: str = ""
    line: int = 0
    layer: str = ""
    text: str = ""

    @property
    def place(self) -> str:
        """Where it is: the file with the line, the layer, or the whole network."""
        return f"{self.file}:{self.line}" if self.file else self.layer or "the network"


def numberless(path: str) -> str:
    """The path of a layer with a `*` for each number.

    >>> numberless("blocks.3.body.1")
    'blocks.*.body.*'
    """
    return ".".join("*" if part.isdigit() else part for part in path.split("."))


@dataclass(frozen=True)
class Decision:
    """A decision, and what one run or several took of it.

    key: what it is known by.
    yes: how many elements, or times, took the side that its kind names: above a maximum, masked.
    no: how many took the other.
    bound: the number that parts the sides; None where none does.
    nearest: the value that is nearest to the side not taken; None where both were, or where nothing
        tells how near it was. `bound - nearest` is the way that is left.
    detail: what else is told of it, such as the lines that never ran; of SIZE the sizes.
    """

    key: Key
    yes: int = 0
    no: int = 0
    bound: float | None = None
    nearest: float | None = None
    detail: str = ""

    @property
    def reached(self) -> bool:
        """Whether both sides were taken."""
        return self.yes > 0 and self.no > 0

    def __add__(self, other: "Decision") -> "Decision":
        """What both took together.

        >>> key = Key(REFERENCE, "clamp high", "net.py", 31)
        >>> both = Decision(key, 0, 8, 6.0, 3.1) + Decision(key, 0, 8, 6.0, 5.2)
        >>> both.nearest, (both + Decision(key, 2, 6, 6.0)).reached
        (5.2, True)
        """
        whole = replace(self, yes=self.yes + other.yes, no=self.no + other.no)
        if self.key.kind == SIZE and self.detail != other.detail:
            whole = replace(whole, yes=whole.yes + 1)
        if whole.reached:
            return replace(whole, nearest=None, detail="")
        near = min((self, other), key=lambda each: each._distance)
        return replace(whole, bound=near.bound, nearest=near.nearest, detail=near.detail)

    @property
    def _distance(self) -> float:
        if self.bound is None or self.nearest is None:
            return math.inf
        distance = abs(self.nearest - self.bound)
        return math.inf if math.isnan(distance) else distance


@dataclass(frozen=True)
class Reach:
    """The decisions of a case, of one run or of several.

    decisions: all of them by their keys, in the order in which they were met.
    unknown: whose decisions are not known -> why, such as those of a candidate that is compiled.
    """

    decisions: Mapping[Key, Decision] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, decisions: Iterable[Decision], **unknown: str) -> "Reach":
        """The reach of these decisions; of one that comes twice, both count together."""
        found: dict[Key, Decision] = {}
        for each in decisions:
            found[each.key] = found[each.key] + each if each.key in found else each
        return cls(found, unknown)

    def __add__(self, other: "Reach") -> "Reach":
        """The decisions of two parts of a case, such as its sides; and what each does not know."""
        whole = Reach.of([*self.decisions.values(), *other.decisions.values()])
        return replace(whole, unknown={**self.unknown, **other.unknown})

    def gained(self, other: "Reach") -> list[Decision]:
        """The decisions that are reached with another part, and were not without it."""
        known = {key for key, each in self.decisions.items() if each.reached}
        after = (self + other).decisions
        return [each for key, each in after.items() if each.reached and key not in known]

    @property
    def reached(self) -> int:
        """How many decisions were reached."""
        return len(self.decisions) - len(self.missed)

    @property
    def missed(self) -> list[Decision]:
        """The decisions that were not reached, in the order of the code."""
        missed = [each for each in self.decisions.values() if not each.reached]
        return sorted(missed, key=lambda each: _order(each.key))

    @property
    def share(self) -> float:
        """The share of decisions that was reached; 1 where there is none."""
        return self.reached / len(self.decisions) if self.decisions else 1.0


def _order(key: Key) -> tuple[int, str, int, str]:
    sides = REFERENCE, CANDIDATE, SAMPLE
    return sides.index(key.side), key.file, key.line, key.layer


def total(parts: Iterable[Reach | None]) -> Reach | None:
    """What several cases reached together; None where none has a reach.

    A side is unknown where no case knows it.
    """
    known = [each for each in parts if each is not None]
    if not known:
        return None
    whole = Reach.of(each for part in known for each in part.decisions.values())
    of_all = set.intersection(*(set(each.unknown) for each in known))
    unknown = {side: why for side, why in known[0].unknown.items() if side in of_all}
    return replace(whole, unknown=unknown)


def encode(reach: Reach) -> dict[str, Any]:
    """A reach as JSON; `decode` reads it."""
    rows = [
        [*each.key, each.yes, each.no, _finite(each.bound), _finite(each.nearest), each.detail]
        for each in reach.decisions.values()
    ]
    return {"decisions": rows} | ({"unknown": dict(reach.unknown)} if reach.unknown else {})


def decode(told: Mapping[str, Any]) -> Reach:
    """A reach from its JSON. Raises KeyError, TypeError or ValueError where that is damaged."""
    width = len(Key._fields)
    rows = (Decision(Key(*row[:width]), *row[width:]) for row in told["decisions"])
    return Reach.of(rows, **told.get("unknown", {}))


def _finite(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None
