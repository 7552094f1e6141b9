"""Runs both networks over all batches of a data set, forward only, on the same weights."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equivalence.comparison import sides
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.twin import TwinCase
from equivalence.errors import DeclarationError, blaming
from equivalence.evaluation import metrics
from equivalence.evaluation.batches import Batch, read
from equivalence.evaluation.metrics import Measure, Metric
from equivalence.judge.tensors import Trace
from equivalence.judge.verdict import Judgement, judge
from equivalence.sample import Perturbed
from equivalence.sides.feed import Feed
from equivalence.structure import pairing
from equivalence.truth.compute import MORE_RUNS, set_own_errors, whole, widen_by
from equivalence.truth.measurement import NOISY_RUNS, Measurement
from equivalence.words import nearest


@dataclass(frozen=True)
class Evaluation:
    """What became of a data set on both sides.

    batches, samples: how many there were.
    judgements: the verdict on the outputs of each batch.
    metrics: those that outputs and labels allow; none where the output is no logits.
    """

    batches: int
    samples: int
    judgements: Sequence[Judgement]
    metrics: Sequence[Metric]

    @property
    def worst(self) -> tuple[float, int]:
        """The largest error of an output, in roundings, and the number of its batch, from 1."""
        errors = [
            max((verdict.worst for verdict in judgement.verdicts), default=0.0)
            for judgement in self.judgements
        ]
        place = int(np.argmax(errors))
        return errors[place], place + 1

    @property
    def differing(self) -> list[int]:
        """The batches whose outputs differ by more than rounding, from 1."""
        return [n for n, each in enumerate(self.judgements, 1) if not each.equal]

    @property
    def equal(self) -> bool:
        """Whether all outputs and all metrics are equal."""
        return not self.differing and all(metric.equal for metric in self.metrics)


def evaluate(
    cases: Sequence[TwinCase],
    data: Any,
    seed: int = 0,
    most: int | None = None,
    output: str | None = None,
    functions: Mapping[str, Measure] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Evaluation]:
    """Evaluate both sides, and what became of each case.

    cases: they differ in their execution mode alone, so that the reference runs once for all.
    data: the batches, see `batches.read`. most: how many are read; None: all.
    output: the name of the output that metrics are made of; None: the first.
    functions: metrics of one's own, by name; they get the outputs of all batches.
    tell: is called with a few words before each batch.

    Raises EquivalenceError where a side raises, or where labels do not fit.
    """
    first = cases[0]
    given = sides.draw(first, seed).given if first.twin.weights else {}
    with blaming("reference", first.name):
        reference = sides.build_reference(first)
    candidates = []
    for case in cases:
        with blaming("candidate", case.name):
            candidates.append(sides.build_candidate(case))
    partners = pairing.partners(first, reference.slots(), candidates[0].slots())
    found = [_CaseSoFar(CaseAtSeed(first, seed).unit_roundoff) for _ in cases]
    samples = 0
    for number, (called, arrays, labels) in enumerate(read(data, most), 1):
        tell(f"batch {number}")
        sample = Batch(first.sample_name, seed, first.dtype, called, arrays, given)
        reference_runs = _BatchRuns(
            Measurement(reference, sample, first.phase, found[0].unit_roundoff)
        )
        for case, candidate, of_case in zip(cases, candidates, found, strict=True):
            with blaming("candidate", f"{case.name}, batch {number}"):
                ours = candidate.run(Feed(sample, partners, case.phase))
            of_case.add(reference_runs, ours, labels, samples)
        samples += len(arrays[0])
    return [
        Evaluation(len(each.judgements), samples, each.judgements, each.metrics(output, functions))
        for each in found
    ]


class _BatchRuns:
    """The reference's runs on one batch, forward only; they are made as they are asked for."""

    def __init__(self, measurement: Measurement):
        self._measurement = measurement
        self.truth = self._run()
        self.noisy = [self._run(measurement.perturbed(probe)) for probe in range(NOISY_RUNS)]
        self.own = self._run(dtype=measurement.sample.dtype)

    def _run(self, sample: Perturbed | None = None, dtype: str = "float64") -> Trace:
        import torch

        with blaming("reference", self._measurement.sample.name):
            return self._measurement.run(sample, torch.no_grad(), dtype)

    def more(self) -> list[Trace]:
        """As many noisy runs as a candidate needs that is over the budget by the first ones."""
        while len(self.noisy) < MORE_RUNS:
            self.noisy.append(self._run(self._measurement.perturbed(len(self.noisy))))
        return self.noisy


