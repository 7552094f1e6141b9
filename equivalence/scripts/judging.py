"""The verdict on two runs of a training: step by step, stage by stage. Imports no framework."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from equivalence import nesting
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.judge.settings import SettingDifference
from equivalence.loaders import epochs
from equivalence.pipelines import explained, trained
from equivalence.scripts.steps import (
    KeptTensor,
    Step,
    StepCall,
    TrainingRun,
    each_input,
    is_reached,
)
from equivalence.structure.layers import differences
from equivalence.structure.settings import OPTIMIZER
from equivalence.words import counted

STAGES = (
    *("data", "forward", "loss", "gradients", "clipping", "scale", "schedule", "settings"),
    *("update", "averages"),
)
"""The stages of a step, in the order in which they happen.

data: what the script gives to networks and losses. forward: outputs of networks. gradients: after
the last backward pass. clipping: what the optimiser gets. schedule: its rate. settings: what else
it holds. update: weights and buffers after it. averages: what else the script keeps of the weights.
"""

INDEPENDENT = ("schedule", "settings")
"""The stages in which a difference follows from none before it."""

EVALUATED = "is in evaluation mode, and in training mode in the original"
TRAINED = "is in training mode, and in evaluation mode in the original"
"""What is told of a network that is called in the other mode."""

ENDING = "steps"
"""The name of the departure of a port that makes fewer steps, in the stage "data"."""

ORDER = "order of samples"
"""How what differs in the order of samples is called, in the stage `data`."""

DRAWN = "drawn"
"""Stands for the stage `data` of what the reference's script draws at random."""

LOADER = "loader"
"""How the name of what differs in a loader of the script begins, in the stage `data`."""

WHOLE = 1e-4
"""How near to a whole number the inverse of a factor is that is written as a fraction."""

Key = tuple[int, str, str]
"""The number of a step, a stage, and what is compared there."""


@dataclass(frozen=True)
class StepDeparture:
    """What differs in a step.

    step, stage, name: where. told: what differs, as a sentence without a subject.
    line, of_reference: the lines of both scripts; "" where they are not known.
    roundings: by how many it is off; infinite where no number tells.
    undefined: elements that are NaN or infinite on one side alone.
    """

    step: int
    stage: str
    name: str
    told: str
    line: str = ""
    of_reference: str = ""
    roundings: float = math.inf
    undefined: int = 0

    @property
    def is_numeric(self) -> bool:
        """Whether numbers differ, and not what a step does."""
        return math.isfinite(self.roundings) or self.undefined > 0


@dataclass
class RunVerdict:
    """The verdict on a candidate's run.

    departures: all that differs, in the order in which it happens.
    compared: how many tensors were compared. undecidable: how many of them rounding decides.
    decided_until: the last step in which an output or a loss is decidable; 0: none.
    notes: what is not compared, and why. unseen: what the port does not show -> from which step on.
    worst: the largest error within the budget, in roundings.
    """

    departures: list[StepDeparture] = field(default_factory=list)
    compared: int = 0
    undecidable: int = 0
    decided_until: int = 0
    notes: list[str] = field(default_factory=list)
    unseen: dict[str, int] = field(default_factory=dict)
    worst: float = 0.0

    def add(self, departures: Sequence[StepDeparture]) -> None:
        """Add what differs, before what else differs in its stage."""
        every = [*departures, *self.departures]
        self.departures = sorted(every, key=lambda each: (each.step, STAGES.index(each.stage)))

    def note(self, words: str) -> None:
        """Add a note, once."""
        if words not in self.notes:
            self.notes.append(words)


def label(run: TrainingRun, key: str) -> str:
    """A weight's name in a step, "0:fc.weight", as texts call it."""
    before, colon, name = key.rpartition(":")
    head, _, number = before.rpartition(" ")
    if not colon or not number.isdigit():
        return key
    return f"{head} {run.name(int(number), name)}".strip()


