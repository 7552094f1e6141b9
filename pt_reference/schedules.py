"""Learning rates by step, from PyTorch's own schedulers.

A schedule is a function (optimizer) -> scheduler that is stepped once after each update; the
networks built here tell the rates of any steps at once.
"""

from collections.abc import Callable

import torch
from torch import nn, optim
from torch.optim import lr_scheduler

Schedule = Callable[[optim.Optimizer], lr_scheduler.LRScheduler]


def warmup_cosine(
    warmup_steps: int, total_steps: int, end: float = 0.0, first: int = 1
) -> Schedule:
    """A line up to the rate, then half a cosine from the rate down to `end`.

    Step i has (i + first) / warmup_steps of the rate during the warm-up, so that with `first` 0
    the first update is none. The cosine would reach `end` at step `total_steps`.
    """

    def schedule(optimizer: optim.Optimizer) -> lr_scheduler.LRScheduler:
        line = lr_scheduler.LambdaLR(optimizer, lambda step: (step + first) / warmup_steps)
        curve = lr_scheduler.CosineAnnealingLR(optimizer, total_steps - warmup_steps, end)
        return lr_scheduler.SequentialLR(optimizer, [line, curve], [warmup_steps])

    return schedule


def cosine(total_steps: int, end: float = 0.0, each: int = 1) -> Schedule:
    """Half a cosine from the rate to `end`, changed after every `each` steps.

    With `each` steps to an epoch, the rate changes per epoch and reaches `end` after the last.
    """

    def schedule(optimizer: optim.Optimizer) -> lr_scheduler.LRScheduler:
        annealing = lr_scheduler.CosineAnnealingLR(optimizer, total_steps // each, end)
        return annealing if each == 1 else Every(annealing, each)

    return schedule


def step_decay(every: int, factor: float) -> Schedule:
    """The rate times `factor` after every `every` steps."""
    return lambda optimizer: lr_scheduler.StepLR(optimizer, every, factor)


def milestones(steps: tuple[int, ...], factor: float) -> Schedule:
    """The rate times `factor` from each of the steps on."""
    return lambda optimizer: lr_scheduler.MultiStepLR(optimizer, list(steps), factor)


class Every:
    """A scheduler of epochs, stepped after each update: it moves on at the end of an epoch."""

    def __init__(self, scheduler: lr_scheduler.LRScheduler, each: int):
        self.scheduler, self.each, self.steps = scheduler, each, 0

    def step(self) -> None:
        """After an update."""
        self.steps += 1
        if self.steps % self.each == 0:
            self.scheduler.step()


def rates(schedule: Schedule, peak: float, steps: int) -> list[float]:
    """The learning rate of each of the first `steps` steps."""
    optimizer = optim.SGD([nn.Parameter(torch.zeros(()))], peak)
    scheduler = schedule(optimizer)
    told = []
    for _ in range(steps):
        told.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return told


class Rates(nn.Module):
    """(steps, peak) -> the rates of those steps, in the dtype of the peak."""

    def __init__(self, schedule: Schedule, total_steps: int):
        super().__init__()
        self.shares = rates(schedule, 1.0, total_steps)

    def forward(self, steps: torch.Tensor, peak: torch.Tensor) -> torch.Tensor:
        return peak * torch.tensor(self.shares, dtype=peak.dtype)[steps]


def warmup_cosine_rates(
    warmup_steps: int, total_steps: int, end: float = 0.0, first: int = 1
) -> nn.Module:
    """`Rates` of `warmup_cosine`; `end` is a share of the peak."""
    return Rates(warmup_cosine(warmup_steps, total_steps, end, first), total_steps)


def cosine_rates(total_steps: int, end: float = 0.0, each: int = 1) -> nn.Module:
    """`Rates` of `cosine`."""
    return Rates(cosine(total_steps, end, each), total_steps)


def step_decay_rates(every: int, factor: float, total_steps: int) -> nn.Module:
    """`Rates` of `step_decay`."""
    return Rates(step_decay(every, factor), total_steps)


def milestone_rates(steps: tuple[int, ...], factor: float, total_steps: int) -> nn.Module:
    """`Rates` of `milestones`."""
    return Rates(milestones(steps, factor), total_steps)
