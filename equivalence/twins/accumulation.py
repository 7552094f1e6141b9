"""Whether a candidate's error is the rounding of its sums, which other values round anew.

The sensitivity knows the rounding of what goes in. A sum of n terms is rounded n times besides, and
blocked or pairwise sums are far better than one that runs through (Higham, Accuracy and Stability
of Numerical Algorithms, chapter 4): a right sum of 10^5 terms may be 40 roundings off in one
framework and 1 in the other.

Neighbouring samples tell rounding from a mistake. Their values differ by a factor of 1 +- 2^-7, and
each has a truth of its own. A mistake makes nearly the same error there. Rounding makes another.

A gradient is tried first at neighbours whose cotangents alone are moved. Their forward pass is that
of the sample, so that they take its branches; in a deep network with millions of activations every
other neighbour may take another branch at some kink, and tell nothing. The backward pass is linear
in the cotangents, so that a mistake makes nearly the same error, wherever it is, and the sums of
the backward pass round anew. What the forward pass has rounded comes again; then neighbours that
are moved as a whole tell.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from equivalence.errors import SideError, blaming
from equivalence.host import environment
from equivalence.judge import excuses, tensors
from equivalence.judge.expected import Expected
from equivalence.judge.ill_posed import HALF
from equivalence.judge.precision import BUDGET, CLOSE, rounding_of_sum
from equivalence.judge.verdict import Judgement, TensorVerdict
from equivalence.record import candidates
from equivalence.runs import kept
from equivalence.runs.comparison import Comparison
from equivalence.runs.drawn import Drawn
from equivalence.sample import NEIGHBOUR_DISTANCE, Neighbour, OtherCotangents

if TYPE_CHECKING:
    from equivalence.truth.measurement import Measurement

Key = tuple[str, int]
"""A tensor's name, and the number of the part of it that differs."""

NEIGHBOURS = 16
"""Neighbouring samples that tell something, at most; fewer where the first ones are clear."""

TRIED = 48
"""Neighbouring samples that are tried, at most; `NEIGHBOURS` where none of those tells anything.
Through many max poolings without a BatchNorm three of four may take another branch somewhere."""

REPEATED = 0.5
"""The share of an error that may come again, on an average over the neighbours. Of a mistake nearly
all does; of rounding nothing, but for chance: a seventh after 16 of them for a single number."""

SURELY, SURE_AFTER = 0.9, 4
"""The share from which on so many neighbours are enough to call the error a mistake. After two,
rounding may look like one: a sum of equal terms is off by one of a few sizes."""

HARDLY = 0.2
"""The share up to which `FEW` neighbours are enough to call the error rounding."""

FEW = 6
"""Neighbours that must tell something, at the least."""

OTHER_BRANCH = 4.0
"""A neighbour whose error is so many times the first one took another branch at a kink, and
tells nothing."""


def excuse(made: Comparison, drawn: Drawn) -> Comparison | None:
    """The comparison without the differences that rounding of sums explains; None if it has none.

    Runs both sides at neighbouring samples, until 16 at most tell something. A tensor is explained
    if it is within its `limit` and its error does not come again.
    """
    case = drawn.case
    runs = environment.installed("torch") and not candidates.active(case)
    if case.alone or made.judgement.ill_posed or not runs:
        return None
    halves = {v.name: _half(made, v, drawn.unit_roundoff) for v in made.judgement.differing}
    # The reference's own error and the length of the sums take runs, and cannot matter for errors
    # that need neither.
    within = _explained(made.judgement, halves, 0.0)
    far = len(within) < len(halves)
    if far:
        made = explain_own(made, drawn)
        if not _explained(made.judgement, halves, math.inf):
            return None
    with blaming("reference", case.name):
        measurement = drawn.measurement(made.reference.sample)
        if far:
            from equivalence.truth.products import longest_sum  # torch is there

            within = _explained(made.judgement, halves, longest_sum(measurement))
    if not within:
        return None
    expected = {
        (name, number): part
        for name in within
        for number, part in enumerate(made.reference.expected[name].parts)
        if max(part.part_errors(made.trace[name], drawn.unit_roundoff)) > BUDGET
    }
    # The gradients of a training step come from its loss.
    pulled = {} if case.twin.steps else _of_gradients(expected)
    shares = _shares(made, drawn, measurement, pulled, OtherCotangents)
    left = {key: part for key, part in expected.items() if not _is_rounding(shares.get(key, ()))}
    shares |= _shares(made, drawn, measurement, left, Neighbour)
    repeated = {name for (name, _), each in shares.items() if not _is_rounding(each)}
    allowed = {name: within[name] for name in within if name not in repeated}
    return replace(made, judgement=_allow(made.judgement, allowed)) if allowed else None


