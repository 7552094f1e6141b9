"""The truth of a case: the reference in float64, and how far rounding moves it."""

from collections.abc import Callable, Mapping

import numpy as np

from equivalence import dtypes
from equivalence.errors import IllPosedError
from equivalence.judge import tensors
from equivalence.judge.expected import NOISE, Expected
from equivalence.judge.ill_posed import HALF
from equivalence.judge.precision import BUDGET, CLOSE, UNIT_ROUNDOFF
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Truth, nothing_to_compare
from equivalence.kinks.watch import KinkWatch
from equivalence.sample import Sample
from equivalence.seeds import seed_of
from equivalence.sides.torch_modes import RoundEachResult
from equivalence.truth import flips, undecided
from equivalence.truth.explained import explain
from equivalence.truth.measurement import WATCHED_PROBES, Measurement

WEIGHT_DTYPE = "float32"
"""The dtype of weights, of their gradients and of statistics, also where a network computes in
float16."""

ROUNDED_PROBES = 3
"""Runs in which every result is rounded, for tensors in which terms cancel."""

FINE_PROBES = 16
"""Perturbed runs for a case whose error is little more than the budget, instead of 3 or 8."""

CANCELLED_ROUNDINGS = 4.0
"""Roundings. Terms cancel in a tensor that moves by more than this when every result is rounded."""

ZERO_SHARE = 2.0**-16
"""An update below this share of its sensitivity is zero in truth. Rounding in float64 is 2^-29 of
that in float32."""

NOISE_SHARE = 2.0**-24
"""A gradient below this share of its error in the reference's own run is zero in truth: it is the
rounding of float64 alone, which is 2^-29 of that in float32."""

MAX_DRAWS = 4
"""Samples that are drawn, at most. Activations of the last one that are still near a kink are kept
as `Truth.near`, and tensors in which zeros would pass make the case ill-posed."""

CROWDED = 16
"""With so many activations near a kink no sample is drawn again: none would be free of them."""

Expect = Callable[[Trace], Truth]
"""Makes a truth of the float64 run's trace: `whole` keeps all of it, a record sketches large
tensors."""


def probes(elements: int) -> int:
    """The number of perturbed runs for a trace of that many elements.

    In a large tensor every run gives nearly the same norm. In a small one, such as a scalar loss,
    a few runs may all give a small norm by chance.
    """
    return 8 if elements <= 1 << 16 else 3


def refine(measurement: Measurement, expected: Truth, alone: bool = False) -> Truth:
    """A copy of the truth with the sensitivities of `FINE_PROBES` perturbed runs.

    alone: whether the case is a single operator. The rounding of results then counts, too, where
        terms cancel. An operator rounds the values that it keeps for its gradient (the 0.9999
        of a softmax in half precision). With few elements, chance decides whether this costs
        the reference any digits.
    """
    finer = expected.copy()
    elements = sum(tensor.size for tensor in expected.values())
    probe(measurement, finer, range(probes(elements), FINE_PROBES))
    trains = measurement.network.steps is not None
    if alone or trains:
        floating = {n: tensor for n, tensor in finer.items() if tensor.truth.dtype.kind == "f"}
        rounded = _round_results(measurement, expected, floating)
        for name, tensor in floating.items():
            for part, moved in zip(tensor.parts, rounded[name].parts, strict=True):
                one_rounding = part.rounding(measurement.unit_roundoff)
                if trains or moved.spread > CANCELLED_ROUNDINGS * one_rounding:
                    part.widen_by_rounding(moved)
    return finer


def whole(truth: Trace) -> Truth:
    """Every tensor of the trace as it is, with a sensitivity of zero."""
    return Truth({name: Expected.whole(values) for name, values in truth.items()})


def compute(measurement: Measurement, expect: Expect = whole) -> Truth:
    """The truth, the sensitivity and the reference's own error of every tensor of the trace.

    It is `begin`, then `probe_further`, `complete` and `explain_own`. The first three raise
    sensitivities, so that a candidate that is equal by an earlier one needs no later one.
    """
    return _go_on(measurement, begin(measurement, expect))


