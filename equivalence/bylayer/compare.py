"""Checks a network layer by layer: every part is compared by the engine, for one verdict."""

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from equivalence.bylayer import spread
from equivalence.bylayer.parts import PartCase, mismatches, parts
from equivalence.bylayer.whole import Whole
from equivalence.comparison import kept, settings
from equivalence.comparison.compare import compare_size
from equivalence.comparison.comparison import Comparison, joined
from equivalence.declare.twin import LayeredCase
from equivalence.judge.outcome import Findings, Outcome
from equivalence.judge.precision import BUDGET
from equivalence.judge.verdict import TensorVerdict
from equivalence.words import left

_wrong: dict[tuple, list[PartCase]] = {}
"""The parts that differ, of the last case that was checked; a diagnosis looks at them."""


_tell: list[Callable[[str], None]] = []


@contextlib.contextmanager
def telling(tell: Callable[[str], None]) -> Iterator[None]:
    """A context in which `tell` hears which part is compared; a large network takes hours."""
    _tell.append(tell)
    try:
        yield
    finally:
        _tell.pop()


def check(case: LayeredCase, seed: int) -> Outcome:
    """Compare all parts of both sides. Raises EquivalenceError as the check of a twin does."""
    kept.forget()
    whole = Whole(case, seed)
    uncalled = [
        TensorVerdict(f"calls of {path}", BUDGET, problem=why)
        for path, why in mismatches(whole).items()
    ]
    every = list(parts(whole))
    begun, count, numbers = time.monotonic(), len(spread.share(every)), itertools.count()

    def compare(part: PartCase) -> Comparison:
        number = next(numbers)
        for tell in _tell:
            rest = left(time.monotonic() - begun, number, count)
            tell(f"{part.own.name} ({number + 1} of {count}){rest}")
        made = compare_size(part, seed)
        kept.forget()
        gone: dict[str, Any] = dict.fromkeys(
            ("case", "reference", "candidate", "partners", "settings")
        )
        return replace(made, trace={}, raw={}, **gone)

    found = spread.spread(every, compare)
    judged = [(each.judgement, part.at_size) for part, each in zip(every, found, strict=True)]
    _wrong.clear()
    _wrong[_key(case, seed)] = [
        part for part, each in zip(every, found, strict=True) if not each.judgement.equal
    ]
    judgement = joined(judged, case.twin.degenerate)
    candidate = whole.new_candidate(case.execution)
    configured = settings.of_networks(case, whole.reference, candidate, whole.partners)
    return Outcome(
        case,
        seed,
        replace(judgement, verdicts=(*uncalled, *judgement.verdicts)),
        note=next((each.note for each in found if each.note), None),
        settings=configured,
        proposed=whole.partners.proposed,
        **Findings.joined(found),
    )


def wrong(case: LayeredCase, seed: int) -> list[PartCase]:
    """The parts of a case that differ; it is checked where it is not the last that was."""
    if _key(case, seed) not in _wrong:
        check(case, seed)
    return _wrong[_key(case, seed)]


def _key(case: LayeredCase, seed: int) -> tuple:
    return case.name, case.twin.reference, case.twin.candidate, repr(case.twin.inputs), seed
