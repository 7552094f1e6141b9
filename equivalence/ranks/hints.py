"""What explains how a rank departs. Imports no framework."""

from collections.abc import Mapping, Sequence

import numpy as np

from equivalence.scripts import samples
from equivalence.scripts.compare import TrainingsResult
from equivalence.scripts.judging import StepDeparture, label
from equivalence.scripts.steps import Step, TrainingRun
from equivalence.words import counted, listed

NEAR = 1e-3
"""Values within this relative distance are explained by others."""


def hint_of(
    results: Sequence[TrainingsResult],
    rank: int,
    apart: Sequence[int],
    begun: Mapping[str, int],
    sides: tuple[TrainingRun, TrainingRun],
    ranks: int,
) -> str:
    """What explains the first departure of a rank, as a sentence; "" where nothing does.

    apart: ranks that begin with weights of their own. begun: weights that begin as another rank's.
    sides: the reference's run with all of its samples, and the rank's with its own gradients.
    ranks: how many the reference has.
    """
    result = results[rank]
    first = result.verdict.departures[0]
    if begun:
        others = sorted({*begun.values()})
        return (
            f"{listed([*begun])} begins as that of {of_ranks(others)}, not as that of rank {rank}"
        )
    if rank in apart:
        return "it begins with weights of its own: the first rank's are not sent to it"
    if first.step > len(result.ours.steps):
        return ""
    theirs, (whole, own) = result.theirs.steps[at := first.step - 1], (s.steps[at] for s in sides)
    if first.stage == "clipping":
        return _of_gradients(first, result, theirs, own, max(len(results), ranks))
    if first.stage == "forward":
        return _of_norms(result, own, len(results), ranks)
    if first.stage == "data":
        return _of_data(first, results, rank, ranks) or _of_samples(whole, own)
    if first.stage == "update" and first.step > 1:
        return _of_statistics(first, results, rank)
    return ""


def _of_norms(result: TrainingsResult, own: Step, count: int, ranks: int) -> str:
    """Whether norms take the statistics of other samples, where a norm is what departs first."""
    if norms := _synchronised(result):
        return f"the original normalises {listed(norms)} by the batches of all ranks"
    kinds = {layer.path: layer.kind for each in result.theirs.networks for layer in each.layers}
    norm = result.culprit.layer if result.culprit else ""
    if not kinds.get(norm, "").startswith("BatchNorm") or count == ranks:
        return ""
    if ranks == 1 and any(call.rows is not None for call in own.calls):
        return (
            f"{norm} normalises by the samples of its rank, and by the whole batch in the "
            "original: only norms over all ranks do the same; as one process, without --ranks and "
            "with whole batches, all else is compared"
        )
    if ranks > 1:
        return (
            f"{norm} normalises by the whole batch, and by the samples of each rank in the "
            "original: only a port on as many ranks does so, too"
        )
    return ""


def _synchronised(result: TrainingsResult) -> list[str]:
    """The norms over all ranks in the original that are norms of a rank's batch in the port."""
    kinds = {layer.kind for each in result.ours.networks for layer in each.layers}
    if not any(kind.startswith("BatchNorm") for kind in kinds):
        return []
    return [
        layer.path
        for each in result.theirs.networks
        for layer in each.layers
        if layer.kind == "SyncBatchNorm"
    ]


def _of_gradients(
    first: StepDeparture, result: TrainingsResult, theirs: Step, ours: Step, ranks: int
) -> str:
    for key, got in ours.reached.items():
        if label(result.theirs, key) != first.name or key not in theirs.reached:
            continue
        want, own = theirs.reached[key].values, ours.gradients.get(key)
        if _near(got.values, ranks * want):
            return f"it is {ranks} times the original's: summed over the ranks, and not averaged"
        if _near(ranks * got.values, want):
            return f"it is 1/{ranks} of the original's: divided by the number of ranks too often"
        if own is not None and _near(got.values, own.values):
            return "it is the rank's own: not averaged over the ranks"
    return ""


def _of_data(
    first: StepDeparture, results: Sequence[TrainingsResult], rank: int, ranks: int
) -> str:
    """Whose batch a rank has."""

    def inputs(run: TrainingRun) -> list[np.ndarray]:
        return [g.values for call in run.steps[first.step - 1].calls for g in call.inputs]

    got = inputs(results[rank].ours)
    for other, result in enumerate(results):
        want = inputs(result.theirs) if first.step <= len(result.theirs.steps) else []
        same = len(got) == len(want) and all(map(np.array_equal, got, want))
        if other != rank and same and want:
            if ranks == 1:
                return f"rank {rank} has the samples of rank {other}"
            return f"it is the original's of rank {other}"
    return ""


def _of_samples(whole: Step, own: Step) -> str:
    """How many samples are none of the original's step."""
    for theirs, ours in zip(whole.calls, own.calls, strict=False):
        if lost := samples.missing(ours.inputs, theirs.inputs):
            of, count = (
                next(len(g.values) for g in c.inputs if g.values.ndim) for c in (theirs, ours)
            )
            among = f"{'is' if lost == 1 else 'are'} not among the original's {of} of this step"
            return f"{lost} of its {counted(count, 'sample')} {among}"
    return ""


def _of_statistics(first: StepDeparture, results: Sequence[TrainingsResult], rank: int) -> str:
    """Whose statistics a rank goes on from: what a step is off is a multiple of their distance."""
    before, at = first.step - 2, first.step - 1
    theirs, ours = results[rank].theirs.steps, results[rank].ours.steps
    for key, want in theirs[at].weights.items():
        if label(results[rank].theirs, key) != first.name:
            continue
        off = (ours[at].weights[key].values - want.values).reshape(-1)
        own = ours[before].weights[key].values
        firsts = results[0].theirs.steps[before].weights[key].values
        its = theirs[before].weights[key].values
        sent = results[0].ours.steps[before].weights[key].values
        if _parallel(off, (own - firsts).reshape(-1)):
            return "it goes on from its own, and from the first rank's in the original"
        if _parallel(off, (sent - its).reshape(-1)):
            return "it goes on from the first rank's, and from its own in the original"
    return ""


def _parallel(one: np.ndarray, two: np.ndarray) -> bool:
    size = float(np.linalg.norm(one) * np.linalg.norm(two))
    return size > 0.0 and float(one @ two) >= (1.0 - NEAR) * size


def _near(got: np.ndarray, values: np.ndarray) -> bool:
    if got.shape != values.shape:
        return False
    return bool(np.linalg.norm(got - values) <= NEAR * np.linalg.norm(values))


def of_ranks(ranks: Sequence[int]) -> str:
    """Some ranks, as a subject."""
    return " and ".join(f"rank {rank}" for rank in ranks)
