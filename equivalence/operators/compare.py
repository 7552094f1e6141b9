"""Checks one example of an operator; one that is wrong has no layers, but errors of a shape."""

import sys
import warnings

from equivalence.comparison.check import check as check_twin
from equivalence.comparison.compare import compare_size
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.operator import OperatorCase
from equivalence.diagnosis import pattern
from equivalence.judge.mistake import Mistake, Mistakes
from equivalence.judge.outcome import Outcome
from equivalence.kinds import ToldDiagnosis
from equivalence.words import plain


def check(case: OperatorCase, seed: int) -> Outcome:
    """Check an example as any twin; the frameworks' warnings, mostly of odd inputs, are ignored."""
    sys.audit("equivalence.check", case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check_twin(case, seed)


def tell(case: OperatorCase, seed: int, every: bool) -> ToldDiagnosis:
    """The shape of each wrong tensor's error in brief; all inputs, truths and results in full."""
    comparison, unit_roundoff = compare_size(case, seed), CaseAtSeed(case, seed).unit_roundoff
    brief = []
    for verdict in comparison.judgement.verdicts if every else comparison.judgement.differing:
        expected, got = (
            comparison.reference.expected.get(verdict.name),
            comparison.trace.get(verdict.name),
        )
        if verdict.problem or expected is None or got is None:
            continue
        if phrase := pattern.describe(got, expected.truth, expected.rounding(unit_roundoff)):
            brief.append(f"{verdict.name}: {phrase}")
    full = []
    for i, values in enumerate(comparison.reference.sample.inputs()):
        full += [f"input[{i}]", str(values)]
    for name, expected in comparison.reference.expected.items():
        full += [f"{name}, truth", str(expected.truth), f"{name}, candidate"]
        full.append(str(comparison.trace.get(name)))
    mistakes = [] if every else [Mistake(words=(plain(line),)) for line in brief]
    return ToldDiagnosis(brief, brief + full, mistakes=Mistakes(mistakes))