def tensors(run: TrainingRun, step: Step) -> Iterator[tuple[str, str, KeptTensor]]:
    """Stage, name and values of all that is compared of a step by numbers."""
    several = len(run.networks) > 1
    seen: dict[int, int] = {}
    for call in step.calls:
        place = seen[call.network] = seen.get(call.network, 0) + 1
        count = sum(each.network == call.network for each in step.calls)
        which = f" of {run.networks[call.network].name}" if several else ""
        which += f" in call {place}" if count > 1 else ""
        for _, number, given in each_input([call]):
            stage = "forward" if given.computed else "data"
            name = f"input {number}{which}"
            yield (DRAWN if given.drawn else stage), name, KeptTensor.of(name, given.values)
        for output, values in call.outputs.items():
            yield "forward", f"output {output}{which}", values
    for place, target in enumerate(step.targets):
        for _, _, given in each_input([target]):
            if not given.computed:
                name = f"target {place + 1}" if len(step.targets) > 1 else "target"
                yield (DRAWN if given.drawn else "data"), name, KeptTensor.of(name, given.values)
    for place, loss in enumerate(step.losses):
        name = f"loss {place + 1}" if len(step.losses) > 1 else "loss"
        yield "loss", name, KeptTensor.of(name, loss)
    for stage, several_of in (("gradients", step.gradients), ("clipping", step.reached)):
        # In the order of the backward pass: the first that departs is where it does.
        for name in reversed([*several_of]):
            if name in step.reached:
                yield stage, label(run, name), several_of[name]
    for name, values in step.weights.items():
        yield "update", label(run, name), values
    for name, values in (step.averages or {}).items():
        yield "averages", label(run, name), values


