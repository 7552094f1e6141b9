"""What a training on several ranks does wrong, in words. Imports no framework.

Causes are searched in the order in which they follow from each other: the samples, the initial
weights of a rank, the gradients, the updates, the statistics.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from equivalence.declare.data_parallel import DataParallelCase
from equivalence.distributed.compare import RanksComparison, compare
from equivalence.distributed.rank import SAMPLES, of_rank
from equivalence.judge import tensors
from equivalence.judge.expected import distance
from equivalence.judge.mistake import Mistake, Mistakes
from equivalence.kinds import ToldDiagnosis
from equivalence.words import listed, number, plain, several

EXPLAINED_DISTANCE = 1e-3
"""A gradient is explained by values within this relative distance."""

OTHERWISE = {
    "own": "they go on from those that the first rank sends before each step, as "
    "DistributedDataParallel does by itself; declare statistics='first', or give it "
    "broadcast_buffers=False",
    "first": "each rank goes on from its own, and is to get the first rank's before each step",
}
"""What the statistics of ranks are that are not as they are declared."""

SAMPLES_SHOWN = 6
"""At most this many numbers of samples are shown; "..." stands for the rest."""


def tell(case: DataParallelCase, seed: int, _every: bool) -> ToldDiagnosis:
    """What is to blame in a few lines, and every rank's errors."""
    comparison = compare(case, seed)
    causes, lines = _causes(comparison), brief(comparison)
    mistakes = Mistakes([Mistake(words=(plain(cause),)) for cause in causes])
    return ToldDiagnosis(lines, [case.name, "", *lines, "", *full(comparison)], mistakes=mistakes)


def brief(comparison: RanksComparison) -> list[str]:
    """The causes, one in a line; empty where nothing differs."""
    return [f"culprit: {cause}" for cause in _causes(comparison)]


def full(comparison: RanksComparison) -> list[str]:
    """The error of every tensor, in roundings, and the wall time of the run."""
    lines = [
        f"{verdict.name}: {verdict.problem or number(verdict.needed)}"
        for verdict in comparison.judgement.verdicts
    ]
    return [*lines, "", f"{comparison.seconds:.1f} s from the launch to the end of all ranks"]


def _causes(comparison: RanksComparison) -> list[str]:
    """The causes of the first kind that has any."""
    run = _WrongRun(comparison)
    for cause in (_samples, _initial_losses, _gradients, _updates, _statistics):
        if causes := cause(run):
            return causes
    return []


class _WrongRun:
    """What differs in a comparison, by rank."""

    def __init__(self, comparison: RanksComparison):
        self.expected, self.trace = comparison.reference.expected, comparison.trace
        self.reference, self.steps = comparison.reference, comparison.case.twin.steps
        self.statistics = comparison.case.twin.statistics
        self.ranks = range(comparison.case.twin.ranks)
        self.wrong = {verdict.name for verdict in comparison.judgement.differing}

    def both(self, name: str, rank: int) -> tuple[np.ndarray, np.ndarray | None]:
        """The truth of a tensor in a rank, and the rank's own array; None where it has none."""
        name = of_rank(name, rank)
        return self.expected[name].truth, self.trace.get(name)

    def fits_otherwise(self, ranks: Sequence[int]) -> bool:
        """Whether the buffers of ranks are right if a step begins in the other way."""
        process = self.reference.process.otherwise()
        other = process.run(self.reference.sample, "train", "float64")
        return all(
            _is_near(self.both(name, rank)[1], other[of_rank(name, rank)])
            for rank in ranks
            for name in self.names(tensors.buffer(""), rank)
        )

    def names(self, kind: str, rank: int) -> list[str]:
        """The wrong tensors of a kind in a rank, named without the rank."""
        end = of_rank("", rank)
        return [
            name.removesuffix(end)
            for name in self.expected
            if name in self.wrong and name.startswith(kind) and name.endswith(end)
        ]

    def ranks_with(self, kind: str) -> list[int]:
        """The ranks in which a tensor of a kind is wrong."""
        return [rank for rank in self.ranks if self.names(kind, rank)]


def _samples(run: _WrongRun) -> list[str]:
    """Ranks that read other samples."""
    causes = []
    for rank in run.ranks:
        if of_rank(SAMPLES, rank) not in run.wrong:
            continue
        want = [np.concatenate(run.reference.sample.read(other)) for other in run.ranks]
        got = run.trace.get(of_rank(SAMPLES, rank), np.array([], np.int64))
        same = [other for other in run.ranks if np.array_equal(got, want[other])]
        if same:
            causes.append(f"rank {rank} reads the samples of {_list_ranks(same)}")
            continue
        shared = min(len(got), len(want[rank]))
        wrong = np.flatnonzero(got[:shared] != want[rank][:shared])
        first = int(wrong[0]) if wrong.size else shared
        causes.append(
            f"rank {rank} reads, from its sample number {first + 1} on, "
            f"{_first_numbers(got[first:])} where it is to read "
            f"{_first_numbers(want[rank][first:])}"
        )
    return causes


