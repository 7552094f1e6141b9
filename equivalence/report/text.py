"""What people read of an outcome: the text of a failure, a line of results, the summary."""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from equivalence.declare.pipeline import PipelineCase
from equivalence.judge import attributes
from equivalence.judge.excuses import EXCUSES, LIMIT
from equivalence.judge.mistake import Mistakes
from equivalence.judge.outcome import Outcome
from equivalence.judge.precision import BUDGET
from equivalence.judge.settings import Settings, alone_told, unread_told
from equivalence.judge.verdict import Judgement, TensorVerdict
from equivalence.reach import decision
from equivalence.report import reach as unreached
from equivalence.report.answer import DETAILS, FORWARD_ONLY, NAMES, NOTHING, AnsweredCase, answer
from equivalence.report.failures import is_red
from equivalence.report.lines import but_for_kernels, drawn, limited, limits_told, stood_in
from equivalence.words import all_of, counted, listed, number, several

RECORDED = {
    "used": "against recorded truth",
    "written": "recorded",
    "stale": "with a stale record, so that the reference was run (`make record` renews it)",
}
"""Words of the summary for each value of `Reference.record`."""

SHOWN = 3
"""Tensors in the text of a failure, the worst first. The results file has all of them."""


def failure(
    outcome: Outcome,
    repeat: str,
    diagnosis: Iterable[str] = (),
    mistakes: Mistakes = NOTHING,
    more: str = "",
) -> str:
    """The text of a failed case: the answer, then `details:` with tables, about 30 lines.

    repeat: the command that runs only this case.
    diagnosis: lines that name the culprit and show its neighbours.
    mistakes: what there is to mend, for the answer.
    more: what shows more.
    """
    told = answer([AnsweredCase(outcome, mistakes)]).lines(repeat, more)
    return "\n".join([*told, DETAILS, *details(outcome, diagnosis)])


def details(outcome: Outcome, diagnosis: Iterable[str] = ()) -> list[str]:
    """What stands below the answer for a failed case: every figure, in roundings."""
    if outcome.error:
        return outcome.error.splitlines()
    case, judgement, wrong = outcome.case, outcome.judged, outcome.unexpected
    budget = judgement.verdicts[0].budget
    total = len(judgement.verdicts)
    if case.twin.differs and not judgement.differing and not judgement.ill_posed:
        return [
            f"{case.name}: declared to differ ({case.twin.differs}), but {all_of(total, 'tensor')} "
            f"within {number(budget)} {judgement.unit} (largest {number(judgement.needed)})."
        ]
    if judgement.equal and outcome.settings and outcome.settings.wrong:
        return _hidden(outcome, outcome.settings)
    if judgement.equal:
        return unreached.demanded(outcome)
    lines = [
        f"{case.name}: {len(wrong)} of {total} tensors differ by more than "
        f"{judgement.excuse} ({_kinds(judgement, wrong)})"
    ]
    if case.twin.differs:
        lines += _undeclared(outcome)
    if judgement.ill_posed:
        lines.append(f"ill-posed: {judgement.ill_posed}")
    lines += _table(wrong[:SHOWN])
    if len(wrong) > SHOWN:
        lines.append(f"  ... and {len(wrong) - SHOWN} more")
    if not judgement.ill_posed:
        allowed, needed = f"{number(budget)} {judgement.unit}", number(judgement.needed)
        lines.append(f"budget {allowed}; smallest that would have passed: {needed}")
    if judgement.forward_only:
        lines.append(FORWARD_ONLY)
    lines += [judgement.by_order] * bool(judgement.by_order)
    lines += nonfinite(judgement)
    lines += attributes.told(outcome.apart)
    if outcome.undecided:
        lines.append(f"rounding decides {counted(outcome.undecided, 'element')} of the updates")
    if outcome.excuses:
        lines.append(f"excused so far: {', '.join(outcome.excuses)}")
    if outcome.note:
        lines.append(outcome.note)
    lines += outcome.states
    if outcome.settings:
        lines += [*unread_told(outcome.settings.unread), *alone_told(outcome.settings)]
    return [*lines, *outcome.proposed, *diagnosis]


