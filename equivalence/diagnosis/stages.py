"""Which stage of a training step goes wrong: the network with its loss, or the update.

The network is compared by itself on the first batch, forward and backward. Where it is right, or
only its gradients are off and the reference's own are, too (half precision loses them, unless the
step scales the loss), what is left is the update. The first step in which it goes wrong, and what
it is off by, tell which part: the decay of weights, the learning rate, the momentum, the scale of
the gradients.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from equivalence.declare.twin import Case
from equivalence.diagnosis import diagnose as diagnosis
from equivalence.diagnosis.diagnose import Diagnosis, LayerError
from equivalence.diagnosis.in_situ import InSitu
from equivalence.judge import precision, tensors
from equivalence.judge.verdict import judge
from equivalence.sides import weights
from equivalence.truth import compute as truth
from equivalence.twins import check
from equivalence.words import listed

EXPLAINED = 1e-2
"""The share of an update's error that an explanation may leave over."""

LOSS, UPDATE = "loss", "update"

REFERENCE = "the reference's update"


def diagnose(case: Case, seed: int, every: bool = False) -> Diagnosis:
    """Blame layers of the network, or else the stage of the step after it, and say why.

    Raises EquivalenceError where `check` does.
    """
    budget = precision.budget(case.twin.name)
    found = diagnosis.diagnose(case.network, seed, every)
    culprits, notes = found.culprits, found.notes
    kept = [layer for layer in culprits if layer.reference or layer.forward > budget]
    if kept != culprits and _blind_backward(case.network, seed):
        culprits = kept
        notes = [*notes, "by itself the network loses gradients on either side; see the step"]
    if not culprits:
        culprits = [
            LayerError(stage, stage, ("training step",) * 2, causes=causes)
            for stage, causes in _Training(case, seed).stages()
        ]
    return replace(found, case=case, culprits=culprits, notes=notes)


def _blind_backward(network: Case, seed: int) -> bool:
    """Whether the reference's own gradients are wrong, too, as half precision's without a scale."""
    expected, budget = check.reference(network, seed).expected, precision.budget(network.twin.name)
    over = [name for name, known in expected.items() if known.own_needed > budget]
    return any(name.startswith("gradient:") for name in over)


@dataclass
class _Step:
    """One step of both sides: what the weights with these names are moved by in it."""

    number: int
    truth: Mapping[str, np.ndarray]
    candidate: Mapping[str, np.ndarray]

    def error(self, name: str) -> np.ndarray:
        return self.candidate[name] - self.truth[name]


