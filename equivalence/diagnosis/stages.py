"""Which stage of a training step goes wrong: the network with its loss, or the update.

First the network is compared by itself on the first batch, forward and backward. The update is
diagnosed where the network is right, or where only its gradients are off and the reference's own
gradients are off too (half precision loses them, unless the step scales the loss). The first step
that goes wrong, and the shape of its error, show the part: the weight decay, the learning rate,
the momentum, or the scale of the gradients. None of these is said unless the reference, run again
with it, gives the candidate's weights in all steps.
"""

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from equivalence.comparison import kept, kernels, sides
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.twin import TwinCase
from equivalence.diagnosis import network, whole
from equivalence.diagnosis.found import TRAINING, UPDATE, Diagnosis, LayerError
from equivalence.diagnosis.in_situ import InSitu
from equivalence.diagnosis.search import Search
from equivalence.errors import EquivalenceError
from equivalence.judge import tensors
from equivalence.judge.precision import BUDGET
from equivalence.judge.verdict import judge
from equivalence.sides.feed import Feed
from equivalence.sides.protocols import Watch
from equivalence.structure import pairing
from equivalence.truth.compute import compute
from equivalence.truth.mistakes import usual
from equivalence.truth.updates import (
    Act,
    AroundUpdates,
    Changed,
    Rates,
    another_momentum,
    known_factors,
    scales_of,
)
from equivalence.words import listed, raised

EXPLAINED = 1e-2
"""An explanation may leave at most this share of an update's error; with more it does not count."""

PROVEN = 1e-4
"""A mistake is proven if the reference that makes it leaves only rounding, or this share of the
error."""

NAMED = 1e-3
"""A factor is called by a name if it is that within this share."""

UNPROVEN = "run with that in every step, the reference gives other weights"
"""What is said of a multiple that explains the first wrong step alone."""

RATES = 6
"""At most this many learning rates are told; the rest is counted."""

PATIENCE = 60.0
"""Processor seconds after which no more usual mistakes are tried."""

NO_MULTIPLE = "no multiple of update, weight or gradient"
"""What is said of an error that none of these explains."""

LOSS, STATE, GRADIENTS = "loss", "state", "gradients"

REFERENCE = "the reference's update"
"""What the text calls the reference's update, which an error may be a multiple of."""


def diagnose(case: TwinCase, seed: int, every: bool = False, mistaken: bool = False) -> Diagnosis:
    """Blame layers of the network, or else the stage of the step, and say why.

    mistaken: whether accurate kernels leave something wrong, so that none of them is to blame.
    Raises EquivalenceError where `check` does.
    """
    try:
        diagnosis = network.diagnose(Search(case.network, seed, mistaken=mistaken), every)
    except EquivalenceError as error:  # the step calls its network otherwise, or parts of it
        return _as_a_whole(case, seed, error, mistaken)
    culprits, notes = diagnosis.culprits, diagnosis.notes
    own = [layer for layer in culprits if layer.reference or layer.forward > BUDGET]
    if own != culprits and _blind_backward(case.network, seed):
        culprits = own
        notes = [*notes, "by itself the network loses gradients on either side; see the step"]
    ill_posed = None
    if not culprits:
        training = _StagedTraining(case, seed, mistaken)
        ill_posed = training.ill_posed
        culprits = [
            LayerError(stage, stage, (TRAINING,) * 2, causes=causes)
            for stage, causes in training.stages()
        ]
    return replace(diagnosis, case=case, culprits=culprits, notes=notes, ill_posed=ill_posed)


def _as_a_whole(
    case: TwinCase, seed: int, error: EquivalenceError, mistaken: bool = False
) -> Diagnosis:
    """The diagnosis where the network cannot be called by itself with what the step gets."""
    why = raised(error).removeprefix(f"{type(error).__name__}: ").removeprefix(f"{case.name}: ")
    accurate = mistaken and kernels.replaceable(case)
    step, training = whole.FirstStep(case, seed, accurate), _StagedTraining(case, seed, mistaken)
    moved = training.wrong_updates(1)
    culprits = whole.first_wrong(step.without(moved), step.callers)
    if not culprits:
        training.gradients = {name: each.truth for name, each in step.gradients.items()}
        culprits = [
            step.told(LayerError(stage, stage, (TRAINING,) * 2, causes=causes), moved)
            for stage, causes in training.stages()
        ]
    notes = [f"by itself the network cannot be called with what the step gets: {why}"]
    return Diagnosis(case, step.layers, culprits, notes, training.ill_posed)


