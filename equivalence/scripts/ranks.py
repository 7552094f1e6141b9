"""Trainings on several ranks, by scripts as they stand: each rank is compared with the same rank.

The reference's script runs under `torchrun`, and the candidate's under `msrun`. What a rank of the
candidate gets is what the same rank of the reference had; of a reference that is one process, its
batches, and the rank's part of each weight. Each rank's process calls
`python -m equivalence.scripts.ranks FOLDER`.
"""

import copy
import importlib
import os
import pickle
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import files
from equivalence.declare.data_parallel import LIMIT
from equivalence.distributed import launch
from equivalence.distributed.launch import LAUNCHERS, say
from equivalence.distributed.rank import keep_own_files
from equivalence.distributed.torch_meeting import meeting
from equivalence.host.isolation import isolated
from equivalence.scripts.compare import Pairing, Result, Tell, run_of_reference, settings_of
from equivalence.scripts.judging import STAGES, Departure, Expectation, Verdict, label
from equivalence.scripts.recording import Recorder
from equivalence.scripts.running import Training
from equivalence.scripts.steps import Network, Run, Step, Stored, demand_steps, is_reached
from equivalence.scripts.text import document, lines
from equivalence.structure.slots import Slot
from equivalence.structure.weights import Partners, pair_found
from equivalence.truth.compute import MORE_RUNS
from equivalence.truth.measurement import NOISY_RUNS
from equivalence.words import counted, listed

NEAR = 1e-3
"""Values within this relative distance are explained by others."""

LAUNCHED_BY = {"reference": "torchrun", "candidate": "msrun"}

Parts = dict[str, tuple[int, int]]
"""Name of a weight -> the axis along which it is cut, and the number of the part."""


@dataclass(frozen=True)
class Job:
    """What all ranks of a launch do.

    training: of one side. folder: the working directory. ranks: how many there are.
    noises: the runs of the reference: 0 without noise, n with the n-th.
    given: of each rank, the reference's run that it gets; none before there is one.
    kept: the ranks of the candidate that keep their own initial weights.
    """

    training: Training
    folder: str
    ranks: int
    steps: int
    noises: Sequence[int] = ()
    given: Sequence[Run] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    constants: Sequence[str] = ()
    eager: bool = False
    kept: Sequence[int] = ()


@dataclass
class Ran:
    """What a rank leaves.

    runs: those of its script. met: whether the script has met other ranks.
    parts: number of a network of the reference -> what of its weights the rank has in part.
    begun: names of weights that begin as another rank's -> that rank.
    """

    runs: list[Run]
    met: bool = True
    parts: dict[int, Parts] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RanksResult:
    """What became of two trainings on ranks; true where no rank differs.

    results: of each rank. one_process: whether the reference is one process.
    hint: what explains the first departure; "" where nothing is known.
    """

    results: Sequence[Result]
    one_process: bool
    hint: str = ""

    def __bool__(self) -> bool:
        return all(map(bool, self.results))

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        """The verdict, the first departure with its lines, and what was not seen."""
        return [*_told(self)]

    @property
    def document(self) -> dict[str, Any]:
        """All of it as JSON."""
        ranks = [document(each) for each in self.results]
        told = {"equal": bool(self), "one_process": self.one_process, "hint": self.hint}
        return {**told, "ranks": ranks}


