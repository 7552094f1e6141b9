"""The decisions of a candidate's own code, seen in the run that is judged."""

import contextlib
from typing import Any

from equivalence.declare.twin import TwinCase
from equivalence.reach.branches import Branches, Own, packages
from equivalence.reach.decision import CANDIDATE, REFERENCE, Reach
from equivalence.reach.sources import bounds_alone
from equivalence.record import candidates
from equivalence.sides.protocols import CandidateSide

COMPILED = "graph mode compiles its code, of which no line runs"
ELSEWHERE = "its run is recorded"


class Candidate(contextlib.AbstractContextManager):
    """A context around a run of a candidate; `reach` has its decisions after it.

    Only what runs in PyNative mode can be seen.

    reference: what the reference decides; None where that is not known.
    """

    def __init__(self, case: TwinCase, candidate: CandidateSide, reference: Reach | None):
        self._reference = reference
        self._branches: Branches | None = None
        self._unknown = ""
        if candidates.active(case) or candidate.built is None:
            self._unknown = ELSEWHERE
        elif case.execution != "pynative":
            self._unknown = COMPILED
        elif not case.alone:
            self._branches = Branches(Own(packages(candidate.built.classes)), CANDIDATE)

    def __enter__(self) -> "Candidate":
        if self._branches is not None:
            self._branches.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._branches is not None:
            self._branches.__exit__(*error)

    @property
    def reach(self) -> Reach:
        """What was reached of the candidate's code, and what was not."""
        seen = self._branches
        unknown = self._unknown or (seen.unknown if seen is not None else "")
        decisions = seen.decisions if seen is not None else []
        known = self._reference
        if seen is not None and known is not None and REFERENCE not in known.unknown:
            decisions += bounds_alone(seen.entered, known)
        return Reach.of(decisions, **({CANDIDATE: unknown} if unknown else {}))
