"""Evaluation of a trained network over a set: where each label ranks, and its loss."""

from collections.abc import Iterable
from typing import NamedTuple

import mindspore as ms
import numpy as np
from mindspore import nn, ops


class Evaluation(NamedTuple):
    """What becomes of every sample: ranks (N,) int64 and losses (N,) float32.

    The rank of a label is the number of classes before it, those of a larger logit and those of
    the same one and a smaller index; a NaN is before every label.
    """

    ranks: np.ndarray
    losses: np.ndarray

    def top(self, k: int) -> int:
        """How many labels are among the first k classes; all, where there are no more than k."""
        return int((self.ranks < k).sum())

    @property
    def loss(self) -> float:
        """The mean cross entropy over the samples, whatever the sizes of their batches."""
        return float(self.losses.mean(dtype=np.float64))


def evaluate(network: nn.Cell, batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> Evaluation:
    """Evaluate `network`, N,C,H,W images -> N,K logits, in its evaluation phase.

    batches: float32 images and N integer labels below K; the last may be smaller. The network
    keeps the phase it was in. Raises ValueError for no samples at all and for other labels.
    """
    ranks, losses, training = [], [], network.training
    network.set_train(False)
    try:
        for images, labels in batches:
            logits = network(ms.Tensor(images))
            classes = logits.shape[1]
            if labels.min() < 0 or labels.max() >= classes:
                raise ValueError(f"labels are {labels.min()} to {labels.max()}, classes {classes}")
            target = ms.Tensor(labels.astype(np.int32))
            own = ops.gather_elements(logits, 1, target.reshape(-1, 1))
            tied = ops.logical_and(logits == own, ops.arange(classes) < target.reshape(-1, 1))
            before = ops.logical_or(ops.logical_not(logits <= own), tied)
            ranks.append(before.astype(ms.int32).sum(axis=1).asnumpy().astype(np.int64))
            losses.append(ops.cross_entropy(logits, target, reduction="none").asnumpy().copy())
    finally:
        network.set_train(training)
    if not ranks:
        raise ValueError("there are no samples to evaluate")
    return Evaluation(np.concatenate(ranks), np.concatenate(losses))
