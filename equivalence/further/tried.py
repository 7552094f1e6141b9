"""What came of all further samples, in words. Loads no framework."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from equivalence.reach.decision import Decision, Reach, total
from equivalence.words import counted, listed

SHARE, LEAST = 1.0, 5.0
"""The time for further samples: a share of what the comparison took; seconds at least.

Seconds of the processor, so that other processes of the host do not decide what is found."""


def time_for(took: float) -> float:
    """The seconds for further samples after a comparison that took so many."""
    return max(LEAST, SHARE * took)


@dataclass(frozen=True)
class Further:
    """What came of the further samples of a comparison.

    tried: how many were compared, those that are no evidence left out.
    reach: the decisions that they took; None where none was compared.
    dropped: why a sample is no evidence -> how many are not.
    ended: whether the time for them ran out.
    fixed: the sizes that the port takes alone, a sentence each.
    beyond: a limit that the twin declares -> how many samples beyond it differ.
    """

    tried: int = 0
    reach: Reach | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    ended: bool = False
    fixed: tuple[str, ...] = ()
    beyond: Mapping[str, int] = field(default_factory=dict)

    def gained(self, before: Reach | None) -> list[Decision]:
        """The decisions that they reached, and that the given inputs did not."""
        if before is None or self.reach is None:
            return []
        return before.gained(self.reach)

    def lines(self, before: Reach | None, more: str) -> list[str]:
        """What is told of them, a sentence each.

        before: what the given inputs reached.
        more: how to try all of them.
        """
        lines = [*self.fixed]
        if self.tried:
            gained = counted(len(self.gained(before)), "more decision")
            were = "was" if self.tried == 1 else "were"
            told = f"{counted(self.tried, 'further sample')} {were} tried"
            lines.append(f"{told}, which reached {gained}.")
        if self.dropped:
            some = sum(self.dropped.values())
            why = [f"{reason} ({count})" for reason, count in self.dropped.items()]
            are = "is" if some == 1 else "are"
            lines.append(f"{counted(some, 'further sample')} {are} no evidence: {listed(why)}.")
        if self.beyond:
            each = [f"{name} ({count})" for name, count in self.beyond.items()]
            lines.append(f"Further samples differ of which nothing is claimed: {listed(each)}.")
        if self.ended:
            lines.append(f"The time for further samples ran out; {more} tries all.")
        return lines


def added(before: Reach | None, further: Further | None) -> Reach | None:
    """What the given inputs and the further samples reached together."""
    if before is None:
        return None
    return total([before, further.reach if further is not None else None])