def on_ranks(
    reference: Training,
    candidate: Training,
    steps: int,
    ranks: int,
    rename: Mapping[str, str],
    constants: Sequence[str] = (),
    eager: bool = False,
    tell: Tell = lambda _: None,
) -> RanksResult:
    """Run two trainings on ranks up to a step, and compare each rank's steps.

    The arguments are those of `trainings`. Raises EquivalenceError as it does, and with the last
    words of a rank that fails.
    """
    here = os.getcwd()

    def launched(training: Training, words: str, **job: Any) -> list[Ran]:
        tell(f"{words}, on {ranks} ranks")
        return _launch(Job(training, here, ranks, steps, **job))

    plain = launched(reference, "the reference", noises=range(NOISY_RUNS + 1))
    theirs = _shared([each.runs[0] for each in plain])
    one_process = not plain[0].met
    if one_process:
        theirs = [theirs[0]] * ranks
    for run in theirs:
        demand_steps(run, "reference", reference.name)
    settings = {"given": theirs, "rename": rename, "constants": constants, "eager": eager}
    found = launched(candidate, "the candidate", **settings)
    apart = [] if one_process else _apart(theirs, [each.runs[0] for each in found])
    if apart:
        found = launched(candidate, "the candidate with weights of its own", **settings, kept=apart)
    ours = _shared([each.runs[0] for each in found])
    for run in ours:
        demand_steps(run, "candidate", candidate.name)
    expected = [
        Expectation(_cut(run, each, ranks)) for run, each in zip(theirs, found, strict=True)
    ]

    def judged(noisy: Sequence[Sequence[Run]]) -> list[Verdict]:
        runs = [_shared(together) for together in zip(*noisy, strict=True)]
        for rank, expectation in enumerate(expected):
            for together in runs:
                run = together[0 if one_process else rank]
                expectation.widen(_cut(run, found[rank], ranks))
        return [e.judge(run) for e, run in zip(expected, ours, strict=True)]

    verdicts = judged([each.runs[1:] for each in plain])
    if any(verdict.departures for verdict in verdicts):
        noises = range(NOISY_RUNS + 1, MORE_RUNS + 1)
        words = f"the reference with noise, {noises[0]} to {MORE_RUNS}"
        more = launched(reference, words, noises=noises, given=theirs)
        verdicts = judged([each.runs for each in more])
    parted = {f"{of}:{n}" for each in found for of, parts in each.parts.items() for n in parts}
    _compare_ranks(theirs, ours, verdicts, parted)
    results = [
        Result(
            reference.name,
            candidate.name,
            steps,
            expectation.runs,
            expectation.plain,
            run,
            verdict,
            settings_of(theirs[0], run, rename),
            expectation,
        )
        for expectation, run, verdict in zip(expected, ours, verdicts, strict=True)
    ]
    result = RanksResult(results, one_process)
    first_rank = _first(results)
    hint = "" if first_rank is None else _hint(results, first_rank, apart, found[first_rank].begun)
    return replace(result, hint=hint)


# What the ranks' processes do.


def _launch(job: Job) -> list[Ran]:
    """What all ranks leave. Raises SideError where one fails."""
    launcher = LAUNCHED_BY[job.training.role]
    with files.temporary() as temporary:
        folder = Path(temporary)
        (folder / "job").write_bytes(pickle.dumps(job))
        name = f"the {job.training.role} {job.training.name}"
        run = launch.Run(name, launcher, job.ranks, folder, LIMIT)
        run([__name__, temporary])
        return [pickle.loads(rank.file("npz").read_bytes()) for rank in run.ranks]


def main(folder: Path) -> None:
    """Run the script of one rank, or the scheduler that MindSpore has besides."""
    job: Job = pickle.loads((folder / "job").read_bytes())
    if os.environ.get("MS_ROLE") == "MS_SCHED":
        from equivalence.distributed import rank_mindspore

        rank_mindspore.communicate()
        return
    number = int(os.environ[LAUNCHERS[LAUNCHED_BY[job.training.role]].rank])
    rank = launch.Rank(folder, number)
    with keep_own_files(rank):
        os.chdir(job.folder)
        training = replace(job.training, rank=number)
        ran = (_reference if training.role == "reference" else _candidate)(job, training, number)
        say("end")
        part = rank.file("part")
        part.write_bytes(pickle.dumps(ran))
        part.replace(rank.file("npz"))


class _Telling(Recorder):
    """Says in the log of a rank how far it is."""

    waits = True

    def updated(self) -> None:
        super().updated()
        say(f"step {len(self.run.steps) + 1} of {self.steps}")


def _reference(job: Job, training: Training, number: int) -> Ran:
    """The runs of one rank of the reference."""
    given = job.given[number] if job.given else None
    runs: list[Run] = []
    with meeting(number, job.ranks) as met:
        for noise in job.noises:
            steps = len(given.steps) if given else job.steps
            say(f"step 1 of {steps}")
            runs.append(run_of_reference(training, steps, given, noise, kind=_Telling))
            given = given or runs[0]
    return Ran(runs, met.asked)


def _candidate(job: Job, training: Training, number: int) -> Ran:
    """The run of one rank of the candidate."""
    from equivalence.scripts.mindspore_side import MindSporeSide

    paired = _OfRank(job, number)
    side = MindSporeSide(job.eager)
    recorder = _Telling(side, len(paired.theirs.steps), paired.theirs, paired)
    recorder.loads = number not in job.kept
    say(f"step 1 of {recorder.steps}")
    with isolated():
        training.run(recorder, side.watching(recorder))
    return Ran([recorder.run], True, paired.parts, paired.begun)