def nonfinite(judgement: Judgement) -> list[str]:
    """What is said of elements that are NaN or infinite, the same on both sides; at most a line."""
    odd = {v.name: v.nonfinite for v in judgement.verdicts if v.nonfinite}
    if not odd:
        return []
    told = listed([f"{count} of {name}" for name, count in odd.items()], SHOWN)
    return [f"NaN or infinite on both sides, in the same places: {told}"]


def _hidden(outcome: Outcome, settings: Settings) -> list[str]:
    """The details of a case in which nothing but settings is wrong."""
    judgement = outcome.judged
    count, lines = len(settings.differing), _settings(settings)
    differ = f"{counted(count, 'setting')} differ{'s' if count == 1 else ''}, which this sample"
    return [
        f"{outcome.case.name}: {all_of(len(judgement.verdicts), 'tensor')} within "
        f"{number(judgement.verdicts[0].budget)} {judgement.unit}, but "
        + (f"{differ} does not show" if count else lines.pop()),
        *lines,
        f"if that is meant, declare it: settings={{{settings.name_to_declare!r}: 'why'}}",
    ]


def _settings(settings: Settings) -> list[str]:
    """A line for each setting that differs and is not declared, at most SHOWN; then the unread."""
    found = settings.differing
    lines = [f"culprit: {each.layer or 'the network'} ({each.kind}): {each}" for each in found]
    more = [f"... and {counted(len(lines) - SHOWN, 'more setting')}"] if lines[SHOWN:] else []
    return [*lines[:SHOWN], *more, *unread_told(settings.unread)]


def _undeclared(outcome: Outcome) -> list[str]:
    """What is not as a difference is declared: tensors that differ more, and further tensors."""
    differs, judgement = outcome.case.twin.differs, outcome.judged
    bounds = {verdict.name: differs.bound(verdict.name) for verdict in outcome.unexpected}
    lines = [f"declared to differ: {differs}"]
    for verdict in outcome.unexpected:
        bound = bounds[verdict.name]
        if isinstance(bound, str):
            lines.append(f"  {verdict.name}: declared to say {bound!r}")
        elif bound is not None:
            size = number(judgement.size(verdict))
            lines.append(f"  {verdict.name}: larger than declared: {size}, at most {number(bound)}")
    others = [name for name, bound in bounds.items() if bound is None]
    return lines[: SHOWN + 1] + ([f"  not declared: {listed(others, SHOWN)}"] if others else [])


def undiagnosed(outcome: Outcome) -> str:
    """The line instead of a diagnosis for a recorded run, whose candidate is not on this host."""
    told = f"no diagnosis: the candidate ran elsewhere, with {outcome.made_with}; "
    buffers = [v for v in outcome.judged.verdicts if v.name.startswith("buffer:")]
    wrong = [v.name.removeprefix("buffer:") for v in buffers if not v.equal]
    if wrong:
        told += f"the first buffer that differs, in the order of the network, is {wrong[0]}; "
    return f"{told}repeat it where MindSpore, torch and the device are"


def _table(verdicts: list[TensorVerdict]) -> list[str]:
    """The verdicts in columns; below each, its worst element or its problem."""
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
        lines.append(f"  {verdict.name:{width}}  {columns}  {number(verdict.relative):>12}")
        where = f"at {verdict.index}: candidate {verdict.got:.9g}, truth {verdict.want:.9g}"
        if verdict.faint:
            where = f"of its elements below peak/256, {where}"
        lines.append(f"  {'':{width}}  {'(sketch)' if verdict.sketched else where}")
        if verdict.undefined:
            unknown = f"rounding makes {counted(verdict.undefined, 'element')} NaN or infinite"
            lines.append(f"  {'':{width}}  {unknown} in the reference")
    return lines


def _kinds(judgement: Judgement, wrong: list[TensorVerdict]) -> str:
    """How many tensors of each kind are among the wrong ones: outputs, gradients, buffers, ..."""
    counts = []
    for kind, name in NAMES.items():
        verdicts = [v for v in judgement.verdicts if v.name.startswith(kind)]
        if verdicts:
            counts.append(f"{several(name)} {sum(v in wrong for v in verdicts)}/{len(verdicts)}")
    return ", ".join(counts)


