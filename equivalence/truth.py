"""The truth of a case: the reference in float64, and how far rounding moves it."""

import math

import numpy as np

from equivalence import trace
from equivalence.errors import IllPosedError
from equivalence.judge import Expected, in_roundings
from equivalence.kinks import KinkWatch, few
from equivalence.norms import distance
from equivalence.sample import Perturbed, Sample
from equivalence.torch_adapter import TorchNetwork
from equivalence.trace import Trace

WEIGHT_DTYPE = "float32"
"""Weights, their gradients and statistics stay in single precision also where a network computes
in half precision."""

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
    truth, first = _settled(network, sample, phase, unit_roundoff)
    expected = {name: Expected(values, str(values.dtype)) for name, values in truth.items()}
    for name, known in expected.items():
        if known.truth.dtype.kind == "f" and np.isnan(known.truth).any():
            raise IllPosedError(f"{sample.name}: the truth itself is NaN in {name}")
    _widen(expected, first)
    del first
    elements = sum(values.size for values in truth.values())
    for probe in range(1, probes(elements)):
        _widen(
            expected,
            network.run(Perturbed(sample, probe, unit_roundoff), phase, "float64"),
        )
    for name, values in network.run(sample, phase, sample.dtype).items():
        _own(expected[name], values, unit_roundoff)
        if trace.of_weight(name):
            expected[name].dtype = WEIGHT_DTYPE
    return expected


def _settled(
    network: TorchNetwork, sample: Sample, phase: str, unit_roundoff: float
) -> tuple[Trace, Trace]:
    """The truth and its first perturbation, from a sample without activations near a kink."""
    for _ in range(REDRAWS):
        network.settle(sample, Perturbed(sample, 0, unit_roundoff), phase)
        watch = KinkWatch()
        truth = network.run(sample, phase, "float64", watch)
        apart = KinkWatch(watch)
        first = network.run(Perturbed(sample, 0, unit_roundoff), phase, "float64", apart)
        near = sum(filter(few, watch.near(apart.spreads)))
        if not near:
            return truth, first
        sample.draw_again()
    raise IllPosedError(
        f"{sample.name}: in each of {REDRAWS} samples some activations (last: {near}) lie within "
        "rounding of a kink (a ReLU at zero, a tied maximum), where gradients of a right "
        "candidate may jump; use a smaller input"
    )


def _widen(expected: dict[str, Expected], perturbed: Trace) -> None:
    """Let every sensitivity be at least this perturbation's distance from the truth."""
    for name, known in expected.items():
        if known.truth.dtype.kind == "f":
            apart = distance(perturbed[name], known.truth)
            known.spread = max(known.spread, apart.norm)
            known.spread_peak = max(known.spread_peak, apart.largest)


def _own(known: Expected, values: np.ndarray, unit_roundoff: float) -> None:
    """Note the dtype and the error of the reference's run in the case's own precision."""
    known.dtype = str(values.dtype)
    if known.truth.dtype.kind != "f":
        return
    apart = distance(values, known.truth)
    known.own_error, known.own_worst = in_roundings(apart, known, unit_roundoff)
    if apart.mismatched:
        known.own_error = math.inf