def begin(measurement: Measurement, expect: Expect = whole) -> Truth:
    """The truth, the sensitivities of the first perturbed runs, and the reference's own error.

    This moves the sample off the kinks of the network: first by shifts of its biases; then, if
    activations stay near a kink, by drawing it anew. Activations that are near in the last draw
    are kept as `near`. A sample in which chance makes a tensor so small that zeros would pass is
    drawn anew, too. Raises IllPosedError if the truth holds nothing to compare.
    """
    network = measurement.network
    compute = _compute_settled if network.settles else _compute_unsettled
    while True:
        expected = compute(measurement, expect)
        _demand_finite(expected, measurement.sample)
        if network.steps == 1:
            expected = _without_undecided(measurement, expected)
        expected = _with_own(measurement, expected)
        if not _zeros_pass(measurement, expected) or not _draw_again(measurement.sample):
            return expected


def _draw_again(sample: Sample) -> bool:
    """Draw the sample anew; whether that changes it. The last draw stays."""
    return sample.redraw + 1 < MAX_DRAWS and sample.draw_again()


def _zeros_pass(measurement: Measurement, expected: Truth) -> bool:
    """Whether the budget of a nonzero tensor reaches as far as zero.

    Those in which terms cancel are none of these, nor those of a compute mode coarser than the
    dtype: such a tensor is small in every draw.
    """
    unit_roundoff = measurement.unit_roundoff
    if unit_roundoff > UNIT_ROUNDOFF[measurement.sample.dtype]:
        return False

    def found(truth: Truth) -> bool:
        return any(
            not each.cancelled and BUDGET * each.share(each.norms, unit_roundoff) >= 1.0
            for each in truth.values()
        )

    if not found(expected):
        return False
    rounded = expected.copy()
    _measure_rounded(measurement, rounded, _run_own(measurement, expected))
    return found(rounded)


def begin_layer(measurement: Measurement, expect: Expect = whole) -> Truth:
    """As `begin`, for a layer to which both sides feed the very same values.

    The sample is not moved off kinks.
    """
    return _with_own(measurement, _compute_unsettled(measurement, expect))


def _run_own(measurement: Measurement, expected: Truth) -> Trace:
    """The trace of the reference's own run; undecided elements are those of the truth."""
    return expected.replace_undecided(measurement.run_own())


def _with_own(measurement: Measurement, expected: Truth) -> Truth:
    """Add what the reference's own run tells: dtypes, its errors, and which gradients are noise."""
    _mark_zero_updates(expected)
    own = _run_own(measurement, expected)
    for name, values in own.items():
        dtype = dtypes.name(values.dtype)
        in_float32 = tensors.of_weight(name) and dtype == "float16"
        expected[name].dtype = WEIGHT_DTYPE if in_float32 else dtype
    _measure_own(expected, expected, own, measurement.unit_roundoff)
    for name, values in own.items():
        if tensors.of_gradient(name) and np.isfinite(values).all():
            _mark_noise(expected[name], values, measurement.unit_roundoff)
    return expected


def _mark_noise(tensor: Expected, own: np.ndarray, unit_roundoff: float) -> None:
    """Mark a gradient as cancelled if only the rounding of the float64 run is left of it.

    The reference's own run is then its sensitivity.
    """
    noise = tensor.unprobed
    noise.widen(own)
    if noise.spread > 0.0 and tensor.scale <= NOISE_SHARE * noise.spread:
        tensor.cancelled, tensor.faint = True, None
        tensor.widen_by_rounding(noise)
        tensor.own_error, tensor.own_worst = tensor.part_errors(own, unit_roundoff)


def probe_further(measurement: Measurement, expected: Truth) -> Truth:
    """A copy of what `begin` returns, with the sensitivities of all perturbed runs.

    The reference's own errors stay those of `begin`, which are too large now, until `complete`.
    """
    expected = expected.copy()
    elements = sum(tensor.size for tensor in expected.values())
    probe(measurement, expected, range(WATCHED_PROBES, probes(elements)))
    _mark_zero_updates(expected)
    return expected


def of_layer(measurement: Measurement, expect: Expect = whole) -> Truth:
    """As `compute`, for a layer to which both sides feed the very same values."""
    return _go_on(measurement, begin_layer(measurement, expect))


def _go_on(measurement: Measurement, begun: Truth) -> Truth:
    """All that follows the first perturbed runs."""
    return explain_own(measurement, complete(measurement, probe_further(measurement, begun)))


