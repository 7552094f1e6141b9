"""The truth of a case: the reference in float64, and how far rounding moves it."""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from equivalence.errors import IllPosedError
from equivalence.judge import tensors
from equivalence.judge.precision import BUDGET
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import CLOSE, Flip, Truth
from equivalence.judge.verdict import Expected, TensorVerdict, in_roundings
from equivalence.sample import Neighbour, Perturbed, Sample, seed_of
from equivalence.sides.kinks import KinkWatch
from equivalence.sides.torch_network import TorchNetwork, TorchTraining, Watch
from equivalence.truth import flips, undecided
from equivalence.truth.flips import Branches
from equivalence.truth.rounding import RoundEachResult

WEIGHT_DTYPE = "float32"
"""Weights, their gradients and statistics stay in single precision also where a network computes
in half precision."""

ROUNDED_PROBES = 3
"""Runs with every result rounded, for tensors in which terms cancel."""

WATCHED = 2
"""Perturbed runs that tell how far rounding moves each activation from its kink."""

FINE = 16
"""Perturbed runs for what is off by little more than the budget."""

JUMP = 2.0
"""How much farther than in proportion a gradient moves that jumps."""

NEIGHBOURS, NEARBY = 8, 2.0**-7
"""Samples by which luck of the reference is told from accuracy, and how far they are in proportion:
so far that everything is rounded anew, and so near that terms cancel alike."""

CHANCE = 4.0
"""How much farther off than the reference nearby a candidate may be by chance."""

LOST = 4.0
"""Roundings of a tensor that one rounding of every result makes where terms cancel."""

FAR, FARTHEST = 40.0, 8
"""Spreads within which an activation may still take the other branch, and how many are tried, the
nearest. Most move by a few; one in many millions by twenty or more, since a spread is that of a
whole channel."""

REDRAWS = 4
"""Samples tried before activations that stay near a kink are put up with."""


Expect = Callable[[Trace], Truth]
"""What becomes of the truth's own run: `whole` keeps all of it, a record sketches what is large."""


def probes(elements: int) -> int:
    """Perturbed runs for a sample of that many elements.

    In a large tensor every probe gives nearly the same norm; in a small one, a scalar loss above
    all, a few probes may all come out small by chance.
    """
    return 8 if elements <= 1 << 16 else 3


def refined(
    expected: Truth,
    network: TorchNetwork,
    sample: Sample,
    phase: str,
    unit_roundoff: float,
    alone: bool = False,
) -> Truth:
    """A truth with the sensitivities of `FINE` perturbed runs, for a candidate that is close.

    alone: of a single operator the rounding of its results counts where they cancel. What it
    keeps for its gradient is rounded (the 0.9999 of a softmax in half precision), and whether the
    reference loses by that is chance where there are few elements.
    """
    finer = Truth({name: replace(known) for name, known in expected.items()})
    finer.near, finer.undecided = expected.near, expected.undecided
    elements = sum(known.size for known in expected.values())
    _probe(network, sample, phase, unit_roundoff, finer, range(probes(elements), FINE))
    if alone:
        floating = {n: known for n, known in finer.items() if known.truth.dtype.kind == "f"}
        moved = _rounded(network, sample, phase, unit_roundoff, expected, floating)
        for name, known in floating.items():
            unit = known.rounding(unit_roundoff)
            if moved[name].spread > LOST * unit:
                known.widen_as(moved[name])
    return finer


def whole(truth: Trace) -> Truth:
    """Every tensor of the truth as it is, with no sensitivity yet."""
    return Truth({name: Expected(values, str(values.dtype)) for name, values in truth.items()})


def compute(
    network: TorchNetwork,
    sample: Sample,
    phase: str,
    unit_roundoff: float,
    expect: Expect = whole,
) -> Truth:
    """Truth, sensitivity and the reference's own error, for every tensor of the trace.

    `sample` is moved off the kinks of the network on the way: first by shifts of its biases,
    then, should activations remain near a kink, by drawing it anew. What no draw helps is kept as
    `near`. Raises IllPosedError when the truth itself is NaN.
    """
    begin = _settled if network.settles else _unsettled
    expected = begin(network, sample, phase, unit_roundoff, expect)
    _demand_numbers(expected, sample)
    if isinstance(network, TorchTraining) and network.steps == 1:
        expected = _decided(expected, network, sample, phase, unit_roundoff)
    return _measured(expected, network, sample, phase, unit_roundoff)


def of_layer(network: TorchNetwork, sample: Sample, phase: str, unit_roundoff: float) -> Truth:
    """As `compute`, for a layer that both sides feed the very same values, kinks or not."""
    expected = _unsettled(network, sample, phase, unit_roundoff, whole)
    return _measured(expected, network, sample, phase, unit_roundoff)


