"""The result of a comparison of curves, and its texts."""

from dataclasses import dataclass

import numpy as np

from equivalence.curves.band import BUDGET, GROWING, Band, CurveDeparture, Leaving
from equivalence.curves.picture import picture
from equivalence.curves.series import Curve, Series
from equivalence.errors import DeclarationError
from equivalence.words import counted, number

TOLD = 4
"""Steps at which the width of a band is told."""


@dataclass(frozen=True)
class MetricVerdict:
    """The verdict on one metric.

    reference, candidate: its name on both sides.
    theirs, ours: the series at the steps that both have.
    missing: how many steps one side alone has.
    band: the band of the reference's own runs; None where only logs are there.
    leaving: where the candidate leaves the band; None where it stays, or there is none.
    departure: where the digits of the logs part; None where they do not.
    fits: what fits the difference, in words.
    """

    reference: str
    candidate: str
    theirs: Series
    ours: Series
    missing: int
    band: Band | None
    leaving: Leaving | None
    departure: CurveDeparture | None
    fits: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the candidate is outside the band or, of logs, differs in their digits."""
        return self.leaving is not None if self.band else self.departure is not None


@dataclass(frozen=True)
class CurveResult:
    """The result of `curve`: true where nothing tells the candidate's curve from the reference's.

    reference, candidate: the curves.
    metrics: the verdict on each metric that both sides have.
    runs: how many noisy runs make the band; 0 where only logs are there.
    unsound: the number of a noisy run that leaves the band of the others; None where none does.
    untried: the mistakes with which the reference could not be run, each with the error.
    """

    reference: Curve
    candidate: Curve
    metrics: tuple[MetricVerdict, ...]
    runs: int = 0
    unsound: int | None = None
    untried: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not any(metric.differs for metric in self.metrics)

    def __str__(self) -> str:
        return "\n".join(lines(self))

    def picture(self, metric: str | None = None) -> str:
        """An SVG of one metric; by default, of the first that differs, or of the first."""
        named = [each for each in self.metrics if metric in (None, each.reference)]
        if not named:
            raise DeclarationError(f"there is no metric {metric!r}")
        chosen = next((each for each in named if each.differs), named[0])
        digits = chosen.theirs.digits + chosen.ours.digits
        allowed = chosen.band.allowed(1, digits) if chosen.band else digits
        left: Leaving | CurveDeparture | None = chosen.leaving or chosen.departure
        parted = left.step if left else None
        title = f"{chosen.reference}: {self.candidate.name} beside {self.reference.name}"
        theirs, ours = chosen.theirs, chosen.ours
        return picture(title, theirs.steps, theirs.values, ours.values, allowed, parted)


def lines(result: CurveResult) -> list[str]:
    """All of a result."""
    told = [line for metric in result.metrics for line in _metric(metric, result.runs)]
    for curve in (result.reference, result.candidate):
        if curve.unread:
            told.append(f"{curve.name}: {counted(curve.unread, 'line')} hold none of the metrics")
    both = (result.reference, result.candidate)
    used = [{getattr(m, side) for m in result.metrics} for side in ("reference", "candidate")]
    for curve, names in zip(both, used, strict=True):
        alone = [name for name in curve.metrics if name not in names]
        if alone:
            told.append(f"{curve.name} alone has {', '.join(alone)}: not compared")
    told += [f"could not be tried: {each}" for each in result.untried]
    bands = [metric.band for metric in result.metrics if metric.band is not None]
    if bands and not any(band.moved for band in bands):
        told.append(
            "noise moved nothing: the reference computes none of this in PyTorch, so that its band "
            "is one rounding of each value"
        )
    if result.unsound is not None:
        told.append(
            f"the band is too narrow to judge by: the reference's own noisy run {result.unsound} "
            "leaves that of the others; give more --runs"
        )
    return [*told, conclusion(result)]


def conclusion(result: CurveResult) -> str:
    """The last line."""
    every = counted(len(result.metrics), "metric")
    left = [metric for metric in result.metrics if metric.differs]
    if result.runs:
        if not left:
            return (
                f"inside the band in {every}: cannot be told apart from the reference's own runs "
                "with other roundings"
            )
        first = min(metric.leaving.step for metric in left if metric.leaving)
        return f"outside the band in {len(left)} of {every}, from step {first} on"
    if not left:
        return (
            f"the same to within the last digits of {every}: the logs show no difference; what "
            "they do not hold, they cannot tell"
        )
    first = min(metric.departure.step for metric in left if metric.departure)
    return f"different in {len(left)} of {every}, from step {first} on"


def _metric(metric: MetricVerdict, runs: int) -> list[str]:
    name = metric.reference
    if metric.candidate != name:
        name += f" (candidate {metric.candidate})"
    steps = metric.theirs.steps
    missing = f"; {counted(metric.missing, 'step')} on one side alone" if metric.missing else ""
    head = f"{name}: {counted(len(steps), 'step')}, {steps[0]} to {steps[-1]}{missing}"
    if metric.band is None:
        told = [head, *_by_logs(metric)]
    else:
        told = [f"{head}; {counted(runs, 'noisy run')} of the reference"]
        told += _by_band(metric, metric.band)
    if metric.differs:
        told += [f"  fits: {each}" for each in metric.fits]
        if not metric.fits:
            told.append("  fits: none of what is tried")
    return told


def _by_band(metric: MetricVerdict, band: Band) -> list[str]:
    left = metric.leaving
    told = []
    if left is not None:
        what = "it" if left.width == 1 else f"its mean over {left.width} steps"
        told.append(
            f"  leaves the band at step {left.step}: {what} is {left.difference:+.3g} off the "
            f"reference's {left.reference:.6g}, {number(left.spreads)} spreads where {BUDGET:g} "
            "are allowed"
        )
        told.append(f"  {_stage(left.index, left.step, counted_steps=True)}")
    allowed = band.allowed(1, metric.ours.digits)
    known = np.flatnonzero(band.plain)  # A share of 0 is none.
    if known.size:
        places = known[sorted({*np.linspace(0, len(known) - 1, TOLD).astype(int)})]
        shares = allowed / np.maximum(np.abs(band.plain), np.finfo(float).tiny)
        widths = ", ".join(f"{shares[i]:.1e} at step {band.steps[i]}" for i in places)
        told.append(f"  a difference shows from this share of the value on: {widths}")
    return told


def _by_logs(metric: MetricVerdict) -> list[str]:
    left = metric.departure
    hold = f"the logs hold differences {_held(metric.theirs, metric.ours)}"
    if left is None:
        return [f"  the same to within the last digit; {hold}"]
    theirs, ours = (each.values[left.index] for each in (metric.theirs, metric.ours))
    by = f"{left.relative:.2g} of the value" if theirs else f"{abs(ours):.2g} from 0"
    told = [
        f"  the digits part at step {left.step}, by {by}; {hold}",
        f"  {_stage(left.index, left.step, counted_steps=False)}",
    ]
    if left.sudden:
        told.append(
            f"  rounding alone begins below {GROWING:g} and grows: this comes at one step, so look "
            "for a mistake, or for another start"
        )
    else:
        grows = f", doubling every {left.doubling:.1f} steps" if left.doubling else ""
        told.append(
            f"  it begins small{grows}: logs alone cannot tell rounding from a small mistake; run "
            "the reference as MODULE:FUNCTION for its band"
        )
    return told


def _held(theirs: Series, ours: Series) -> str:
    """From which size on the digits of two logs hold differences."""
    digits, values = theirs.digits + ours.digits, np.abs(theirs.values)
    known, zero = np.isfinite(values) & (values > 0), values == 0
    told = []
    if known.any():
        told.append(f"from {np.max(digits[known] / values[known]):.1e} of the value on")
    if zero.any():
        told.append(f"from {np.max(digits[zero]):.1e} on where it is 0")
    return ", and ".join(told) or "of whether a value is finite"


def _stage(index: int, step: int, counted_steps: bool) -> str:
    """What can be wrong where the curves part.

    index: of the value. step: its number. counted_steps: whether a value is told for every step, as
    by a function; a log may begin late, and have a row for each epoch.
    """
    if counted_steps and step == 1:
        return (
            "before any update, if the loss is told as it was before it: the batch, the initial "
            "weights, the forward pass or the loss, not the optimiser"
        )
    if counted_steps and step == 2:
        return "after the first update: gradients, optimiser, rate, decay, or the second batch"
    if index == 0:
        return "at the first value that is there: the steps before it tell nothing"
    return (
        f"after {index} values that agree: what sets in there (a schedule, a batch, an average), "
        "or a small difference that has grown"
    )
