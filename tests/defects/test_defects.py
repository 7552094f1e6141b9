"""Every defect of the catalogue must be refused, and the same case without it must pass."""

import ctypes
import functools
import importlib
import re
import time
from collections import Counter
from collections.abc import Sequence

import pytest

from equivalence.comparison.check import check, compare
from equivalence.comparison.comparison import Comparison
from equivalence.comparison.kept import reference
from equivalence.comparison.sides import build_reference
from equivalence.declare.pipeline import PipelineCase
from equivalence.declare.twin import TwinCase
from equivalence.diagnosis import diagnose as diagnosis
from equivalence.diagnosis import text as explanation
from equivalence.diagnosis.statement import SEEN_LATER
from equivalence.errors import EquivalenceError
from equivalence.host.devices import places
from equivalence.judge.expected import distance
from equivalence.judge.outcome import Outcome
from equivalence.judge.settings import SettingDifference
from equivalence.judge.tensors import Trace
from equivalence.pipelines import compare as pipelines
from equivalence.pipelines import diagnose as pipeline_diagnosis
from equivalence.pipelines.compare import PipelineComparison as PipelineComparison
from equivalence.report.text import failure
from tests.defects import FAMILIES, catalogue, rivals
from tests.defects.defect import Defect
from tests.defects.matrix import Row, encode
from tests.defects.mutants import right_case, with_defect
from tests.engine.parts.plain import house_words


def _family(defect: Defect) -> str:
    return _families()[defect.name]


@functools.cache
def _families() -> dict[str, str]:
    modules = {name: importlib.import_module(f"tests.defects.{name}") for name in FAMILIES}
    return {each.name: name for name, module in modules.items() for each in module.DEFECTS}


PLACE = places()["cpu"]
REHEARSED = PLACE != "cpu"
"""Then it is measured which defects a device's arithmetic lets through, and none has to be seen."""


def _params() -> list:
    """The defects, those of one sample next to each other.

    Of each family one in ten is marked, counted without whole networks: those take long. Data
    pipelines have nothing to rehearse.
    """
    place: Counter[str] = Counter()
    groups: dict[str, list] = {}
    for defect in catalogue():
        case, marks = right_case(defect), []
        if REHEARSED and isinstance(case, PipelineCase):
            continue
        if defect.twin != "resnet":
            family = _family(defect)
            marks = [pytest.mark.representative] if place[family] % 10 == 0 else []
            place[family] += 1
        name = f"{case.sample_name}-{defect.name}-{case.execution}"
        name += f".{PLACE}" if REHEARSED else ""
        groups.setdefault(case.sample_name, []).append(
            pytest.param(defect, case, id=name, marks=marks)
        )
    return [param for group in groups.values() for param in group]


@pytest.mark.parametrize(("defect", "case"), _params())
def test_defect(defect, case, report, pytestconfig):
    seed = pytestconfig.getoption("seed")
    row = Row(defect.name, _family(defect), defect.mistake, f"{case.sample_name}-{case.execution}")
    started = time.perf_counter()
    right = _right(case, seed)
    if right is not None and (not right.judgement.equal or _settings(right)):
        pytest.fail(f"{case.name} does not pass without the defect", pytrace=False)
    complaint = _examine(row, defect, with_defect(case, defect), right, seed)
    row.seconds = time.perf_counter() - started
    _give_back()
    report(encode(row))
    if complaint and not REHEARSED:
        pytest.fail(f"{defect.name}: {complaint} ({defect.mistake})", pytrace=False)


def _run(case: TwinCase | PipelineCase, seed: int) -> Comparison | PipelineComparison | None:
    """The comparison; None where both sides are to raise, and do."""
    if isinstance(case, PipelineCase):
        return pipelines.compare(case, seed)
    return check(case, seed).judgement if case.twin.raises else compare(case, seed)


def _examine(
    row: Row, defect: Defect, case: TwinCase, right: Comparison | None, seed: int
) -> str | None:
    """Fill the row in; what is wrong with the outcome, or None."""
    try:
        wrong = _run(case, seed)
    except EquivalenceError as error:
        row.killed = type(error).__name__
        if row.killed != defect.raises:
            return f"was not compared but refused, which it does not declare: {error}"
        return None
    if wrong is None:
        return "survives: it raises what the reference does"
    if defect.raises:
        row.killed = None if wrong.judgement.equal else _kind(wrong.judgement.differing[0])
        return f"was to be refused by a {defect.raises}, and was compared"
    row.change = _change(wrong.trace, right.trace)
    truth = {name: known.truth for name, known in right.reference.expected.items()}
    pipeline = isinstance(case, PipelineCase)
    own = wrong.reference.own if pipeline else _own(case, seed)
    traces = wrong.judgement, wrong.trace, own, truth
    row.caught = rivals.refused(*traces)
    row.caught_in_outputs = rivals.refused(*traces, outputs_alone=not pipeline)
    settings = _settings(wrong)
    if wrong.judgement.equal and settings:
        row.caught[rivals.OURS] = True
        row.killed, row.tensor, row.error = "setting", settings[0].path, wrong.judgement.needed
        row.culprit, row.named = _diagnosed(defect, case, seed, wrong)
        return None
    if wrong.judgement.equal:
        row.error = wrong.judgement.needed
        return f"survives: all tensors are within {row.error:.3g} roundings of the truth"
    worst = wrong.judgement.differing[0]
    row.killed, row.tensor, row.error = _kind(worst), worst.name, worst.needed
    law = worst.name.startswith("random layer:")  # pinned, it computes the same
    row.caught[rivals.OURS] |= law
    if row.change == 0.0 and not law:
        return "is no defect: the candidate computes what it did before, bit for bit"
    if not REHEARSED:
        row.culprit, row.named = _diagnosed(defect, case, seed, wrong)
    return None