class Expectation:
    """What each tensor of a candidate's run must be, by runs of the reference.

    plain: the reference as it stands.
    """

    def __init__(self, plain: TrainingRun):
        self.plain = plain
        self.expected: dict[Key, Expected] = {}
        self.stored: dict[Key, KeptTensor] = {}
        for key, stored in _all(plain):
            self.expected[key] = Expected.whole(stored.values)
            self.stored[key] = stored
        self.runs = 0
        self.constants = {
            plain.name(number, name)
            for number, network in enumerate(plain.networks)
            for name, slot in network.slots.items()
            if slot.is_constant
        }
        self.statistics = {
            plain.name(number, name): number
            for number, network in enumerate(plain.networks)
            for name, slot in network.slots.items()
            if slot.kind == "buffer"
        }

    def widen(self, noisy: TrainingRun) -> None:
        """Let the noise be at least as far as a noisy run of the reference is off."""
        self.runs += 1
        for key, stored in _all(noisy):
            if key in self.expected and self.stored[key].shape == stored.shape:
                self.expected[key].widen(stored.values)

    def about(self, other: TrainingRun) -> "Expectation":
        """What must be expected of another run of the reference, with the noise of this one."""
        found = Expectation(other)
        for key, expected in self.expected.items():
            if key in found.stored and found.stored[key].shape == self.stored[key].shape:
                truth = found.expected[key].truth
                found.expected[key] = replace(expected, truth=truth)
        return found

    def of_loaders(self, candidate: TrainingRun) -> list[StepDeparture]:
        """What differs in loaders that draw, whose batches the candidate has from the reference."""
        return [
            StepDeparture(
                each.reading.step,
                "data",
                f"{LOADER}, {each.stage}:" if each.stage else LOADER,
                each.told,
                each.reading.key,
                each.theirs.key,
            )
            for each in trained.apart(self.plain.readings, candidate.readings)
        ]

    def judge(self, candidate: TrainingRun) -> RunVerdict:
        """The verdict on a run of the candidate."""
        verdict = RunVerdict()
        orders = [*epochs.differences(self.plain.epochs, candidate.epochs)]
        for theirs, ours in zip(self.plain.steps, candidate.steps, strict=False):
            found = [
                StepDeparture(theirs.number, "data", ORDER, told, epoch.key)
                for epoch, told in orders
                if epoch.step == theirs.number
            ]
            found += [*self._structure(theirs, candidate, ours, verdict)]
            found += self._numbers(theirs, candidate, ours, verdict)
            found += settings_apart(theirs, ours, self.plain)
            verdict.departures += sorted(found, key=lambda each: STAGES.index(each.stage))
        if len(candidate.steps) < len(self.plain.steps):
            made = len(candidate.steps)
            ends = candidate.raised or f"ends after {counted(made, 'step')}"
            verdict.departures.append(
                StepDeparture(made + 1, "data", ENDING, f"the port's script {ends}")
            )
        return verdict

    def _structure(
        self, theirs: Step, candidate: TrainingRun, ours: Step, verdict: RunVerdict
    ) -> Iterator[StepDeparture]:
        """What differs in what a step does, whatever the numbers are."""
        number, plain = theirs.number, self.plain
        lines = (ours.lines.get("update", ""), theirs.lines.get("update", ""))
        if ours.reached and not theirs.reached.keys() & ours.reached.keys():
            first = [label(plain, next(iter(each.reached), "nothing")) for each in (theirs, ours)]
            told = f"updates {first[1]} and others, where the original updates {first[0]}"
            yield StepDeparture(number, "data", "order of updates", told, *lines)
            return
        if ours.reached:
            for name in theirs.reached.keys() - ours.reached.keys():
                told = "gets no gradient by the optimiser, which updates it in the original"
                yield StepDeparture(number, "clipping", label(plain, name), told, *lines)
            for name in ours.reached.keys() - theirs.reached.keys():
                if name in theirs.weights and not is_reached(ours.reached[name]):
                    # Whether it moves all the same, as by decay, shows in the weight itself.
                    verdict.note(f"{label(plain, name)} is frozen by gradients of zeros")
                    continue
                told = "is updated by the optimiser, which does not have it in the original"
                yield StepDeparture(number, "clipping", label(plain, name), told, *lines)
        for index in range(len(plain.networks)):
            yield from self._calls(index, theirs, candidate, ours, verdict)
        if ours.losses and len(ours.losses) != len(theirs.losses):
            told = f"is {len(ours.losses)}, and {len(theirs.losses)} in the original"
            line, of_reference = (each.lines.get("loss", "") for each in (ours, theirs))
            yield StepDeparture(number, "loss", "number of losses", told, line, of_reference)
        if theirs.scale and ours.scale and theirs.scale != ours.scale:
            told = f"is {ours.scale:g}, and {theirs.scale:g} in the original"
            yield StepDeparture(number, "scale", "scale of the loss", told, *lines)

    def _calls(
        self, index: int, theirs: Step, candidate: TrainingRun, ours: Step, verdict: RunVerdict
    ) -> Iterator[StepDeparture]:
        """What differs in how often, and in which mode, a step calls a network."""
        number, network = theirs.number, self.plain.networks[index]
        sides = [[c for c in step.calls if c.network == index] for step in (theirs, ours)]
        modes = [(one.training, one.line, two) for one, two in zip(*sides, strict=False)]
        if sides[1] and not sides[0]:
            trains = _last_in_training(self.plain.steps, index)
            if index in theirs.evaluated and not (trains and any(c.training for c in sides[1])):
                modes = [(False, "", two) for two in sides[1]]  # as of a teacher
            else:
                # What such a call does shows in what is compared: outputs that use it, and weights.
                verdict.note(
                    f"{network.name} is called in steps in which the original does not call it, "
                    "but may use what an earlier call gave"
                )
        elif len(sides[0]) != len(sides[1]) and ours.calls:
            told = (
                f"is called {counted(len(sides[1]), 'time')}, and "
                f"{counted(len(sides[0]), 'time')} in the original{_skipped(theirs, ours)}"
            )
            one_line, two_line = (each[0].line if each else "" for each in sides)
            yield StepDeparture(number, "forward", network.name, told, two_line, one_line)
        for training, line, two in modes:
            if training == two.training:
                continue
            told = EVALUATED if training else TRAINED
            ports = [each for each in candidate.networks if each.of == index]
            if not any(each.reads_mode for each in (network, *ports)):
                verdict.note(f"{network.name} {told}; nothing in it asks for its mode")
                continue
            last = _last_in_training(candidate.steps[: number - 1], index)
            if training and last:
                told += f"; it was in training mode up to step {last}"
            elif training and any(index in each.evaluated for each in candidate.steps[:number]):
                told += "; it was evaluated before"
            yield StepDeparture(number, "forward", network.name, told, two.line, line)

    def _numbers(
        self, theirs: Step, candidate: TrainingRun, ours: Step, verdict: RunVerdict
    ) -> Iterator[StepDeparture]:
        """What differs in the tensors of a step."""
        run = replace(candidate, networks=self.plain.networks)
        named = replace(ours, calls=_by_order(theirs.calls, ours.calls))
        got = {(stage, name): values for stage, name, values in tensors(run, named)}
        wanted = {
            (s, n): e for (number, s, n), e in self.expected.items() if number == theirs.number
        }
        decided = False
        for (kept, name), expected in wanted.items():
            stage = kept
            if stage == DRAWN:
                stage = "data"
                if not ours.replayed:
                    verdict.unseen.setdefault("inputs that the original draws", theirs.number)
                    continue
            stored = got.get((stage, name))
            if stored is None and name.startswith("input "):
                # Only the reference tells whether a network has computed it.
                stored = got.get(("data" if stage == "forward" else "forward", name))
            if stored is None:
                if _is_unseen(stage, ours):
                    verdict.unseen.setdefault(_what(stage, name), theirs.number)
                elif stage == "update" and name in self.constants:
                    verdict.unseen.setdefault(f"the constant {name}", theirs.number)
                elif stage in ("forward", "update"):
                    lines = _lines(stage, name, theirs, ours)
                    yield StepDeparture(theirs.number, stage, name, "is missing", *lines)
                continue
            verdict.compared += 1
            shape = self.stored[theirs.number, kept, name].shape
            lines = _lines(stage, name, theirs, ours)
            if stored.shape != shape:
                told = f"is of shape {stored.shape}, and {shape} in the original"
                if stage == "data" and _are_other_rows(stored.shape, shape):
                    told = f"has {stored.shape[0]} samples, and {shape[0]} in the original"
                    yield StepDeparture(theirs.number, stage, name, told, *lines)
                elif stage == "data":
                    verdict.note(f"{name} {told}: it is not handed over, nor compared")
                else:
                    yield StepDeparture(theirs.number, stage, name, told, *lines)
                continue
            unit = unit_of(self.stored[theirs.number, kept, name])
            if expected.truth.dtype.kind == "f":
                values = stored.values
            else:
                values = stored.values.astype(expected.truth.dtype)
            roundings = max(expected.errors(values, unit))
            if roundings <= BUDGET:
                verdict.worst = max(verdict.worst, roundings)
            if expected.undecidable(unit):
                verdict.undecidable += 1
            elif stage in ("forward", "loss"):
                decided = True
            if roundings > BUDGET:
                told = _off(expected, values, unit)
                if stage == "data":
                    how = explained.of_batch(values, expected.truth)
                    told += self._instead(kept, name, values) or (f": {how}" if how else "")
                if stage in ("gradients", "clipping"):
                    told += _multiple(expected, values, unit)
                if stage == "update" and name in self.statistics:
                    told += self._more_calls(self.statistics[name], theirs, ours)
                undefined = expected.distance(values).mismatched if values.dtype.kind == "f" else 0
                yield StepDeparture(theirs.number, stage, name, told, *lines, roundings, undefined)
        if decided:
            verdict.decided_until = theirs.number

    def _more_calls(self, network: int, theirs: Step, ours: Step) -> str:
        """How often a network is called, as the end of a sentence; "" where both sides agree."""
        few, many = (sum(c.network == network for c in step.calls) for step in (theirs, ours))
        if few == many or not ours.calls or (not few and network in theirs.evaluated):
            return ""
        return (
            f"; {self.plain.networks[network].name}, which counts it with each call, is called "
            f"{counted(many, 'time')} in this step, and {counted(few, 'time')} in the original"
        )

    def _instead(self, stage: str, name: str, values: np.ndarray) -> str:
        """Which batch of the reference a candidate has, as the end of a sentence; "" for none."""
        for (number, kept, other), expected in self.expected.items():
            same = (kept, other) == (stage, name) and expected.truth.shape == values.shape
            if same and np.array_equal(expected.truth, values):
                return f"; it is the original's of step {number}"
            # Labels of few classes are the same in some order by chance.
            floats = values.dtype.kind == "f"
            if same and floats and _rows(expected.truth) == _rows(values):
                return f"; it has the samples of the original's step {number} in another order"
        return ""


