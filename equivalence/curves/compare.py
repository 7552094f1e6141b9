"""`curve`: two trainings by their losses and metrics, step by step."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from equivalence.curves import changed_runs, monitored, read, running
from equivalence.curves.band import Band, departure
from equivalence.curves.fits import fits
from equivalence.curves.monitored import MonitoredResult
from equivalence.curves.result import CurveResult, MetricVerdict
from equivalence.curves.series import Curve, Series
from equivalence.errors import DeclarationError, EquivalenceError
from equivalence.own import live
from equivalence.typed_targets import demand_target, target_of

RUNS, STEPS = 6, 300
"""How many noisy runs make a band, and how many steps of each run."""

ONCE_MORE = 20
"""Steps of a second run without noise, which tell whether a training gives the same each time."""

AFTER = 12
"""Steps after a departure in which a changed reference must give the candidate's curve."""

Tell = Callable[[str], None]


def curve(
    reference: Any,
    candidate: Any,
    *,
    pattern: str | None = None,
    rename: Mapping[str, str] | None = None,
    steps: int = STEPS,
    runs: int = RUNS,
    seed: int = 0,
    tell: Tell = lambda _: None,
) -> CurveResult | MonitoredResult:
    """Compare two trainings by their losses and metrics, step by step.

    Each side is what a run has left (CSV, JSON lines, a log, TensorBoard's events, or what
    `monitored` writes, which is compared layer by layer), or a function
    that trains: "module:attribute" or itself. It yields a loss, or a dict of losses and metrics,
    for each step, and is called with `steps` and `seed` where it has parameters of these names. A
    reference that is a function is run again with noise of one rounding, which gives a band.

    pattern: a regular expression with named groups, for the lines of a log.
    rename: candidate's name of a metric -> reference's name.
    steps: how many steps of a function are run at most.
    runs: how many noisy runs make the band.
    seed: what functions get as `seed`.
    tell: is called with a few words before what takes long.

    Raises EquivalenceError, with the cure, where the sides cannot be compared.

    >>> from equivalence import curve
    >>> def training(steps):
    ...     yield from (1.0 / step for step in range(1, steps + 1))
    >>> bool(curve(training, training, steps=10, runs=2))
    True
    """
    for name, value, least in (("steps", steps, 1), ("runs", runs, 2)):
        if value < least:
            raise DeclarationError(f"{name} is {value}; it must be at least {least}")
    with contextlib.ExitStack() as during:
        theirs = _side(reference, "reference", during)
        ours = _side(candidate, "candidate", during)
        both = _monitored(theirs, ours, rename or {})
        if both is not None:
            return both

        def made(side: str | Path, around: running.Context = contextlib.nullcontext) -> Curve:
            if isinstance(side, Path):
                return read.read(side, pattern)
            return running.run(side, steps, seed, around)

        tell("the reference")
        plain = made(theirs)
        tell("the candidate")
        curve_of_candidate = made(ours)
        pairs = read.paired(plain, curve_of_candidate, rename or {})
        if isinstance(theirs, Path):
            metrics = [
                _by_logs(name, partner, plain, curve_of_candidate)
                for name, partner in pairs.items()
            ]
            return CurveResult(plain, curve_of_candidate, tuple(metrics))
        _demand_same(theirs, plain, steps, seed)
        own = [plain]
        for number in range(1, runs + 1):
            tell(f"the reference with noise, {number} of {runs}")
            own.append(running.run(theirs, steps, seed, running.noisy(number)))
        bands = {name: Band.of([each.metrics[name] for each in own]) for name in pairs}
        found = [
            _by_band(name, partner, plain, curve_of_candidate, bands[name])
            for name, partner in pairs.items()
        ]
        untried: list[str] = []
        if any(metric.differs for metric in found):
            found, untried = _explained(found, theirs, steps, seed, tell)
        numbers = [band.unsound() for band in bands.values()]
        unsound = [each for each in numbers if each is not None]
        return CurveResult(
            plain,
            curve_of_candidate,
            tuple(found),
            runs,
            min(unsound, default=None),
            tuple(untried),
        )


def _monitored(
    theirs: str | Path, ours: str | Path, rename: Mapping[str, str]
) -> MonitoredResult | None:
    """The comparison of two files of monitors; None where neither side is one."""
    files = [each for each in (theirs, ours) if isinstance(each, Path)]
    monitors = [each for each in files if monitored.is_monitor(each)]
    if not monitors:
        return None
    if len(monitors) == 1:
        raise DeclarationError(
            f"{monitors[0]} is of a monitor, and the other side is not: compare it with another's"
        )
    return monitored.compare(monitors[0], monitors[1], rename)