def _settings(made: Comparison | PipelineComparison) -> tuple[SettingDifference, ...]:
    """The settings that differ; a pipeline has none."""
    settings = getattr(made, "settings", None)
    return settings.differing if settings else ()


_memory: dict[tuple, object] = {}


def _once(sample: tuple, what: str, make):
    """`make()`, remembered until it is asked for with another sample."""
    if any(known != sample for known, _ in _memory):
        _memory.clear()
    if (sample, what) not in _memory:
        _memory[sample, what] = make()
    return _memory[sample, what]


def _right(case: TwinCase, seed: int) -> Comparison | None:
    return _once((case.sample_name, seed), case.execution, lambda: _run(case, seed))


def _own(case: TwinCase, seed: int) -> Trace:
    """PyTorch's own run of the sample, in the precision of the case."""

    def run() -> Trace:
        found: Trace = {}
        for one in case.sizes:
            sample = reference(one, seed).sample
            own = build_reference(one).run(sample, one.phase, one.dtype)
            found |= {one.at_size(name): values for name, values in own.items()}
        return found

    return _once((case.sample_name, seed), "own", run)


def _kind(worst) -> str:
    """What gave the defect away."""
    if worst.problem:
        return "structure"
    if worst.name.startswith(("image[", "loss[")):
        return "output"
    kind, _, rest = worst.name.partition(":")
    if kind == "gradient":
        return "gradient of an input" if rest.startswith("input[") else "gradient of a weight"
    return re.split(r"[.\[]", kind)[0]


def _change(wrong: Trace, right: Trace) -> float:
    """Largest relative distance between tensors of two candidates; infinite between kinds."""
    if wrong.keys() != right.keys():
        return float("inf")
    return max(_moved(wrong[name], right[name]) for name in right)


def _moved(wrong, right) -> float:
    if wrong.shape != right.shape or wrong.dtype != right.dtype:
        return float("inf")
    if right.dtype.kind != "f":
        return float((wrong != right).any())
    apart = distance(wrong, right)
    if apart.mismatched:
        return float("inf")
    if apart.scale:
        return apart.norm / apart.scale
    return float("inf") if apart.norm else 0.0


def _give_back() -> None:
    """Return freed memory to the host: of a diagnosed ResNet the C library keeps half a gigabyte,
    and more with every one that follows."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # glibc has it
        trim(0)


def _names(text: str, places: Sequence[str]) -> bool:
    return any(place in re.split(r"[\s,;]+", text) for place in places)


def _diagnosed(
    defect: Defect, case: TwinCase, seed: int, wrong: Comparison | PipelineComparison
) -> tuple[str, str]:
    """Whether the diagnosis names the culprit and the cause, and what it does name.

    The answer of the failure must hold no word of the house.
    """
    try:
        pipeline = isinstance(case, PipelineCase)
        told = (pipeline_diagnosis if pipeline else diagnosis).diagnose(case, seed)
        found, notes = told.culprits, getattr(told, "notes", ())
    except Exception as error:  # a wrong diagnosis, and the defect was seen all the same
        found = f"{type(error).__name__}: {error}".partition("\n")[0]
        return ("-" if defect.culprit is None else "wrong"), found
    mistakes = told.mistakes if pipeline else explanation.mistakes(told)
    outcome = Outcome(case, seed, wrong.judgement, settings=getattr(wrong, "settings", None))
    if odd := house_words(failure(outcome, "", (), mistakes)):
        return "wrong", f"its answer has words of the house: {', '.join(odd)}"
    causes = "; ".join(cause for each in found for cause in each.causes)
    named = ", ".join(each.reference or "the network" for each in found) or "nothing"
    if defect.culprit is None:
        return "-", named
    right = {each.reference for each in found} == set(defect.culprit)
    right = right and (defect.cause is None or defect.cause in causes)
    if defect.statements:
        statements = [each.statement for each in found if each.statement]
        first = f"{statements[0]} {causes}" if statements else ""
        right = right and _names(first, defect.statements)
        named = ", ".join(statements) or named
        if defect.second:
            right = right and (SEEN_LATER in notes or _names(f"{named} {causes}", defect.second))
        else:
            right = right and len(statements) == 1
    return ("right" if right else "wrong"), f"{named} ({causes})" if causes else named