class _Training:
    """Both sides of a training, with the updates of every step."""

    def __init__(self, case: Case, seed: int):
        unit_roundoff = check.case_unit_roundoff(case, seed)
        twin, self.sample = case.twin, check.draw(case, seed)
        self.case = case
        reference, candidate = check.build_reference(case), check.build_candidate(case)
        reference.recorded = candidate.recorded = range(1, twin.steps + 1)
        self.expected = truth.compute(reference, self.sample, case.phase, unit_roundoff)
        partners = weights.pair(reference.slots(), candidate.slots(), twin.rename)
        self.recorded = self.expected.decided(candidate.run(self.sample, partners, case.phase, {}))
        budget = precision.budget(twin.name)
        judged = judge(self.expected, self.recorded, unit_roundoff, budget)
        self.wrong = {verdict.name for verdict in judged.differing}
        self.problems = [
            f"{verdict.name}: {verdict.problem}" for verdict in judged.differing if verdict.problem
        ]

    def stages(self) -> list[tuple[str, list[str]]]:
        """The stage to blame with its causes; none where nothing is wrong.

        Losses are blamed where the updates are right: of a step that is an epoch, the loss follows
        from the updates within.
        """
        if not self.wrong:
            return []
        updates = [self._wrong_updates(step) for step in range(1, self.case.twin.steps + 1)]
        first = next((step for step, names in enumerate(updates, 1) if names), None)
        if first is None and not any(name.startswith("loss[") for name in self.wrong):
            return []  # only buffers, which are the network's
        if first is None:
            return [(LOSS, self.problems or self._of_the_loss())]
        return [(UPDATE, self.problems or self._of(first, updates))]

    def _wrong_updates(self, step: int) -> list[str]:
        prefix = tensors.update(step, "")
        return [name.removeprefix(prefix) for name in self.wrong if name.startswith(prefix)]

    def _of_the_loss(self) -> list[str]:
        step = next(s for s in range(1, self.case.twin.steps + 1) if tensors.loss(s) in self.wrong)
        known, got = self.expected[tensors.loss(step)].truth, self.recorded[tensors.loss(step)]
        ratio = np.linalg.norm(got) / np.linalg.norm(known)
        return [f"in step {step} it is {ratio:.6g} times the reference's"]

    def _of(self, number: int, updates: Sequence[list[str]]) -> list[str]:
        """Causes of what is wrong in the first step whose updates are."""
        names = [name for name in self._trained() if name in updates[number - 1]]
        step = self._step(number)
        causes = [f"{_all_right_before(number)}{_list(names, self._trained())}"]
        if still := [name for name in names if not step.candidate[name].any()]:
            return [*causes, f"{_list(still, names)} does not move"]
        if moved := [name for name in names if not step.truth[name].any()]:
            return [*causes, f"{_list(moved, names)} moves where the reference's does not"]
        return [*causes, *self._explained(step, names)]

    def _trained(self) -> list[str]:
        prefix = tensors.update(1, "")
        return [n.removeprefix(prefix) for n in self.expected if n.startswith(prefix)]

    def _step(self, number: int) -> _Step:
        def moved(updates) -> dict[str, np.ndarray]:
            return {
                name: updates(tensors.update(number, name))
                - (updates(tensors.update(number - 1, name)) if number > 1 else 0.0)
                for name in self._trained()
            }

        return _Step(
            number,
            moved(lambda name: self.expected[name].truth),
            moved(lambda name: self.recorded[name].astype(np.float64)),
        )

    def _explained(self, step: _Step, names: Sequence[str]) -> list[str]:
        """The few terms of an update whose multiples make up the error, or that none do."""
        before = {name: self._before(step.number, name) for name in names}
        terms = {
            REFERENCE: step.truth,
            "the weight": before,
            "the gradient": self._gradients(step.number, before),
        }
        if step.number > 1:
            terms["the update before"] = self._step(step.number - 1).truth
        error = _joined(step.error, names)
        columns = {what: _joined(values.get, names) for what, values in terms.items()}
        for what, column in columns.items():
            if (found := _multiples(error, [column])) is not None:
                return [_in_words({what: found[0]})]
        for what in (REFERENCE, "the weight", "the gradient"):
            each = [
                _multiples(step.error(name).ravel(), [np.ravel(terms[what][name])])
                for name in names
            ]
            if all(found is not None for found in each):
                return [_range_in_words(what, sorted(float(found[0]) for found in each))]
        found = _multiples(error, [columns["the weight"], columns["the gradient"]])
        if found is not None:
            return [_in_words({"the weight": found[0], "the gradient": found[1]})]
        share = np.linalg.norm(error) / np.linalg.norm(columns[REFERENCE])
        return [f"off by {share:.2g} of the update; no multiple of update, weight or gradient"]

    def _before(self, number: int, name: str) -> np.ndarray:
        known = self.expected[tensors.update(1, name)].truth
        initial = self.sample.initial(name, known.shape).astype(np.float64)
        return initial + (
            self.expected[tensors.update(number - 1, name)].truth if number > 1 else 0
        )

    def _gradients(self, number: int, before: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The truth's gradients of the loss in that step."""
        network = check.build_reference(self.case.network)
        every = {name: self._before(number, name) for name in self._trained()}
        here = InSitu(self.sample, "", self.sample.inputs(number), {0: np.ones(())}, every)
        recorded = network.run(here, self.case.phase, "float64")
        return {name: recorded[tensors.parameter_gradient(name)] for name in before}


def _all_right_before(number: int) -> str:
    return "wrong in the first step: " if number == 1 else f"right up to step {number - 1}, then: "


def _list(names: Sequence[str], of: Sequence[str]) -> str:
    if len(names) == len(of) > 1:
        return "every weight"
    return listed(names)


def _joined(values, names: Sequence[str]) -> np.ndarray:
    return np.concatenate([np.ravel(values(name)) for name in names])


def _multiples(error: np.ndarray, terms: Sequence[np.ndarray]) -> np.ndarray | None:
    """The multiples of the terms whose sum is the error; None where no such sum is near it."""
    matrix = np.stack(terms, axis=1)
    found = np.linalg.lstsq(matrix, error, rcond=None)[0]
    left = np.linalg.norm(error - matrix @ found)
    return found if left <= EXPLAINED * np.linalg.norm(error) else None


def _range_in_words(what: str, multiples: Sequence[float]) -> str:
    least, most = multiples[0], multiples[-1]
    if what == REFERENCE:
        return (
            f"each weight's is another multiple of {REFERENCE}, {1 + least:.4g} to {1 + most:.4g}"
        )
    return f"each weight's is off by another multiple of {what}, {least:+.4g} to {most:+.4g}"


SOURCES = {
    REFERENCE: "another learning rate",
    "the weight": "another weight decay",
    "the gradient": "another scale of the gradient",
    "the update before": "another momentum",
}
"""What makes an update differ by a multiple of each term."""


def _in_words(multiples: Mapping[str, float]) -> str:
    sources = " and ".join(SOURCES[what] for what in multiples)
    if (only := multiples.get(REFERENCE)) is not None:
        return f"{1.0 + only:.6g} times {REFERENCE}, as by {sources}"
    terms = " and ".join(f"{value:+.4g} times {what}" for what, value in multiples.items())
    return f"off by {terms}, as by {sources}"