def _blind_backward(case: TwinCase, seed: int) -> bool:
    """Whether the reference itself loses gradients, as without a scale in float16."""
    u = CaseAtSeed(case, seed).unit_roundoff
    return any(
        tensors.of_gradient(name) and (truth.own_needed > BUDGET or truth.undecidable(u))
        for name, truth in kept.reference(case, seed).expected.items()
    )


@dataclass
class _StagedStep:
    """One step of both sides.

    number: from 1 on.
    truth: name -> by how much the step moves this weight of the reference.
    candidate: name -> by how much it moves this weight of the candidate.
    """

    number: int
    truth: Mapping[str, np.ndarray]
    candidate: Mapping[str, np.ndarray]

    def error(self, name: str) -> np.ndarray:
        return self.candidate[name] - self.truth[name]


class _StagedTraining:
    """Both sides of a training, with the updates of every step."""

    def __init__(self, case: TwinCase, seed: int, mistaken: bool = False):
        drawn, twin = CaseAtSeed(case, seed), case.twin
        self.case, self.sample = case, drawn.sample()
        self.unit_roundoff = drawn.unit_roundoff
        self.measurement, candidate = drawn.measurement(self.sample), sides.build_candidate(case)
        self.reference = self.measurement.network
        self.steps = twin.steps or 0
        self.reference.noted = candidate.noted = range(1, self.steps + 1)
        partners = pairing.partners(case, self.reference.slots(), candidate.slots())
        self.expected = compute(self.measurement).without(partners.alone)
        feed = Feed(self.sample, partners, case.phase)
        self.raw = candidate.run(feed)
        if mistaken and kernels.replaceable(case):
            eager = sides.build_candidate(replace(case, execution="pynative"))
            eager.noted = candidate.noted
            self.raw = kernels.exactly(
                self.raw,
                self.expected,
                self.unit_roundoff,
                functools.partial(eager.run, feed),
                case.execution != "pynative",
            )
        self.trace = self.expected.replace_undecided(self.raw)
        judged = judge(self.expected, self.trace, drawn.unit_roundoff)
        self.known = known_factors(self.reference.step)
        self.ill_posed = judged.ill_posed
        self.wrong = {verdict.name for verdict in judged.differing}
        self.gradients: Mapping[str, np.ndarray] | None = None  # where they are known otherwise
        self.problems = [
            f"{verdict.name}: {verdict.problem}" for verdict in judged.differing if verdict.problem
        ]

    def stages(self) -> list[tuple[str, list[str]]]:
        """The stage to blame, with its causes; empty where nothing is wrong.

        The loss is blamed only where the updates are right. Where one step is a whole epoch, its
        loss follows from the updates within. What the step keeps comes last.
        """
        if not self.wrong or self.ill_posed:
            return []
        updates = [self.wrong_updates(step) for step in range(1, self.steps + 1)]
        first = next((step for step, names in enumerate(updates, 1) if names), None)
        if first is None and not any(name.startswith("loss[") for name in self.wrong):
            if handed := self._causes_of_gradients():
                return [(GRADIENTS, handed)]
            return (
                [(STATE, self.problems or self._causes_of_state())] if self._wrong_state() else []
            )
        if first is None:
            return [(LOSS, self.problems or self._causes_of_loss())]
        if self.problems:
            return [(UPDATE, self.problems)]
        causes, handed = self._causes_of_update(first, updates), self._causes_of_gradients()
        if len(handed) > 1 and any(NO_MULTIPLE in cause for cause in causes):
            return [(GRADIENTS, handed)]  # they explain the updates of Adam, too
        return [(UPDATE, causes)]

    def wrong_updates(self, step: int) -> list[str]:
        """The weights that a step moves wrongly, by their names in the reference."""
        prefix = tensors.update(step, "")
        return [name.removeprefix(prefix) for name in self.wrong if name.startswith(prefix)]

    def _causes_of_gradients(self) -> list[str]:
        """What the optimisers get wrongly, and by which factor; none where all is right."""
        names = [n for n in self.expected if n in self.wrong and tensors.of_handed(n)]
        if not names:
            return []
        told = listed([name.partition(":")[2] for name in names])
        causes = [f"what the optimiser gets is wrong: {told}"]
        ratios = []
        for name in names:
            truth, got = self.expected[name].truth.ravel(), self.trace[name].ravel()
            ratio = float(truth @ got / (truth @ truth)) if truth.size == got.size else 0.0
            if np.linalg.norm(got - ratio * truth) > EXPLAINED * np.linalg.norm(got):
                return causes
            ratios.append(ratio)
        if max(ratios) - min(ratios) <= NAMED * abs(max(ratios)):
            factor = next((n for n, f in self.known.items() if abs(ratios[0] / f - 1) < NAMED), "")
            causes.append(f"{ratios[0]:.6g} times the reference's{f': {factor}' if factor else ''}")
        return causes

    def _wrong_state(self) -> list[str]:
        return [name for name in self.expected if name in self.wrong and tensors.of_state(name)]

    def _causes_of_state(self) -> list[str]:
        names = self._wrong_state()
        told = listed([name.partition(":")[2] for name in names])
        return [f"wrong after the last step, with right updates: {told}"]

    def _causes_of_loss(self) -> list[str]:
        step = next(s for s in range(1, self.steps + 1) if tensors.loss(s) in self.wrong)
        truth, got = self.expected[tensors.loss(step)].truth, self.trace[tensors.loss(step)]
        ratio = np.linalg.norm(got) / np.linalg.norm(truth)
        return [f"in step {step} it is {ratio:.6g} times the reference's"]

    def _causes_of_update(self, number: int, updates: Sequence[list[str]]) -> list[str]:
        """Causes of what is wrong in step `number`, the first step with wrong updates."""
        names = [name for name in self._names() if name in updates[number - 1]]
        step = self._step(number)
        causes = [f"{_all_right_before(number)}{_list(names, self._names())}"]
        if still := [name for name in names if not step.candidate[name].any()]:
            return [*causes, f"{_list(still, names)} does not move"]
        if moved := [name for name in names if not step.truth[name].any()]:
            return [*causes, f"{_list(moved, names)} moves where the reference's does not"]
        if proven := self._proven(number):
            return [*causes, proven]
        return [*causes, *self._multiples_of_terms(step, names)]

    def _proven(self, number: int) -> str | None:
        """The usual mistake with which the reference gives the candidate's weights, in words."""
        deadline = time.process_time() + PATIENCE
        for mistake in usual(self.reference, scales_of(self.reference.step)):

            def made(watch: Watch = mistake.made) -> Watch:
                return watch

            if self._explains(made, number):
                when = f"all {self.steps} steps" if self.steps > 1 else "its only step"
                proof = f"so the reference gives these weights in {when}"
                return f"{whole.COMPUTES}{mistake.told}: {proof}"
            if time.process_time() > deadline:
                break
        return None

    def _explains(self, made: Callable[[], Watch], first: int) -> bool:
        """Whether the reference gives what the candidate does when it makes a mistake.

        made: the context in which it makes the mistake.
        first: the first step that is wrong; up to there the reference runs before it runs on.
        """
        steps = self.steps
        for last in sorted({first, steps}):
            self.reference.steps = last
            try:
                values = self.measurement.run(watch=made())
            except Exception:  # the mistake cannot be made in this training
                return False
            finally:
                self.reference.steps = steps
            if not all(
                self._explained(name, array)
                for name, array in values.items()
                if name in self.raw
                and not tensors.beside(name)
                and (last == steps or not name.startswith("buffer:"))
            ):
                return False
        return True

    def _explained(self, name: str, values: np.ndarray) -> bool:
        """Whether a tensor of the candidate is what the reference gives with a mistake."""
        expected, got = self.expected.get(name), self.raw[name]
        if expected is None or expected.truth.dtype.kind != "f" or expected.sketch:
            return True
        decided = np.array(self.trace[name] == got)
        changed = np.where(decided, values, got)  # anything is right where rounding decides
        if replace(expected, truth=changed).within(got, self.unit_roundoff):
            return True
        left, error = (np.linalg.norm(got - each) for each in (changed, expected.truth))
        return name in self.wrong and bool(left <= PROVEN * error)

    def _names(self) -> list[str]:
        prefix = tensors.update(1, "")
        return [n.removeprefix(prefix) for n in self.expected if n.startswith(prefix)]

    def _step(self, number: int) -> _StagedStep:
        def movements(updates) -> dict[str, np.ndarray]:
            return {
                name: updates(tensors.update(number, name))
                - (updates(tensors.update(number - 1, name)) if number > 1 else 0.0)
                for name in self._names()
            }

        return _StagedStep(
            number,
            movements(lambda name: self.expected[name].truth),
            movements(lambda name: self.trace[name].astype(np.float64)),
        )

    def _multiples_of_terms(self, step: _StagedStep, names: Sequence[str]) -> list[str]:
        """The terms of an update whose multiples make up the error, in words, or that none do."""
        before = {name: self._before(step.number, name) for name in names}
        terms = {
            REFERENCE: step.truth,
            "the weight": before,
            "the gradient": self._gradients(step.number, before),
        }
        if step.number > 1:
            terms["the update before"] = self._step(step.number - 1).truth
        error = _concatenate(step.error, names)
        columns = {what: _concatenate(values.get, names) for what, values in terms.items()}
        for what, column in columns.items():
            if (fit := _multiples(error, [column])) is not None:
                return [self._described({what: fit[0]}, step.number, names)]
        for what in (REFERENCE, "the weight", "the gradient"):
            fits = [
                _multiples(step.error(name).ravel(), [np.ravel(terms[what][name])])
                for name in names
            ]
            found = [float(fit[0]) for fit in fits if fit is not None]
            if len(found) == len(fits):
                return [_describe_range(what, sorted(found))]
        fit = _multiples(error, [columns["the weight"], columns["the gradient"]])
        if fit is not None:
            both = {"the weight": fit[0], "the gradient": fit[1]}
            return [self._described(both, step.number, names)]
        share = np.linalg.norm(error) / np.linalg.norm(columns[REFERENCE])
        return [f"off by {share:.2g} of the update; {NO_MULTIPLE}"]

    def _described(self, multiples: Mapping[str, float], number: int, names: Sequence[str]) -> str:
        """The terms of an error, with what makes them if the reference shows it in all steps."""
        changed = Changed(self.reference, names)
        rates = changed.rates(self._wanted)
        at_rates = self._explains(rates.made, number)
        if (only := multiples.get(REFERENCE)) is not None:
            factor = 1.0 + only
            told = f"{factor:.6g} times {REFERENCE}{_by_name(factor, self.known)}"
            if at_rates:
                return f"{told}, as by another learning rate{_rates(rates)}"
            return f"{told}; {UNPROVEN}"
        terms = " and ".join(f"{value:+.4g} times {what}" for what, value in multiples.items())
        told = f"off by {terms}"
        if not rates.own[number - 1 :] or not (rate := rates.own[number - 1]):
            return told
        former = rates.own[number - 2] if number > 1 else rate
        for acts, source in self._acts(changed, multiples, rate, former):
            if self._explains(functools.partial(AroundUpdates, *acts), number):
                return f"{told}, as by {source}"
        return f"{told}; {UNPROVEN}"

    def _acts(
        self, changed: Changed, multiples: Mapping[str, float], rate: float, former: float
    ) -> Iterator[tuple[list[Act], str]]:
        """What may make an error of these multiples in the reference, and its name.

        rate, former: the learning rates of the first wrong step, and of the step before it.
        """
        decay, scale = multiples.get("the weight"), multiples.get("the gradient")
        factor = 1.0 - (scale or 0.0) / rate
        scaled = f"another scale of the gradient{_by_name(factor, self.known)}"
        if decay is not None and scale is not None:
            acts = [changed.gradients_times(factor), changed.penalty(-decay / rate)]
            yield acts, f"another weight decay and {scaled}"
        elif decay is not None:
            yield [changed.penalty(-decay / rate)], "another weight decay"
            yield [changed.decay(-decay / rate)], "another weight decay"
        elif scale is not None:
            yield [changed.gradients_times(factor)], scaled
        else:
            more = multiples["the update before"] * former / rate
            yield [another_momentum(more)], "another momentum"

    def _wanted(self, number: int, name: str) -> np.ndarray:
        """The candidate's weight after step `number`."""
        update = self.raw[tensors.update(number, name)]
        return self.sample.initial(name, update.shape).astype(np.float64) + update

    def _before(self, number: int, name: str) -> np.ndarray:
        """The truth of a weight before step `number`."""
        first_update = self.expected[tensors.update(1, name)].truth
        initial = self.sample.initial(name, first_update.shape).astype(np.float64)
        return initial + (
            self.expected[tensors.update(number - 1, name)].truth if number > 1 else 0
        )

    def _gradients(self, number: int, before: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The truth's gradients of the loss in that step, by name."""
        if self.gradients is not None:
            zeros = {name: np.zeros_like(values) for name, values in before.items()}
            return {**zeros, **(self.gradients if number == 1 else {})}
        reference = sides.build_reference(self.case.network)
        weights_before = {name: self._before(number, name) for name in self._names()}
        inputs, called = self.sample.inputs(number), self.sample.arguments
        ones = {"0": np.ones(())}
        here = InSitu(self.sample, "", inputs, ones, weights_before, called)
        trace = reference.run(here, self.case.phase, "float64")
        return {name: trace[tensors.parameter_gradient(name)] for name in before}


def _all_right_before(number: int) -> str:
    return "wrong in the first step: " if number == 1 else f"right up to step {number - 1}, then: "


def _list(names: Sequence[str], of: Sequence[str]) -> str:
    if len(names) == len(of) > 1:
        return "every weight"
    return listed(names)


def _concatenate(values, names: Sequence[str]) -> np.ndarray:
    return np.concatenate([np.ravel(values(name)) for name in names])


def _multiples(error: np.ndarray, terms: Sequence[np.ndarray]) -> np.ndarray | None:
    """The factors of the terms whose sum is the error; None where more than EXPLAINED remains."""
    matrix = np.stack(terms, axis=1)
    factors = np.linalg.lstsq(matrix, error, rcond=None)[0]
    remainder = np.linalg.norm(error - matrix @ factors)
    return factors if remainder <= EXPLAINED * np.linalg.norm(error) else None


def _describe_range(what: str, multiples: Sequence[float]) -> str:
    least, most = multiples[0], multiples[-1]
    if what == REFERENCE:
        return (
            f"each weight's is another multiple of {REFERENCE}, {1 + least:.4g} to {1 + most:.4g}"
        )
    return f"each weight's is off by another multiple of {what}, {least:+.4g} to {most:+.4g}"


def _by_name(factor: float, known: Mapping[str, float]) -> str:
    """What a factor is, in brackets; "" where that is not known."""
    for name, value in known.items():
        for told, each in ((name, value), (f"1 / ({name})", 1.0 / value if value else 0.0)):
            if each not in (0.0, 1.0) and abs(factor - each) <= NAMED * abs(each):
                return f" ({_or_a_count(factor)}{told})"
    return ""


def _or_a_count(factor: float) -> str:
    """What else a factor may be that is a whole number, or one by such a number."""
    for told, each in (("a sum for a mean of", factor), ("a mean for a sum of", 1.0 / factor)):
        if each > 1.5 and abs(each - round(each)) <= NAMED * each:
            return f"{told} {round(each)}, or "
    return ""


def _rates(rates: Rates) -> str:
    """The learning rates that the candidate must have, beside the reference's, in words."""
    ours = [factor * rate for factor, rate in zip(rates.factors, rates.own, strict=True)]
    if len(ours) < 2 or not np.isfinite(ours).all():  # a step without an update has no rate
        return "; a second step would prove it"
    if np.allclose(rates.factors, rates.factors[0], rtol=NAMED):
        return " in every step"
    for told, others in (
        ("that of the step before", (ours[1:], rates.own[:-1])),
        ("that of the next step", (ours[:-1], rates.own[1:])),
        ("that of the first step", (ours, [rates.own[0]] * len(ours))),
    ):
        if np.allclose(*others, rtol=NAMED, atol=0.0):
            return f": {told}, in every step"
    shown = (listed([f"{rate:.4g}" for rate in each], RATES) for each in (ours, rates.own))
    return ": {} for {}".format(*shown)