class _OfRank(Pairing):
    """Finds the reference's network of each of a rank's; it may have a part of some weights.

    parts: what it has in part.
    begun: weights that begin as another rank's -> that rank. They stay so: of parts, the network is
        right where all of them are that rank's.
    """

    def __init__(self, job: Job, number: int):
        super().__init__(copy.deepcopy(job.given[number]), job.rename, job.constants)
        self.number, self.ranks = number, job.ranks
        self.others = job.given
        self.parts: dict[int, Parts] = {}
        self.begun: dict[str, int] = {}

    def _pairs(self, number: int, slots: Mapping[str, Slot]) -> tuple[Partners, bool]:
        partners, complaint = super()._pairs(number, slots)
        if not complaint:
            return partners, complaint
        whole = self.others[self.number].networks[number].slots
        axes = _axes(whole, slots, self.rename, self.constants, self.ranks)
        cut = {n: _slot(s, axes.get(n), self.ranks) for n, s in whole.items()}
        found, complaint = pair_found(cut, slots, self.rename, self.constants)
        if axes and not complaint:
            theirs = self.theirs.networks[number]
            theirs.slots = cut
            self.parts[number] = {name: (axis, self.number) for name, axis in axes.items()}
            return found, False
        return partners, True

    def __call__(self, network: Network, number: int) -> tuple[int, Partners]:
        """The number of the reference's network, and the pairs of weights."""
        of, partners = super().__call__(network, number)
        theirs, own = self.theirs.networks[of], partners.restored(network.initial)
        parts = self.parts.get(of, {})
        for name, whole in theirs.initial.items():
            if name in parts:
                axis, mine = parts[name]
                choices = np.split(whole, self.ranks, axis)
            else:
                mine = self.number
                choices = [each.networks[of].initial[name] for each in self.others]
            begun = own.get(name)
            same = [
                n for n, v in enumerate(choices) if begun is not None and np.array_equal(v, begun)
            ]
            taken = mine if mine in same or not same else same[0]
            theirs.initial[name] = choices[taken]
            if name in parts:
                parts[name] = parts[name][0], taken
            if taken != mine:
                self.begun[name] = taken
        return of, partners


def _axes(
    whole: Mapping[str, Slot],
    slots: Mapping[str, Slot],
    rename: Mapping[str, str],
    constants: Sequence[str],
    ranks: int,
) -> dict[str, int]:
    """Reference name -> the axis along which a rank has one of so many parts of a weight."""

    def any_shape(of: Mapping[str, Slot]) -> dict[str, Slot]:
        return {n: replace(s, shape=(1,) * len(s.shape)) for n, s in of.items()}

    partners, _ = pair_found(any_shape(whole), any_shape(slots), rename, constants)
    axes = {}
    for name, target in partners.items():
        mine, theirs = slots[name].shape, whole[target].shape
        differing = [
            axis for axis, pair in enumerate(zip(mine, theirs, strict=True)) if len({*pair}) > 1
        ]
        if len(differing) == 1 and mine[differing[0]] * ranks == theirs[differing[0]]:
            axes[target] = differing[0]
    return axes


