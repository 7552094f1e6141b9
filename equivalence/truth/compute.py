"""The truth of a case: the reference in float64, and how far rounding moves it."""

from collections.abc import Callable, Mapping

import numpy as np
from torch import nn

from equivalence import dtypes
from equivalence.errors import IllPosedError
from equivalence.judge import attributes, tensors, verdict
from equivalence.judge.expected import NOISE, Expected
from equivalence.judge.tensors import Trace, attribute, of_attribute
from equivalence.judge.truth import Truth, nothing_to_compare
from equivalence.kinks.watch import KinkWatch
from equivalence.sample import Sample
from equivalence.truth import flips, undecided
from equivalence.truth.explained import explain
from equivalence.truth.measurement import NOISY_RUNS, Measurement
from equivalence.written import PER_CALL

WEIGHT_DTYPE = "float32"
"""The dtype of weights, of their gradients and of statistics, also where a network computes in
float16."""

MORE_RUNS = 8
"""Noisy runs in all, where a candidate is over the budget by the first two. In a tensor of few
elements, such as a scalar loss, chance may make the noise of two runs small."""

MAX_DRAWS = 4
"""Samples that are drawn, at most. Activations of the last one that are still near a kink are kept
as `Truth.near`."""

CROWDED = 16
"""With so many activations near a kink no sample is drawn again: none would be free of them."""

Expect = Callable[[Trace], Truth]
"""Makes a truth of the float64 run's trace: `whole` keeps all of it, a record sketches large
tensors."""


def whole(truth: Trace) -> Truth:
    """Every tensor of the trace as it is, with a sensitivity of zero."""
    return Truth({name: Expected.whole(values) for name, values in truth.items()})


def compute(measurement: Measurement, expect: Expect = whole) -> Truth:
    """The truth, the noise and the reference's own error of every tensor of the trace.

    The sample is moved as in `begin`.
    """
    if measurement.replaceable:
        return of_layer(measurement, expect)
    return add_noise(measurement, _draw(measurement, expect), expect)


def begin(measurement: Measurement, expect: Expect = whole) -> Truth:
    """The truth, the noise of two runs, and the reference's own error.

    This moves the sample off the kinks of the network: first by shifts of its biases; then, if
    activations stay near a kink, by drawing it anew. Activations that are near in the last draw
    are kept as `near`. A sample of which rounding leaves nothing is drawn anew, too. Raises
    IllPosedError if the truth holds nothing to compare.

    A replaceable sample stays as it is: both sides are fed the very same values.
    """
    if measurement.replaceable:
        expected = _compute_unsettled(measurement, expect)
        _measure_own(measurement, expected)
        return expected
    return _beside_own(measurement, _draw(measurement, expect), expect, NOISY_RUNS)[0]


def _draw(measurement: Measurement, expect: Expect) -> Truth:
    """What `begin` returns, without the reference's own run."""
    network = measurement.network
    compute = _compute_settled if network.settles else _compute_unsettled
    while True:
        expected = compute(measurement, expect)
        _demand_finite(expected, measurement)
        if measurement.trains and measurement.calls == 1:
            expected = _without_undecided(measurement, expected)
        undecidable = verdict.mostly_undecidable(expected, measurement.unit_roundoff)
        if not (undecidable and _draw_again(measurement.sample)):
            break
    return _repeated(measurement, expected)


def add_noise(measurement: Measurement, expected: Truth, expect: Expect = whole) -> Truth:
    """A copy of what `begin` returns, with the noise of all runs and the reference's own run.

    More runs can only raise it: a candidate that is equal by the first two needs no others.
    """
    expected = expected.copy()
    probe(measurement, expected, range(NOISY_RUNS, MORE_RUNS))
    expected, own = _beside_own(measurement, expected, expect, MORE_RUNS)
    return _beside_own_flips(measurement, expected, own)


def of_layer(measurement: Measurement, expect: Expect = whole) -> Truth:
    """As `compute`, for a layer to which both sides feed the very same values."""
    return add_noise(measurement, _compute_unsettled(measurement, expect), expect)


def _draw_again(sample: Sample) -> bool:
    """Draw the sample anew; whether that changes it. The last draw stays."""
    return sample.redraw + 1 < MAX_DRAWS and sample.draw_again()


