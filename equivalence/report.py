"""What people see of a judgement: the text of a failure, a line of results, the summary."""

import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from equivalence.judge import Judgement, TensorVerdict

if TYPE_CHECKING:
    from equivalence.check import Outcome

PIPELINED = ("image", "label", "count")
"""Kinds of tensors of a data pipeline."""

RECORDED = {
    "used": "against recorded truth",
    "written": "recorded",
    "stale": "with a stale record, so that the reference was run (`make record` renews it)",
}
"""What the record of a case came to, as a summary counts it."""

SHOWN = 3
"""Worst tensors in the text of a failure; all of them are in the results file."""


def failure(outcome: "Outcome", repeat: str, diagnosis: Iterable[str] = ()) -> str:
    """Some 25 lines a person can act on.

    repeat: the command that runs just this case; diagnosis: lines that name the culprit.
    """
    case, judgement = outcome.case, outcome.judgement
    budget = judgement.verdicts[0].budget
    total = len(judgement.verdicts)
    if case.twin.differs and not judgement.differing and not judgement.ill_posed:
        return (
            f"{case.name}: declared to differ ({case.twin.differs}), but all {total} tensors are "
            f"within {budget:.3g} {judgement.unit} (largest {number(judgement.needed)}).\n"
            f"If the difference is gone, remove `differs` from the twin.\nrepeat: {repeat}"
        )
    lines = [
        f"{case.name}: {len(judgement.differing)} of {total} tensors differ by more than "
        f"{judgement.excuse} ({_kinds(judgement)})"
    ]
    if judgement.ill_posed:
        lines.append(f"ill-posed: {judgement.ill_posed}")
    lines += _table(judgement.differing[:SHOWN])
    if len(judgement.differing) > SHOWN:
        lines.append(f"  ... and {len(judgement.differing) - SHOWN} more")
    if not judgement.ill_posed:
        allowed, needed = f"{budget:.3g} {judgement.unit}", number(judgement.needed)
        lines.append(f"budget {allowed}; smallest that would have passed: {needed}")
    if outcome.undecided:
        lines.append(f"rounding decides {_count(outcome.undecided, 'element')} of the updates")
    if outcome.note:
        lines.append(outcome.note)
    return "\n".join([*lines, *diagnosis, f"repeat: {repeat}"])


def _table(verdicts: list[TensorVerdict]) -> list[str]:
    """The verdicts in columns; below each, its worst element or what is wrong with it."""
    if not verdicts:
        return []
    width = max(len(name) for name in ("in roundings", *(v.name for v in verdicts)))
    titles = "  ".join(f"{title:>12}" for title in ("error", "worst", "reference", "conditioning"))
    lines = []
    if not all(verdict.problem for verdict in verdicts):
        lines.append(f"  {'in roundings':{width}}  {titles}      relative")
    for verdict in verdicts:
        if verdict.problem:
            lines.append(f"  {verdict.name:{width}}  {verdict.problem}")
            continue
        figures = (verdict.error, verdict.worst, verdict.own_error, verdict.conditioning)
        columns = "  ".join(f"{number(figure):>12}" for figure in figures)
        lines.append(f"  {verdict.name:{width}}  {columns}  {verdict.relative:12.1e}")
        where = f"at {verdict.index}: candidate {verdict.got:.9g}, truth {verdict.want:.9g}"
        lines.append(f"  {'':{width}}  {'(sketch)' if verdict.sketched else where}")
    return lines


def _kinds(judgement: Judgement) -> str:
    """How many of the outputs, gradients and buffers differ: which kinds tells a lot."""
    counts = []
    for kind in ("output", "loss", "gradient", "update", "parameter", "buffer", *PIPELINED):
        verdicts = [v for v in judgement.verdicts if v.name.startswith(kind)]
        if verdicts:
            kinds = "losses" if kind == "loss" else f"{kind}s"
            counts.append(f"{kinds} {sum(not v.equal for v in verdicts)}/{len(verdicts)}")
    return ", ".join(counts)


def number(value: float) -> str:
    """A figure in roundings; "-" where it was not measured."""
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if 0.01 <= value < 1000 else f"{value:.2g}"


def lines(outcome: "Outcome") -> list[str]:
    """One JSON object per comparison; a figure that is not finite is null.

    Each line of a case that is equal after branch flips has their list as `flips`; `undecided`
    counts the elements of updates that rounding decides; `record` tells what the case's record
    came to.
    """
    common = {
        "case": outcome.case.name,
        "twin": outcome.case.twin.name,
        "device": outcome.case.device,
        "seed": outcome.seed,
        **getattr(outcome.case, "labels", {}),
    }
    if outcome.record:
        common["record"] = outcome.record
    if outcome.judgement is None:
        return [json.dumps({**common, "raises": outcome.case.twin.raises})]
    common |= {"differs": outcome.case.twin.differs, "ill_posed": outcome.judgement.ill_posed}
    common["unit"] = outcome.judgement.unit
    if outcome.flips:
        common["flips"] = [str(flip) for flip in outcome.flips]
    if outcome.undecided:
        common["undecided"] = outcome.undecided
    return [json.dumps(common | _record(verdict)) for verdict in outcome.judgement.verdicts]


def _record(verdict: TensorVerdict) -> dict[str, Any]:
    fields = {
        "tensor": verdict.name,
        "equal": verdict.equal,
        "error": verdict.error,
        "worst": verdict.worst,
        "budget": verdict.budget,
        "conditioning": verdict.conditioning,
        "reference_error": verdict.own_error,
        "relative": verdict.relative,
        "index": list(verdict.index),
        "candidate": verdict.got,
        "truth": verdict.want,
        "problem": verdict.problem,
    } | ({"sketched": True} if verdict.sketched else {})
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in fields.items()
    }


def summary(records: Iterable[dict[str, Any]]) -> str:
    """How much was compared, the largest error of twins that are to be equal, and exceptions."""
    twins, cases, differing, tensors = set(), set(), set(), 0
    flips: dict[str, int] = {}
    origins: dict[str, str] = {}
    undecided: dict[str, int] = {}
    largest: tuple[float, str] = (0.0, "")
    for record in records:
        twins.add(record["twin"])
        cases.add(record["case"])
        if "record" in record:
            origins[record["case"]] = record["record"]
        if "tensor" not in record:
            continue
        tensors += 1
        if "flips" in record:
            flips[record["case"]] = len(record["flips"])
        if "undecided" in record:
            undecided[record["case"]] = record["undecided"]
        if record["differs"]:
            differing.add(record["case"])
        elif record["problem"] is None and record["unit"] == "roundings":
            needed = max(
                math.inf if record[norm] is None else record[norm] for norm in ("error", "worst")
            )
            largest = max(largest, (needed, f"{record['tensor']} of {record['case']}"))
    known = f" ({len(differing)} known differences)" if differing else ""
    text = f"compared {tensors} tensors in {len(cases)} cases{known} of {len(twins)} twins"
    if largest[1]:
        text += f"; largest error {number(largest[0])} roundings: {largest[1]}"
    if flips:
        text += f"; {_count(len(flips), 'case')} equal after "
        text += _count(sum(flips.values()), "branch flip")
    if undecided:
        text += f"; rounding decides {_count(sum(undecided.values()), 'element')} of the updates "
        text += f"in {_count(len(undecided), 'case')}"
    for origin, told in RECORDED.items():
        if count := sum(found == origin for found in origins.values()):
            text += f"; {_count(count, 'case')} {told}"
    return text


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
