"""Two dumps, compared: what each pair comes to, and the verdict on all. Loads no framework."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from equivalence.dumps.read import Dump
from equivalence.dumps.relation import BITS, STORAGE, WITHIN, Relation

RIGHT = "right by the original"
WRONG = "wrong by the original"
NOT_JUDGED = "not judged by the original"
"""What a pair is where the original was run, and its numbers are not the same."""

COMPILED = ("graph", "compiled")
"""Modes of a run in which Python calls no layers."""

WAYS = ("forward", "backward")
"""In the name of what a layer gives or gets: `step0/conv1/forward.0.output.0`."""


LOSSES = ("loss.", "backward.")
"""In the name of a loss, and of its gradient of what the network gives."""


class Judgements(Protocol):
    """A recorded run beside the original, see `judged`."""

    @property
    def roundings(self) -> Mapping[str, float]:
        """Name of an array -> its error in roundings."""

    @property
    def notes(self) -> list[str]:
        """Why a step is not judged, in sentences."""

    def right(self, name: str) -> bool | None:
        """Whether an array is within the budget; None where it is not judged."""


@dataclass(frozen=True)
class ArrayPair:
    """Two arrays that belong together: their names, and how they belong."""

    reference: str
    candidate: str
    relation: Relation


@dataclass(frozen=True)
class Beside:
    """Two dumps, compared.

    pairs: all pairs, in the order of the reference.
    missing: names of the reference that the candidate lacks; `extra`: the other way round.
    judged: both by the original; None where it was not run.
    """

    reference: Dump
    candidate: Dump
    pairs: tuple[ArrayPair, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    judged: tuple[Judgements, Judgements] | None = None

    def errors(self, pair: ArrayPair) -> tuple[float | None, float | None]:
        """The errors of both arrays in roundings; None where one is not judged."""
        if self.judged is None:
            return None, None
        theirs, ours = self.judged
        return theirs.roundings.get(pair.reference), ours.roundings.get(pair.candidate)

    def kind(self, pair: ArrayPair) -> str:
        """What a pair is: its relation, or what the original says of it."""
        if self.judged is None:
            return pair.relation.kind
        theirs, ours = self.judged
        both = theirs.right(pair.reference), ours.right(pair.candidate)
        if False in both:
            return WRONG
        if pair.relation.equal:
            return pair.relation.kind
        if None in both:
            return pair.relation.kind if pair.relation.kind == WITHIN else NOT_JUDGED
        return RIGHT

    @property
    def different(self) -> list[ArrayPair]:
        """The pairs that are not the same, as far as the files or the original tell."""
        return [pair for pair in self.pairs if not self._same(pair)]

    def _same(self, pair: ArrayPair) -> bool:
        """Whether a pair is the same, as far as the files or the original tell.

        A loss within rounding of storage is, beside layers that are right. Weights that an
        optimiser has moved are not: they hide their update, which is small beside them.
        """
        kind = self.kind(pair)
        if self.judged is not None and kind == WITHIN:
            return pair.reference.partition("/")[2].startswith(LOSSES)
        return kind in (BITS, STORAGE, RIGHT)

    @property
    def alone(self) -> tuple[tuple[Dump, list[str], list[str]], ...]:
        """Each dump with its names that have no partner: those that differ, and what the other
        run could not record, since it was compiled."""
        found = []
        for dump, other, names in (
            (self.reference, self.candidate, self.missing),
            (self.candidate, self.reference, self.extra),
        ):
            compiled = other.made.get("mode") in COMPILED
            unseen = [name for name in names if compiled and _is_inner(name)]
            found.append((dump, [name for name in names if name not in unseen], unseen))
        return tuple(found)

    @property
    def equal(self) -> bool:
        """Whether each array has a partner of the same numbers, or is right by the original."""
        return not (self.different or any(alone for _, alone, _ in self.alone))

    @property
    def verdict(self) -> str:
        """The verdict in capitals."""
        if self.equal:
            return "EQUAL" if self.judged else "EQUAL AS STORED"
        lacking = any(alone for _, alone, _ in self.alone)
        undecided = not lacking and {*map(self.kind, self.different)} == {WITHIN}
        return "UNDECIDED" if undecided else "DIFFERENT"


def _is_inner(name: str) -> bool:
    """Whether a name is of what goes through a layer, or of the gradient of a weight."""
    rest = name.partition("/")[2]
    return rest.startswith("gradients/") or any(f"/{way}." in rest for way in WAYS)
