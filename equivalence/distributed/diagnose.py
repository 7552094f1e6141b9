"""What a training on several ranks does wrong, in words. Imports no framework.

Asked in the order in which one thing follows from another: the samples that are read, the weights
that a rank begins with, the gradients, the update, the statistics.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from equivalence.distributed.compare import Compared
from equivalence.distributed.rank import SAMPLES, of_rank
from equivalence.judge import tensors
from equivalence.judge.norms import distance
from equivalence.report import text as report
from equivalence.words import listed

CLOSE = 1e-3
"""Relative distance within which a gradient is taken for what explains it."""

SAMPLES_SHOWN = 6


def brief(found: Compared) -> list[str]:
    """The cause, as far as it can be told; nothing where all is right."""
    return [f"culprit: {cause}" for cause in _causes(found)]


def full(found: Compared) -> list[str]:
    """The error of every tensor, in roundings, and what the run took."""
    lines = [
        f"{verdict.name}: {verdict.problem or report.number(verdict.needed)}"
        for verdict in found.judgement.verdicts
    ]
    return [*lines, "", f"{found.seconds:.1f} s from the launch to the end of all ranks"]


def _causes(found: Compared) -> list[str]:
    known = _Run(found)
    for cause in (_samples, _beginning, _gradients, _updates, _statistics):
        if told := cause(known):
            return told
    return []


class _Run:
    """What differs, by rank."""

    def __init__(self, found: Compared):
        self.expected, self.recorded = found.reference.expected, found.recorded
        self.reference, self.steps = found.reference, found.case.twin.steps
        self.ranks = range(found.case.twin.ranks)
        self.wrong = {verdict.name for verdict in found.judgement.differing}

    def both(self, name: str, rank: int) -> tuple[np.ndarray, np.ndarray | None]:
        """The truth of a tensor in a rank, and what the rank gives."""
        name = of_rank(name, rank)
        return self.expected[name].truth, self.recorded.get(name)

    def names(self, kind: str, rank: int) -> list[str]:
        """The tensors of a kind that are wrong in a rank, without the rank."""
        end = of_rank("", rank)
        return [
            name.removesuffix(end)
            for name in self.expected
            if name in self.wrong and name.startswith(kind) and name.endswith(end)
        ]

    def ranks_with(self, kind: str) -> list[int]:
        """The ranks in which some tensor of a kind is wrong."""
        return [rank for rank in self.ranks if self.names(kind, rank)]


def _samples(run: _Run) -> list[str]:
    causes = []
    for rank in run.ranks:
        if of_rank(SAMPLES, rank) not in run.wrong:
            continue
        want = [np.concatenate(run.reference.sample.read(other)) for other in run.ranks]
        got = run.recorded.get(of_rank(SAMPLES, rank), np.array([], np.int64))
        same = [other for other in run.ranks if np.array_equal(got, want[other])]
        if same:
            causes.append(f"rank {rank} reads the samples of {_those(same)}")
            continue
        shared = min(len(got), len(want[rank]))
        wrong = np.flatnonzero(got[:shared] != want[rank][:shared])
        first = int(wrong[0]) if wrong.size else shared
        causes.append(
            f"rank {rank} reads, from its sample number {first + 1} on, {_begin(got[first:])} "
            f"where it is to read {_begin(want[rank][first:])}"
        )
    return causes


def _begin(values: np.ndarray) -> str:
    shown = ", ".join(map(str, values[:SAMPLES_SHOWN])) or "none"
    return f"{shown}, ..." if len(values) > SAMPLES_SHOWN else shown


def _beginning(run: _Run) -> list[str]:
    """Of the losses before any update, which only the weights and the network decide."""
    wrong = run.ranks_with(tensors.loss(1))
    if not wrong:
        return []
    if 0 not in wrong:
        return [f"{_those(wrong)} begins with other weights: it is not given the first rank's"]
    buffers = run.names(tensors.buffer(""), 0)
    if buffers and _alike(run, buffers):
        return ["statistics are those of all ranks' batches together, as of a SyncBatchNorm"]
    return ["the network or its loss: the first losses are wrong in every rank"]


def _alike(run: _Run, names: Sequence[str]) -> bool:
    """Whether each of these tensors is the first rank's in every rank."""
    return all(
        np.array_equal(run.both(name, rank)[1], run.both(name, 0)[1])
        for name in names
        for rank in run.ranks
    )