def _measured(
    expected: Truth, network: TorchNetwork, sample: Sample, phase: str, unit_roundoff: float
) -> Truth:
    """The truth and its first perturbations, with further ones and the reference's own error."""
    elements = sum(known.size for known in expected.values())
    _probe(network, sample, phase, unit_roundoff, expected, range(WATCHED, probes(elements)))
    own = expected.decided(network.run(sample, phase, sample.dtype))
    for name, values in own.items():
        known = expected[name]
        known.dtype = WEIGHT_DTYPE if tensors.of_weight(name) else str(values.dtype)
    _measure_own(expected, expected, own, unit_roundoff)
    needed = max(known.own_needed for known in expected.values())
    if BUDGET < needed <= CLOSE * BUDGET:
        finer = refined(expected, network, sample, phase, unit_roundoff)
        _measure_own(finer, finer, own, unit_roundoff)
        expected = finer
    _measure_rounded(network, sample, phase, unit_roundoff, expected, own)
    lost = [name for name in _over(expected, BUDGET) if tensors.jumps(name)]
    if lost and network.settles and all(np.isfinite(own[name]).all() for name in lost):
        near = expected.near or farther(network, sample, phase, unit_roundoff)
        explained = near and flips.explain(
            network, sample, phase, expected, near, own, unit_roundoff, BUDGET
        )
        if explained:
            _measure_own(expected, explained[1], own, unit_roundoff)
    return expected


def jump(
    expected: Truth,
    network: TorchNetwork,
    sample: Sample,
    phase: str,
    unit_roundoff: float,
    verdicts: Sequence[TensorVerdict],
) -> bool:
    """Whether the truths of these tensors jump within the budget, and by as much as they differ.

    They do where everything that goes in is moved by as many roundings as the budget allows, and
    they move much farther than so many times what one rounding moves them: between two sides of
    a kink, such as of the smaller of two distances. Takes 3 or 8 runs.
    """
    far = Truth({verdict.name: expected[verdict.name].unprobed for verdict in verdicts})
    elements = sum(known.size for known in expected.values())
    _probe(network, sample, phase, BUDGET * unit_roundoff, far, range(probes(elements)))
    for verdict in verdicts:
        known, moved = expected[verdict.name], far[verdict.name].spread
        unit = known.rounding(unit_roundoff)
        if moved <= JUMP * BUDGET * unit or verdict.error * unit > JUMP * moved:
            return False  # also where there is no unit, since nothing is moved by anything
    return True


def lucky(
    expected: Truth,
    network: TorchNetwork,
    sample: Sample,
    phase: str,
    unit_roundoff: float,
    verdicts: Sequence[TensorVerdict],
) -> bool:
    """Whether the reference, nearby, is over the budget, too, in each of these tensors.

    And by about as much. Where terms of few elements cancel (the gradient of a softmax near one
    and zero), whether their rounding shows is chance. Takes 16 runs.
    """
    worst = {verdict.name: 0.0 for verdict in verdicts}
    for number in range(NEIGHBOURS):
        beside = Neighbour(sample, number, NEARBY)
        truths, own = (network.run(beside, phase, dtype) for dtype in ("float64", sample.dtype))
        for name in worst:
            known = replace(expected[name], truth=truths[name])
            worst[name] = max(worst[name], *_own_errors(known, own[name], unit_roundoff))
    return all(worst[v.name] > BUDGET and v.needed <= CHANCE * worst[v.name] for v in verdicts)


def _settled(
    network: TorchNetwork, sample: Sample, phase: str, unit_roundoff: float, expect: Expect
) -> Truth:
    """The truth and its first perturbations, from a sample with no activation near a kink.

    Or, when no draw gives one, from the last, with those that stayed near held to the truth's
    branch, so that what a flip changes does not count as rounding.
    """
    for draw in range(REDRAWS):
        if draw:
            sample.draw_again()
        perturbed = [Perturbed(sample, probe, unit_roundoff) for probe in range(WATCHED)]
        network.settle(sample, perturbed, phase)
        watch = KinkWatch()
        truth = network.run(sample, phase, "float64", watch)
        expected = expect(truth)
        _demand_numbers(expected, sample)  # before more draws are spent on it
        apart = KinkWatch(watch)
        for each in perturbed:
            _widen(expected, network.run(each, phase, "float64", apart))
        near = watch.nearest(apart.spreads)
        if not near:
            return expected
    expected = expect(truth)
    expected.near = flips.locate(network, sample, phase, near)
    _probe(network, sample, phase, unit_roundoff, expected, range(WATCHED))
    return expected


def farther(
    network: TorchNetwork, sample: Sample, phase: str, unit_roundoff: float
) -> tuple[Flip, ...]:
    """The activations within `FAR` spreads of a kink, for when a run seems to have flipped."""
    watch = KinkWatch()
    network.run(sample, phase, "float64", watch)
    apart = KinkWatch(watch)
    for probe in range(WATCHED):
        network.run(Perturbed(sample, probe, unit_roundoff), phase, "float64", apart)
    near = watch.nearest(apart.spreads, FAR, FARTHEST)
    return flips.locate(network, sample, phase, near) if near else ()


def _unsettled(
    network: TorchNetwork, sample: Sample, phase: str, unit_roundoff: float, expect: Expect
) -> Truth:
    """The truth and its first perturbations, kinks or not."""
    expected = expect(network.run(sample, phase, "float64"))
    _probe(network, sample, phase, unit_roundoff, expected, range(WATCHED))
    return expected