def complete(measurement: Measurement, expected: Truth) -> Truth:
    """A copy of what `probe_further` returns, with the rounding of results.

    It is measured in tensors in which the reference's own run needs more than half of the budget.
    """
    expected = expected.copy()
    own = _run_own(measurement, expected)
    unit_roundoff = measurement.unit_roundoff
    _measure_own(expected, expected, own, unit_roundoff)
    _measure_rounded(measurement, expected, own)
    needed = max(tensor.own_needed for tensor in expected.values())
    if BUDGET < needed <= CLOSE * BUDGET:
        expected = refine(measurement, expected)
        _measure_own(expected, expected, own, unit_roundoff)
    over = _over_budget(expected, BUDGET)
    lost = any(expected.jumps(n) and e.own_share(unit_roundoff) >= HALF for n, e in over.items())
    return explain_own(measurement, expected) if lost else expected


def explain_own(measurement: Measurement, expected: Truth) -> Truth:
    """A copy of what `complete` returns, with the reference's own errors beside its own flips."""
    expected = expected.copy()
    jumping = [name for name in _over_budget(expected, BUDGET) if expected.jumps(name)]
    if jumping and measurement.network.settles:
        own = _run_own(measurement, expected)
        if all(np.isfinite(own[name]).all() for name in jumping):
            near = flips.may_flip(measurement, expected.near)
            explained = near and explain(measurement, expected, near, own)
            if explained:
                _measure_own(expected, explained[1], own, measurement.unit_roundoff)
    return expected


def _mark_zero_updates(expected: Truth) -> None:
    """Mark the updates that are zero in truth as cancelled, such as that of a key's bias.

    Only the rounding of float64 is left of such an update. Storing the weight rounds it by so much
    more that zeros are right.
    """
    for name, tensor in expected.items():
        if name.startswith("update["):
            tensor.cancelled = tensor.scale <= ZERO_SHARE * tensor.spread > 0.0


def _compute_settled(measurement: Measurement, expect: Expect) -> Truth:
    """The truth and its first perturbed runs, from a sample with no activation near a kink.

    If no draw gives such a sample, the last one is used. The perturbed runs then take the truth's
    branch at every near activation, so that no flip counts as rounding.
    """
    sample = measurement.sample
    while True:
        perturbed = [measurement.perturbed(probe) for probe in range(WATCHED_PROBES)]
        measurement.network.settle(sample, perturbed, measurement.phase)
        watch = KinkWatch()
        truth = measurement.run(watch=watch)
        expected = expect(truth)
        _demand_finite(expected, sample)  # before any further draw
        comparison = KinkWatch(watch)
        for each in perturbed:
            _widen(expected, measurement.run(each, comparison))
        near = watch.nearest(comparison.spreads)
        if not near and not watch.rounds_many(comparison.spreads):
            return expected
        movable = sum(not watch.is_exact(each) for each in near)
        if not 0 < movable < CROWDED or not _draw_again(sample):
            break
    expected = expect(truth)
    expected.near = flips.locate(measurement, near)
    probe(measurement, expected, range(WATCHED_PROBES))
    return expected


def _compute_unsettled(measurement: Measurement, expect: Expect) -> Truth:
    """The truth and its first perturbed runs; the sample is not moved off kinks."""
    expected = expect(measurement.run())
    probe(measurement, expected, range(WATCHED_PROBES))
    return expected


def _without_undecided(measurement: Measurement, expected: Truth) -> Truth:
    """The truth of one training step; its sensitivities leave out undecided elements."""
    elements, moved = undecided.measure(measurement, WATCHED_PROBES, expected.near)
    if elements:
        truth = Truth({name: tensor.unprobed for name, tensor in expected.items()})
        truth.near, truth.undecided = expected.near, elements
        probe(measurement, truth, range(WATCHED_PROBES))
        expected = truth
    for trace in moved:
        _widen(expected, expected.replace_undecided(trace))
    return expected


def _demand_finite(expected: Truth, sample: Sample) -> None:
    """Raise IllPosedError if the truth holds nothing to compare."""
    why = nothing_to_compare(expected)
    if why:
        raise IllPosedError(f"{sample.name}: {why}")