def _gradients(run: _Run) -> list[str]:
    """The ranks by what their wrong gradients are."""
    causes: dict[str, list[int]] = {}
    kind = tensors.parameter_gradient("")
    wrong = {rank: names for rank in run.ranks if (names := run.names(kind, rank))}
    own = run.reference.process.own_gradients(run.reference.sample) if wrong else []
    size = len(run.ranks)
    for rank, names in wrong.items():
        mean = {name: run.both(name, rank)[0] for name in names}
        readings = {
            f"{size} times the mean: they are summed, not averaged": _times(size, mean),
            f"1/{size} of the mean: they are divided once too often": _times(1 / size, mean),
            "the rank's own: they are not averaged over the ranks": own[rank],
        }
        close = (what for what, values in readings.items() if _close(run, rank, names, values))
        told = f"{_tensors(names, len(own[rank]))}: {next(close, 'wrong')}"
        causes.setdefault(told, []).append(rank)
    return [f"in {_those(ranks)} {cause}" for cause, ranks in causes.items()]


def _times(factor: float, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: factor * each for name, each in values.items()}


def _close(run: _Run, rank: int, names: Sequence[str], values: Mapping[str, np.ndarray]) -> bool:
    """Whether a rank's gradients are these values, but for rounding."""
    for name in names:
        _, got = run.both(name, rank)
        if got is None or got.shape != values[name].shape:
            return False
        apart = distance(got, values[name])
        if apart.mismatched or apart.norm > CLOSE * apart.scale:
            return False
    return True


def _updates(run: _Run) -> list[str]:
    """Of the weights, where gradients are right."""
    causes = []
    for step in (1, run.steps):
        kind = tensors.update(step, "")
        if wrong := run.ranks_with(kind):
            names = run.names(kind, wrong[0])
            total = sum(name.startswith(kind) for name in run.expected) // len(run.ranks)
            longer = _length(run, wrong) if step == 1 else ""
            causes.append(f"in {_those(wrong)} {_tensors(names, total)} after step {step}{longer}")
            break
    apart = [name for name in run.wrong if name.startswith("apart:")]
    if apart:
        names = sorted({name.partition(":")[2].partition("@")[0] for name in apart})
        causes.append(f"weights are not the same in all ranks at the end: {_list(names)}")
    return causes


def _length(run: _Run, ranks: Sequence[int]) -> str:
    """How much too long the updates of the first step are, where all are by the same factor."""
    ratios = []
    for rank in ranks:
        for name in run.names(tensors.update(1, ""), rank):
            want, got = run.both(name, rank)
            if got is None or got.shape != want.shape or not want.any():
                return ""
            ratios.append(float((got * want).sum() / (want * want).sum()))
    low, high = min(ratios), max(ratios)
    return f": {low:.4g} times as long" if high - low < CLOSE * abs(low) else ""


def _statistics(run: _Run) -> list[str]:
    wrong = run.ranks_with(tensors.buffer(""))
    if not wrong:
        return []
    names = run.names(tensors.buffer(""), wrong[0])
    alike = "; they are the first rank's" if _alike(run, names) else ""
    return [f"the statistics of {_those(wrong)}: {_list(names)}{alike}"]


def _those(ranks: Sequence[int]) -> str:
    return " and ".join(f"rank {rank}" for rank in ranks)


def _tensors(names: Sequence[str], total: int) -> str:
    every = len(names) == total
    kind = names[0].partition(":")[0].partition("[")[0]
    if every:
        return f"all {total} {kind}s"
    return f"the {kind}s of {_list([name.partition(':')[2] for name in names])}"


def _list(names: Sequence[str]) -> str:
    return listed([name.removeprefix(tensors.buffer("")) for name in names])
