"""`trainings`: two trainings as they stand, run up to a step and compared stage by stage."""

import contextlib
import io
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equivalence.comparison.kernels import described, inaccurate
from equivalence.curves import changed_runs
from equivalence.curves.changed_runs import Changed
from equivalence.curves.torch_jitter import Jitter
from equivalence.declare.renames import matches
from equivalence.errors import EquivalenceError, SideError, WeightError
from equivalence.host import devices
from equivalence.host.isolation import isolated
from equivalence.judge.outcome import Kernel
from equivalence.judge.settings import Settings
from equivalence.pipelines import trained
from equivalence.scripts import torch_side
from equivalence.scripts.judging import ENDING, Expectation, RunVerdict
from equivalence.scripts.layers import LayerCulprit, named
from equivalence.scripts.looks import NO_FAULTS, NOTHING_FITS, Faults, Fits, Looks
from equivalence.scripts.overflow import Overflow, OverflowSeen
from equivalence.scripts.recording import RunRecorder
from equivalence.scripts.running import ScriptTraining
from equivalence.scripts.single import LEAST, Float32Trials
from equivalence.scripts.steps import UNCOMPILED, ScriptNetwork, TrainingRun, demand_steps
from equivalence.structure.layers import compare_settings
from equivalence.structure.order import completed
from equivalence.structure.slots import Slot
from equivalence.structure.weights import Partners, pair, pair_found, trained_alike
from equivalence.truth.compute import MORE_RUNS
from equivalence.truth.measurement import NOISY_RUNS

Tell = Callable[[str], None]


@dataclass(frozen=True)
class TrainingsResult:
    """What became of two trainings; true where nothing differs.

    reference, candidate: their names. runs: those of the reference with noise.
    theirs, ours: both runs. settings: those of the layers, by network.
    expectation: what each tensor had to be.
    culprit: the first layer that departs, where outputs depart first.
    overflows: "reference", "candidate" -> the step in which numbers stop being finite, and where.
    kept: what layers in float32 would change; None where that was not tried.
    coarser: in which precision the culprit computes on both sides, where that differs.
    fits: mistakes of a port that were run in the reference.
    faults: those of MindSpore that explain it.
    halves: layers that the port alone computes in half precision, where nothing departs.
    kernels: those of MindSpore that are replaced by accurate ones in the run that is judged.
    """

    reference: str
    candidate: str
    steps: int
    runs: int
    theirs: TrainingRun = field(repr=False)
    ours: TrainingRun = field(repr=False)
    verdict: RunVerdict = field(repr=False)
    settings: Mapping[str, Settings] = field(repr=False)
    expectation: Expectation = field(repr=False)
    culprit: LayerCulprit | None = None
    overflows: Mapping[str, tuple[int, Overflow]] = field(default_factory=dict)
    kept: Float32Trials | None = None
    coarser: str = ""
    fits: Fits = NOTHING_FITS
    faults: Faults = NO_FAULTS
    halves: Mapping[str, str] = field(default_factory=dict)
    kernels: tuple[Kernel, ...] = ()

    def __bool__(self) -> bool:
        return not self.verdict.departures and not any(s.wrong for s in self.settings.values())


