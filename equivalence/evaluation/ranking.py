"""Whether labels are among the first k classes on both sides, where rounding does not decide it.

Counts of right answers are integers and must agree exactly; but two logits that are equal within
rounding may come in either order on two right sides. Which samples those are is told by the
reference in float64 and by how far perturbed runs of it move its logits. Imports no framework.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from equivalence.judge.precision import BUDGET


@dataclass(frozen=True)
class TopK:
    """The labels among the first `k` classes: how many of the truth's and of the candidate's.

    wrong: samples that the candidate has otherwise. undecided: samples in which rounding may put
    the label on either side of the k-th place; they are in neither `wrong` nor a reason to fail.
    """

    k: int
    truth: int
    candidate: int
    wrong: tuple[int, ...]
    undecided: tuple[int, ...]

    @property
    def equal(self) -> bool:
        """No sample is otherwise than the truth but those that rounding decides."""
        return not self.wrong

    def __str__(self) -> str:
        told = f"top-{self.k}: {self.candidate} of the candidate, {self.truth} of the truth"
        if self.wrong:
            told += f"; otherwise in samples {', '.join(map(str, self.wrong))}"
        if self.undecided:
            told += f"; rounding decides samples {', '.join(map(str, self.undecided))}"
        return told


def top_k(
    truth: np.ndarray,
    moved: Sequence[np.ndarray],
    labels: np.ndarray,
    ranks: np.ndarray,
    k: int,
    unit_roundoff: float,
    budget: float = BUDGET,
) -> TopK:
    """Compare a candidate's `ranks` of the labels with those by the truth's logits.

    truth: (N, K) float64 logits; moved: the same of perturbed runs. labels: (N,). ranks: (N,), the
    number of classes before the label. Two logits of a sample may change places if they are no
    further apart than `budget` times the largest move of a logit of that sample.
    Raises ValueError where there is nothing to compare or the numbers of samples differ.
    """
    if not len(labels) or not len(moved):
        raise ValueError("nothing to compare: there are no samples, or no perturbed runs")
    if ranks.shape != labels.shape:
        raise ValueError(f"{ranks.size} samples of the candidate, {labels.size} of the truth")
    move = np.max([np.abs(logits - truth).max(axis=1) for logits in moved], axis=0)
    reach = budget * (move + unit_roundoff * np.abs(truth).max(axis=1))
    ahead = truth - truth[np.arange(len(labels)), labels][:, None]
    before = np.arange(truth.shape[1]) < labels[:, None]
    right = ((ahead > 0) | ((ahead == 0) & before)).sum(axis=1) < k
    surely = (ahead > 2 * reach[:, None]).sum(axis=1)
    perhaps = (ahead >= -2 * reach[:, None]).sum(axis=1) - 1  # but not the label itself
    undecided = (surely < k) & (k <= perhaps)
    wrong = ((ranks < k) != right) & ~undecided
    return TopK(
        k,
        int(right.sum()),
        int((ranks < k).sum()),
        tuple(np.flatnonzero(wrong).tolist()),
        tuple(np.flatnonzero(undecided).tolist()),
    )