def _slot(slot: Slot, axis: int | None, ranks: int) -> Slot:
    if axis is None:
        return slot
    return replace(
        slot, shape=tuple(n // ranks if a == axis else n for a, n in enumerate(slot.shape))
    )


# What is compared of ranks.


def _cut(run: Run, ran: Ran, ranks: int) -> Run:
    """A run of one process with the parts of its weights that a rank has."""
    if not ran.parts:
        return run
    cut = {f"{of}:{name}": part for of, parts in ran.parts.items() for name, part in parts.items()}

    def of(key: str, stored: Stored) -> Stored | None:
        axis, number = cut.get(key, (None, 0))
        if axis is None:
            return stored
        if stored.sketched:
            return None
        values = np.split(stored.values, ranks, axis)[number]
        return replace(stored, values=values, shape=values.shape)

    def all_of(tensors: Mapping[str, Stored]) -> dict[str, Stored]:
        return {k: s for k, v in tensors.items() if (s := of(k, v)) is not None}

    def step(whole: Step) -> Step:
        gradients, reached = all_of(whole.gradients), all_of(whole.reached)
        weights = all_of(whole.weights)
        return replace(whole, gradients=gradients, reached=reached, weights=weights, averages=None)

    lost = [k for k in cut if k in run.steps[0].weights and run.steps[0].weights[k].sketched]
    notes = [f"not compared, for they are large: {listed(lost)}"] if lost else []
    return replace(run, steps=[step(each) for each in run.steps], notes=[*run.notes, *notes])


def _shared(runs: Sequence[Run]) -> list[Run]:
    """The runs of all ranks, where a weight's gradient is that of the rank that updates it.

    An optimiser that is cut over the ranks has none, or zeros, for what others update and send.
    What they send shows in the weights after the update.
    """
    steps = [list(run.steps) for run in runs]
    for each in zip(*(run.steps for run in runs), strict=False):
        place = each[0].number - 1
        for rank, step in enumerate(each):
            others = [other for other in each if other is not step]
            left = [
                (name, other)
                for name in step.weights
                if not is_reached(step.reached.get(name))
                for other in others
                if is_reached(other.reached.get(name))
            ]
            if left:
                settings = {
                    setting: {**{n: o.settings.get(setting, {}).get(n) for n, o in left}, **values}
                    for setting, values in step.settings.items()
                }
                order = {**dict.fromkeys(step.weights), **dict.fromkeys(step.reached)}
                reached = step.reached | {name: other.reached[name] for name, other in left}
                reached = {name: reached[name] for name in order if name in reached}
                steps[rank][place] = replace(step, reached=reached, settings=settings)
    return [replace(run, steps=made) for run, made in zip(runs, steps, strict=True)]


def _apart(theirs: Sequence[Run], ours: Sequence[Run]) -> list[int]:
    """Ranks whose initial weights differ from the first rank's, where the reference's do not."""
    found = []
    for rank in range(1, len(ours)):
        for network in range(min(len(run.networks) for run in (*theirs, *ours))):
            of = ours[0].networks[network].of
            alike = _equal(theirs[0].networks[of].initial, theirs[rank].networks[of].initial)
            mine = ours[rank].networks[network].initial
            if alike and not _equal(ours[0].networks[network].initial, mine):
                found.append(rank)
    return sorted({*found})


def _equal(one: Mapping[str, np.ndarray], two: Mapping[str, np.ndarray]) -> bool:
    return one.keys() == two.keys() and all(np.array_equal(one[n], two[n]) for n in one)


def _compare_ranks(
    theirs: Sequence[Run], ours: Sequence[Run], verdicts: Sequence[Verdict], parted: Collection[str]
) -> None:
    """Add a departure for weights that are the same in all ranks in the original alone.

    parted: weights of which each rank has a part.
    """
    last = min(len(run.steps) for run in (*theirs, *ours)) - 1
    for rank in range(1, len(ours)):
        for name in theirs[0].steps[last].weights.keys() - parted:
            sides = [
                (runs[0].steps[last].weights.get(name), runs[rank].steps[last].weights.get(name))
                for runs in (theirs, ours)
            ]
            pairs = [(o, t) for o, t in sides if o is not None and t is not None]
            if len(pairs) == len(sides):
                same = [np.array_equal(one.values, two.values) for one, two in pairs]
                if same == [True, False] and not verdicts[rank].departures:
                    told = "is not the first rank's to the bit, as in the original"
                    name = label(theirs[0], name)
                    verdicts[rank].departures.append(Departure(last + 1, "update", name, told))


def _first(results: Sequence[Result]) -> int | None:
    """The rank that departs first; None where none does."""

    def place(rank: int) -> tuple[int, int, int]:
        first = results[rank].verdict.departures[0]
        return first.step, STAGES.index(first.stage), rank

    departing = [rank for rank, each in enumerate(results) if each.verdict.departures]
    return min(departing, key=place) if departing else None


def _hint(
    results: Sequence[Result], rank: int, apart: Sequence[int], begun: Mapping[str, int]
) -> str:
    """What explains the first departure, as a sentence; "" where nothing does."""
    result = results[rank]
    first = result.verdict.departures[0]
    if begun:
        others = sorted({*begun.values()})
        return f"{listed([*begun])} begins as that of {_listed(others)}, not as that of rank {rank}"
    if rank in apart:
        return "it begins with weights of its own: the first rank's are not sent to it"
    if first.step > len(result.ours.steps):
        return ""
    theirs, ours = (run.steps[first.step - 1] for run in (result.theirs, result.ours))
    if first.stage == "clipping":
        return _of_gradients(first, result, theirs, ours, len(results))
    if first.stage == "forward" and (norms := _synchronised(result)):
        return f"the original normalises {listed(norms)} by the batches of all ranks"
    if first.stage == "data":
        return _of_data(first, results, rank)
    if first.stage == "update" and first.step > 1:
        return _of_statistics(first, results, rank)
    return ""


def _synchronised(result: Result) -> list[str]:
    """The norms over all ranks in the original that are norms of a rank's batch in the port."""
    kinds = {layer.kind for each in result.ours.networks for layer in each.layers}
    if not any(kind.startswith("BatchNorm") for kind in kinds):
        return []
    return [
        layer.path
        for each in result.theirs.networks
        for layer in each.layers
        if layer.kind == "SyncBatchNorm"
    ]


def _of_gradients(first: Departure, result: Result, theirs: Step, ours: Step, ranks: int) -> str:
    for key, got in ours.reached.items():
        if label(result.theirs, key) != first.name or key not in theirs.reached:
            continue
        want, own = theirs.reached[key].values, ours.gradients.get(key)
        if _near(got.values, ranks * want):
            return f"it is {ranks} times the original's: summed over the ranks, and not averaged"
        if _near(ranks * got.values, want):
            return f"it is 1/{ranks} of the original's: divided by the number of ranks too often"
        if own is not None and _near(got.values, own.values):
            return "it is the rank's own: not averaged over the ranks"
    return ""


def _of_data(first: Departure, results: Sequence[Result], rank: int) -> str:
    def inputs(run: Run) -> list[np.ndarray]:
        return [g.values for call in run.steps[first.step - 1].calls for g in call.inputs]

    got = inputs(results[rank].ours)
    for other, result in enumerate(results):
        want = inputs(result.theirs) if first.step <= len(result.theirs.steps) else []
        same = len(got) == len(want) and all(map(np.array_equal, got, want))
        if other != rank and same and want:
            return f"it is the original's of rank {other}"
    return ""


def _of_statistics(first: Departure, results: Sequence[Result], rank: int) -> str:
    """Whose statistics a rank goes on from: what a step is off is a multiple of their distance."""
    before, at = first.step - 2, first.step - 1
    theirs, ours = results[rank].theirs.steps, results[rank].ours.steps
    for key, want in theirs[at].weights.items():
        if label(results[rank].theirs, key) != first.name:
            continue
        off = (ours[at].weights[key].values - want.values).reshape(-1)
        own = ours[before].weights[key].values
        firsts = results[0].theirs.steps[before].weights[key].values
        its = theirs[before].weights[key].values
        sent = results[0].ours.steps[before].weights[key].values
        if _parallel(off, (own - firsts).reshape(-1)):
            return "it goes on from its own, and from the first rank's in the original"
        if _parallel(off, (sent - its).reshape(-1)):
            return "it goes on from the first rank's, and from its own in the original"
    return ""


def _parallel(one: np.ndarray, two: np.ndarray) -> bool:
    size = float(np.linalg.norm(one) * np.linalg.norm(two))
    return size > 0.0 and float(one @ two) >= (1.0 - NEAR) * size


def _near(got: np.ndarray, values: np.ndarray) -> bool:
    if got.shape != values.shape:
        return False
    return bool(np.linalg.norm(got - values) <= NEAR * np.linalg.norm(values))


# What is said.


def _told(result: RanksResult) -> Iterator[str]:
    count = len(result.results)
    first = _first(result.results)
    if first is None:
        verdicts = [each.verdict for each in result.results]
        together = replace(
            verdicts[0],
            compared=sum(each.compared for each in verdicts),
            undecidable=sum(each.undecidable for each in verdicts),
            worst=max(each.worst for each in verdicts),
            notes=[*dict.fromkeys(note for each in verdicts for note in each.notes)],
        )
        whole = result.results[0]
        yield from lines(
            replace(whole, candidate=f"{whole.candidate} on {count} ranks", verdict=together)
        )
    else:
        rank = result.results[first]
        told = lines(replace(rank, candidate=f"rank {first} of {count} of {rank.candidate}"))
        place = next((n for n, line in enumerate(told[2:], 2) if not line.startswith("    ")), 2)
        told[place:place] = [f"    {result.hint}"] * bool(result.hint)
        yield from told
        others = [n for n, each in enumerate(result.results) if n != first]
        wrong = [n for n in others if result.results[n].verdict.departures]
        if wrong:
            yield f"{_listed(wrong)} {'departs' if len(wrong) == 1 else 'depart'}, too"
        if right := [n for n in others if n not in wrong]:
            yield f"{_listed(right)} {'is' if len(right) == 1 else 'are'} right"
    if result.one_process:
        yield f"the original is one process: each of {counted(count, 'rank')} is compared with it"


def _listed(ranks: Sequence[int]) -> str:
    return " and ".join(f"rank {rank}" for rank in ranks)


if __name__ == "__main__":  # what is pickled here is to be found by the module's own name
    importlib.import_module("equivalence.scripts.ranks").main(Path(sys.argv[1]))
