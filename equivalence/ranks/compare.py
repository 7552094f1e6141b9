"""Trainings on several ranks, by scripts as they stand: each rank is compared with the same rank.

What a rank of the candidate gets is what the same rank of the reference had. Of a reference that is
one process, it gets that one's batches, or its samples of them, and the rank's part of each weight.
A candidate of one process gets the batches of all ranks of the reference.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from equivalence.errors import DeclarationError
from equivalence.ranks import process, whole
from equivalence.ranks.hints import hint_of
from equivalence.ranks.parts import cut
from equivalence.ranks.process import LaunchJob, Ran
from equivalence.ranks.result import RanksResult
from equivalence.scripts.compare import Tell, TrainingsResult, settings_of
from equivalence.scripts.judging import Expectation, RunVerdict, StepDeparture, label
from equivalence.scripts.layers import LayerCulprit, culprit
from equivalence.scripts.running import ScriptTraining
from equivalence.scripts.steps import UNCOMPILED, TrainingRun, demand_steps, is_reached
from equivalence.truth.compute import MORE_RUNS
from equivalence.truth.measurement import NOISY_RUNS


def on_ranks(
    reference: ScriptTraining,
    candidate: ScriptTraining,
    steps: int,
    ranks: tuple[int, int],
    rename: Mapping[str, str],
    constants: Sequence[str] = (),
    eager: bool = False,
    tell: Tell = lambda _: None,
) -> RanksResult:
    """Run two trainings on ranks up to a step, and compare each rank's steps.

    ranks: of the reference and of the candidate: as many, or one process of either.
    The others are those of `trainings`. Raises EquivalenceError as it does, and with the last
    words of a rank that fails.
    """
    pair = _TrainingPair(reference, candidate, ranks, rename, constants, eager, tell)
    pair.run(steps)
    verdicts = pair.judged()
    results = [
        TrainingsResult(
            reference.name,
            candidate.name,
            steps,
            expectation.runs,
            expectation.plain,
            run,
            verdict,
            settings_of(pair.theirs[0], run, rename),
            expectation,
        )
        for expectation, run, verdict in zip(pair.expected, pair.ours, verdicts, strict=True)
    ]
    count = 1 if pair.one_process else ranks[0]
    result = RanksResult(results, pair.one_process, count, pair.cut)
    rank = result.first
    if rank is None:
        return result
    results[rank] = replace(results[rank], culprit=pair.culprit(rank, verdicts[rank].departures[0]))
    sides = pair.theirs[rank], pair.plain_runs[rank]
    hint = hint_of(results, rank, pair.apart, pair.found[rank].begun, sides, result.ranks)
    return replace(result, results=results, hint=hint)


class _TrainingPair:
    """Both trainings, and their runs on ranks.

    theirs: the reference's run for each rank of the candidate. found: what the candidate's leave.
    own: those of its own ranks. apart: ranks of the candidate that begin with weights of their own.
    cut: whether samples of the ranks are parts of the batches of one process.
    """

    def __init__(
        self,
        reference: ScriptTraining,
        candidate: ScriptTraining,
        ranks: tuple[int, int],
        rename: Mapping[str, str],
        constants: Sequence[str],
        eager: bool,
        tell: Tell,
    ):
        self.reference, self.candidate = reference, candidate
        self.counts = {"reference": ranks[0], "candidate": ranks[1]}
        self.rename, self.constants, self.eager, self.tell = rename, constants, eager, tell
        self.folder = os.getcwd()
        self.apart: list[int] = []
        self.own: list[TrainingRun] = []

    def _launched(self, training: ScriptTraining, words: str, steps: int, **job: Any) -> list[Ran]:
        count = self.counts[training.role]
        self.tell(f"{words}, on {count} ranks" if count > 1 else words)
        return process.run(LaunchJob(training, self.folder, count, steps, **job))

    def _refer(self, words: str, steps: int, **job: Any) -> list[list[TrainingRun]]:
        """The runs of the reference, each for the ranks of the candidate."""
        ran = self._launched(self.reference, words, steps, **job)
        self.met = any(each.met for each in ran)
        count = self.counts["candidate"]
        together = [_shared(runs) for runs in zip(*(each.runs for each in ran), strict=True)]
        plain = not self.own  # the later runs are noisy, each rank by itself
        self.own = self.own or together[0]
        if not self.met:
            return [
                [whole.shared_out(runs[0], r, count) for r in range(count)] for runs in together
            ]
        if count == 1:
            if plain:
                whole.demand_alike(together[0], self._refusal)
            return [[whole.together(runs)] for runs in together]
        return together

    def _refusal(self, words: str) -> DeclarationError:
        return DeclarationError(f"the reference {self.reference.name}: {words}")

    def _try(self, words: str, steps: int, **job: Any) -> list[Ran]:
        """The runs of the candidate."""
        one = self.one_process or self.counts["candidate"] == 1
        settings = {"rename": self.rename, "constants": self.constants, "eager": self.eager}
        job = {"given": self.theirs, "whole": one, "kept": self.apart} | settings | job
        return self._launched(self.candidate, words, steps, **job)

    def run(self, steps: int) -> None:
        """Run both sides."""
        given = range(NOISY_RUNS + 1)
        self.theirs, *self.noisy = self._refer("the reference", steps, noises=given)
        self.one_process = not self.met
        if self.one_process and self.counts["candidate"] == 1:
            raise self._refusal(
                "it never meets other ranks, and the port is one process: leave out the ranks"
            )
        for run in self.theirs:
            demand_steps(run, "reference", self.reference.name)
        self.found = self._try("the candidate", steps)
        if not (self.eager or all(each.runs[0].shows_steps for each in self.found)):
            self.eager = True
            self.found = self._try("the candidate in PyNative mode", steps)
            self.found[0].runs[0].notes.append(UNCOMPILED)
        runs = [each.runs[0] for each in self.found]
        self.cut = whole.is_cut(runs)
        if len(runs) > 1 and (not self.one_process or self.cut):
            self.apart = _apart(self.theirs, runs)
        if self.apart:
            self.found = self._try("the candidate with weights of its own", steps)
        self.plain_runs = _shared([each.runs[0] for each in self.found])
        for run in self.plain_runs:
            demand_steps(run, "candidate", self.candidate.name)
        cuts = self.cut and len(runs) > 1
        self.ours = whole.averaged(self.theirs[0], self.plain_runs) if cuts else self.plain_runs
        self.expected = [Expectation(self._part(run, rank)) for rank, run in enumerate(self.theirs)]

    def _part(self, run: TrainingRun, rank: int) -> TrainingRun:
        """What a rank has of a run of the reference."""
        mine = whole.of_samples(run, self.found[rank].runs[0]) if self.cut else run
        return cut(mine, self.found[rank].parts, len(self.found))

    def judged(self) -> list[RunVerdict]:
        """The verdict on each rank; with more noisy runs where one departs."""
        verdicts = self._judge(self.noisy)
        if any(verdict.departures for verdict in verdicts):
            noises = range(NOISY_RUNS + 1, MORE_RUNS + 1)
            words = f"the reference with noise, {noises[0]} to {MORE_RUNS}"
            steps = len(self.theirs[0].steps)
            verdicts = self._judge(self._refer(words, steps, noises=noises, given=self.own))
        if self.cut:
            whole.compare_samples(self.theirs[0], self.plain_runs, verdicts)
        parted = {
            f"{of}:{n}" for each in self.found for of, parts in each.parts.items() for n in parts
        }
        _compare_ranks(self.theirs, self.ours, verdicts, parted)
        return verdicts

    def _judge(self, noisy: Sequence[Sequence[TrainingRun]]) -> list[RunVerdict]:
        for runs in noisy:
            for rank, expectation in enumerate(self.expected):
                expectation.widen(self._part(runs[rank], rank))
        return [e.judge(run) for e, run in zip(self.expected, self.ours, strict=True)]

    def culprit(self, rank: int, first: StepDeparture) -> LayerCulprit | None:
        """The first layer of a rank that departs; None where another stage does."""
        if first.stage != "forward" or not first.is_numeric:
            return None
        at, looks = first.step, {"looked_into": first.step}
        words = f", layer by layer, in step {at}"
        noises = range(NOISY_RUNS + 1)
        every = self._refer(f"the reference{words}", at, noises=noises, given=self.own, **looks)
        plain, *noisy = (self._part(runs[rank], rank) for runs in every)
        ours = self._try(f"the candidate{words}", at, **looks)[rank].runs[0]
        return culprit(at, plain, noisy, ours, self.rename)


def _shared(runs: Sequence[TrainingRun]) -> list[TrainingRun]:
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


def _apart(theirs: Sequence[TrainingRun], ours: Sequence[TrainingRun]) -> list[int]:
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
    theirs: Sequence[TrainingRun],
    ours: Sequence[TrainingRun],
    verdicts: Sequence[RunVerdict],
    parted: Collection[str],
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
                    verdicts[rank].departures.append(StepDeparture(last + 1, "update", name, told))
