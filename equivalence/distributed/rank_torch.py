"""Data parallel training in PyTorch: one rank of it, or all ranks in one process, the truth."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import distributed, nn
from torch.func import functional_call
from torch.optim.optimizer import register_optimizer_step_pre_hook

from equivalence.distributed.rank import RankJob, RankSample, demand_step, of_rank
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.sample import AnySample, Sample
from equivalence.sides.protocols import Watch
from equivalence.sides.torch_network import TorchNetwork
from equivalence.sides.torch_training import TorchTraining
from equivalence.structure.weights import comparable


def communicate() -> None:
    """Join the other ranks."""
    distributed.init_process_group("gloo")


def leave() -> None:
    """Leave the other ranks."""
    distributed.destroy_process_group()


def train(job: RankJob, sample: RankSample) -> Trace:
    """The trace of this rank."""
    training = RankTraining(job.target, job.arguments, job.steps)
    demand_step(job.target, training.step, ("network", "batches"))
    sample.loader = training.step.batches
    return training.run(sample, "train", sample.dtype)


class RankTraining(TorchTraining):
    """A training whose trace also has the gradients of its first update."""

    def run(self, sample: AnySample, phase: str, dtype: str, watch: Watch | None = None) -> Trace:
        with _first_gradients(self) as gradients:
            trace = super().run(sample, phase, dtype, watch)
        return gradients | trace


class SingleProcess(RankTraining):
    """The training of all ranks in one process; names in its trace end in `@rank1` and so on.

    The inputs of a step are the batches of all ranks along a new first axis.

    first: whether all ranks begin a step with the buffers of the first.
    """

    def __init__(
        self, target: str, arguments: Mapping[str, Any], steps: int, ranks: int, first: bool = False
    ):
        self.ranks, self.first = ranks, first
        super().__init__(target, arguments, steps)

    def otherwise(self) -> "SingleProcess":
        """The same training with the other way to begin a step."""
        target, arguments = self._built
        return SingleProcess(target, arguments, self.steps or 0, self.ranks, not self.first)

    def renew(self) -> None:
        super().renew()
        demand_step(self._built[0], self.step, ("network", "optimizer", "update"))
        self.step = Together(self.step, self.ranks, self.first)

    def _held(self) -> dict[str, torch.Tensor]:
        return {}  # what a rank keeps beside its network is not compared

    def run(self, sample: AnySample, phase: str, dtype: str, watch: Watch | None = None) -> Trace:
        trace = super().run(sample, phase, dtype, watch)
        by_rank: Trace = {}
        for name, values in trace.items():
            if name.startswith("buffer:"):
                by_rank[name] = values
                continue
            for rank in range(self.ranks):
                own = values[rank] if name.startswith("loss[") else values
                by_rank[of_rank(name, rank)] = np.asarray(own)
        return by_rank

    def _buffers(self) -> Trace:
        names = super()._buffers()
        return {
            of_rank(name, rank): comparable(
                buffers[name.removeprefix(tensors.buffer(""))].numpy().copy()
            )
            for rank, buffers in enumerate(self.step.buffers_of)
            for name in names
        }

    def own_gradients(self, sample: Sample) -> list[Trace]:
        """The gradients of each rank's own loss in the first step, float64, by name."""
        self.step.to(torch.float64).train()
        self._load(sample, "train", "float64")
        losses = self.step.losses(*self._inputs(sample, "float64"))
        names, weights = zip(*self._trained().items(), strict=True)
        by_rank = [torch.autograd.grad(loss, weights, retain_graph=True) for loss in losses]
        self.renew()
        return [
            {
                tensors.parameter_gradient(n): g.numpy()
                for n, g in zip(names, gradients, strict=True)
            }
            for gradients in by_rank
        ]


class Together(nn.Module):
    """A step of all ranks in one process, which updates by the mean of all ranks' gradients.

    Each rank has buffers of its own, which begin alike.

    first: whether all ranks begin a step with the buffers of the first.
    """

    def __init__(self, step: nn.Module, ranks: int, first: bool = False):
        super().__init__()
        self.first = first
        self.step, self.network, self.ranks = step, step.network, ranks
        self.buffers_of: list[dict[str, torch.Tensor]] = []

    def losses(self, *batch: torch.Tensor) -> list[torch.Tensor]:
        """The loss of each rank's part of a batch, with the rank's own buffers."""
        if not self.buffers_of:
            initial = dict(self.network.named_buffers())
            for _ in range(self.ranks):
                self.buffers_of.append({name: b.clone() for name, b in initial.items()})
        elif self.first:
            sent = self.buffers_of[0]
            for rank in range(1, self.ranks):
                self.buffers_of[rank] = {name: b.clone() for name, b in sent.items()}
        return [
            functional_call(self.network, buffers, part)
            for buffers, part in zip(self.buffers_of, zip(*batch, strict=True), strict=True)
        ]

    def forward(self, *batch: torch.Tensor) -> torch.Tensor:
        self.step.optimizer.zero_grad()
        losses = torch.stack(self.losses(*batch))
        losses.mean().backward()
        self.step.update()
        return losses.detach()


@contextlib.contextmanager
def _first_gradients(network: TorchNetwork) -> Iterator[Trace]:
    """The gradients that the optimizer gets for its first update, by the reference's names."""
    gradients: Trace = {}

    def keep(*_) -> None:
        if not gradients:
            for name, parameter in network._trained().items():
                gradients[tensors.parameter_gradient(name)] = parameter.grad.numpy().copy()

    handle = register_optimizer_step_pre_hook(keep)
    try:
        yield gradients
    finally:
        handle.remove()
