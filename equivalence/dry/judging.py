"""The verdict on two dry runs. Imports no framework."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from equivalence.dry.beats import Beat, Beats, Share
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.scripts import places
from equivalence.scripts.judging import STAGES, Expectation, StepDeparture, settings_apart
from equivalence.scripts.steps import Step, TrainingRun
from equivalence.structure.layers import near_rates

UNIT = UNIT_ROUNDOFF["float32"]

HERE = " (dry run)"
"""Ends what is told of a dry run."""


class DryVerdict(NamedTuple):
    """The verdict on two dry runs.

    departures: what departs, the first step of each kind, in order. compared: how many steps.
    unlike: what departs in a step in which both scripts agree with their passes -> that step. It
        hangs on more than what the networks give, and is not compared.
    """

    departures: list[StepDeparture]
    compared: int
    unlike: dict[str, int]


def judge(theirs: Beats, ours: Beats, expectation: Expectation, run: TrainingRun) -> DryVerdict:
    """The verdict on two dry runs of scripts whose first steps agree.

    expectation: of the first steps, whose noise is that of their gradients and losses.
    run: the reference's first run.
    """
    noise = NoiseShare(expectation)
    found: dict[tuple[str, str], StepDeparture] = {}
    unlike: dict[tuple[str, str], int] = {}
    largest = _largest_rates(theirs.steps)
    count = min(len(theirs.steps), len(ours.steps))
    for number in range(count):
        beats = theirs.steps[number], ours.steps[number]
        if stopped := next(_order(number + 1, *beats), None):
            found.setdefault((stopped.stage, stopped.name), stopped)
            if stopped.name == "order of updates":
                break
            continue
        for each in _settings(number + 1, *beats, run, largest):
            found.setdefault((each.stage, each.name), each)
        for each in _numbers(number + 1, *beats, noise):
            kind = each.stage, each.name
            if (each.step, *kind) in expectation.expected:
                unlike.setdefault(kind, each.step)
            if kind not in unlike:
                found.setdefault(kind, each)
    if ours.ended and not ours.failed and len(ours.steps) < len(theirs.steps):
        end = len(ours.steps) + 1
        told = f"the port's script ends after {end - 1:,} steps{HERE}"
        found["data", "steps"] = StepDeparture(end, "data", "steps", told)
    if theirs.ended and not theirs.failed and len(theirs.steps) < len(ours.steps):
        end = len(theirs.steps) + 1
        told = f"go on, and the original's script ends after {end - 1:,} of them{HERE}"
        found["data", "steps"] = StepDeparture(end, "data", "steps", told)
    departures = sorted(found.values(), key=lambda d: (d.step, STAGES.index(d.stage)))
    return DryVerdict(departures, count, {name: step for (_, name), step in unlike.items()})


class NoiseShare:
    """How far rounding moves what a dry run shows, as a share of it: as in the first steps."""

    def __init__(self, expectation: Expectation):
        self.shares: dict[tuple[str, str], float] = {}
        self.sizes: dict[tuple[str, str], float] = {}
        for (_, stage, name), expected in expectation.expected.items():
            if stage in ("clipping", "loss") and expected.truth.dtype.kind == "f":
                key = (stage, name)
                share = expected.spread / expected.scale if expected.scale else 0.0
                self.shares[key] = max(self.shares.get(key, 0.0), share)
                self.sizes[key] = max(self.sizes.get(key, 0.0), expected.spread)

    def of_loss(self, name: str, value: float) -> float:
        """One rounding of a loss."""
        share, size = (each.get(("loss", name), 0.0) for each in (self.shares, self.sizes))
        return max((share + UNIT) * abs(value), size)

    def of_clip(self, name: str, share: Share) -> float:
        """One rounding of a gradient that is clipped."""
        return (self.shares.get(("clipping", name), 0.0) + UNIT) * abs(share.factor)


def _largest_rates(steps: Sequence[Beat]) -> float:
    """The largest rate of a run, in whose unit rates near zero are compared."""
    found = [
        abs(value)
        for beat in steps
        for held in [beat.settings.get("lr", 0.0)]
        for value in (held if isinstance(held, tuple) else (held,))
        if isinstance(value, int | float)
    ]
    return max(found, default=0.0)


def _order(number: int, theirs: Beat, ours: Beat) -> Iterator[StepDeparture]:
    """Another optimiser, another number of passes, another scale: what follows cannot agree."""
    lines = _lines("update", theirs, ours)
    if {*theirs.weights}.isdisjoint(ours.weights) and theirs.weights and ours.weights:
        told = f"the port updates the weights of another optimiser{HERE}"
        yield StepDeparture(number, "data", "order of updates", told, *lines)
    elif theirs.passes != ours.passes:
        told = f"are {ours.passes}, and {theirs.passes} in the original{HERE}"
        yield StepDeparture(number, "gradients", "backward passes", told, *lines)
    elif theirs.scale and ours.scale and theirs.scale != ours.scale:
        told = f"is {ours.scale:g}, and {theirs.scale:g} in the original{HERE}"
        yield StepDeparture(number, "scale", "scale of the loss", told, *lines)


def _settings(
    number: int, theirs: Beat, ours: Beat, run: TrainingRun, largest: float
) -> Iterator[StepDeparture]:
    """The settings of the optimiser that differ in a step."""
    names = theirs.settings.keys() & ours.settings.keys()
    same_weights = theirs.weights == ours.weights
    apart = [
        name
        for name in sorted(names)
        if not (same_weights and _alike(name, theirs.settings[name], ours.settings[name], largest))
    ]
    if not apart:
        return
    shown = {*apart, "weight_decay"} & names  # of one that does not decay, AdamW is Adam
    steps = [Step(number, settings={n: each.told(n) for n in shown}) for each in (theirs, ours)]
    of_reference, of_candidate = steps
    lines = _lines("update", theirs, ours)
    for each in settings_apart(of_reference, of_candidate, run):
        if each.name == "lr" and _near(steps, largest):
            continue
        yield replace(
            each, told=each.told + HERE, line=lines[0], of_reference=lines[1], step=number
        )


def _near(steps: Sequence[Step], largest: float) -> bool:
    """Whether the rates of all weights that both sides have are near."""
    theirs, ours = (step.settings["lr"] for step in steps)
    return all(
        near_rates(theirs[name], ours[name], largest) for name in theirs.keys() & ours.keys()
    )


def _alike(name: str, theirs: object, ours: object, largest: float) -> bool:
    if theirs == ours:
        return True
    return name == "lr" and near_rates(theirs, ours, largest)


def _numbers(number: int, theirs: Beat, ours: Beat, noise: NoiseShare) -> Iterator[StepDeparture]:
    """What differs in the losses, the gradients that the optimiser gets, and the averages."""
    if theirs.given == ours.given and len(theirs.losses) == len(ours.losses):
        for place, (one, two) in enumerate(zip(theirs.losses, ours.losses, strict=True)):
            name = f"loss {place + 1}" if len(theirs.losses) > 1 else "loss"
            if _is_off(one, two, noise.of_loss(name, one)):
                told = f"is {two:.7g}, and {one:.7g} in the original{HERE}"
                yield StepDeparture(number, "loss", name, told, *_lines("loss", theirs, ours))
    lines = _lines("update", theirs, ours)
    for name, clip in theirs.clips.items():
        own_clip = ours.clips.get(name)
        if own_clip is not None and _apart(clip, own_clip, noise.of_clip(name, clip)):
            told = (
                f"is {own_clip.factor:.6g} times what the passes give, and {clip.factor:.6g} times "
                f"in the original{HERE}"
            )
            yield StepDeparture(number, "clipping", name, told, *lines)
    for name, kept in theirs.decays.items():
        own = ours.decays.get(name)
        if own is not None and _apart(kept, own, UNIT * (kept.unit + own.unit)):
            told = f"keeps {own.factor:.6g} of itself, and {kept.factor:.6g} in the original{HERE}"
            yield StepDeparture(number, "averages", name, told, *lines)


def _apart(one: Share, two: Share, rounding: float) -> bool:
    return _is_off(one.factor, two.factor, rounding) or _is_off(one.rest, two.rest, rounding + UNIT)


def _is_off(one: float, two: float, rounding: float) -> bool:
    """Whether two numbers are apart by more than roundings; NaN is a value."""
    if math.isnan(one) or math.isnan(two):
        return math.isnan(one) != math.isnan(two)
    return one != two and not abs(one - two) <= BUDGET * rounding


def _lines(what: str, theirs: Beat, ours: Beat) -> tuple[str, str]:
    """The lines of the port and of the original."""
    found = (each.lines.get(what) for each in (ours, theirs))
    port, original = (places.line(*each) if each else "" for each in found)
    return port, original