def lines(outcome: Outcome) -> list[str]:
    """One JSON object for each tensor; a figure that is not finite is null.

    Some fields are on every line of a case, if they apply to it:
    flips: the branch flips after which the case is equal.
    kernels: the inaccurate kernels but for which it is equal, with their own errors. moved: how far
    off it is with these, in roundings.
    undecided: the number of elements of updates whose value rounding decides.
    undecidable: the number of tensors that rounding alone decides, so that zeros would pass.
    structure: true where the outputs are of zeros or have no element.
    forward_only: true where no gradient is compared, since the reference gives none.
    nonfinite: how many elements of a tensor are NaN or infinite, the same on both sides.
    excuses: the names of the excuses that decided the verdict. limit_of: of a limit of no call,
    whether a pipeline or a twin declares it.
    settings: how many were compared, in how many layers, which differ and which were unread.
    record: "used", "stale" or "written".
    reach: on the first line of a case, the decisions that it took, see `reach/decision.py`.
    further: how many further samples were compared, too. beyond: how many differ beyond limits that
    the twin declares.
    states: what one side alone writes when it runs, a sentence for each side.
    draws: how many draws gave both sides the same random numbers, and why what draws was pinned.
    apart: the attributes that a run writes and that are not compared, and why.
    islands: which operators the port computes in fewer bits than the original.
    untried: what was not compared besides, such as a kind of pictures, and why.
    differs: the cause of a known difference. The line of a tensor that it names has `declared`,
    the bound; `unexpected` is on the lines of tensors that are not as declared.

    None for a case that could not be compared.
    """
    if outcome.error:
        return []
    common = _common(outcome)
    if outcome.record:
        common["record"] = outcome.record
    if outcome.made_with:
        common["made_with"] = outcome.made_with
    if outcome.judgement is None:
        raises = outcome.case.twin.raises
        return [json.dumps({**common, "raises": raises and raises.error})]
    differs = outcome.case.twin.differs
    common |= {"differs": differs and str(differs), "ill_posed": outcome.judgement.ill_posed}
    common["unit"] = outcome.judgement.unit
    if outcome.flips:
        common["flips"] = [str(flip) for flip in outcome.flips]
    if outcome.stand_ins:
        common["stand_ins"] = list(outcome.stand_ins)
    if outcome.kernels:
        common["kernels"] = {kernel.name: kernel.error for kernel in outcome.kernels}
        common |= _finite({"moved": outcome.moved})
    if outcome.undecided:
        common["undecided"] = outcome.undecided
    if outcome.judgement.undecidable:
        common["undecidable"] = len(outcome.judgement.undecidable)
    if outcome.settings:
        common["settings"] = _compared(outcome.settings)
    if outcome.further:
        common["further"] = outcome.further
    if outcome.beyond:
        common["beyond"] = outcome.beyond
    if outcome.judgement.hollow:
        common["structure"] = True
    if outcome.judgement.forward_only:
        common["forward_only"] = True
    if outcome.excuses:
        common["excuses"] = list(outcome.excuses)
    if LIMIT.name in outcome.excuses and "torch" not in common:
        common["limit_of"] = "pipeline" if isinstance(outcome.case, PipelineCase) else "twin"
    if outcome.states:
        common["states"] = list(outcome.states)
    if outcome.apart:
        common["apart"] = dict(outcome.apart)
    if outcome.islands:
        common["islands"] = list(outcome.islands)
    if outcome.untried:
        common["untried"] = dict(outcome.untried)
    if outcome.draws:
        common["draws"] = asdict(outcome.draws)
    first = {"reach": decision.encode(outcome.reach)} if outcome.reach is not None else {}
    return [
        json.dumps(
            common
            | _figures(verdict)
            | (_declared(outcome, verdict) if differs else {})
            | ({} if at else first)
        )
        for at, verdict in enumerate(outcome.judgement.verdicts)
    ]


def _declared(outcome: Outcome, verdict: TensorVerdict) -> dict[str, Any]:
    """The fields of a tensor in a case that is declared to differ."""
    bound = outcome.case.twin.differs.bound(verdict.name)
    fields = {} if bound is None else {"declared": bound}
    return fields | ({"unexpected": True} if verdict in outcome.unexpected else {})