def _decided(
    expected: Truth, network: TorchTraining, sample: Sample, phase: str, unit_roundoff: float
) -> Truth:
    """The truth of one step, its sensitivities without what rounding decides."""
    perturbed = [Perturbed(sample, probe, unit_roundoff) for probe in range(WATCHED)]
    found = undecided.measure(network, sample, perturbed, phase, expected.near)
    if not found:
        return expected
    made = Truth({name: known.unprobed for name, known in expected.items()})
    made.near, made.undecided = expected.near, found
    _probe(network, sample, phase, unit_roundoff, made, range(WATCHED))
    return made


def _demand_numbers(expected: Truth, sample: Sample) -> None:
    for name, known in expected.items():
        if known.truth.dtype.kind == "f" and np.isnan(known.truth).any():
            raise IllPosedError(f"{sample.name}: the truth itself is NaN in {name}")


def _probe(
    network: TorchNetwork,
    sample: Sample,
    phase: str,
    unit_roundoff: float,
    expected: Truth,
    numbers: range,
) -> None:
    """Widen the sensitivities by perturbed runs without flips of near activations."""
    for probe in numbers:
        perturbed = Perturbed(sample, probe, unit_roundoff)
        run = network.run(perturbed, phase, "float64", _held(expected.near))
        _widen(expected, expected.decided(run))


@contextlib.contextmanager
def _held(near: Sequence[Flip], *watches: Watch) -> Iterator[None]:
    """The watches, over runs that take the truth's branch at every near activation."""
    with contextlib.ExitStack() as stack:
        for watch in (*watches, Branches(near)) if near else watches:
            stack.enter_context(watch)
        yield


def _widen(expected: dict[str, Expected], perturbed: Trace) -> None:
    """Let every sensitivity be at least this perturbation's distance from the truth."""
    for name, values in perturbed.items():
        known = expected.get(name)
        if known is not None and known.truth.dtype.kind == "f":
            known.widen(values)


def _measure_own(
    expected: Truth, truths: Mapping[str, Expected], own: Trace, unit_roundoff: float
) -> None:
    """Set the errors of the reference's own run, by the truths that it is to be measured by."""
    for name, values in own.items():
        known = expected[name]
        known.own_error, known.own_worst = _own_errors(truths[name], values, unit_roundoff)


def _over(expected: Truth, budget: float) -> dict[str, Expected]:
    """The tensors in which the reference's own run is farther than that from the truth."""
    return {name: known for name, known in expected.items() if known.own_needed > budget}


def _own_errors(known: Expected, values: np.ndarray, unit_roundoff: float) -> tuple[float, float]:
    """The errors of the reference's run in the case's own precision, in roundings."""
    if known.truth.dtype.kind != "f":
        equal = np.array_equal(known.seen(values), known.truth)
        return (0.0, 0.0) if equal else (math.inf, math.inf)
    apart = known.apart(values)
    return (math.inf, math.inf) if apart.mismatched else in_roundings(apart, known, unit_roundoff)


def _measure_rounded(
    network: TorchNetwork,
    sample: Sample,
    phase: str,
    unit_roundoff: float,
    expected: Truth,
    own: Trace,
) -> None:
    """Let rounding of every result count where that of inputs and weights says too little.

    It does where terms cancel: in front of a BatchNorm, a bias that is large beside what its
    channel varies moves nothing, but the rounding of their sum does; and its gradient is zero but
    for rounding. The reference itself, which needs much of the budget there, tells. Where a
    gradient cancels to nothing its own run counts as one more rounding of what is zero.
    """
    suspects = _over(expected, BUDGET / 2)
    suspects = {name: known for name, known in suspects.items() if known.truth.dtype.kind == "f"}
    if not suspects:
        return
    rounded = _rounded(network, sample, phase, unit_roundoff, expected, suspects)
    for name, known in suspects.items():
        moved = rounded[name]
        # Without any spread nothing cancels: what the reference gives is wrong, or a flip.
        size = float(np.linalg.norm(known.truth))
        known.cancelled = name.startswith("gradient:") and size <= moved.spread > 0.0
        if known.cancelled:
            moved.widen(own[name])
        elif known.own_needed > CLOSE * BUDGET:
            continue  # a formula that loses digits is not excused
        known.widen_as(moved)
        known.own_error, known.own_worst = _own_errors(known, own[name], unit_roundoff)


def _rounded(
    network: TorchNetwork,
    sample: Sample,
    phase: str,
    unit_roundoff: float,
    expected: Truth,
    measured: Mapping[str, Expected],
) -> dict[str, Expected]:
    """The measured tensors, their sensitivities those to the rounding of every result."""
    rounded = {name: known.unprobed for name, known in measured.items()}
    for probe in range(ROUNDED_PROBES):
        rounding = RoundEachResult(unit_roundoff, seed_of(sample.name, "rounding", probe))
        run = network.run(sample, phase, "float64", _held(expected.near, rounding))
        _widen(rounded, expected.decided(run))
    return rounded