def _explained(judgement: Judgement, halves: dict[str, float], terms: float) -> dict[str, float]:
    """The `limit` of each tensor that is within it, if the longest sum has so many terms."""
    limits = {v: limit(v, halves[v.name], terms) for v in judgement.differing}
    return {verdict.name: most for verdict, most in limits.items() if verdict.needed <= most}


def explain_own(made: Comparison, drawn: Drawn) -> Comparison:
    """The comparison with the reference's own errors beside the flips that its own run has made.

    They take runs of the reference, and nothing else of a verdict depends on them.
    """
    judgement = made.judgement
    jumps = made.reference.expected.jumps
    over = {v.name for v in judgement.verdicts if v.own_error > BUDGET and jumps(v.name)}
    if not over:
        return made
    known = kept.reference(drawn.case, drawn.seed).expected
    verdicts = [
        replace(v, own_error=v.part(known[v.name]).own_needed) if v.name in over else v
        for v in judgement.verdicts
    ]
    return replace(made, judgement=replace(judgement, verdicts=tuple(verdicts)))


def limit(verdict: TensorVerdict, half: float, terms: float) -> float:
    """The largest error of a tensor that rounding of sums may explain, in roundings.

    It is that of a sum of `terms` terms, the longest of the reference; or 4 times the error of the
    reference's own run, but not more than `terms`: n terms are off by less than n roundings. It is
    less than `half`, half of what the verdict is about, and 0 for a tensor with a problem.
    """
    if verdict.problem:
        return 0.0
    return min(max(rounding_of_sum(terms), min(CLOSE * verdict.own_error, terms)), half)


def _half(made: Comparison, verdict: TensorVerdict, unit_roundoff: float) -> float:
    """Half of the part of the truth that differs most, in roundings; 0 for zeros and no numbers."""
    tensor = made.reference.expected.get(verdict.name)
    if tensor is None or tensor.truth.dtype.kind != "f":
        return 0.0
    part = verdict.part(tensor)
    share = part.share(part.norms, unit_roundoff)
    return HALF / share if share else 0.0


def _allow(judgement: Judgement, limits: dict[str, float]) -> Judgement:
    """The judgement with these errors allowed, and the excuse named."""

    def allowed(verdict: TensorVerdict) -> TensorVerdict:
        if verdict.name not in limits:
            return verdict
        names = (*verdict.excuses, excuses.ACCUMULATION.name)
        return replace(verdict, budget=limits[verdict.name], excuses=names)

    return replace(judgement, verdicts=tuple(map(allowed, judgement.verdicts)))


def _shares(
    made: Comparison,
    drawn: Drawn,
    measurement: "Measurement",
    expected: dict[Key, Expected],
    kind: type[Neighbour],
) -> dict[Key, list[tuple[float, float]]]:
    """How much of each tensor's error comes again, at each neighbour of a kind that tells it."""
    if not expected:
        return {}
    first = {key: _error(part, made.trace[key[0]]) for key, part in expected.items()}
    shares: dict[Key, list[tuple[float, float]]] = {key: [] for key in expected}
    for tried, errors in enumerate(_errors(made, drawn, measurement, expected, kind), 1):
        for key, error in errors.items():
            share = _share(first[key], error)
            if share is not None:
                shares[key].append(share)
        if all(_enough(each, tried, kind) for each in shares.values()):
            break
    return shares