def _compared(settings: Settings) -> dict[str, Any]:
    """The comparison of settings as a field of the results."""
    fields: dict[str, Any] = {"layers": settings.layers, "compared": settings.compared}
    for name in ("differing", "declared"):
        if found := getattr(settings, name):
            fields[name] = [f"{each.path}: {each}" for each in found]
    if settings.unread:
        fields["unread"] = [*map(str, settings.unread)]
    return fields


def comparisons(results: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The lines of results that compare something: no failure."""
    return [result for result in results if "failure" not in result]


def _common(outcome: Outcome) -> dict[str, Any]:
    """The fields that every line of a case has."""
    return {
        "case": outcome.case.name,
        "twin": outcome.case.twin.name,
        "device": outcome.case.device,
        "seed": outcome.seed,
        **outcome.case.labels,
    }


def properties(outcomes: Iterable[Outcome]) -> list[tuple[str, str]]:
    """The number of tensors, and the tensor with the largest error, for JUnit's format."""
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
        ("budget", number(worst.budget)),
    ]


def _figures(verdict: TensorVerdict) -> dict[str, Any]:
    fields = {
        "tensor": verdict.name,
        "equal": verdict.equal,
        "error": verdict.error,
        "worst": verdict.worst,
        "budget": verdict.budget,
        "conditioning": verdict.conditioning,
        "reference_error": verdict.own_error,
        "relative": verdict.relative,
        "absolute": verdict.absolute,
        "index": list(verdict.index),
        "candidate": verdict.got,
        "truth": verdict.want,
        "problem": verdict.problem,
    }
    fields |= {key: True for key in ("sketched", "faint") if getattr(verdict, key)}
    fields |= {key: each for key in ("other_width", "nonfinite") if (each := getattr(verdict, key))}
    return _finite(fields)


def _finite(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with None for figures that JSON cannot tell."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in fields.items()
    }


def summary(results: Iterable[dict[str, Any]], hint: str = "") -> str:
    """The summary of a run: a short verdict, and below it a table of all exceptions.

    results: the lines of results. Tensors that are declared to differ have no part in the largest
    error.
    hint: how to see the decisions that were not reached.
    """
    lines = list(results)
    every, rows = counts(lines, hint)
    red = {line["case"] for line in lines if is_red(line)}
    cases = {line["case"] for line in lines}
    if red:
        verdict = f"DIFFERENT in {len(red)} of {_cases(cases)}. {every}"
    elif any("tensor" in line for line in lines):
        verdict = f"EQUAL. {every}"
    else:
        verdict = f"No tensor was compared: {every}"
    return "\n".join([verdict, *table(rows)])


def table(rows: Sequence[tuple[str, str]]) -> list[str]:
    """The exceptions of a summary as lines."""
    width = max((len(what) for what, _ in rows), default=0)
    return [f"  {what:{width}}  {told}" for what, told in rows]