def trainings(
    reference: ScriptTraining,
    candidate: ScriptTraining,
    steps: int,
    rename: Mapping[str, str],
    constants: Sequence[str] = (),
    eager: bool = False,
    tell: Tell = lambda _: None,
) -> TrainingsResult:
    """Run two trainings up to a step, and compare each of their steps.

    rename, constants: of the weights, as of a twin.
    eager: whether the candidate runs in PyNative mode, whatever it asks for.
    tell: is called with a few words before what takes long.

    A candidate that raises after a few steps is judged by these, and raises where they are right.

    Raises EquivalenceError where a training cannot be run, or shows nothing.
    """
    from equivalence.scripts.mindspore_side import MindSporeSide, StepWatch
    from equivalence.sides.accurate import AccurateKernels
    from equivalence.stand_ins.context import StandIns, is_on_cpu
    from equivalence.stand_ins.faulty import FAULTS, Mended

    stand_ins = StandIns(every=False)
    with isolated():
        tell("the reference")

        def run_reference(
            steps: int,
            looked_into: int = 0,
            noise: int = 0,
            watch: OverflowSeen | None = None,
            changed: Changed = contextlib.nullcontext,
        ) -> TrainingRun:
            with changed():
                return run_of_reference(reference, steps, theirs, noise, looked_into, watch)

        theirs = run_of_reference(reference, steps)
        demand_steps(theirs, "reference", reference.name)
        theirs.notes += trained.note_drawing(theirs.readings)
        expectation = Expectation(theirs)
        tell("the candidate")

        def run_candidate(
            steps: int,
            looked_into: int = 0,
            single: Collection[str] = (),
            watch: OverflowSeen | None = None,
            mended: Collection[Any] = (),
            met: Callable[[Any], object] | None = None,
            least: int | None = None,
            kernels: AccurateKernels | None = None,
        ) -> TrainingRun:
            """least: so many steps are enough where it raises; None: all that are asked for."""
            recorders: list[RunRecorder] = []

            def run() -> None:
                paired = NetworkPairing(theirs, rename, constants)
                side = MindSporeSide(eager, single)
                recorder = RunRecorder(side, steps, theirs, paired, looked_into)
                recorders.append(recorder)
                observers: list[Any] = [StepWatch(side, recorder, watch)] if watch else []
                observers += [Mended(mended, met)] if mended else []
                observers += [kernels] if kernels else []
                with isolated(), silent(bool(looked_into or single or mended or kernels)):
                    candidate.run(recorder, side.watching(recorder, *observers))

            try:
                stand_ins.running(run)
            except SideError as error:
                # An error that is not of the script itself stays one, whatever its steps are.
                enough = len(recorders[-1].run.steps) >= (steps if least is None else least)
                if not (enough and error.did):
                    raise
                recorders[-1].finish({}, False)
                recorders[-1].run.raised = error.did
                failures.append(error)
            recorders[-1].run.stand_ins = tuple(sorted(stand_ins.used))
            return recorders[-1].run

        begun = time.monotonic()
        failures: list[SideError] = []
        ours = run_candidate(len(theirs.steps), least=1)
        if not (eager or ours.shows_steps):
            tell("the candidate in PyNative mode, where all of its steps are seen")
            eager = True
            ours = run_candidate(len(theirs.steps), least=1)
            ours.notes.append(UNCOMPILED)
        demand_steps(ours, "candidate", candidate.name)
        demand_renames(ours, rename)
        for count in (NOISY_RUNS, MORE_RUNS):
            for number in range(expectation.runs, count):
                tell(f"the reference with noise, {number + 1} of {count}")
                expectation.widen(run_reference(len(theirs.steps), noise=number + 1))
            verdict = expectation.judge(ours)
            if not verdict.departures:
                break
        kernels: tuple[Kernel, ...] = ()
        if may_be_kernels(verdict) and is_on_cpu():
            tell("the candidate with accurate kernels")
            kernels, ours, verdict = but_for_kernels(run_candidate, ours, verdict, expectation)
        verdict.add(expectation.of_loaders(ours))
        if ours.raised and all(each.name == ENDING for each in verdict.departures):
            raise failures[0]
        looks = Looks(run_reference, run_candidate, theirs, ours, verdict, rename, tell)
        found = looks.culprit()
        kept = looks.kept(expectation, time.monotonic() - begun)
        overflows = looks.overflows()
        seconds = max(time.monotonic() - begun, LEAST)
        faults = looks.faults(expectation, [each for each in FAULTS if not each.compiled])
        changes = {} if faults.explain_all else changed_runs.changes()
        fits = looks.fits(expectation, changes, seconds)
    return TrainingsResult(
        reference.name,
        candidate.name,
        steps,
        expectation.runs,
        theirs,
        ours,
        verdict,
        settings_of(theirs, ours, rename),
        expectation,
        found,
        overflows,
        kept,
        looks.coarser(found),
        fits,
        faults,
        looks.coarser_layers(),
        kernels,
    )


def may_be_kernels(verdict: RunVerdict) -> bool:
    """Whether kernels of MindSpore may be all that is wrong: only numbers differ, and no batch."""
    of_kernels = (each.is_numeric and each.stage != "data" for each in verdict.departures)
    return bool(verdict.departures) and all(of_kernels)


def but_for_kernels(
    run_candidate: Callable[..., TrainingRun],
    ours: TrainingRun,
    verdict: RunVerdict,
    expectation: Expectation,
) -> tuple[tuple[Kernel, ...], TrainingRun, RunVerdict]:
    """The kernels but for which a port is right, its run without them, and the verdict on that.

    No kernel, and what was, where others than those that are declared for a CPU would have to be
    replaced, or where anything else differs. Compiled code has none that could be replaced.
    """
    from equivalence.sides.accurate import AccurateKernels

    def judged(names: Collection[str]) -> tuple[AccurateKernels, TrainingRun, RunVerdict]:
        accurate = AccurateKernels(names)
        run = run_candidate(len(ours.steps), kernels=accurate)
        return accurate, run, expectation.judge(run)

    try:
        accurate, run, found = judged(devices.DEVICES["cpu"].inaccurate)
        names = [name for name in inaccurate(accurate.errors) if name in accurate.replaced]
        if found.departures or not names:
            return (), ours, verdict
        for name in names if len(names) > 1 else ():
            _, alone, without = judged([name])
            if not without.departures:
                names, run, found = [name], alone, without
                break
    except EquivalenceError:  # nor can it run as it did
        return (), ours, verdict
    kernels = described(names, accurate.errors, "cpu")
    return (kernels, run, found) if all(k.declared for k in kernels) else ((), ours, verdict)


