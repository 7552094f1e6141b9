"""Metrics of outputs and labels, and which of their decisions rounding takes.

A prediction is the class of the largest logit. Two logits that are equal within rounding may come
in either order on two right sides: such a decision is undecided, told, and decides nothing. All
others must be the truth's, one by one; equal counts of other samples are not equal. A mean of
numbers, such as a loss, is judged by how far rounding moves it. Imports no framework.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equivalence.errors import DeclarationError
from equivalence.evaluation import ranking
from equivalence.judge.precision import BUDGET
from equivalence.seeds import stream

TOP = (1, 5)
"""The k of top-k accuracies, as far as there are more classes."""

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Logits:
    """The outputs of one batch as predictions, one in each row.

    truth: (M, K) float64. own, candidate: those of both sides. noisy: those of noisy runs.
    labels: (M,), below K; None where there are none.
    samples: (M,), the sample of the whole set that a row belongs to.
    places: how many axes a sample's predictions have: 0 of a class, 1 of a text, 2 of a picture.
    unit_roundoff: of the case.
    """

    truth: np.ndarray
    own: np.ndarray
    candidate: np.ndarray
    noisy: Arrays
    labels: Any
    samples: np.ndarray
    places: int
    unit_roundoff: float

    @property
    def reach(self) -> np.ndarray:
        """How far the budget lets each logit of a row be off, (M,): the largest move of any."""
        move = np.max([np.abs(each - self.truth).max(axis=1) for each in self.noisy], axis=0)
        return BUDGET * (move + self.unit_roundoff * np.abs(self.truth).max(axis=1))


@dataclass
class Metric:
    """One metric over the whole set.

    truth, reference, candidate: its value by the float64 run, by PyTorch's and by MindSpore's.
    error: roundings by which the candidate's value is off; None of a metric of decisions.
    span: the least and the largest value that outputs within the budget give; None where decisions
        or roundings tell.
    wrong: samples in which a decision is not the truth's; undecided: those in which rounding takes
        one, in order.
    """

    name: str
    truth: float
    reference: float
    candidate: float
    error: float | None = None
    span: tuple[float, float] | None = None
    wrong: list[int] = field(default_factory=list)
    undecided: list[int] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether no decision is wrong, and the value is within the budget."""
        if self.span is not None:
            low, high = self.span
            return low <= self.candidate <= high
        return not self.wrong and (self.error is None or self.error <= BUDGET)


def class_axis(outputs: tuple[int, ...], labels: tuple[int, ...] | None) -> int:
    """The axis of the classes: the one that labels do not have; 1 or the last without labels.

    Raises DeclarationError where labels fit no axis.

    >>> class_axis((8, 21, 32, 32), (8, 32, 32)), class_axis((8, 7, 99), (8, 7))
    (1, 2)
    """
    if len(outputs) < 2:
        raise DeclarationError(
            f"the output has the shape {outputs}, and metrics take logits, (N, K) or more; name "
            "another by --output"
        )
    if labels is None:
        return 1 if len(outputs) != 3 else 2
    for axis in range(1, len(outputs)):
        if outputs[:axis] + outputs[axis + 1 :] == labels:
            return axis
    raise DeclarationError(
        f"labels have the shape {labels} and the output {outputs}: without its axis of classes it "
        "must have the shape of the labels; name another output by --output"
    )


def fits(outputs: tuple[int, ...], labels: np.ndarray | None) -> bool:
    """Whether labels, or none, fit an axis of an output, so that it is logits.

    >>> fits((8, 7, 99), np.zeros((8, 7))), fits((8, 7, 99), np.zeros((8, 3, 5)))
    (True, False)
    """
    if labels is None:
        return len(outputs) > 1
    return any(
        outputs[:axis] + outputs[axis + 1 :] == labels.shape for axis in range(1, len(outputs))
    )


def rows(
    truth: np.ndarray,
    own: np.ndarray,
    candidate: np.ndarray,
    noisy: Sequence[np.ndarray],
    labels: np.ndarray | None,
    first: int,
    unit_roundoff: float,
) -> Logits:
    """The outputs of a batch as predictions; rows whose label is no class, as -100, are left out.

    first: the number of the batch's first sample in the whole set.
    """
    axis = class_axis(truth.shape, None if labels is None else labels.shape)
    classes = truth.shape[axis]

    def flat(values: np.ndarray) -> np.ndarray:
        return np.moveaxis(values, axis, -1).reshape(-1, classes).astype(np.float64)

    count = truth.size // classes
    samples = first + np.arange(count) // (count // len(truth))
    kept = np.ones(count, bool)
    if labels is not None:
        labels = labels.reshape(-1).astype(np.int64)
        kept = (labels >= 0) & (labels < classes)
        labels = labels[kept]
    noisy = tuple(flat(each)[kept] for each in noisy)
    truths, owns, candidates = (flat(each)[kept] for each in (truth, own, candidate))
    rest = samples[kept], truth.ndim - 2, unit_roundoff
    return Logits(truths, owns, candidates, noisy, labels, *rest)