def _beside_own(
    measurement: Measurement, expected: Truth, expect: Expect, runs: int
) -> tuple[Truth, Trace]:
    """The truth beside the reference's own run, and that run's trace.

    Where the own run overflows in its precision, NaN or an infinity is the value to expect: the
    truth is then made anew, as nothing else may be measured by what float64 alone can hold.

    runs: the number of noisy runs of the truth.
    """
    own = _measure_own(measurement, expected)
    if measurement.replaceable or not any(
        _overflows(expected[name], values).any() for name, values in own.items()
    ):
        return expected, own
    truth = measurement.run()
    for name, values in own.items():
        odd = _overflows(Expected.whole(truth[name]), values)
        truth[name] = np.where(odd, values, truth[name])
    fresh = _expected(measurement, expected.known(truth), expect).like(expected)
    if nothing_to_compare(fresh) and not measurement.degenerate:
        return expected, own
    probe(measurement, fresh, range(runs))
    return fresh, _measure_own(measurement, fresh)


def _overflows(tensor: Expected, own: np.ndarray) -> np.ndarray:
    """Which elements of the own run are not finite, where the truth is."""
    if own.dtype.kind != "f" or own.shape != tensor.shape:
        return np.zeros(own.shape, bool)
    odd = ~np.isfinite(own)
    return odd if tensor.sketch else odd & np.isfinite(tensor.truth)


def _measure_own(measurement: Measurement, expected: Truth) -> Trace:
    """Add what the reference's own run tells: dtypes, its errors, and the decisions that it took.

    Returns its trace.
    """
    if expected.reach is None and not measurement.replaceable:
        trace, expected.reach, expected.precisions = measurement.watch_own()
    else:
        trace = measurement.run_own()
    own = expected.replace_undecided(expected.known(trace))
    for name, values in own.items():
        dtype = dtypes.name(values.dtype)
        in_float32 = tensors.of_weight(name) and dtype == "float16"
        expected[name].dtype = WEIGHT_DTYPE if in_float32 else dtype
    set_own_errors(expected, expected, own, measurement.unit_roundoff)
    return own


def _beside_own_flips(measurement: Measurement, expected: Truth, own: Trace) -> Truth:
    """The truth with the own errors beside the reference's own flips, where it lost a tensor."""
    lost = verdict.lost(expected, measurement.unit_roundoff)
    if measurement.network.settles and any(map(expected.jumps, lost)):
        near = flips.may_flip(measurement, expected.near)
        explained = near and explain(measurement, expected, near, own, lost)
        if explained:
            set_own_errors(expected, explained[1], own, measurement.unit_roundoff)
    return expected


def _compute_settled(measurement: Measurement, expect: Expect) -> Truth:
    """The truth and its first perturbed runs, from a sample with no activation near a kink.

    If no draw gives such a sample, the last one is used. The perturbed runs then take the truth's
    branch at every near activation, so that no flip counts as rounding.
    """
    sample = measurement.sample
    while True:
        perturbed = [measurement.perturbed(probe) for probe in range(NOISY_RUNS)]
        measurement.network.settle(sample, perturbed, measurement.phase)
        watch = KinkWatch()
        truth = measurement.run(watch=watch)
        expected = _expected(measurement, truth, expect)
        _demand_finite(expected, measurement)  # before any further draw
        comparison = KinkWatch(watch)
        for each in perturbed:
            widen_by(expected, measurement.run(each, comparison))
        near = watch.nearest(comparison.spreads)
        if not near and not watch.rounds_many(comparison.spreads):
            return expected
        movable = sum(not watch.is_exact(each) for each in near)
        if not 0 < movable < CROWDED or not _draw_again(sample):
            break
    expected = _expected(measurement, truth, expect)
    expected.near = flips.locate(measurement, near)
    probe(measurement, expected, range(NOISY_RUNS))
    return expected


def _compute_unsettled(measurement: Measurement, expect: Expect) -> Truth:
    """The truth and its first perturbed runs; the sample is not moved off kinks."""
    expected = _expected(measurement, measurement.run(), expect)
    probe(measurement, expected, range(NOISY_RUNS))
    return expected


def _expected(measurement: Measurement, truth: Trace, expect: Expect) -> Truth:
    """The truth of the trace of the last run; nothing moves it yet."""
    expected = expect(truth)
    expected.forward_only = measurement.network.forward_only
    return expected


