"""All that is said of two trainings. Imports no framework."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from equivalence.judge.precision import BUDGET
from equivalence.judge.settings import SettingDifference
from equivalence.loaders import epochs, reads
from equivalence.scripts.compare import TrainingsResult
from equivalence.scripts.judging import (
    INDEPENDENT,
    LOADER,
    ORDER,
    STAGES,
    TRAINED,
    StepDeparture,
)
from equivalence.scripts.known import known
from equivalence.scripts.looks import Fits
from equivalence.scripts.steps import Step
from equivalence.structure.settings import BY_MODE
from equivalence.words import counted, joined, listed, number


def lines(result: TrainingsResult) -> list[str]:
    """The verdict, the first departure with its lines, and what was not seen."""
    return [*_verdict(result), *_settings(result), *_coverage(result)]


def _verdict(result: TrainingsResult) -> Iterator[str]:
    verdict = result.verdict
    if not verdict.departures:
        yield from _green(result)
        return
    first = verdict.departures[0]
    yield f"DIFFERENT. {result.candidate} departs from {result.reference} in step {first.step}:"
    yield f"  {first.stage}: {told(first)}"
    placed = first
    if result.culprit:
        coarser = f", {result.coarser}" if result.coarser else ""
        yield f"    first in {result.culprit.told}{coarser}"
        placed = replace(first, line=result.culprit.line, of_reference=result.culprit.of_reference)
    yield from _places(placed)
    yield from _hint(placed, result)
    yield from _faults(result)
    yield from _precision(result)
    yield from _fits(result.fits)
    yield from _others(first, result)


def _hint(departure: StepDeparture, result: TrainingsResult) -> Iterator[str]:
    if hint := known(departure, *_step_and_before(result, departure.step)):
        yield f"    {hint}"


def _step_and_before(result: TrainingsResult, number: int) -> tuple[list[Step], list[Step]]:
    """A step of the port, and the one before it; none where there is none."""
    steps = result.ours.steps
    return steps[number - 1 : number], steps[max(number - 2, 0) : number - 1]


def _green(result: TrainingsResult) -> Iterator[str]:
    """The verdict where no step departs."""
    verdict, steps = result.verdict, counted(len(result.theirs.steps), "step")
    word = "EQUAL" if result else "DIFFERENT"
    yield (
        f"{word}. {result.candidate} trains as {result.reference} does in {steps}: "
        f"{counted(verdict.compared, 'tensor')} are off by at most {number(verdict.worst)} of the "
        f"{BUDGET:g} roundings that rounding may cause"
    )
    for kernel in result.kernels:
        yield f"  equal but for {kernel}, in whose place is an accurate one"
    yield from _precision(result)


def _faults(result: TrainingsResult) -> Iterator[str]:
    """What is wrong in MindSpore, and what differs without it."""
    faults = result.faults
    yield from (f"    {each}" for each in faults.told)
    if faults.explain_all:
        yield "    with what is right there nothing else differs: the port is right"
    if faults.rest:
        yield f"  besides, {faults.rest.stage}: {told(faults.rest)}"
        yield from _hint(faults.rest, result)
    if faults.failed:
        yield f"  known faults of MindSpore could not be tried: {faults.failed}"


def _fits(fits: Fits) -> Iterator[str]:
    """What fits; where nothing does, what was not tried."""
    yield from (f"  fits: {each}" for each in fits.found)
    if fits.tried + fits.left and not fits.found:
        lost = [
            f"{count} {words}"
            for count, words in (
                (fits.failed, "could not run in the original"),
                (fits.left, "had no time left"),
            )
            if count
        ]
        of = f"  fits: none of {counted(fits.tried - fits.failed, 'mistake')} that were tried"
        yield "; ".join([of, *lost])


def _precision(result: TrainingsResult) -> Iterator[str]:
    """Where numbers stop being finite, and which layers to keep in float32."""
    for side, word in (("candidate", "port"), ("reference", "original")):
        if side in result.overflows:
            step, overflow = result.overflows[side]
            when = f"in step {step}" if overflow.passing else f"from step {step} on"
            layer = overflow.told.replace("._backbone", "")
            yield f"  NaN or infinity in the {word} {when}: {layer}"
            if overflow.line:
                yield f"    {word}: {overflow.line}"
    if result.halves:
        layers = [f"{n.replace('._backbone', '')} ({half})" for n, half in result.halves.items()]
        yield (
            f"  computed in half precision in the port alone: {listed(layers, 9)}; no tensor of "
            "these steps shows it, and larger numbers may overflow there"
        )
    kept = result.kept
    if kept is None:
        return
    of = f"of {counted(kept.count, 'layer')} in half precision"
    if kept.casting:
        first = kept.casting[0].replace("._backbone", "") or "the network's own code"
        yield (
            f"  which layers to keep in float32 was not found by trying: {first} computes in half "
            "precision whatever it is set to, by casts in its code, as level O1 writes them"
        )
        return
    failed = f", of which {kept.failed} could not run: {kept.why}" if kept.failed else ""
    if not kept.layers and kept.failed:
        yield (
            f"  which layers to keep in float32 was not found by trying: {kept.trials} "
            f"{'trial' if kept.trials == 1 else 'trials'}{failed}"
        )
        return
    if not kept.layers:
        yield f"  precision is not the reason: with all {of[3:]} in float32 it departs as well"
        return
    names = [name.replace("._backbone", "") or "the network's own code" for name in kept.layers]
    least = "" if kept.smallest else "; fewer may do, the time for trials was over"
    yield (
        f"  to keep in float32, with which this step is right ({len(names)} {of}, "
        f"{counted(kept.trials, 'trial')}{failed}): {listed(names)}{least}"
    )
    if kept.smallest and "" not in kept.layers:
        more = ", and so on" if len(names) > 1 else ""
        yield f"    write net.{names[0]}.to_float(mindspore.float32){more}"


def told(departure: StepDeparture) -> str:
    """What differs: "fc.weight is off by 0.3 of its size (4,000 roundings)"."""
    figure = (
        f" ({number(departure.roundings)} roundings)" if math.isfinite(departure.roundings) else ""
    )
    return f"{departure.name} {departure.told}{figure}"


def _places(departure: StepDeparture) -> Iterator[str]:
    for side, line in (("port", departure.line), ("original", departure.of_reference)):
        if line:
            yield f"    {side}: {line}"


def _others(first: StepDeparture, result: TrainingsResult) -> Iterator[str]:
    """What else differs in the step, by stage, and in how many later steps."""
    departures = result.verdict.departures
    in_step = [each for each in departures if each.step == first.step and each is not first]
    for stage in STAGES:
        found = [each for each in in_step if each.stage == stage]
        if found:
            yield f"  also {stage}: {told(found[0])}" + (
                f" and {len(found) - 1} more" if len(found) > 1 else ""
            )
            if stage in INDEPENDENT:
                yield from _hint(found[0], result)
    of_data = ("input", "target", ORDER, LOADER)
    if all(each.name.startswith(of_data) for each in departures):
        yield "  with the original's batches all else agrees"
    later = sorted({each.step for each in departures} - {first.step})
    if later:
        differ = "differs" if len(later) == 1 else "differ"
        yield f"  {counted(len(later), 'later step')} {differ}, too"
    before = [
        each
        for each in departures
        if (each.stage in INDEPENDENT or each.name == ORDER) and each.step != first.step
    ]
    listed_already = {(e.stage, e.name) for e in in_step} | {(first.stage, first.name)}
    for each in before:
        if (each.stage, each.name) not in listed_already:
            listed_already.add((each.stage, each.name))
            yield f"  in step {each.step}, {each.stage}: {told(each)}"
            yield from _places(each)
            yield from _hint(each, result)


def _settings(result: TrainingsResult) -> Iterator[str]:
    where: dict[str, list[str]] = {}
    moded = {each.name for each in result.verdict.departures if each.told == TRAINED}
    for name, settings in result.settings.items():
        for each in settings.wrong:
            if name in moded and isinstance(each, SettingDifference) and each.name in BY_MODE:
                each = replace(each, write="")  # the network's mode is to be set
            what = f"({each.kind}): {getattr(each, 'told', each)}"
            where.setdefault(what, []).append(each.layer or name)
    for what, layers in where.items():
        yield f"  {'layer' if len(layers) == 1 else 'layers'} {listed(layers)} {what}"
    compared = sum(each.compared for each in result.settings.values())
    differing = sum(len(each.wrong) for each in result.settings.values())
    yield f"settings of layers: {differing} of {compared} differ"


def _coverage(result: TrainingsResult) -> Iterator[str]:
    """What was compared, and what was not."""
    verdict, theirs, ours = result.verdict, result.theirs, result.ours
    names = [network.name for network in theirs.networks]
    yield (
        f"compared {counted(verdict.compared, 'tensor')} of {counted(len(theirs.steps), 'step')} "
        f"and {counted(len(names), 'network')} ({listed(names)}), with "
        f"{counted(result.runs, 'noisy run')} of the original"
    )
    if verdict.undecidable:
        yield f"rounding decides {counted(verdict.undecidable, 'tensor')} of these"
    if verdict.decided_until < len(theirs.steps) and not verdict.departures:
        yield f"from step {verdict.decided_until + 1} on rounding decides all outputs and losses"
    if len(theirs.steps) < result.steps:
        yield f"the original's script ends after {counted(len(theirs.steps), 'step')}"
    if theirs.pinned or ours.pinned:
        yield (
            f"dropout keeps everything: {theirs.pinned} draws in the original, {ours.pinned} in "
            "the port"
        )
    if theirs.evaluations or ours.evaluations:
        yield (
            f"not compared: calls of networks in evaluation, {theirs.evaluations:,} in the "
            f"original, {ours.evaluations:,} in the port"
        )
    if orders := epochs.told(theirs.epochs, ours.epochs):
        yield orders
    yield from reads.told(theirs.readings, ours.readings)
    if ours.stand_ins:
        yield f"stand-ins on the CPU, where MindSpore has no kernel, for {joined(ours.stand_ins)}"
    if verdict.unseen:
        yield f"not seen in the port, and not compared: {', '.join(verdict.unseen)}"
    yield from dict.fromkeys([*verdict.notes, *theirs.notes, *ours.notes])


def document(result: TrainingsResult) -> dict[str, Any]:
    """All of a result as JSON."""
    return {
        "reference": result.reference,
        "candidate": result.candidate,
        "equal": bool(result),
        "steps": len(result.theirs.steps),
        "noisy_runs": result.runs,
        "compared": result.verdict.compared,
        "undecidable": result.verdict.undecidable,
        "departures": [
            {**vars(each), "roundings": each.roundings if math.isfinite(each.roundings) else None}
            for each in result.verdict.departures
        ],
        "overflows": {
            side: {"step": step, "told": each.told, "line": each.line}
            for side, (step, each) in result.overflows.items()
        },
        "faults_of_mindspore": {
            "told": [*result.faults.told],
            "explain_all": result.faults.explain_all,
        },
        "fits": [*result.fits.found],
        "mistakes": {n: getattr(result.fits, n) for n in ("tried", "failed", "left")},
        "halves": dict(result.halves),
        "kernels": [
            {"name": k.name, "finding": k.finding, "error": k.error} for k in result.kernels
        ],
        "stand_ins": [*result.ours.stand_ins],
        "float32": list(result.kept.layers) if result.kept else None,
        "settings": {
            name: [str(each) for each in settings.wrong]
            for name, settings in result.settings.items()
        },
        "losses": [
            [[float(x.reshape(-1)[0]) for x in step.losses] for step in run.steps]
            for run in (result.theirs, result.ours)
        ],
        "notes": [*_coverage(result)],
    }
