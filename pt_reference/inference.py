"""Evaluation of a trained network over a set: where each label ranks, and its loss."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
from torch import nn


class Evaluation(NamedTuple):
    """What becomes of every sample: ranks (N,) int64 and losses (N,), in the network's dtype.

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


def evaluate(network: nn.Module, batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> Evaluation:
    """Evaluate `network`, N,C,H,W images -> N,K logits, in its evaluation phase.

    batches: images, which become the network's dtype, and N integer labels below K; the last may
    be smaller. The network keeps the phase it was in. Raises ValueError for no samples at all and
    for other labels.
    """
    ranks, losses, training = [], [], network.training
    dtype = next((p.dtype for p in network.parameters()), torch.float32)
    network.eval()
    try:
        with torch.no_grad():
            for images, labels in batches:
                logits = network(torch.from_numpy(images).to(dtype))
                classes = logits.shape[1]
                if labels.min() < 0 or labels.max() >= classes:
                    raise ValueError(
                        f"labels are {labels.min()} to {labels.max()}, classes {classes}"
                    )
                target = torch.from_numpy(labels.astype(np.int64))
                own = logits.gather(1, target[:, None])
                tied = (logits == own) & (torch.arange(classes) < target[:, None])
                before = ~(logits <= own) | tied
                ranks.append(before.sum(dim=1).numpy())
                loss = nn.functional.cross_entropy(logits, target, reduction="none")
                losses.append(loss.numpy().copy())
    finally:
        network.train(training)
    if not ranks:
        raise ValueError("there are no samples to evaluate")
    return Evaluation(np.concatenate(ranks), np.concatenate(losses))