def _without_undecided(measurement: Measurement, expected: Truth) -> Truth:
    """The truth of one training step; its sensitivities leave out undecided elements."""
    elements, moved = undecided.measure(measurement, NOISY_RUNS, expected.near)
    if elements:
        truth = Truth({name: tensor.unprobed for name, tensor in expected.items()}).like(expected)
        truth.undecided = elements
        probe(measurement, truth, range(NOISY_RUNS))
        expected = truth
    for trace in moved:
        widen_by(expected, expected.replace_undecided(trace))
    return expected


def _demand_finite(expected: Truth, measurement: Measurement) -> None:
    """Raise IllPosedError if the truth holds nothing to compare, unless that is meant."""
    why = nothing_to_compare(expected)
    if why and not measurement.degenerate:
        raise IllPosedError(f"{measurement.sample.name}: {why}")


def probe(measurement: Measurement, expected: Truth, numbers: range) -> None:
    """Raise the sensitivities by these noisy runs; near activations keep the truth's branch."""
    for probe in numbers:
        perturbed = measurement.perturbed(probe)
        run = measurement.run(perturbed, flips.hold_branches(expected.near))
        widen_by(expected, expected.replace_undecided(run))


def widen_by(expected: dict[str, Expected], perturbed: Trace) -> None:
    """Raise every sensitivity to the distance of this perturbed run, if that is larger."""
    for name, values in perturbed.items():
        tensor = expected.get(name)
        if tensor is not None and tensor.truth.dtype.kind == "f":
            tensor.widen(values)


def set_own_errors(
    expected: Truth, truths: dict[str, Expected], own: Trace, unit_roundoff: float
) -> None:
    """Set the errors of the reference's own run in `expected`, as measured against `truths`."""
    for name, values in own.items():
        for part, by in zip(expected[name].parts, truths[name].parts, strict=True):
            part.own_error, part.own_worst = by.part_errors(values, unit_roundoff)


CONSPICUOUS = 64
"""Roundings by which one moves a tensor. Only where one is moved farther is the reference run once
more: what keeps state moves it by more than that, or hides no more than rounding does."""


def _repeated(measurement: Measurement, expected: Truth) -> Truth:
    """The truth without the attributes that a run writes from what earlier ones have written.

    Raises IllPosedError where the reference's float64 run gives other values once more. A training
    is built anew for each run, and an operator keeps nothing.
    """
    network = measurement.network
    if measurement.trains or measurement.replaceable:
        return expected.among([name for name in expected if not name.endswith(PER_CALL)])
    _demand_same(measurement, expected)
    if not any(map(of_attribute, expected)):
        return expected
    network.leave = [n.removeprefix(attribute("")) for n in expected if of_attribute(n)]
    again = measurement.run()
    network.leave = ()
    kept, carried = attributes.settled(expected, again, measurement.unit_roundoff)
    expected.carried = frozenset(carried)
    return expected.among(kept)


def _demand_same(measurement: Measurement, expected: Truth) -> None:
    network, unit = measurement.network, measurement.unit_roundoff
    floats = {
        name: each
        for name, each in expected.items()
        if each.truth.dtype.kind == "f" and not of_attribute(name)
    }
    moved = [n for n, each in floats.items() if each.share(each.norms, unit) > CONSPICUOUS * unit]
    if not moved:
        return
    before = _numbers(network.module)
    again = measurement.run()
    peak = max(each.norms.peak for each in floats.values())
    for name in moved:
        change = floats[name].distance(again[name])
        if change.largest > max(unit * change.peak, NOISE * peak):
            after = _numbers(network.module)
            counts = [
                f"its {key} is {number} before a call and {after[key]} after it"
                for key, number in before.items()
                if after.get(key, number) != number
            ]
            why = counts[0] if counts else "it keeps something, or draws what torch does not seed"
            raise IllPosedError(
                f"{measurement.sample.name}: the reference gives another result in each call: "
                f"{name} changes by {change.largest / change.peak:.2g} of its largest element "
                f"({why}), so that nothing can be compared; let a call depend on its inputs and "
                "weights alone"
            )


def _numbers(module: nn.Module) -> Mapping[str, int | float]:
    """The numbers that the layers keep as plain attributes, by path."""
    return {
        f"{path}.{name}".lstrip("."): value
        for path, layer in module.named_modules()
        for name, value in vars(layer).items()
        if type(value) in (int, float)
    }
