"""`equivalence evaluate TORCH MINDSPORE --data MODULE:LOADER`: both networks over a data set."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivalence.declare.twin import cases
from equivalence.evaluation.evaluate import Evaluation, evaluate
from equivalence.evaluation.metrics import Metric
from equivalence.host.isolation import isolated
from equivalence.judge.precision import BUDGET
from equivalence.output import answer, aside, demand_writable, tell
from equivalence.own.command import Networks, fields_of, session_of
from equivalence.targets import resolve
from equivalence.timing.sides import in_each_execution
from equivalence.timing.steps import aligned
from equivalence.words import counted, listed


def command(
    data: str,
    batches: int | None,
    output: str | None,
    metric: Sequence[str],
    json_file: Path | None,
    **networks: Any,
) -> int:
    """Evaluate both networks and print what became of it; 1 where they differ.

    networks: the fields of `Networks`.
    """
    demand_writable(json_file, "--json")
    told = Networks(**networks)
    session = session_of(told, fields_of(told, ()))
    functions = {each.rpartition(":")[2]: resolve(each) for each in metric}
    found: dict[str, Evaluation] = {}
    with aside():
        session.demand_pairs()
        for alike in in_each_execution(cases(session.twin, told.device)):
            with isolated():
                read = (resolve(data), told.seed, batches, output, functions, tell)
                found |= zip((case.name for case in alike), evaluate(alike, *read), strict=True)
    text = [line for name, evaluation in found.items() for line in lines(name, evaluation)]
    equal = all(each.equal for each in found.values())
    return answer(text, equal, json_file, [*map(document, found, found.values())])


def lines(name: str, evaluation: Evaluation) -> list[str]:
    """What became of one case: the verdict, then a line for each metric."""
    size = f"{counted(evaluation.samples, 'sample')} in {counted(evaluation.batches, 'batch')}"
    error, place = evaluation.worst
    told = [f"{'EQUAL' if evaluation.equal else 'DIFFERENT'}. {name}: {size}"]
    if evaluation.differing:
        places = listed(evaluation.differing)
        told.append(
            f"outputs differ by more than rounding in batch {places}; the largest error, "
            f"{error:.3g} roundings, is in batch {place}"
        )
    else:
        told.append(
            f"outputs are off by at most {error:.3g} of the {BUDGET:g} roundings that rounding may "
            "cause"
        )
    if not evaluation.metrics:
        told.append("no metric: the output is no logits, or has another shape on both sides")
        return told
    titles = ["metric", "float64", "PyTorch", "MindSpore", "verdict"]
    body = [
        [each.name, *map(_number, (each.truth, each.reference, each.candidate)), _verdict(each)]
        for each in evaluation.metrics
    ]
    return [*told, *aligned(titles, body)]


def _number(value: float) -> str:
    return f"{value:.6g}"


def _verdict(metric: Metric) -> str:
    """What is said of one metric."""
    if metric.span is not None:
        low, high = map(_number, metric.span)
        return f"{'equal' if metric.equal else 'differs'}: rounding leaves {low} to {high}"
    if metric.error is not None:
        return f"{'equal' if metric.equal else 'differs'}: {metric.error:.3g} roundings"
    said = "equal" if metric.equal else f"wrong in samples {listed(metric.wrong)}"
    if metric.undecided:
        said += f"; rounding decides samples {listed(metric.undecided)}"
    return said


def document(name: str, evaluation: Evaluation) -> dict[str, Any]:
    """All of it, as JSON."""
    error, place = evaluation.worst
    return {
        "case": name,
        "equal": evaluation.equal,
        "batches": evaluation.batches,
        "samples": evaluation.samples,
        "worst": error if math.isfinite(error) else None,
        "worst_batch": place,
        "differing_batches": evaluation.differing,
        "metrics": [{**vars(each), "equal": each.equal} for each in evaluation.metrics],
    }