def measure(batches: Sequence[Logits]) -> list[Metric]:
    """All metrics that outputs and labels allow.

    Without labels: which predictions agree. With them: top-k accuracies and the mean cross entropy;
    of texts its exponential, too, and of pictures the mean intersection over union.

    Raises DeclarationError where no label is a class.
    """
    found = [_agreement(batches)]
    if any(batch.labels is None for batch in batches):
        return found
    if not sum(map(len, (batch.samples for batch in batches))):
        raise DeclarationError("no label is a class of the outputs, so that nothing is measured")
    classes = batches[0].truth.shape[1]
    found += [_top(batches, k) for k in TOP if k == 1 or k < classes]
    found.append(_loss(batches))
    if batches[0].places == 1:
        loss = found[-1]
        powers = [float(p) for p in np.exp((loss.truth, loss.reference, loss.candidate))]
        found.append(Metric("perplexity", powers[0], powers[1], powers[2], loss.error))
    if batches[0].places > 1:
        found.append(_mean_iou(batches))
    return found


def _agreement(batches: Sequence[Logits]) -> Metric:
    """The share of predictions that are the truth's."""
    same, rows_of = {"own": 0, "candidate": 0}, 0
    metric = Metric("same prediction", 1.0, 1.0, 1.0)
    for batch in batches:
        first = batch.truth.argmax(axis=1)
        for side in same:
            same[side] += int((getattr(batch, side).argmax(axis=1) == first).sum())
        rows_of += len(first)
        best = np.partition(batch.truth, -2, axis=1)[:, -2:] if batch.truth.shape[1] > 1 else None
        gap = np.full(len(first), np.inf) if best is None else best[:, 1] - best[:, 0]
        undecided = gap <= 2 * batch.reach
        wrong = (batch.candidate.argmax(axis=1) != first) & ~undecided
        _note(metric, batch, wrong, undecided)
    metric.reference, metric.candidate = (n / max(rows_of, 1) for n in same.values())
    return metric


def _top(batches: Sequence[Logits], k: int) -> Metric:
    """The share of labels among the first k classes."""
    counts, count = np.zeros(3), 0
    metric = Metric(f"top-{k}", 0.0, 0.0, 0.0)
    for batch in batches:
        ranks = _ranks(batch.candidate, batch.labels)
        options = (batch.labels, ranks, k, batch.unit_roundoff)
        found = ranking.top_k(batch.truth, batch.noisy, *options)
        own = int((_ranks(batch.own, batch.labels) < k).sum())
        counts += (found.truth, own, found.candidate)
        count += len(batch.labels)
        _note(metric, batch, [*found.wrong], [*found.undecided])
    metric.truth, metric.reference, metric.candidate = map(float, counts / count)
    return metric


