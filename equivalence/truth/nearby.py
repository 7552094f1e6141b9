"""What the reference does near a sample: whether it jumps there, or loses as many digits.

It sets aside examples of single operators, whose samples are not moved off kinks.
"""

from collections.abc import Sequence
from dataclasses import replace

from equivalence.judge.precision import BUDGET
from equivalence.judge.truth import Truth
from equivalence.judge.verdict import TensorVerdict
from equivalence.sample import Neighbour
from equivalence.truth.compute import probe, probes
from equivalence.truth.measurement import Measurement

JUMP_FACTOR = 2.0
"""A gradient jumps if a perturbation by BUDGET roundings moves it by more than this many times
BUDGET roundings of its own."""

NEIGHBOURS = 8
"""Neighbouring samples that show whether the reference is accurate, or exact only by chance."""

CHANCE_FACTOR = 4.0
"""Chance explains a candidate's error of up to this many times the reference's own error for
neighbouring samples; a larger error stands."""


def jumped(measurement: Measurement, expected: Truth, verdicts: Sequence[TensorVerdict]) -> bool:
    """Whether the truths of these tensors jump within the budget, and by as much as they differ.

    All inputs and weights are moved by BUDGET roundings. A tensor jumps if this moves it by more
    than `JUMP_FACTOR` times BUDGET roundings of its own. It then lies between two sides of a
    kink, such as that of the smaller of two distances. Takes 3 or 8 runs.
    """
    moved = Truth({verdict.name: expected[verdict.name].unprobed for verdict in verdicts})
    elements = sum(tensor.size for tensor in expected.values())
    probe(measurement, moved, range(probes(elements)), BUDGET)
    for verdict in verdicts:
        part, jump = verdict.part(expected[verdict.name]), verdict.part(moved[verdict.name]).spread
        unit = part.rounding(measurement.unit_roundoff)
        if jump <= JUMP_FACTOR * BUDGET * unit or verdict.error * unit > JUMP_FACTOR * jump:
            return False  # also where unit is 0, since no perturbation moves the tensor
    return True


def lost_nearby(
    measurement: Measurement, expected: Truth, verdicts: Sequence[TensorVerdict]
) -> bool:
    """Whether the reference loses as many digits in each of these tensors for neighbouring samples.

    It must be over the budget there, too, and by a similar amount. Where few terms cancel (the
    gradient of a softmax near one and zero), chance decides whether their rounding shows. Takes
    16 runs.
    """
    worst = {verdict.name: 0.0 for verdict in verdicts}
    sample = measurement.sample
    for number in range(NEIGHBOURS):
        neighbour = Neighbour(sample, number)
        truths, own = (measurement.run(neighbour, dtype=d) for d in ("float64", sample.dtype))
        for name in worst:
            tensor = replace(expected[name], truth=truths[name])
            worst[name] = max(worst[name], *tensor.errors(own[name], measurement.unit_roundoff))
    return all(
        worst[verdict.name] > BUDGET and verdict.needed <= CHANCE_FACTOR * worst[verdict.name]
        for verdict in verdicts
    )