def _side(side: Any, role: str, during: contextlib.ExitStack) -> str | Path:
    """A side as a target, or as the path of what is read."""
    if isinstance(side, str) and ":" in side and not Path(side).exists():
        return target_of(side)
    if isinstance(side, str | Path):
        if str(side).endswith(".py"):
            demand_target(str(side), f"the {role}")
        if not Path(side).exists():
            raise DeclarationError(
                f"the {role} {str(side)!r} is neither a file nor MODULE:FUNCTION; name one"
            )
        return Path(side)
    return during.enter_context(live.target(side, role))


def _demand_same(target: str, plain: Curve, steps: int, seed: int) -> None:
    """Raise DeclarationError where a training differs from itself without any noise."""
    again = running.run(target, steps, seed, until=ONCE_MORE)
    for name, series in again.metrics.items():
        first = plain.metrics.get(name)
        part = series.values
        before = first.values[: len(part)] if first else part[:0]
        if not np.array_equal(part[: len(before)], before, equal_nan=True):
            at = int(np.flatnonzero(part[: len(before)] != before)[0])
            raise DeclarationError(
                f"{target!r} gives another {name} each time (step {series.steps[at]}: "
                f"{before[at]:.9g}, then {part[at]:.9g}), so that its band would hide mistakes: "
                "seed all that it draws, and build network and data within the function"
            )


def _common(name: str, partner: str, theirs: Curve, ours: Curve) -> tuple[Series, Series, int]:
    """Both series at the steps that both have, and how many steps one alone has."""
    first, second = theirs.metrics[name], ours.metrics[partner]
    steps = np.intersect1d(first.steps, second.steps)
    if not len(steps):
        raise DeclarationError(
            f"{name}: no step is on both sides; {theirs.name} has {first.steps[0]} to "
            f"{first.steps[-1]}, {ours.name} {second.steps[0]} to {second.steps[-1]}"
        )
    missing = len(first.steps) + len(second.steps) - 2 * len(steps)
    return first.at(steps), second.at(steps), missing


def _by_logs(name: str, partner: str, theirs: Curve, ours: Curve) -> MetricVerdict:
    first, second, missing = _common(name, partner, theirs, ours)
    left = departure(first, second)
    found: Sequence[str] = ()
    if left is not None:
        found = [fit.text for fit in fits(first.values, second.values, left.index)]
    return MetricVerdict(name, partner, first, second, missing, None, None, left, tuple(found))


def _by_band(name: str, partner: str, theirs: Curve, ours: Curve, band: Band) -> MetricVerdict:
    first, second, missing = _common(name, partner, theirs, ours)
    kept = np.isin(band.steps, first.steps)
    if not kept.any():
        raise DeclarationError(f"{name}: the reference's own runs have none of the steps")
    band = Band(band.steps[kept], band.own[:, kept], band.quantum)
    first, second = first.at(band.steps), second.at(band.steps)
    left = band.leaving(second.values, second.digits)
    found: Sequence[str] = ()
    if left is not None:
        found = [fit.text for fit in fits(first.values, second.values, left.index)]
    return MetricVerdict(name, partner, first, second, missing, band, left, None, tuple(found))


def _explained(
    metrics: list[MetricVerdict], target: str, steps: int, seed: int, tell: Tell
) -> tuple[list[MetricVerdict], list[str]]:
    """The metrics with the mistakes that give the candidate's curve, run in the reference.

    Also the mistakes that could not be tried, each with the error.
    """
    until = min(each.leaving.step for each in metrics if each.leaving is not None) + AFTER
    found, untried = [], []
    for words, changed in changed_runs.changes().items():
        tell(f"the reference with a mistake: {words}")
        try:
            run = running.run(target, steps, seed, changed, until)
        except EquivalenceError as error:
            untried.append(f"{words} ({error})")
            continue
        # One that changes nothing here gives the reference's own curve.
        moves = any(not _gives(run, replace(each, ours=each.theirs), until) for each in metrics)
        if moves and all(_gives(run, each, until) for each in metrics):
            found.append(words)
    explained = [
        replace(each, fits=(*found, *each.fits)) if each.differs else each for each in metrics
    ]
    return explained, untried


def _gives(run: Curve, metric: MetricVerdict, until: int) -> bool:
    """Whether a changed run gives the candidate's curve, up to a step, within the band's width."""
    if metric.reference not in run.metrics or metric.band is None:
        return False
    series, band = run.metrics[metric.reference], metric.band
    part = np.isin(band.steps, series.steps) & (band.steps <= until)
    if not part.any():
        return metric.leaving is None
    values = series.at(band.steps[part]).values
    allowed = band.allowed(1, metric.ours.digits)[part]
    with np.errstate(invalid="ignore"):
        off = np.abs(metric.ours.values[part] - values)
    return bool((off <= allowed).all())
