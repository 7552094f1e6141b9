"""Known findings: is a wrong network right without the faults of MindSpore that it meets?"""

import linecache
import os
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import replace
from types import ModuleType

from equivalence.declare.twin import TwinCase
from equivalence.diagnosis.found import RIGHT, LayerError
from equivalence.judge import tensors
from equivalence.judge.verdict import TensorVerdict
from equivalence.runs import sides
from equivalence.runs.comparison import Comparison, Drawn
from equivalence.stand_ins.faulty import FAULTS, Fault, Mended
from equivalence.statements.calls import Statement, framework, package
from equivalence.statements.mindspore_calls import MindSporeCalls
from equivalence.twins import kernels
from equivalence.twins.compare import compare_size
from equivalence.twins.excuses import blamed_kernels
from equivalence.words import listed, raised

FOREIGN = sys.stdlib_module_names | {"numpy", "scipy"}
"""Packages whose code calls no operator of MindSpore."""

UNTRIED = "whether a known fault of MindSpore explains it could not be tried: "
"""The beginning of a note on a trial that failed."""


def explain(case: TwinCase, seed: int, made: Comparison) -> tuple[list[LayerError], list[str]]:
    """The statements that meet a fault of MindSpore without which all of a case is right; notes.

    made: the comparison of the case, without excuses. Only where it can be shown that the fault
    explains all, something is said: with what is right in its place all tensors are equal. A trial
    that fails is a note.

    Nothing runs where no code of the candidate has a name of an operator that is known to be wrong.
    Where a result is wrong, no gradient explains it, but that of a network which asks for one.
    """
    if made.judgement.ill_posed or not kernels.replaceable(case):
        return [], []
    possible = _possible(case, made)
    if not possible:
        return [], []
    try:
        met = _met(case, made, possible)
    except Exception as error:  # a run that is watched
        return [], [UNTRIED + raised(error)]
    notes: list[str] = []
    each = [[fault] for fault in met]
    for faults in each if len(each) < 2 else [*each, [*met]]:
        try:
            if _right(case, seed, faults):
                return [_blamed(made, fault, met[fault]) for fault in faults], []
        except Exception as error:  # with what is right in the place of an operator
            names = listed([fault.primitive for fault in faults])
            notes.append(f"{UNTRIED}with another {names} it raised {raised(error)}")
    return [], notes


def _possible(case: TwinCase, made: Comparison) -> list[Fault]:
    """The faults of which the code of a candidate, or one of its layers, has a name."""
    candidate = made.candidate.built
    if candidate is None:
        return []
    held = candidate.cell, candidate.root
    cells = [type(cell) for each in held for _, cell in each.cells_and_names()]
    written = {cell.__name__ for cell in cells}
    for module in _modules(cells):
        file = getattr(module, "__file__", None) or ""
        lines = linecache.getlines(file)
        if not lines and not (file.endswith(".py") and os.path.exists(file)):
            return _of(case)  # code without a source may call anything
        written |= set(re.findall(r"\w+", "".join(lines)))
    return [each for each in _of(case) if written & {each.primitive, *each.words}]


def _of(case: TwinCase) -> list[Fault]:
    """The faults that a case may meet in its execution."""
    return [each for each in FAULTS if not each.compiled or case.execution != "pynative"]


def _modules(classes: Collection[type]) -> Iterator[ModuleType]:
    """The modules with the code of classes, and those that they take names from."""
    ahead = [base.__module__ for cls in classes for base in cls.__mro__]
    seen: set[str] = set()
    while ahead:
        name = ahead.pop()
        module = sys.modules.get(name)
        if name in seen or module is None or framework(name) or package(name) in FOREIGN:
            continue
        seen.add(name)
        yield module
        for key, value in vars(module).items():
            named = value.__name__ if isinstance(value, ModuleType) else None
            owner = named or getattr(value, "__module__", None)
            if isinstance(owner, str) and not key.startswith("__"):
                ahead.append(owner)


def _met(
    case: TwinCase, made: Comparison, possible: Collection[Fault]
) -> dict[Fault, Statement | None]:
    """The faults that a run meets, and the first statement that calls the operator."""
    by_name = {fault.primitive: fault for fault in possible}
    candidate = sides.build_candidate(replace(case, execution="pynative"))
    watch = MindSporeCalls(candidate.cell)
    with watch:
        candidate.run(made.reference.sample, made.partners, case.phase, {})
    asks = any(call.name == "grad" for call in watch.recording.calls)
    if not asks and any(map(_of_first_pass, made.judgement.differing)):
        by_name = {name: each for name, each in by_name.items() if not each.backward}
    met: dict[Fault, Statement | None] = {}
    for call in watch.recording.calls:
        if call.name in by_name:
            met.setdefault(by_name[call.name], call.statement)
    return met


def _of_first_pass(verdict: TensorVerdict) -> bool:
    """Whether a tensor is made before any gradient: an output, or a loss before any update."""
    return verdict.name.startswith(tensors.output("")) or verdict.name == tensors.loss(1)


def _right(case: TwinCase, seed: int, faults: Collection[Fault]) -> bool:
    """Whether all of a case is right without these faults, and with accurate kernels."""
    with Mended(faults):
        made = compare_size(case, seed, flips=False)
        return made.judgement.equal or bool(blamed_kernels(made, Drawn(case, seed)))


def _blamed(made: Comparison, fault: Fault, statement: Statement | None) -> LayerError:
    candidate = made.candidate.built
    kind = type(candidate.cell if candidate else None).__name__
    told = f"{RIGHT}{fault}"
    at = str(statement or "")
    return LayerError("", "", (kind, kind), causes=[told], statement=at, words=[fault.told])