def _first_numbers(values: np.ndarray) -> str:
    shown = ", ".join(map(str, values[:SAMPLES_SHOWN])) or "none"
    return f"{shown}, ..." if len(values) > SAMPLES_SHOWN else shown


def _initial_losses(run: _WrongRun) -> list[str]:
    """Causes of wrong losses before any update: only the weights and the network decide them."""
    wrong = run.ranks_with(tensors.loss(1))
    if not wrong:
        return []
    if 0 not in wrong:
        return [f"{_list_ranks(wrong)} begins with other weights: it is not given the first rank's"]
    buffers = run.names(tensors.buffer(""), 0)
    if buffers and _alike(run, buffers):
        return ["statistics are those of all ranks' batches together, as of a SyncBatchNorm"]
    return ["the network or its loss: the first losses are wrong in every rank"]


def _alike(run: _WrongRun, names: Sequence[str]) -> bool:
    """Whether each of these tensors is the first rank's in every rank."""
    pairs = (
        (run.both(name, rank)[1], run.both(name, 0)[1]) for name in names for rank in run.ranks
    )
    return all(
        one is not None and two is not None and np.array_equal(one, two) for one, two in pairs
    )


def _gradients(run: _WrongRun) -> list[str]:
    """Ranks with wrong gradients, by what these are."""
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
        fitting = (
            phrase for phrase, values in readings.items() if _close(run, rank, names, values)
        )
        cause = f"{_tensors(names, len(own[rank]))}: {next(fitting, 'wrong')}"
        causes.setdefault(cause, []).append(rank)
    return [f"in {_list_ranks(ranks)} {cause}" for cause, ranks in causes.items()]


def _times(factor: float, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: factor * array for name, array in values.items()}


def _close(
    run: _WrongRun, rank: int, names: Sequence[str], values: Mapping[str, np.ndarray]
) -> bool:
    """Whether a rank's gradients are within EXPLAINED_DISTANCE of these values."""
    for name in names:
        _, got = run.both(name, rank)
        if not _is_near(got, values[name]):
            return False
    return True


def _is_near(got: np.ndarray | None, values: np.ndarray) -> bool:
    """Whether an array is within EXPLAINED_DISTANCE of values."""
    if got is None or got.shape != values.shape:
        return False
    difference = distance(got, values)
    return not difference.mismatched and difference.norm <= EXPLAINED_DISTANCE * difference.scale


def _updates(run: _WrongRun) -> list[str]:
    """Wrong updates where the gradients are right, and weights that differ between the ranks."""
    causes = []
    for step in (1, run.steps):
        kind = tensors.update(step, "")
        if wrong := run.ranks_with(kind):
            names = run.names(kind, wrong[0])
            total = sum(name.startswith(kind) for name in run.expected) // len(run.ranks)
            longer = _length(run, wrong) if step == 1 else ""
            causes.append(
                f"in {_list_ranks(wrong)} {_tensors(names, total)} after step {step}{longer}"
            )
            break
    counts = [name for name in run.wrong if name.startswith("apart:")]
    if counts:
        names = sorted({name.partition(":")[2].partition("@")[0] for name in counts})
        causes.append(f"weights are not the same in all ranks at the end: {_list(names)}")
    return causes


def _length(run: _WrongRun, ranks: Sequence[int]) -> str:
    """By what factor the updates of the first step are too long, if all are by the same one."""
    ratios = []
    for rank in ranks:
        for name in run.names(tensors.update(1, ""), rank):
            want, got = run.both(name, rank)
            if got is None or got.shape != want.shape or not want.any():
                return ""
            ratios.append(float((got * want).sum() / (want * want).sum()))
    low, high = min(ratios), max(ratios)
    if high - low >= EXPLAINED_DISTANCE * abs(low):
        return ""
    size = len(run.ranks)
    names = {float(size): "the number of ranks", 1.0 / size: "1 / the number of ranks"}
    near = (told for each, told in names.items() if abs(low - each) < EXPLAINED_DISTANCE * each)
    name = next(near, "")
    return f": {low:.4g} times as long{f', {name}' if name else ''}"


def _statistics(run: _WrongRun) -> list[str]:
    """Ranks with wrong buffers."""
    wrong = run.ranks_with(tensors.buffer(""))
    if not wrong:
        return []
    names = run.names(tensors.buffer(""), wrong[0])
    if run.fits_otherwise(wrong):
        return [
            f"the statistics of {_list_ranks(wrong)}: {_list(names)}; {OTHERWISE[run.statistics]}"
        ]
    alike = "; they are the first rank's" if _alike(run, names) else ""
    return [f"the statistics of {_list_ranks(wrong)}: {_list(names)}{alike}"]


def _list_ranks(ranks: Sequence[int]) -> str:
    return " and ".join(f"rank {rank}" for rank in ranks)


def _tensors(names: Sequence[str], total: int) -> str:
    every = len(names) == total
    kind = names[0].partition(":")[0].partition("[")[0]
    if every:
        return f"all {total} {several(kind)}"
    return f"the {several(kind)} of {_list([name.partition(':')[2] for name in names])}"


def _list(names: Sequence[str]) -> str:
    return listed([name.removeprefix(tensors.buffer("")) for name in names])
