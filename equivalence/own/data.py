"""`equivalence data TORCH MINDSPORE`: two data pipelines as they stand, stage by stage."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from equivalence.declare.pipeline import PICTURES, Pipeline, PipelineCase
from equivalence.errors import DeclarationError
from equivalence.host.isolation import isolated
from equivalence.judge.outcome import Outcome
from equivalence.loaders.stages import BATCH, READ, Loader
from equivalence.output import answer, aside, demand_writable, tell
from equivalence.pipelines.check import Others, diagnosed, tried
from equivalence.pipelines.compare import PipelineSides, compare
from equivalence.pipelines.diagnose import DECODE, PipelineDiagnosis
from equivalence.report import answer as report
from equivalence.report import text
from equivalence.report.answer import DETAILS, AnsweredCase
from equivalence.typed_targets import demand_target
from equivalence.words import counted, listed

SIDES = ("original", "port")

OWN = "own"
"""What `--pictures` is where no other pictures than the loaders' own are tried."""

DECODED_OTHERWISE = ("deep", "cmyk")
"""The kinds that MindSpore's own Decode reads otherwise: findings png_16_bits and decode_cmyk."""

WHY = "MindSpore's own Decode reads them otherwise; --pictures deep cmyk tries them"


@dataclass(frozen=True)
class AlsoAsked:
    """What else was asked: its lines, and its part of the JSON document."""

    lines: Sequence[str] = ()
    document: Mapping[str, Any] = field(default_factory=dict)


def command(
    reference: str,
    candidate: str,
    arguments: Sequence[tuple[str, Any]],
    batches: int | None,
    pictures: Sequence[str],
    seed: int,
    json_file: Path | None,
    more: Callable[[Loader, Loader], AlsoAsked] | None = None,
) -> int:
    """Compare both and print what became of it; 1 where they differ.

    pictures: the kinds of other pictures that are tried; OWN alone: none; none given: all but those
    that MindSpore's own Decode reads otherwise.
    more: what else is asked of two loaders as they stand.
    """
    for each in pictures if [*pictures] != [OWN] else ():
        if each not in PICTURES:
            known = ", ".join(PICTURES)
            raise DeclarationError(f"--pictures {each} is not among {known}; {OWN} tries none")
    demand_writable(json_file, "--json")
    demand_target(reference, "TORCH")
    demand_target(candidate, "MINDSPORE")
    name = reference.rpartition(":")[2]
    twin = Pipeline(name, reference, candidate, configs=(dict(arguments),))
    case = PipelineCase(twin, twin.configs[0], batches)
    with aside(), isolated():
        tell("building both")
        sides = PipelineSides(case, seed)
        both = sides.loaders()
        drawing = sides.drawing()
        tell("comparing what they give")
        others, judgement = Others(), compare(case, seed, sides).judgement
        if judgement.equal and [*pictures] != [OWN]:
            case = replace(case, twin=replace(twin, without=_left_out(sides, pictures)))
            tell("trying pictures of other kinds")
            others = tried(case, seed, sides, pictures or tuple(PICTURES))
        outcome = others.outcome(case, seed, judgement)
        found = None
        if not outcome.passed:
            tell("looking for the first stage that differs")
            found = diagnosed(case, seed, others.shown, sides)
        further = more(*both) if more is not None and both is not None else AlsoAsked()
    document = {
        "equal": outcome.passed,
        "results": [json.loads(line) for line in text.lines(outcome)],
        "diagnosis": found.lines() if found else [],
        **further.document,
    }
    told = [*lines(outcome, found, both, drawing), *others.lines()]
    told += ["", *further.lines] if further.lines else []
    return answer(told, outcome.passed, json_file, document)


def _left_out(sides: PipelineSides, pictures: Sequence[str]) -> dict[str, str]:
    """The kinds of pictures that are not tried unless they are asked for, and why."""
    decodes = any(each.startswith(DECODE) for each in sides.stages("candidate"))
    return dict.fromkeys(DECODED_OTHERWISE, WHY) if decodes and not pictures else {}


def lines(
    outcome: Outcome,
    found: PipelineDiagnosis | None,
    both: tuple[Loader, Loader] | None,
    drawing: Sequence[str | None] = (None, None),
) -> list[str]:
    """The answer, then what either side is, and below it all figures.

    found: the diagnosis of what differs; None where nothing does. drawing: where each side draws
    beside its stages.
    """
    first = report.answer(
        [AnsweredCase(outcome, found.mistakes) if found else AnsweredCase(outcome)]
    ).lines()
    described = [
        f"{side}: {_described(each)}{_drawn(each, level)}"
        for side, each, level in zip(SIDES, both or (), drawing, strict=False)
    ]
    detailed = text.details(outcome, found.lines()) if found else []
    return [*first, DETAILS, *described, *detailed]


def _drawn(loader: Loader, level: str | None) -> str:
    """What draws beside the stages, and how that is compared."""
    if level is None:
        return ""
    what = "samples" if level == READ else "batches"
    return f"; {loader.drawer(level)} draws, so {what} are compared by their law"


def _described(loader: Loader) -> str:
    """What a loader gives, in a line."""
    size = [
        f"{count} {name}"
        for name, count in (("samples", loader.samples), ("batches", loader.batches))
        if count is not None
    ]
    if loader.batch_size:
        size.append(f"batches of {loader.batch_size}")
    stages = [
        f"{name} (draws)" if name in loader.random else name
        for name in loader.stages
        if name not in (READ, BATCH)
    ]
    shuffled = ", shuffled" if loader.order.drawn else ""
    known = f"stages {listed(stages, 20)}" if stages else "no stages are found in it"
    return f"{', '.join(size) or counted(0, 'sample')}{shuffled}; {known}"
