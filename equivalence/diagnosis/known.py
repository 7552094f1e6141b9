"""Known findings: is a wrong network right without the faults of MindSpore that it meets?"""

import linecache
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType

from equivalence.comparison import kernels, sides
from equivalence.comparison.compare import compare_size
from equivalence.comparison.comparison import CaseAtSeed, Comparison
from equivalence.comparison.excuses import blamed_kernels
from equivalence.declare.twin import TwinCase
from equivalence.diagnosis.found import BESIDE, RIGHT, LayerError
from equivalence.judge import tensors
from equivalence.stand_ins.faulty import FAULTS, Fault, Mended
from equivalence.statements.calls import Statement, framework, package
from equivalence.statements.mindspore_calls import MindSporeCalls
from equivalence.words import listed, raised

FOREIGN = sys.stdlib_module_names | {"numpy", "scipy"}
"""Packages whose code calls no operator of MindSpore."""

UNTRIED = "whether a known fault of MindSpore explains it could not be tried: "
"""The beginning of a note on a trial that failed."""


@dataclass(frozen=True)
class FaultsMet:
    """What known faults of MindSpore have to do with a wrong case.

    culprits: the statements that meet them.
    beside: the faults that explain some of it alone, so that the port is wrong, too; else none.
    notes: on trials that failed.
    other: the faults that it meets, and that explain no tensor by themselves, with the statements
        that call the operators.
    """

    culprits: Sequence[LayerError] = ()
    beside: Sequence[Fault] = ()
    notes: Sequence[str] = ()
    other: Mapping[Fault, Sequence[Statement]] = field(default_factory=dict)


def explain(case: TwinCase, seed: int, comparison: Comparison) -> FaultsMet:
    """The statements that meet faults of MindSpore: all that is wrong, or some of it.

    comparison: that of the case, without excuses. A fault explains all if all tensors are equal
    with what is right in its place, and no setting differs. It stands beside a mistake of the port
    if some of what is wrong is right then, and nothing else is wrong. A trial that fails is a note.

    Nothing runs where no code of the candidate has a name of an operator that is known to be wrong.
    No gradient explains a result that is right without it, but that of a network which asks for
    one. A result that an inaccurate kernel makes wrong stays so, and is no objection.
    """
    if comparison.judgement.ill_posed or not kernels.replaceable(case):
        return FaultsMet()
    possible = _possible(case, comparison)
    if not possible:
        return FaultsMet()
    try:
        met, asks = _met(case, comparison, possible)
    except Exception as error:  # a run that is watched
        return FaultsMet(notes=[UNTRIED + raised(error)])
    settings = comparison.settings
    alike = not (settings and settings.differing)
    notes: list[str] = []
    mending: list[Fault] = []
    untried: list[Fault] = []
    for faults in [*([fault] for fault in met), *([[*met]] if len(met) > 1 else [])]:
        try:
            mended, right = _mended(case, seed, faults)
        except Exception as error:  # with what is right in the place of an operator
            names = listed([fault.primitive for fault in faults])
            notes.append(f"{UNTRIED}with another {names} it raised {raised(error)}")
            untried += faults
            continue
        before, after = _differing(comparison), _differing(mended)
        gradients_alone = not asks and all(fault.backward for fault in faults)
        if right and alike and not (gradients_alone and any(map(_of_first_pass, before - after))):
            return FaultsMet([_blamed(comparison, fault, met[fault], RIGHT) for fault in faults])
        # One of a graph that is called again moves with the mistake of a port.
        if len(faults) == 1 and not faults[0].compiled and after < before:
            mending += faults
    blamed = [_blamed(comparison, each, met[each], BESIDE) for each in mending]
    other = {each: calls for each, calls in met.items() if each not in (*mending, *untried)}
    return FaultsMet(blamed, mending, notes, other)


def concerns(
    fault: Fault, calls: Collection[Statement], culprit: LayerError, comparison: Comparison
) -> bool:
    """Whether the operator of a fault is called at the place of a culprit.

    calls: the statements that call it.
    """
    if culprit.statement:
        return any(culprit.statement.startswith(str(each)) for each in calls)
    candidate = comparison.candidate.built
    if candidate is None or not culprit.candidate:
        return False
    kind = type(candidate.cell_at(culprit.candidate)).__name__
    within = any(each.layer == culprit.candidate for each in calls)
    return within or kind in (fault.primitive, *fault.words)


def beside(fault: Fault, culprit: LayerError) -> LayerError:
    """A culprit that is right with what is right in the place of a fault, where others are not."""
    told = [f"{BESIDE}{fault}"]
    return replace(culprit, causes=told, counterpart="", words=[fault.told])


def _possible(case: TwinCase, comparison: Comparison) -> list[Fault]:
    """The faults of which the code of a candidate, or one of its layers, has a name."""
    candidate = comparison.candidate.built
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
    case: TwinCase, comparison: Comparison, possible: Collection[Fault]
) -> tuple[dict[Fault, list[Statement]], bool]:
    """The faults that a run meets, with the statements that call the operator of each.

    And whether the network asks for a gradient itself.
    """
    by_name = {fault.primitive: fault for fault in possible}
    candidate = sides.build_candidate(replace(case, execution="pynative"))
    watch = MindSporeCalls(candidate.cell)
    with watch:
        candidate.run(replace(comparison.feed, outputs={}))
    met: dict[Fault, list[Statement]] = {}
    for call in watch.recording.calls:
        if call.name in by_name:
            calls = met.setdefault(by_name[call.name], [])
            calls += [call.statement] if call.statement else []
    return met, any(call.name == "grad" for call in watch.recording.calls)


def _of_first_pass(name: str) -> bool:
    """Whether a tensor is made before any gradient: an output, or a loss before any update."""
    return name.startswith(tensors.output("")) or name == tensors.loss(1)


def _mended(case: TwinCase, seed: int, faults: Collection[Fault]) -> tuple[Comparison, bool]:
    """A case without these faults, and whether all of it is right, but for inaccurate kernels."""
    with Mended(faults):
        made = compare_size(case, seed, flips=False)
        return made, made.judgement.equal or bool(blamed_kernels(made, CaseAtSeed(case, seed)))


def _differing(comparison: Comparison) -> set[str]:
    """The tensors that are wrong."""
    return {verdict.name for verdict in comparison.judgement.differing}


def _blamed(
    comparison: Comparison, fault: Fault, calls: Sequence[Statement], beginning: str
) -> LayerError:
    candidate = comparison.candidate.built
    kind = type(candidate.cell if candidate else None).__name__
    told = f"{beginning}{fault}"
    at = str(calls[0]) if calls else ""
    return LayerError("", "", (kind, kind), causes=[told], statement=at, words=[fault.told])
