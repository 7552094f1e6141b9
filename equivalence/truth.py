"""The truth of a case: the reference in float64, and how far rounding moves it."""

import math

import numpy as np

from equivalence import trace
from equivalence.errors import IllPosedError
from equivalence.judge import Expected, in_roundings
from equivalence.kinks import KinkWatch, few
from equivalence.norms import distance
from equivalence.precision import BUDGET
from equivalence.rounding import RoundEachResult
from equivalence.sample import Perturbed, Sample, seed_of
from equivalence.torch_adapter import TorchNetwork
from equivalence.trace import Trace

WEIGHT_DTYPE = "float32"
"""Weights, their gradients and statistics stay in single precision also where a network computes
in half precision."""

CANCELLED_PROBES = 3
"""Runs with every result rounded, for gradients that cancel to nothing."""

WATCHED = 2
"""Perturbed runs that tell how far rounding moves each activation from its kink."""

REDRAWS = 4
"""Samples tried before a case is given up because activations stay near a kink."""


def probes(elements: int) -> int:
    """Perturbed runs for a sample of that many elements.

    In a large tensor every probe gives nearly the same norm; in a small one, a scalar loss above
    all, a few probes may all come out small by chance.
    """
    return 8 if elements <= 1 << 16 else 3


def compute(
    network: TorchNetwork, sample: Sample, phase: str, unit_roundoff: float
) -> dict[str, Expected]:
    """Truth, sensitivity and the reference's own error, for every tensor of the trace.

    `sample` is moved off the kinks of the network on the way: first by shifts of its biases,
    then, should activations remain near a kink, by drawing it anew. Raises IllPosedError when no
    draw helps, or when the truth itself is NaN.
    """
    expected = _settled(network, sample, phase, unit_roundoff)
    elements = sum(known.truth.size for known in expected.values())
    for probe in range(WATCHED, probes(elements)):
        perturbed = Perturbed(sample, probe, unit_roundoff)
        _widen(expected, network.run(perturbed, phase, "float64"))
    own = network.run(sample, phase, sample.dtype)
    for name, values in own.items():
        known = expected[name]
        known.dtype = WEIGHT_DTYPE if trace.of_weight(name) else str(values.dtype)
        known.own_error, known.own_worst = _own_errors(known, values, unit_roundoff)
    _measure_cancelled(network, sample, phase, unit_roundoff, expected, own)
    return expected


def _settled(
    network: TorchNetwork, sample: Sample, phase: str, unit_roundoff: float
) -> dict[str, Expected]:
    """The truth and its first perturbations, from a sample without activations near a kink."""
    for _ in range(REDRAWS):
        perturbed = [Perturbed(sample, probe, unit_roundoff) for probe in range(WATCHED)]
        network.settle(sample, perturbed, phase)
        watch = KinkWatch()
        truth = network.run(sample, phase, "float64", watch)
        for name, values in truth.items():
            if values.dtype.kind == "f" and np.isnan(values).any():
                raise IllPosedError(f"{sample.name}: the truth itself is NaN in {name}")
        expected = {name: Expected(values, str(values.dtype)) for name, values in truth.items()}
        apart = KinkWatch(watch)
        for each in perturbed:
            _widen(expected, network.run(each, phase, "float64", apart))
        near = sum(filter(few, watch.near(apart.spreads)))
        if not near:
            return expected
        sample.draw_again()
    raise IllPosedError(
        f"{sample.name}: in each of {REDRAWS} samples some activations (last: {near}) lie within "
        "rounding of a kink (a ReLU at zero, a tied maximum), where gradients of a right "
        "candidate may jump; use a smaller input"
    )


def _widen(expected: dict[str, Expected], perturbed: Trace) -> None:
    """Let every sensitivity be at least this perturbation's distance from the truth."""
    for name, values in perturbed.items():
        known = expected.get(name)
        if known is not None and known.truth.dtype.kind == "f":
            apart = distance(values, known.truth)
            known.spread = max(known.spread, apart.norm)
            known.spread_peak = max(known.spread_peak, apart.largest)


def _own_errors(known: Expected, values: np.ndarray, unit_roundoff: float) -> tuple[float, float]:
    """The errors of the reference's run in the case's own precision, in roundings."""
    if known.truth.dtype.kind != "f":
        return (0.0, 0.0) if np.array_equal(values, known.truth) else (math.inf, math.inf)
    apart = distance(values, known.truth)
    return (math.inf, math.inf) if apart.mismatched else in_roundings(apart, known, unit_roundoff)


def _measure_cancelled(
    network: TorchNetwork,
    sample: Sample,
    phase: str,
    unit_roundoff: float,
    expected: dict[str, Expected],
    own: Trace,
) -> None:
    """Give gradients that cancel to nothing the sensitivity of the terms that cancel.

    Such a gradient is smaller than what rounding of intermediate results leaves of it, so that
    the reference itself is far off by any perturbation of inputs and weights alone. Its own run
    counts as one more rounding of what is zero, so that the case is not called ill-posed for it.
    """
    suspects = {
        name: known
        for name, known in expected.items()
        if name.startswith("gradient:") and max(known.own_error, known.own_worst) > BUDGET
    }
    if not suspects:
        return
    widened = {name: Expected(known.truth, known.dtype) for name, known in suspects.items()}
    for probe in range(CANCELLED_PROBES):
        rounding = RoundEachResult(unit_roundoff, seed_of(sample.name, "rounding", probe))
        _widen(widened, network.run(sample, phase, "float64", rounding))
    for name, known in suspects.items():
        if float(np.linalg.norm(known.truth)) <= widened[name].spread:
            _widen(widened, {name: own[name]})
            known.spread, known.spread_peak = widened[name].spread, widened[name].spread_peak
            known.own_error, known.own_worst = _own_errors(known, own[name], unit_roundoff)