def unit_of(tensor: KeptTensor) -> float:
    """The unit roundoff of a tensor of the reference, by its precision."""
    return UNIT_ROUNDOFF.get(tensor.precision, UNIT_ROUNDOFF["float32"])


def _last_in_training(steps: Sequence[Step], network: int) -> int:
    """The last step that calls a network in training mode; 0: none does."""
    found = [s.number for s in steps if any(c.network == network and c.training for c in s.calls)]
    return max(found, default=0)


def _skipped(theirs: Step, ours: Step) -> str:
    """Which side skips more updates for an overflow, as the end of a sentence; "" for neither."""
    if theirs.overflows == ours.overflows:
        return ""
    sides = ("the original", "the port")
    (few, least), (_, most) = sorted(zip((theirs.overflows, ours.overflows), sides, strict=True))
    other = f"{least} skips fewer" if few else f"{least} does not"
    return f"; {most} skips an update whose gradients overflow, and {other}"


def _are_other_rows(ours: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    """Whether two shapes of batches differ in the number of samples alone."""
    return bool(ours and theirs) and ours[1:] == theirs[1:]


def _rows(values: np.ndarray) -> list[bytes]:
    """The samples of a batch, in an order that does not depend on theirs."""
    return sorted(row.tobytes() for row in values) if values.ndim else [values.tobytes()]


def _by_order(theirs: Sequence[StepCall], ours: Sequence[StepCall]) -> list[StepCall]:
    """Calls whose outputs have the reference's names, where one side alone names as many."""
    found, seen = [], dict[int, int]()
    for call in ours:
        place = seen[call.network] = seen.get(call.network, 0) + 1
        others = [each for each in theirs if each.network == call.network][place - 1 : place]
        pairs = nesting.by_order([*others[0].outputs], [*call.outputs]) if others else {}
        outputs = {pairs.get(name, name): values for name, values in call.outputs.items()}
        found.append(replace(call, outputs=outputs))
    return found


def _all(run: TrainingRun) -> Iterator[tuple[Key, KeptTensor]]:
    for step in run.steps:
        for stage, name, stored in tensors(run, step):
            yield (step.number, stage, name), stored


def _what(stage: str, name: str) -> str:
    """What is not seen, so that one line tells of all steps."""
    words = {
        "forward": "outputs",
        "loss": "losses",
        "gradients": "gradients after the backward pass",
        "clipping": "gradients that the optimiser gets",
        "averages": "averages of the weights",
    }
    return words.get(stage, name)


def _is_unseen(stage: str, ours: Step) -> bool:
    """Whether what is missing could not be seen; else another departure tells of it."""
    if stage == "gradients":
        return not ours.gradients
    if stage == "clipping":
        return not ours.reached
    if stage == "loss":
        return not ours.losses
    if stage == "forward":
        return not any(call.outputs for call in ours.calls)
    return stage in ("averages", "data")


def _lines(stage: str, name: str, theirs: Step, ours: Step) -> tuple[str, str]:
    """The lines of both scripts at which a stage happens."""

    def of(step: Step) -> str:
        if stage in ("data", "forward"):
            calls: Sequence[StepCall] = step.targets if name.startswith("target") else step.calls
            return calls[0].line if calls else ""
        if stage == "loss" and step.targets:
            return step.targets[0].line
        return step.lines.get("loss" if stage in ("loss", "gradients") else "update", "")

    return of(ours), of(theirs)


def _off(expected: Expected, values: np.ndarray, unit_roundoff: float) -> str:
    """How far a tensor is off, in words; its elements far below the peak, where these alone are."""
    if expected.truth.dtype.kind != "f":
        wrong = int((values != expected.truth).sum())
        return f"differs in {wrong} of {expected.truth.size} integers"
    error = expected.distance(values)
    if error.mismatched:
        verb = "is" if error.mismatched == 1 else "are"
        elements = counted(error.mismatched, "element")
        return f"has {elements} that {verb} NaN or infinite on one side"
    if expected.truth.size == 1:
        one, two = (float(x.reshape(-1)[0]) for x in (values, expected.truth))
        return f"is {one:.7g}, and {two:.7g} in the original"
    whole, of = expected.part_errors(values, unit_roundoff), "its size"
    if expected.faint is not None and max(whole) <= BUDGET:
        error, of = expected.faint.distance(values), "the size of its elements below peak/256"
    share = error.norm / error.scale if error.scale else math.inf
    return f"is off by {share:.2g} of {of}" if share < math.inf else "is not zero"


def _multiple(expected: Expected, values: np.ndarray, unit_roundoff: float) -> str:
    """Which multiple of the truth a tensor is, as the end of a sentence; "" where it is none.

    It is one where no more than rounding is left of the difference from that multiple. A number
    alone is a multiple of any other.
    """
    truth = expected.truth.reshape(-1).astype(np.float64)
    ours = values.reshape(-1).astype(np.float64)
    if truth.size < 2 or not (np.isfinite(truth).all() and np.isfinite(ours).all()):
        return ""
    power = float(truth @ truth)
    factor = float(ours @ truth) / power if power else 0.0
    if not factor:
        return ""
    if max(expected.errors((ours / factor).reshape(values.shape), unit_roundoff)) > BUDGET:
        return ""
    part = round(1.0 / factor)
    if part > 1 and abs(1.0 / factor - part) < WHOLE * part:
        return f"; it is 1/{part} of the original's"
    return f"; it is {factor:.6g} times the original's"


def settings_apart(theirs: Step, ours: Step, run: TrainingRun) -> Iterator[StepDeparture]:
    """The settings of the optimiser that differ in a step, but for weights frozen on both sides."""

    def takes_part(weight: str) -> bool:
        return (
            not theirs.reached or weight in theirs.reached or is_reached(ours.reached.get(weight))
        )

    sides = [
        {
            "kind": OPTIMIZER,
            **{
                name: {label(run, w): value for w, value in each.items() if takes_part(w)}
                for name, each in step.settings.items()
            },
        }
        for step in (theirs, ours)
    ]
    line, of_reference = (
        each.lines.get("optimizer") or each.lines.get("update", "") for each in (ours, theirs)
    )
    found: list[SettingDifference] = differences(*sides)
    for each in found:
        stage = "schedule" if each.name == "lr" else "settings"
        where = f" {each.where}" if each.where else ""
        told = f"is {each.candidate}, and {each.reference} in the original{where}"
        yield StepDeparture(theirs.number, stage, each.name, told, line, of_reference)