def settings_of(
    theirs: TrainingRun, ours: TrainingRun, rename: Mapping[str, str]
) -> dict[str, Settings]:
    """The settings of the layers of both sides, by the reference's networks."""
    return {
        theirs.networks[each.of].name: compare_settings(
            theirs.networks[each.of].layers, named(each), rename
        )
        for each in ours.networks
    }


def run_of_reference(
    training: ScriptTraining,
    steps: int,
    run: TrainingRun | None = None,
    noise: int = 0,
    looked_into: int = 0,
    watch: OverflowSeen | None = None,
    kind: type[RunRecorder] = RunRecorder,
) -> TrainingRun:
    """A run of the reference. given: a first one, of which it gets weights and batches."""
    side = torch_side.TorchSide(own_gradients=training.rank is not None)
    recorder = kind(side, steps, run, looked_into=looked_into)
    observers: list[Any] = [Jitter(noise)] if noise else []
    observers += [torch_side.StepWatch(recorder, watch)] if watch else []
    with isolated(), silent(run is not None):
        training.run(recorder, side.watching(recorder, *observers))
    return recorder.run


@contextlib.contextmanager
def silent(wanted: bool) -> Iterator[None]:
    """A context in which a run that is repeated prints nothing."""
    if not wanted:
        yield
        return
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


class NetworkPairing:
    """Finds the reference's network of each of the candidate's, by the names of their weights."""

    def __init__(self, theirs: TrainingRun, rename: Mapping[str, str], constants: Sequence[str]):
        self.theirs, self.rename, self.constants = theirs, rename, constants
        self.taken: set[int] = set()

    def fits(self, slots: Mapping[str, Slot]) -> bool:
        """Whether weights pair up with those of a network that has no partner yet."""
        free = (n for n in range(len(self.theirs.networks)) if n not in self.taken)
        return any(not self._pairs(number, slots)[1] for number in free)

    def _pairs(self, number: int, slots: Mapping[str, Slot]) -> tuple[Partners, bool]:
        return pair_found(*self._both(number, slots), self.constants)

    def _both(
        self, number: int, slots: Mapping[str, Slot]
    ) -> tuple[Mapping[str, Slot], dict[str, Slot], dict[str, str]]:
        """The weights of a network of the reference, of the candidate's, and the renames."""
        theirs, rename = self.theirs.networks[number].slots, self._renames(slots)
        return theirs, trained_alike(theirs, slots, rename), rename

    def _renames(self, slots: Mapping[str, Slot]) -> dict[str, str]:
        """The renames that are of a network; the others are of another one of the script."""
        return {old: new for old, new in self.rename.items() if matches(old, slots)}

    def __call__(self, network: ScriptNetwork, number: int) -> tuple[int, Partners]:
        """The number of the reference's network, and the pairs of weights."""
        networks = self.theirs.networks
        free = [n for n in range(len(networks)) if n not in self.taken]
        for each in sorted(free, key=lambda n: n != number):
            partners, complaint = self._pairs(each, network.slots)
            if not complaint:
                self.taken.add(each)
                return each, partners
        if not free:
            raise WeightError(
                f"the candidate calls {number + 1} networks ({network.name} is the last), and the "
                f"reference {len(networks)}"
            )
        other = number if number in free else free[0]
        self.taken.add(other)
        both = self._both(other, network.slots)
        names = f"the weights of {networks[other].name} and {network.name}"
        if by_order := completed(*both, self.constants):
            options = [f"--rename {old}={new}" for old, new in by_order.rename.items()]
            options += [f"--constant {name}" for name in by_order.constants]
            raise WeightError(
                f"{names} do not pair up by name, but all do by order and shape; if these belong "
                f"together, write {' '.join(options)}"
            )
        try:
            return other, pair(*both, self.constants)
        except WeightError as error:
            raise WeightError(
                f"{names}: {error}; --rename MINDSPORE=PYTORCH says what belongs together"
            ) from None


def demand_renames(candidate: TrainingRun, rename: Mapping[str, str]) -> None:
    """Raise WeightError where a rename is of no network of the candidate's run."""
    names = [name for network in candidate.networks for name in network.slots]
    for old in rename:
        if not matches(old, names):
            raise WeightError(f"--rename {old}={rename[old]}: no weight of the candidate has {old}")