@dataclass
class _CaseSoFar:
    """What was found of one case so far."""

    unit_roundoff: float
    judgements: list[Judgement] = field(default_factory=list)
    outputs: list["_Outputs"] = field(default_factory=list)

    def add(self, runs: _BatchRuns, ours: Trace, labels: np.ndarray | None, first: int) -> None:
        """Judge a batch. One batch that differs is enough: no more runs are made for others."""
        judged = self._judged(runs, runs.noisy, ours)
        if not judged.equal and all(each.equal for each in self.judgements):
            judged = self._judged(runs, runs.more(), ours)
        self.judgements.append(judged)
        noisy = runs.noisy[:NOISY_RUNS]
        self.outputs.append(_Outputs(runs.truth, runs.own, ours, noisy, labels, first))

    def _judged(self, runs: _BatchRuns, noisy: Sequence[Trace], ours: Trace) -> Judgement:
        expected, own = whole(_outputs(runs.truth)), _outputs(runs.own)
        for name, tensor in expected.items():
            tensor.dtype = str(own[name].dtype)
        for each in noisy:
            widen_by(expected, each)
        set_own_errors(expected, expected, own, self.unit_roundoff)
        return judge(expected, _outputs(ours), self.unit_roundoff)

    def metrics(self, output: str | None, functions: Mapping[str, Measure] | None) -> list[Metric]:
        """The metrics of the chosen output; none where it is no logits."""
        name = _output(self.outputs[0].truth, output)
        return _measured(name, self.outputs, functions or {}, self.unit_roundoff) if name else []


@dataclass(frozen=True)
class _Outputs:
    """What a batch gave. first: the number of its first sample in the whole set."""

    truth: Trace
    own: Trace
    candidate: Trace
    noisy: Sequence[Trace]
    labels: np.ndarray | None
    first: int


def _measured(
    name: str, batches: Sequence[_Outputs], functions: Mapping[str, Measure], unit_roundoff: float
) -> list[Metric]:
    """The metrics of an output; none where the candidate's has another shape.

    Labels that fit no axis, such as boxes, are for the functions alone.
    """
    sides: list[tuple[Any, Any, Any, list[np.ndarray]]] = [
        (each.truth[name], each.own[name], each.candidate.get(name), [x[name] for x in each.noisy])
        for each in batches
    ]
    if any(ours is None or ours.shape != truth.shape for truth, _, ours, _ in sides):
        return []
    found: list[Metric] = []
    if not functions or all(
        metrics.fits(truth.shape, each.labels)
        for (truth, *_), each in zip(sides, batches, strict=True)
    ):
        found = metrics.measure(
            [
                metrics.rows(*side, each.labels, each.first, unit_roundoff)
                for side, each in zip(sides, batches, strict=True)
            ]
        )
    if not functions:
        return found
    labels = [each.labels for each in batches if each.labels is not None]
    widths = sorted({each.shape[1:] for each in labels})
    if len(widths) > 1:
        raise DeclarationError(
            f"the labels of batches have several shapes, {widths[0]} and {widths[1]} for a sample, "
            "and --metric gets those of all batches together; fill them up to one"
        )
    truths, owns, candidates = (np.concatenate([s[i] for s in sides]) for i in range(3))
    noisy = [np.concatenate([s[3][run] for s in sides]) for run in range(NOISY_RUNS)]
    known = np.concatenate(labels) if len(labels) == len(batches) else None
    whole_set = truths, owns, candidates
    for called, function in functions.items():
        found += metrics.of_function(called, function, whole_set, noisy, known, unit_roundoff)
    return found


def _outputs(trace: Trace) -> Trace:
    return {name: values for name, values in trace.items() if name.startswith("output.")}


def _output(trace: Trace, chosen: str | None) -> str | None:
    """The output that metrics are made of; None where the first is no floats."""
    names = [name.partition(".")[2] for name in _outputs(trace)]
    if chosen is not None:
        if chosen not in names:
            near = nearest(chosen, names)
            raise DeclarationError(
                f"--output {chosen}: there is none; there are {', '.join(names)}{near}"
            )
        return f"output.{chosen}"
    first = f"output.{names[0]}"
    return first if trace[first].dtype.kind == "f" and trace[first].ndim > 1 else None
