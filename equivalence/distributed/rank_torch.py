"""Data parallel training in PyTorch: one rank of it, and all of it in one process, the truth."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import distributed, nn
from torch.func import functional_call
from torch.optim.optimizer import register_optimizer_step_pre_hook

from equivalence.distributed.rank import Job, RankSample, of_rank
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.sample import Sample
from equivalence.sides.torch_network import TorchNetwork, TorchTraining, Watch


def communicate() -> None:
    """Join the other ranks."""
    distributed.init_process_group("gloo")


def leave() -> None:
    """Part from the other ranks."""
    distributed.destroy_process_group()


def train(job: Job, sample: RankSample) -> Trace:
    """The trace of this rank."""
    training = RankTraining(job.target, job.arguments, job.steps)
    sample.loader = training.step.batches
    return training.run(sample, "train", sample.dtype)


class RankTraining(TorchTraining):
    """A training whose trace has the gradients of its first update, too."""

    def run(self, sample: Sample, phase: str, dtype: str, watch: Watch | None = None) -> Trace:
        with _first_gradients(self) as gradients:
            recorded = super().run(sample, phase, dtype, watch)
        return gradients | recorded


class SingleProcess(RankTraining):
    """The training of all ranks in one process: the trace of each, its names ending in `@rank1`.

    The inputs of a step are those of every rank along a first axis of their own.
    """

    def __init__(self, target: str, arguments: Mapping[str, Any], steps: int, ranks: int):
        self.ranks = ranks
        super().__init__(target, arguments, steps)

    def _renew(self) -> None:
        super()._renew()
        self.step = Together(self.step, self.ranks)

    def run(self, sample: Sample, phase: str, dtype: str, watch: Watch | None = None) -> Trace:
        recorded = super().run(sample, phase, dtype, watch)
        made: Trace = {}
        for name, values in recorded.items():
            if name.startswith("buffer:"):
                made[name] = values
                continue
            for rank in range(self.ranks):
                own = values[rank] if name.startswith("loss[") else values
                made[of_rank(name, rank)] = np.asarray(own)
        return made

    def _buffers(self) -> Trace:
        kept = super()._buffers()
        return {
            of_rank(name, rank): buffers[name.removeprefix(tensors.buffer(""))].numpy().copy()
            for rank, buffers in enumerate(self.step.buffers_of)
            for name in kept
        }

    def own_gradients(self, sample: Sample) -> list[Trace]:
        """The gradients of each rank's own loss in the first step, in float64, by name."""
        self.step.to(torch.float64).train()
        self._load(sample, "train", "float64")
        losses = self.step.losses(*self._inputs(sample, "float64"))
        names, weights = zip(*self._trained().items(), strict=True)
        found = [torch.autograd.grad(loss, weights, retain_graph=True) for loss in losses]
        self._renew()
        return [
            {tensors.parameter_gradient(n): g.numpy() for n, g in zip(names, each, strict=True)}
            for each in found
        ]


class Together(nn.Module):
    """A step of all ranks in one process, with the mean of the gradients that each would have.

    Buffers are each rank's own, and begin alike.
    """

    def __init__(self, step: nn.Module, ranks: int):
        super().__init__()
        self.step, self.network, self.ranks = step, step.network, ranks
        self.buffers_of: list[dict[str, torch.Tensor]] = []

    def losses(self, *batch: torch.Tensor) -> list[torch.Tensor]:
        """The loss of every rank's part of a batch, by the rank's own buffers."""
        if not self.buffers_of:
            initial = dict(self.network.named_buffers())
            for _ in range(self.ranks):
                self.buffers_of.append({name: b.clone() for name, b in initial.items()})
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
    """What the optimizer is given for its first update, by the reference's names."""
    found: Trace = {}

    def keep(*_) -> None:
        if not found:
            for name, parameter in network._trained().items():
                found[tensors.parameter_gradient(name)] = parameter.grad.numpy().copy()

    handle = register_optimizer_step_pre_hook(keep)
    try:
        yield found
    finally:
        handle.remove()
