"""Finds the reference's line that belongs to the statement of a candidate that raises."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from equivalence.declare.twin import TwinCase
from equivalence.errors import staying
from equivalence.runs import kept, pairing, sides
from equivalence.runs.drawn import Drawn
from equivalence.statements.calls import Call, Statement
from equivalence.statements.mindspore_calls import MindSporeCalls, Swap
from equivalence.statements.watched import Watched


def partner(case: TwinCase, seed: int) -> str:
    """Where the reference goes on where the candidate raises, in words; "" if that is not known.

    The candidate runs in PyNative mode with every operator call watched. What it has of the
    reference before it raises tells how far it came.
    """
    if case.twin.raises or case.twin.steps or len(case.sizes) > 1:
        return ""
    try:
        with staying():
            statement = _Raising.of(case, seed).partner()
    except Exception:  # nothing must hide what was raised
        return ""
    return f"\nthe reference goes on there with {statement}" if statement else ""


class _Raising(Watched):
    """Both sides of a network; the candidate up to where it raises."""

    raises = False

    @classmethod
    def of(cls, case: TwinCase, seed: int) -> "_Raising":
        """Both sides of a case."""
        drawn, known = Drawn(case, seed), kept.reference(case, seed)
        network = sides.build_candidate(replace(case, execution="pynative"))
        partners = pairing.partners(case, known.slots, network.slots())
        return cls(drawn.measurement(known.sample), network, partners, {})

    def look(self, replaced: Mapping[Swap, np.ndarray]) -> None:
        """Watch the candidate until it raises, and find its values in the reference."""
        watch = MindSporeCalls(self.network.cell, replaced)
        self.raises = True
        with contextlib.suppress(Exception), watch:
            self.network.run(self.sample, self.partners, self.measurement.phase, {})
            self.raises = False
        self.candidate, self.last = watch.recording, watch.taken
        self.found = [self.find(values)[0] for values in self.candidate.values]

    def partner(self) -> Statement | None:
        """The reference's first statement that goes on from what the candidate has last."""
        if not self.raises:
            return None
        calls, had = self.quantities.recording.calls, set(self._had())
        ahead = [call for call in calls if call.statement and not had.issuperset(call.outputs)]
        for values in (self.last, *(call.outputs for call in reversed(self.candidate.calls))):
            taken = [set(self.found[value]) for value in values]

            def shared(call: Call, taken: Sequence[set[int]] = taken) -> int:
                return sum(not numbers.isdisjoint(call.inputs) for numbers in taken)

            # Of those that take as much of it the first.
            found = max(ahead, key=shared, default=None)
            if found and shared(found):
                return found.statement
        return None

    def _had(self) -> Iterator[int]:
        """The values of the reference that the candidate has in their very shape."""
        for value, numbers in enumerate(self.found):
            shape = self.candidate.values[value].shape
            for number in numbers:
                if self.quantities.recording.values[number].shape == shape:
                    yield number
