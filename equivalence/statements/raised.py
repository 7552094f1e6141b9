"""Finds the reference's line that belongs to the statement of a candidate that raises."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from equivalence.comparison import kept, sides
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.twin import TwinCase
from equivalence.errors import SideError, staying, words
from equivalence.sides.feed import Feed
from equivalence.statements.calls import RecordedCall, Statement
from equivalence.statements.mindspore_calls import MindSporeCalls, MindSporeGradients, Swap
from equivalence.statements.watched import Watched
from equivalence.structure import pairing
from equivalence.words import raised


def partner(case: TwinCase, seed: int, told: str) -> str:
    """What is known of the place where a candidate raises, in words.

    told: what is told of the exception already.

    The candidate runs in PyNative mode with every operator call watched. What it has of the
    reference before it raises tells how far it came. Where it raises while gradients are computed,
    each call is asked for its gradient by itself.
    """
    if case.twin.raises or case.trains or len(case.sizes) > 1:
        return ""
    try:
        with staying():
            return _Raising.of(case, seed).told(case.execution, told)
    except SideError:  # a side that cannot be built has raised the same
        return ""
    except Exception as error:  # nothing must hide what was raised
        return f"\nwhere it raises could not be watched: {raised(error)}"


class _Raising(Watched):
    """Both sides of a network; the candidate up to where it raises.

    error: what it raises when it is watched; None where it does not.
    forward: whether it raises before it returns.
    """

    error: Exception | None = None
    forward = True

    @classmethod
    def of(cls, case: TwinCase, seed: int) -> "_Raising":
        """Both sides of a case."""
        drawn, known = CaseAtSeed(case, seed), kept.reference(case, seed)
        network = sides.build_candidate(replace(case, execution="pynative"))
        partners = pairing.partners(case, known.slots, network.slots())
        feed = Feed(known.sample, partners, case.phase, known.expected.pulled_back)
        return cls(drawn.measurement(known.sample), network, feed)

    def look(self, replaced: Mapping[Swap, np.ndarray]) -> None:
        """Watch the candidate until it raises, and find its values in the reference."""
        watch = MindSporeCalls(self.network.cell, replaced)
        try:
            with watch:
                self.network.run(self.feed)
        except Exception as error:  # it is what is looked for
            self.error, self.forward = error, not watch.returned
        self.candidate, self.last = watch.recording, watch.taken
        self.found = [self.find(values)[0] for values in self.candidate.values]

    def told(self, execution: str, told: str) -> str:
        """What the run tells of what is told already, each fact in a line that begins anew."""
        if self.error is None:
            mode = "in PyNative mode" if execution == "graph" else "once more by itself"
            return f"\nrun {mode}, the candidate does not raise"
        message = words(self.error).splitlines()[0]
        # A compiled network raises the same in other words.
        if execution == "pynative" and message not in told:
            return f"\nwatched, it raises something else: {message}"
        if not self.forward:
            statement = self._refused(message.partition(" (while ")[0])
            found = f"that of {statement}" if statement else "not known by its statement"
            return f"\nthe gradient that MindSpore refuses is {found}"
        statement = self.partner()
        return f"\nthe reference goes on there with {statement}" if statement else ""

    def _refused(self, message: str) -> Statement | None:
        """The last statement of which a gradient by itself is refused with this message."""
        watch = MindSporeGradients(self.network.cell)
        with watch:
            self.network.run(replace(self.feed, outputs={}))
        found = [each for each, refusal in watch.refused if words(refusal).startswith(message)]
        return found[-1] if found else None

    def partner(self) -> Statement | None:
        """The reference's first statement that goes on from what the candidate has last."""
        calls, had = self.quantities.recording.calls, set(self._had())
        ahead = [call for call in calls if call.statement and not had.issuperset(call.outputs)]
        for values in (self.last, *(call.outputs for call in reversed(self.candidate.calls))):
            taken = [set(self.found[value]) for value in values]

            def shared(call: RecordedCall, taken: Sequence[set[int]] = taken) -> int:
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
