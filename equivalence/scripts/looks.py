"""What is looked for once a verdict is known. Imports no framework."""

import contextlib
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from equivalence.errors import EquivalenceError
from equivalence.scripts.judging import STAGES, Expectation, Key, RunVerdict, StepDeparture, tensors
from equivalence.scripts.layers import LayerCulprit, culprit
from equivalence.scripts.overflow import Overflow, OverflowSeen, first_step, of_gradients
from equivalence.scripts.single import LEAST, Float32Trials, search
from equivalence.scripts.steps import TrainingRun
from equivalence.truth.measurement import NOISY_RUNS
from equivalence.words import counted

AFTER = 2
"""Steps after a departure in which a changed reference must give the candidate's numbers."""

Changes = Mapping[str, Callable[[], contextlib.AbstractContextManager[Any]]]

STAGES_OF_PRECISION = ("forward", "loss", "gradients", "clipping", "update")
"""Stages in which a coarser precision may show first."""


@dataclass(frozen=True)
class Fits:
    """Mistakes of a port, run in the reference.

    found: those that give the candidate's numbers. tried: how many were run, of which failed could
    not run; left: those for which there was no time.
    """

    found: tuple[str, ...] = ()
    tried: int = 0
    failed: int = 0
    left: int = 0


@dataclass(frozen=True)
class Faults:
    """Known faults of MindSpore that explain what differs.

    told: each, with what to write. rest: the first that differs without them; None: nothing does.
    failed: why they could not be tried; "" where they were.
    """

    told: tuple[str, ...] = ()
    rest: StepDeparture | None = None
    failed: str = ""

    @property
    def explain_all(self) -> bool:
        """Whether nothing differs without them."""
        return bool(self.told) and self.rest is None


class KnownFault(Protocol):
    """A fault of MindSpore, with a sentence on what is wrong and what to write."""

    @property
    def told(self) -> str:
        """The sentence."""


NO_FAULTS = Faults()
"""Where nothing differs, or none explains it."""

NOTHING_FITS = Fits()
"""Where nothing is tried."""