def probe(
    measurement: Measurement, expected: Truth, numbers: range, roundings: float = 1.0
) -> None:
    """Raise the sensitivities by these perturbed runs; near activations keep the truth's branch.

    roundings: the size of the perturbation, in roundings of each input and weight.
    """
    for probe in numbers:
        perturbed = measurement.perturbed(probe, roundings)
        run = measurement.run(perturbed, flips.hold_branches(expected.near))
        _widen(expected, expected.replace_undecided(run))


def _widen(expected: dict[str, Expected], perturbed: Trace) -> None:
    """Raise every sensitivity to the distance of this perturbed run, if that is larger."""
    for name, values in perturbed.items():
        tensor = expected.get(name)
        if tensor is not None and tensor.truth.dtype.kind == "f":
            tensor.widen(values)


def _measure_own(
    expected: Truth, truths: Mapping[str, Expected], own: Trace, unit_roundoff: float
) -> None:
    """Set the errors of the reference's own run in `expected`, as measured against `truths`."""
    for name, values in own.items():
        for part, by in zip(expected[name].parts, truths[name].parts, strict=True):
            part.own_error, part.own_worst = by.part_errors(values, unit_roundoff)


def _over_budget(expected: Truth, budget: float) -> dict[str, Expected]:
    """The tensors in which the error of the reference's own run exceeds `budget`, in roundings."""
    return {name: tensor for name, tensor in expected.items() if tensor.own_needed > budget}


def _measure_rounded(measurement: Measurement, expected: Truth, own: Trace) -> None:
    """Add the rounding of results to sensitivities that inputs and weights alone make too small.

    They are too small where terms cancel. In front of a BatchNorm, a bias may be large beside the
    variation of its channel: its perturbation moves nothing, but the rounding of the sum does, and
    the gradient of the bias is zero but for rounding. In such a tensor the reference's own run
    needs more than half of the budget. Where a gradient cancels to zero, the reference's own run
    counts as one more run that rounds its results. It does so for faint elements, too.
    """
    u, suspects = measurement.unit_roundoff, _over_budget(expected, BUDGET / 2)
    # What is noise has the reference's own run alone for its sensitivity so far.
    suspects |= {n: e for n, e in expected.items() if e.cancelled and not tensors.of_update(n)}
    suspects = {name: each for name, each in suspects.items() if each.truth.dtype.kind == "f"}
    faint = {name: each.faint for name, each in expected.items() if each.faint}
    faints = _over_budget(faint, BUDGET / 2)
    # A unit that is nothing, or only the rounding of float64: as many terms of a size are added as
    # taken away, or one element of a key's bias is by chance exactly zero.
    faints |= {n: e for n, e in faint.items() if e.rounding(u) <= NOISE * expected[n].scale}
    if not suspects and not faints:
        return
    measured = {name: expected[name] for name in (*suspects, *faints)}
    rounded = _round_results(measurement, expected, measured)
    for name in faints:
        faint, moved = expected[name].faint, rounded[name].faint
        moved.widen(own[name])
        faint.widen_by_rounding(moved)
        faint.own_error, faint.own_worst = faint.part_errors(own[name], u)
    trains = measurement.network.steps is not None
    for name, tensor in suspects.items():
        moved = rounded[name]
        # With a spread of 0 nothing cancels: the reference is wrong, or takes another branch.
        tensor.cancelled = tensors.jumps(name) and tensor.scale <= moved.spread > 0.0
        if tensor.cancelled:
            tensor.faint = None  # all of it is noise
            moved.widen(own[name])
        elif tensor.own_needed > CLOSE * BUDGET and not trains:
            continue  # a formula that loses digits is not excused
        tensor.widen_by_rounding(moved)
        tensor.own_error, tensor.own_worst = tensor.part_errors(own[name], u)


def _round_results(
    measurement: Measurement, expected: Truth, measured: Mapping[str, Expected]
) -> dict[str, Expected]:
    """The tensors of `measured` with their sensitivity to the rounding of every result instead."""
    rounded = {name: tensor.unprobed for name, tensor in measured.items()}
    for probe in range(ROUNDED_PROBES):
        seed = seed_of(measurement.sample.name, "rounding", probe)
        rounding = RoundEachResult(measurement.unit_roundoff, seed)
        run = measurement.run(watch=flips.hold_branches(expected.near, rounding))
        _widen(rounded, expected.replace_undecided(run))
    return rounded
