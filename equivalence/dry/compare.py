"""Both scripts in a dry run, one after the other."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from equivalence.dry.beats import Beats
from equivalence.dry.files import unwritten
from equivalence.dry.judging import DryVerdict, judge
from equivalence.dry.recorder import DryRecorder
from equivalence.dry.torch_dry import TorchDry
from equivalence.errors import EquivalenceError
from equivalence.host.isolation import isolated
from equivalence.scripts.compare import NetworkPairing, TrainingsResult, silent
from equivalence.scripts.judging import StepDeparture
from equivalence.scripts.running import ScriptTraining
from equivalence.structure.settings import RATES
from equivalence.words import counted

SECONDS = 20.0
"""What the dry run of a side may take, of the processor."""


SHOWN = {"clips": "clipping", "losses": "losses", "decays": "averages", "scale": "scales"}
"""What a step of a dry run may show, and its word."""


@dataclass(frozen=True)
class Dry:
    """What became of two dry runs.

    compared: how many steps. departures: what departs, the first step of each kind.
    notes: sentences on what was run, and what was not.
    """

    compared: int = 0
    departures: Sequence[StepDeparture] = ()
    notes: Sequence[str] = ()


def dry(
    reference: ScriptTraining,
    candidate: ScriptTraining,
    result: TrainingsResult,
    rename: Mapping[str, str],
    constants: Sequence[str] = (),
    tell: Callable[[str], None] = lambda _: None,
    seconds: float = SECONDS,
) -> Dry:
    """Run two scripts whose first steps agree once more, without passes, for 10,001 steps.

    result: of the first steps. rename, constants: of the weights.
    seconds: of the processor, for each side.
    """
    first = result.theirs
    if any(each.is_half for step in first.steps for each in step.gradients.values()):
        return Dry(notes=["no dry run: weights are in half precision"])
    if first.ended and result.ours.ended:
        return Dry()  # all that they do has been compared
    from equivalence.dry.mindspore_dry import MindSporeDry
    from equivalence.stand_ins.context import StandIns

    tell(f"a dry run of the reference, up to {RATES:,} steps")
    theirs = DryRecorder(TorchDry(), RATES, first, None, seconds)
    with _kept(lambda: theirs.beats):
        _run(reference, theirs)
    tell(f"a dry run of the candidate, up to {len(theirs.beats.steps):,} steps")
    made: list[DryRecorder] = []

    def run() -> None:
        recorder = DryRecorder(
            MindSporeDry(),
            len(theirs.beats.steps),
            first,
            NetworkPairing(first, rename, constants),
            seconds,
            theirs.answers,
        )
        made.append(recorder)
        _run(candidate, recorder)

    with _kept(lambda: made[-1].beats):
        StandIns(every=False).running(run)
    ours = made[-1]
    verdict = judge(theirs.beats, ours.beats, result.expectation, first)
    notes = _notes(theirs.beats, ours.beats, verdict)
    return Dry(verdict.compared, verdict.departures, notes)


def _run(training: ScriptTraining, recorder: DryRecorder) -> None:
    """Run a side."""
    with isolated(), silent(True), unwritten():
        training.run(recorder, recorder.side.watching(recorder))


@contextlib.contextmanager
def _kept(beats: Callable[[], Beats]) -> Iterator[None]:
    """A context in which what a run raises is kept with its beats."""
    try:
        yield
    except EquivalenceError as error:
        beats().failed = str(error).partition("\n")[0]


def _notes(theirs: Beats, ours: Beats, verdict: DryVerdict) -> list[str]:
    """What was run, and what was not."""
    count = verdict.compared
    what = ["rates and settings"]
    for name, word in SHOWN.items():
        if all(any(getattr(b, name) for b in side.steps[:count]) for side in (theirs, ours)):
            what.append(word)
    told = [
        f"dry run: both scripts without their passes, {counted(count, 'step')}: {', '.join(what)}"
    ]
    if not count:
        told = ["dry run: no step was seen without passes"]
    for name, side in (("original", theirs), ("port", ours)):
        if side.failed:
            told.append(f"the dry run of the {name} ends there: {side.failed}")
        for network in side.counting:
            told.append(
                f"in the dry run {network} of the {name} is called each time, since it counts its "
                "calls, and answers the same each time"
            )
    most = max(len(theirs.steps), len(ours.steps))
    stopped = not (theirs.ended or theirs.failed)
    if stopped and count < RATES:
        told.append(f"what comes after step {count:,} had no time left in the dry run")
    elif most > count and not (ours.ended or ours.failed):
        told.append(f"the port's dry run had no time left after step {count:,}")
    for name, step in verdict.unlike.items():
        told.append(
            f"not compared in the dry run: {name}, which differs without passes and agrees with "
            f"them in step {step}; it hangs on more than what the networks give"
        )
    return told
