"""What the reference does near a sample: whether it jumps there, or loses as many digits.

It sets aside examples of single operators, whose samples are not moved off kinks.
"""

from dataclasses import replace

from equivalence.judge.precision import BUDGET
from equivalence.judge.truth import Truth
from equivalence.sample import Neighbour
from equivalence.truth.compute import probe, probes
from equivalence.truth.known import Nearby
from equivalence.truth.measurement import Measurement

NEIGHBOURS = 8
"""Neighbouring samples that show whether the reference is accurate, or exact only by chance."""


def measure(measurement: Measurement, expected: Truth) -> dict[str, Nearby]:
    """What each tensor of the reference does near the sample. Takes 19 or 24 runs."""
    jumps, lost = _jumps(measurement, expected), _lost(measurement, expected)
    return {name: Nearby(jumps[name], lost[name]) for name in expected}


def _jumps(measurement: Measurement, expected: Truth) -> dict[str, list[float]]:
    """How far a perturbation by BUDGET roundings moves each tensor, part by part.

    All inputs and weights are moved by BUDGET roundings. A tensor that is moved much farther than
    in proportion lies between two sides of a kink, such as that of the smaller of two distances.
    """
    moved = Truth({name: tensor.unprobed for name, tensor in expected.items()})
    elements = sum(tensor.size for tensor in expected.values())
    probe(measurement, moved, range(probes(elements)), BUDGET)
    return {name: [part.spread for part in tensor.parts] for name, tensor in moved.items()}


def _lost(measurement: Measurement, expected: Truth) -> dict[str, float]:
    """The largest error of the reference's own run in each tensor, for neighbouring samples."""
    worst = dict.fromkeys(expected, 0.0)
    sample = measurement.sample
    for number in range(NEIGHBOURS):
        neighbour = Neighbour(sample, number)
        truths, own = (measurement.run(neighbour, dtype=d) for d in ("float64", sample.dtype))
        for name in worst:
            if truths[name].shape != expected[name].shape:
                continue  # how many values are left depends on them; that is no loss of digits
            tensor = replace(expected[name], truth=expected[name].view(truths[name]))
            worst[name] = max(worst[name], *tensor.errors(own[name], measurement.unit_roundoff))
    return worst