def counts(results: Iterable[dict[str, Any]], hint: str = "") -> tuple[str, list[tuple[str, str]]]:
    """How much was compared with the largest error, in words; then what and how of exceptions.

    results, hint: as for `summary`.
    """
    twins, cases, differing, tensors, declared = set(), set(), set(), 0, 0
    hollow: set[str] = set()
    forward_only: set[str] = set()
    states: set[str] = set()
    flips: dict[str, int] = {}
    origins: dict[str, str] = {}
    undecided: dict[str, int] = {}
    undecidable: dict[str, int] = {}
    widths: Counter[str] = Counter()
    nonfinite: list[int] = []
    made_with: dict[str, str] = {}
    excused: dict[str, set[Any]] = {}
    settings: dict[str, dict[str, Any]] = {}
    further: dict[str, int] = {}
    beyond: dict[str, int] = {}
    largest: tuple[float, str] = (0.0, "")
    lines = comparisons(results)
    for result in lines:
        for name in result.get("excuses", ()):
            what = limited(result) if name == LIMIT.name else result["case"]
            excused.setdefault(name, set()).add(what)
        twins.add(result["twin"])
        cases.add(result["case"])
        if "other_width" in result:
            widths[result["other_width"]] += 1
        if "nonfinite" in result:
            nonfinite.append(result["nonfinite"])
        if "record" in result:
            origins[result["case"]] = result["record"]
        if "made_with" in result:
            made_with[result["case"]] = result["made_with"]
        if "tensor" not in result:
            continue
        tensors += 1
        if "structure" in result:
            hollow.add(result["case"])
        if "forward_only" in result:
            forward_only.add(result["case"])
        if "states" in result:
            states.add(result["case"])
        if "flips" in result:
            flips[result["case"]] = len(result["flips"])
        if "undecided" in result:
            undecided[result["case"]] = result["undecided"]
        if "settings" in result:
            settings[result["case"]] = result["settings"]
        if "further" in result:
            further[result["case"]] = result["further"]
        if "beyond" in result:
            beyond[result["case"]] = result["beyond"]
        if "undecidable" in result:
            undecidable[result["case"]] = result["undecidable"]
        if result["differs"]:
            differing.add(result["case"])
        declared += "declared" in result
        if "declared" not in result and result["problem"] is None and result["unit"] == "roundings":
            needed = max(
                math.inf if result[norm] is None else result[norm] for norm in ("error", "worst")
            )
            largest = max(largest, (needed, f"{result['tensor']} of {result['case']}"))
    rows: list[tuple[str, str]] = []

    def tell(what: str, *told: str) -> None:
        rows.extend((what, each) for each in told)

    if settings:
        compared = sum(each["compared"] for each in settings.values())
        layers = sum(each["layers"] for each in settings.values())
        tell("settings", f"{compared} of {counted(layers, 'layer')} in {_cases(settings)}")
    tell("", *unread_told([n for each in settings.values() for n in each.get("unread", ())]))
    tell("reach", *unreached.summary(lines, hint))
    if further:
        tell("further samples", f"{sum(further.values())} of {_cases(further)}")
    if beyond:
        told = f"{sum(beyond.values())} differ of {_cases(beyond)}, which `without` declares"
        tell("beyond limits", told)
    tell("random numbers", *drawn(lines))
    if states:
        tell("states", f"{_cases(states)}, in which one side alone keeps some")
    if differing:
        many = counted(len(differing), "known difference")
        tell("as declared", f"{many} in {counted(declared, 'tensor')}")
    if hollow:
        tell("structure alone", f"{_cases(hollow)}, of zeros or of no element")
    if forward_only:
        tell("no gradient", f"{_cases(forward_only)}, since the reference gives none")
    if flips:
        tell("branch flips", f"{_cases(flips)} equal after {sum(flips.values())}")
    tell("kernels", *but_for_kernels(lines))
    tell("stand-ins", *stood_in(lines))
    if undecided:
        elements = counted(sum(undecided.values()), "element")
        tell("rounding decides", f"{elements} of the updates in {_cases(undecided)}")
    if undecidable:
        tensors_of = counted(sum(undecidable.values()), "tensor")
        tell("rounding alone", f"decides {tensors_of} in {_cases(undecidable)}")
    if nonfinite:
        told = f"{counted(sum(nonfinite), 'element')} of {counted(len(nonfinite), 'tensor')}"
        tell("NaN or infinite", f"{told}, on both sides")
    for width, count in widths.items():
        tell(width, f"in {counted(count, 'tensor')}, equal by value")
    for origin, told in RECORDED.items():
        if count := sum(found == origin for found in origins.values()):
            tell("records", f"{counted(count, 'case')} {told}")
    for version in sorted(set(made_with.values())):
        count = sum(made == version for made in made_with.values())
        tell("run elsewhere", f"{counted(count, 'case')}, with {version}")
    limits = excused.pop(LIMIT.name, set())
    counts = {each.name: len(excused.get(each.name, ())) for each in EXCUSES}
    if named := [f"{name} {count}" for name, count in counts.items() if count]:
        tell("excused cases", ", ".join(named))
    if limits:
        tell(LIMIT.name, f"on {limits_told(limits)}")
    every = f"{counted(tensors, 'tensor')} of {_cases(cases)} of {counted(len(twins), 'twin')}"
    if largest[1]:
        told = f"{number(largest[0])} roundings of {number(BUDGET)}: {largest[1]}"
        every += f"; the largest error is {told}"
    return every, rows


def _cases(cases: Collection[str]) -> str:
    return counted(len(cases), "case")