def _own_logit(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.take_along_axis(logits, labels[:, None], axis=1)


def _ranks(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """How many classes come before the label; a NaN comes before every label."""
    own = _own_logit(logits, labels)
    tied = (logits == own) & (np.arange(logits.shape[1]) < labels[:, None])
    return (~(logits <= own) | tied).sum(axis=1)


def _note(metric: Metric, batch: Logits, wrong: Any, undecided: Any) -> None:
    """Add the samples of wrong and of undecided rows: numbers of rows, or booleans of all."""
    metric.wrong += np.unique(batch.samples[wrong]).tolist()
    metric.undecided += np.unique(batch.samples[undecided]).tolist()


def _mean_iou(batches: Sequence[Logits]) -> Metric:
    """The mean intersection over union of the classes that are there; judged by predictions."""
    classes = batches[0].truth.shape[1]
    tables = np.zeros((3, classes, classes))
    for batch in batches:
        for table, logits in zip(tables, (batch.truth, batch.own, batch.candidate), strict=True):
            np.add.at(table, (batch.labels, logits.argmax(axis=1)), 1)
    values = []
    for table in tables:
        both = np.diagonal(table)
        union = table.sum(axis=0) + table.sum(axis=1) - both
        values.append(float((both[union > 0] / union[union > 0]).mean()))
    agreement = _agreement(batches)
    truth, own, candidate = values
    metric = Metric("mean IoU", truth, own, candidate)
    metric.wrong, metric.undecided = agreement.wrong, agreement.undecided
    return metric


def _loss(batches: Sequence[Logits]) -> Metric:
    """The mean cross entropy, in the natural logarithm; judged by how far noise moves it.

    One rounding is the larger of two: how far a noisy run moves the mean, and what its moves of all
    losses would make of a mean if their signs were random. Chance makes the first one small.
    """

    def losses(sides: Sequence[np.ndarray]) -> np.ndarray:
        every = zip(sides, batches, strict=True)
        return np.concatenate([_cross_entropy(logits, batch.labels) for logits, batch in every])

    truth = losses([batch.truth for batch in batches])
    runs = range(len(batches[0].noisy))
    moves = [losses([batch.noisy[run] for batch in batches]) - truth for run in runs]
    units = [abs(move.mean()) for move in moves]
    units += [np.sqrt(np.square(move).mean() / move.size) for move in moves]
    unit = max(*units, batches[0].unit_roundoff * abs(truth.mean()))
    own, candidate = (losses([getattr(b, side) for b in batches]) for side in ("own", "candidate"))
    off = abs(candidate.mean() - truth.mean())
    error = float(off / unit) if unit else (np.inf if off else 0.0)
    means = float(truth.mean()), float(own.mean()), float(candidate.mean())
    return Metric("loss", *means, np.inf if np.isnan(error) else error)


def _cross_entropy(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    peak = logits.max(axis=1, keepdims=True)
    total = np.log(np.exp(logits - peak).sum(axis=1)) + peak[:, 0]
    return total - _own_logit(logits, labels)[:, 0]


SIGNS = 4
"""Tables of random signs by which outputs are moved for a function's span."""

MULTIPLES = (1.0, 2.0, 4.0, BUDGET)
"""How many times outputs are moved by what a noisy run moves them."""

Measure = Callable[[np.ndarray, np.ndarray | None], Any]
"""Outputs and labels of the whole set -> a number, or name -> number."""


def of_function(
    name: str,
    measure: Measure,
    sides: tuple[np.ndarray, np.ndarray, np.ndarray],
    noisy: Sequence[np.ndarray],
    labels: np.ndarray | None,
    unit_roundoff: float,
) -> list[Metric]:
    """The metrics of a function of the user's, with the span that the budget leaves each.

    Outputs are moved by what the noisy runs move them, up to the budget; and, sample by sample, by
    the largest of that with random signs.

    sides: the outputs of the truth, of PyTorch and of MindSpore, (N, ...).

    Raises DeclarationError where the function gives no numbers.
    """
    truth = sides[0].astype(np.float64)
    axes = tuple(range(1, truth.ndim))
    moves = [each - truth for each in noisy]
    largest = np.max([np.abs(each).max(axis=axes, keepdims=True) for each in moves], axis=0)
    reach = BUDGET * (largest + unit_roundoff * np.abs(truth).max(axis=axes, keepdims=True))
    ways = [multiple * move for move in moves for multiple in MULTIPLES]
    for table in range(SIGNS):
        signs = 2.0 * stream(0, name, table).integers(0, 2, truth.shape, np.int8) - 1.0
        ways.append(reach * signs)
    spans = [_values(name, measure(truth + sign * way, labels)) for way in ways for sign in (1, -1)]
    values = [_values(name, measure(each, labels)) for each in sides]
    found = []
    for key, exact in values[0].items():
        every = [exact, *(span.get(key, np.nan) for span in spans)]
        low, high = float(np.nanmin(every)), float(np.nanmax(every))
        theirs, ours = (each.get(key, np.nan) for each in values[1:])
        found.append(Metric(key, exact, theirs, ours, span=(low, high)))
    return found


def _values(name: str, found: Any) -> dict[str, float]:
    """What a function gave, by name."""
    named = found if isinstance(found, Mapping) else {name: found}
    try:
        return {str(key): float(value) for key, value in named.items()}
    except (TypeError, ValueError):
        raise DeclarationError(
            f"--metric {name} gives {type(found).__name__}; let it return a number, or a mapping "
            "from names to numbers"
        ) from None
