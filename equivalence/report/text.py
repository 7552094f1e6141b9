"""What people see of a judgement: the text of a failure, a line of results, the summary."""

import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from equivalence.judge.verdict import Judgement, TensorVerdict

if TYPE_CHECKING:
    from equivalence.twins.check import Outcome

PIPELINED = ("image", "label", "count")
"""Kinds of tensors of a data pipeline."""

RECORDED = {
    "used": "against recorded truth",
    "written": "recorded",
    "stale": "with a stale record, so that the reference was run (`make record` renews it)",
}
"""What the record of a case came to, as a summary counts it."""

BLAME = ("culprit: ", "culprits: ")
"""Begin the lines of a diagnosis that say what is to blame."""

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


def undiagnosed(outcome: "Outcome") -> str:
    """What can be said of a difference without the candidate, whose run is on record."""
    told = f"no diagnosis: the candidate ran elsewhere, with {outcome.made_with}; "
    buffers = [v for v in outcome.judgement.verdicts if v.name.startswith("buffer:")]
    wrong = [v.name.removeprefix("buffer:") for v in buffers if not v.equal]
    if wrong:
        told += f"the first buffer that differs, in the order of the network, is {wrong[0]}; "
    return f"{told}repeat it where MindSpore, torch and the device are"


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
    counts the elements of updates that rounding decides, `blind` the tensors in which zeros would
    pass; `record` tells what the case's record came to.
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
    if outcome.made_with:
        common["made_with"] = outcome.made_with
    if outcome.judgement is None:
        return [json.dumps({**common, "raises": outcome.case.twin.raises})]
    common |= {"differs": outcome.case.twin.differs, "ill_posed": outcome.judgement.ill_posed}
    common["unit"] = outcome.judgement.unit
    if outcome.flips:
        common["flips"] = [str(flip) for flip in outcome.flips]
    if outcome.undecided:
        common["undecided"] = outcome.undecided
    if outcome.judgement.blind:
        common["blind"] = len(outcome.judgement.blind)
    return [json.dumps(common | _record(verdict)) for verdict in outcome.judgement.verdicts]


def properties(outcomes: Iterable["Outcome"]) -> list[tuple[str, str]]:
    """How much was compared, and the tensor that is most off, for a report in JUnit's format."""
    verdicts = [
        (verdict, outcome.judgement.unit)
        for outcome in outcomes
        if outcome.judgement is not None
        for verdict in outcome.judgement.verdicts
    ]
    if not verdicts:
        return []
    worst, unit = max(verdicts, key=lambda pair: pair[0].needed)
    return [
        ("tensors", str(len(verdicts))),
        ("worst tensor", worst.name),
        (unit, number(worst.needed)),
        ("budget", f"{worst.budget:.3g}"),
    ]


def headline(text: str) -> str:
    """Of the text of a failure, as pytest has it, one line: its first, and what is to blame."""
    first, *rest = text.removeprefix("Failed: ").splitlines() or [""]
    blamed = [line for line in rest if line.startswith(BLAME)]
    return "; ".join([first, *blamed])


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
    blind: dict[str, int] = {}
    made_with: dict[str, str] = {}
    largest: tuple[float, str] = (0.0, "")
    for record in records:
        twins.add(record["twin"])
        cases.add(record["case"])
        if "record" in record:
            origins[record["case"]] = record["record"]
        if "made_with" in record:
            made_with[record["case"]] = record["made_with"]
        if "tensor" not in record:
            continue
        tensors += 1
        if "flips" in record:
            flips[record["case"]] = len(record["flips"])
        if "undecided" in record:
            undecided[record["case"]] = record["undecided"]
        if "blind" in record:
            blind[record["case"]] = record["blind"]
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
    if blind:
        text += f"; the compute mode is too coarse for {_count(sum(blind.values()), 'tensor')} "
        text += f"in {_count(len(blind), 'case')}, in which zeros would pass"
    for origin, told in RECORDED.items():
        if count := sum(found == origin for found in origins.values()):
            text += f"; {_count(count, 'case')} {told}"
    for version in sorted(set(made_with.values())):
        count = sum(made == version for made in made_with.values())
        text += f"; {_count(count, 'case')} run elsewhere, with {version}"
    return text


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
