"""Known findings: is a wrong network right without the faults of MindSpore that it meets?"""

from collections.abc import Collection
from dataclasses import replace

from equivalence.declare.twin import TwinCase
from equivalence.diagnosis.found import RIGHT, LayerError
from equivalence.runs import sides
from equivalence.runs.comparison import Comparison
from equivalence.runs.drawn import Drawn
from equivalence.stand_ins.faulty import FAULTS, Fault, Mended
from equivalence.statements.calls import Statement
from equivalence.statements.mindspore_calls import MindSporeCalls
from equivalence.twins import kernels
from equivalence.twins.compare import compare_size
from equivalence.twins.excuses import blamed_kernels


def explain(case: TwinCase, seed: int, made: Comparison) -> list[LayerError]:
    """The statements that meet a fault of MindSpore without which all of a case is right.

    made: the comparison of the case, without excuses. Only where it can be shown that the fault
    explains all, something is said: with what is right in its place all tensors are equal.
    """
    if made.judgement.ill_posed or not kernels.replaceable(case):
        return []
    met = _met(case, made)
    each = [[fault] for fault in met]
    for faults in each if len(each) < 2 else [*each, [*met]]:
        if _right(case, seed, faults):
            return [_blamed(made, fault, met[fault]) for fault in faults]
    return []


def _met(case: TwinCase, made: Comparison) -> dict[Fault, Statement | None]:
    """The faults that a run meets, and the first statement that calls the operator."""
    possible = {
        fault.primitive: fault
        for fault in FAULTS
        if not fault.compiled or case.execution != "pynative"
    }
    candidate = sides.build_candidate(replace(case, execution="pynative"))
    watch = MindSporeCalls(candidate.cell)
    known = made.reference
    try:
        with watch():
            candidate.run(known.sample, made.partners, case.phase, {})
    except Exception:  # what raises here is told by the search for the culprit
        return {}
    met: dict[Fault, Statement | None] = {}
    for call in watch.recording.calls:
        if call.name in possible:
            met.setdefault(possible[call.name], call.statement)
    return met


def _right(case: TwinCase, seed: int, faults: Collection[Fault]) -> bool:
    """Whether all of a case is right without these faults, and with accurate kernels."""
    with Mended(faults)():
        try:
            made = compare_size(case, seed, flips=False)
            return made.judgement.equal or bool(blamed_kernels(made, Drawn(case, seed)))
        except Exception:  # what is right cannot stand there
            return False


def _blamed(made: Comparison, fault: Fault, statement: Statement | None) -> LayerError:
    kind = type(made.candidate.cell).__name__
    told = f"{RIGHT}{fault}"
    at = str(statement or "")
    return LayerError("", "", (kind, kind), causes=[told], statement=at, words=[fault.told])