class Looks:
    """Looks into the step that departs: each runs a side once more, up to that step.

    run_reference, run_candidate: run a side up to a step, see `trainings`.
    theirs, ours: both runs, of which the verdict is. tell: is called with words on what runs.
    """

    def __init__(
        self,
        run_reference: Callable[..., TrainingRun],
        run_candidate: Callable[..., TrainingRun],
        theirs: TrainingRun,
        ours: TrainingRun,
        verdict: RunVerdict,
        rename: Mapping[str, str],
        tell: Callable[[str], None],
    ):
        self.run_reference, self.run_candidate, self.tell = run_reference, run_candidate, tell
        self.theirs, self.ours, self.rename = theirs, ours, rename
        self.departures = verdict.departures
        first = verdict.departures[0] if verdict.departures else None
        self.first = first if first and first.is_numeric else None
        self._seen: dict[tuple[str, int], tuple[TrainingRun, OverflowSeen]] = {}

    def _look(self, side: str, at: int) -> tuple[TrainingRun, OverflowSeen]:
        """A run of a side that looks into a step."""
        if (side, at) not in self._seen:
            self.tell(f"the {side}, operator by operator, in step {at}")
            watch = OverflowSeen()
            if side == "candidate":
                run = self.run_candidate(at, at, watch=watch)
            else:
                run = self.run_reference(at, at, watch=watch)
            self._seen[side, at] = run, watch
        return self._seen[side, at]

    def culprit(self) -> LayerCulprit | None:
        """The first layer that departs; None where another stage than the forward pass does."""
        if self.first is None or self.first.stage != "forward":
            return None
        at = self.first.step
        plain, _ = self._look("reference", at)
        noisy = [self.run_reference(at, at, noise=n) for n in range(1, NOISY_RUNS + 1)]
        return culprit(at, plain, noisy, self._look("candidate", at)[0], self.rename)

    def faults(self, expectation: Expectation, known: Collection[KnownFault]) -> Faults:
        """The known faults of MindSpore without which the candidate is right, or less is wrong.

        The candidate runs once with what is right in the place of all of them; where it meets more
        than one and that mends anything, with each by itself.
        """
        numeric = {_key(each) for each in self.departures if each.is_numeric}
        if not numeric or self.departures[0].stage == "data":
            return NO_FAULTS
        self.tell("the candidate without known faults of MindSpore")
        met: dict[KnownFault, None] = {}

        def left(faults: Collection[KnownFault]) -> list[StepDeparture] | None:
            """What differs without faults; None where no less does, or anything else."""
            run = self.run_candidate(len(self.ours.steps), mended=faults, met=met.setdefault)
            rest = [each for each in expectation.judge(run).departures if each.is_numeric]
            return rest if {*map(_key, rest)} < numeric else None

        try:
            rest = left(known)
            if rest is None:
                return NO_FAULTS
            found = [*met]
            alone = [each for each in found if len(found) > 1 and left([each]) is not None]
        except EquivalenceError as error:
            return Faults(failed=str(error).partition("\n")[0])
        return Faults(tuple(fault.told for fault in alone or found), rest[0] if rest else None)

    def fits(self, expectation: Expectation, changes: Changes, seconds: float) -> Fits:
        """What a port may have done, run in the reference, that gives the candidate's numbers.

        changes: words -> the context in which the reference does so.
        seconds: what trials may take; what has not been tried then does not fit.
        """
        numeric = [each for each in self.departures if each.is_numeric]
        if not numeric or numeric[0].stage == "data" or self._skipping():
            return NOTHING_FITS
        until = min(numeric[0].step + AFTER, len(self.theirs.steps), len(self.ours.steps))
        ours = replace(self.ours, steps=self.ours.steps[:until])
        end, found, tried, failed = time.monotonic() + seconds, [], 0, 0
        self.tell(f"the reference with each of {len(changes)} mistakes")
        for words, changed in changes.items():
            if time.monotonic() > end:
                break
            tried += 1
            try:
                run = self.run_reference(until, changed=changed)
            except EquivalenceError:
                failed += 1
                continue  # what this reference cannot do, its port has not done
            expected = expectation.about(run)
            own = replace(self.theirs, steps=self.theirs.steps[:until])
            moves = any(each.is_numeric for each in expected.judge(own).departures)
            if moves and not any(each.is_numeric for each in expected.judge(ours).departures):
                found.append(words)
        return Fits(tuple(found), tried, failed, len(changes) - tried)

    def overflows(self) -> dict[str, tuple[int, Overflow]]:
        """Side -> the step in which its numbers stop being finite, and the first operator."""
        found = {}
        for side, run in (("reference", self.theirs), ("candidate", self.ours)):
            if at := first_step(run):
                looked, watch = self._look(side, at)
                overflow = watch.first or of_gradients(looked, at) or watch.later
                found[side] = at, overflow or Overflow("no operator was seen to make it")
        for side, at in self._skipping():
            watch = self._look(side, at)[1]
            overflow = watch.first or watch.later
            if side not in found and overflow:
                found[side] = at, replace(overflow, passing=True)
        departs = self.first.step if self.first else 0
        if "candidate" not in found and ("candidate", departs) in self._seen:
            overflow = self._seen["candidate", departs][1].first
            if overflow:  # it is divided by, say, so that what follows is finite
                found["candidate"] = departs, replace(overflow, passing=True)
        return found

    def _skipping(self) -> list[tuple[str, int]]:
        """The side that skips more updates in the first step that departs, and the step."""
        at = self.departures[0].step if self.departures else 0
        if not 0 < at <= len(self.ours.steps):
            return []
        theirs, ours = (run.steps[at - 1].overflows for run in (self.theirs, self.ours))
        if theirs == ours:
            return []
        return [("reference" if theirs > ours else "candidate", at)]

    def coarser(self, found: LayerCulprit | None) -> str:
        """In which precision the port computes the layer that departs, if the original does not."""
        if found is None or not found.layer or self.first is None:
            return ""
        (_, theirs), (_, ours) = (
            self._look(s, self.first.step) for s in ("reference", "candidate")
        )
        mine = ours.halves.get(found.of_port, "")
        its = theirs.halves.get(found.layer, "float32")
        return f"computed in {mine}, and in {its} in the original" if mine not in ("", its) else ""

    def coarser_layers(self) -> dict[str, str]:
        """The layers with weights that the port alone computes in half precision -> in which.

        Nothing departs by them in these steps; with other numbers they may overflow.
        """
        runs = (self.theirs, self.ours)
        halved = any(v.is_half for run in runs for _, _, v in tensors(run, run.steps[0]))
        if self.departures or not halved:
            return {}
        (_, theirs), (_, ours) = (self._look(side, 1) for side in ("reference", "candidate"))
        partners = {
            name.rpartition(".")[0]: source.rpartition(".")[0]
            for network in self.ours.networks
            if network.partners is not None
            for name in network.slots
            for source in network.partners.sources(name)
        }
        return {
            layer: half
            for layer, half in ours.halves.items()
            if layer in partners and partners[layer] not in theirs.halves
        }

    def kept(self, expectation: Expectation, seconds: float) -> Float32Trials | None:
        """Which layers to keep in float32; None where the port is right, or has none in half."""
        first = self.first
        if first is None or first.stage not in STAGES_OF_PRECISION:
            return None
        at = first.step
        halves = [*self._look("candidate", at)[1].halves]
        if not halves:
            return None
        self.tell(f"the candidate with layers in float32, {counted(len(halves), 'layer')}")
        last = max(STAGES.index(first.stage), STAGES.index("clipping"))

        watches: list[OverflowSeen] = []
        failed: list[str] = []

        def is_right(single: Collection[str]) -> bool:
            watches.append(OverflowSeen())
            try:
                run = self.run_candidate(at, at, single, watches[-1])
            except EquivalenceError as error:
                failed.append(str(error).partition("\n")[0])
                return False
            departures = expectation.judge(run).departures
            return not any(
                each.is_numeric and each.step <= at and STAGES.index(each.stage) <= last
                for each in departures
            )

        found = search(is_right, halves, max(seconds, LEAST))
        if failed:
            found = replace(found, failed=len(failed), why=failed[0])
        casting = () if found.layers or found.failed else tuple(watches[0].halves)
        return replace(found, casting=casting)


def _key(departure: StepDeparture) -> Key:
    return departure.step, departure.stage, departure.name
