"""What a training consists of, filled in on both sides and compared row by row."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from equivalence.declare.declaration import Demand
from equivalence.errors import EquivalenceError
from equivalence.targets import build
from equivalence.words import nearest

ROWS = {
    "data": "how pictures are augmented, and in which order they come",
    "learning rate": "the rate of the first step, of the peak, of the last; how it moves",
    "optimiser": "its kind, its momentum, its decay of each kind of weight",
    "initial weights": "what is not left at a default",
    "training": "sizes, batches, steps",
    "network": "backbone, neck, head, and what is special in them",
    "tricks": "what else a step does: averages, mixed precision, stages of a run",
}
"""Row -> what belongs into it. A row without anything to tell says so: {"any": False}."""

SIDES = ("reference", "candidate")

CLOSE = 1e-6
"""Numbers may differ by this share: MindSpore keeps those of an optimiser in float32."""


@dataclass(frozen=True)
class Checklist:
    """The checklist of a migration.

    Each side fills in all `ROWS` from what it builds, so that the list cannot say what is not so:
    a function that returns row -> item -> value, the values numbers, texts, booleans or tuples.

    name: an identifier.
    reference: the function of the PyTorch side, "module:attribute".
    candidate: the function of the MindSpore side.
    config: keyword arguments of both.
    """

    name: str
    reference: str
    candidate: str
    config: Mapping[str, Any]

    def __post_init__(self) -> None:
        demand = Demand("checklist", self, self.name)
        demand(self.name.isidentifier(), "name is no identifier")
        demand.mapping("config", self.config)

    def complaints(self) -> Iterator[str]:
        """What is not filled in, or not alike, a sentence each; nothing where all is.

        Raises EquivalenceError where a side is no mapping of mappings.
        """
        reference, candidate = (self._filled(side) for side in SIDES)
        for row in ROWS:
            ours, theirs = candidate.get(row, {}), reference.get(row, {})
            for side, items in zip(SIDES, (theirs, ours), strict=True):
                if not items:
                    yield f"the {side} does not fill in the row {row!r}: {ROWS[row]}"
            if ours and theirs:
                yield from _unlike(row, theirs, ours)

    def _filled(self, side: str) -> Mapping[str, Mapping[str, Any]]:
        target = getattr(self, side)
        filled = build(target, self.config)
        if not isinstance(filled, Mapping) or not all(
            isinstance(items, Mapping) for items in filled.values()
        ):
            raise EquivalenceError(f"{target} returns no row -> item -> value; return a dict")
        if odd := sorted(set(filled) - set(ROWS)):
            near = nearest(odd[0], ROWS)
            raise EquivalenceError(f"{target} fills in {odd[0]!r}, which is no row{near}")
        return filled


def _unlike(row: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[str]:
    """What is said of the items of one row that are not alike."""
    for item in dict.fromkeys((*theirs, *ours)):
        for side, items in zip(SIDES, (theirs, ours), strict=True):
            if items.get(item) is None:
                yield f"{row}: the {side} does not fill in {item!r}"
        one, two = theirs.get(item), ours.get(item)
        if one is not None and two is not None and not _alike(one, two):
            yield f"{row}: {item} is {one!r} (reference), {two!r} (candidate)"


def _alike(one: Any, two: Any) -> bool:
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, int | float) and isinstance(two, int | float):
        return math.isclose(one, two, rel_tol=CLOSE)
    if isinstance(one, tuple | list) and isinstance(two, tuple | list):
        return len(one) == len(two) and all(map(_alike, one, two))
    return one == two