def _of_gradients(expected: dict[Key, Expected]) -> dict[Key, Expected]:
    """Those parts that belong to gradients."""
    return {key: part for key, part in expected.items() if tensors.of_gradient(key[0])}


def _enough(shares: Sequence[tuple[float, float]], tried: int, kind: type[Neighbour]) -> bool:
    """Whether no more neighbours of a kind are needed for a tensor, after so many were tried."""
    told = len(shares)
    if kind is OtherCotangents and told >= FEW and not _is_rounding(shares):
        return True  # a mistake, or what the forward pass has rounded: others tell
    return _clear(shares) or told >= NEIGHBOURS or (tried >= NEIGHBOURS and not told)


def _errors(
    made: Comparison,
    drawn: Drawn,
    measurement: "Measurement",
    expected: dict[Key, Expected],
    kind: type[Neighbour],
) -> Iterator[dict[Key, np.ndarray]]:
    """The candidate's error in each tensor, at one neighbouring sample after the other.

    Neighbours are moved off the kinks of the network as the sample was, so that both sides take the
    same branches. A neighbour that leaves the domain of either side is left out.

    kind: `Neighbour`, or `OtherCotangents`, which is where the sample is.
    """
    case, network = drawn.case, measurement.network
    with blaming("reference", case.name):
        margins = measurement.margins() if kind is Neighbour else []
    for number in range(TRIED):
        # Few values, such as equal terms, would be rounded alike at one distance.
        distance = NEIGHBOUR_DISTANCE * (1.0 + number % NEIGHBOURS / 8.0)
        neighbour = kind(made.reference.sample, number, distance)
        try:
            with blaming("reference", case.name):
                if margins:
                    network.shift(neighbour, case.phase, margins)
                truth = measurement.run(neighbour)
            with blaming("candidate", case.name):
                run = made.candidate.run(
                    neighbour, made.partners, case.phase, made.reference.expected.pulled_back
                )
        except SideError:
            continue
        yield {
            (name, number): _error(replace(part, truth=part.view(truth[name])), run[name])
            for (name, number), part in expected.items()
        }


def _error(expected: Expected, values: np.ndarray) -> np.ndarray:
    """What a run's values, or their sketch, are off by; flat, in the tensor's own unit."""
    return (expected.view(values).astype(np.float64) - expected.truth).reshape(-1)


def _share(first: np.ndarray, again: np.ndarray) -> tuple[float, float] | None:
    """How much of an error comes again: as a whole, and in its worst element.

    1 for the same error, 0 for an unrelated one. None where the second took another branch, or is
    not finite.
    """
    size, other = float(np.linalg.norm(first)), float(np.linalg.norm(again))
    if not other <= OTHER_BRANCH * size:
        return None
    worst = int(np.abs(first).argmax())
    one, two = float(first[worst]), float(again[worst])
    whole = float(first @ again) / (size * max(size, other))
    return whole, one * two / (abs(one) * max(abs(one), abs(two)))


def _repeated(shares: Sequence[tuple[float, float]]) -> float:
    """The mean share that comes again, as a whole or in the worst element, whichever is larger."""
    return float(np.mean(shares, axis=0).max()) if shares else 1.0


def _is_rounding(shares: Sequence[tuple[float, float]]) -> bool:
    """Whether enough neighbours tell that an error is the rounding of sums."""
    return len(shares) >= FEW and _repeated(shares) <= REPEATED


def _clear(shares: Sequence[tuple[float, float]]) -> bool:
    """Whether these neighbours are enough to tell rounding from a mistake."""
    repeated = _repeated(shares)
    return (len(shares) >= SURE_AFTER and repeated > SURELY) or (
        len(shares) >= FEW and repeated <= HARDLY
    )
