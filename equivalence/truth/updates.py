"""The updates of a training of the reference, changed while it runs.

Something is done around each update of its optimisers: to the gradients that the update gets, to
the settings of its groups, or to the weights that it leaves. All else is the reference's own code.
"""

import math
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from equivalence.sides.protocols import ReferenceSide, Watch

Act = Callable[[Optimizer, int], None]
"""What is done to an optimiser around one of its updates, counted from 1."""


class AroundUpdates:
    """A context, to be entered again and again, that acts around each update of an optimiser.

    The settings of the groups and the gradients are the optimiser's own again after the update.
    """

    def __init__(self, *before: Act, after: Act | None = None):
        self.before, self.after = before, after

    def __enter__(self) -> None:
        self.counts: dict[int, int] = {}
        self.kept: list[tuple[list[dict], list[tuple[nn.Parameter, torch.Tensor]]]] = []
        self.handles = [
            register_optimizer_step_pre_hook(self._pre),
            register_optimizer_step_post_hook(self._post),
        ]

    def __exit__(self, *_: object) -> None:
        for handle in self.handles:
            handle.remove()

    @torch.no_grad()
    def _pre(self, optimizer: Optimizer, *_: object) -> None:
        self.counts[id(optimizer)] = self.counts.get(id(optimizer), 0) + 1
        entries = [dict(group) for group in optimizer.param_groups]
        self.kept.append((entries, [(p, p.grad) for p in trained_by(optimizer)]))
        for act in self.before:
            act(optimizer, self.counts[id(optimizer)])

    @torch.no_grad()
    def _post(self, optimizer: Optimizer, *_: object) -> None:
        entries, gradients = self.kept.pop()
        for group, own in zip(optimizer.param_groups, entries, strict=True):
            group.update(own)
        for parameter, gradient in gradients:
            parameter.grad = gradient
        if self.after:
            self.after(optimizer, self.counts[id(optimizer)])


class Changed(NamedTuple):
    """Weights whose updates are off, and by how much.

    network: the reference's training.
    names: the weights.
    """

    network: ReferenceSide
    names: Collection[str]

    def parameters(self, optimizer: Optimizer) -> list[tuple[str, nn.Parameter]]:
        """The weights among those of an optimiser, in the run of now."""
        trained = set(map(id, trained_by(optimizer)))
        named = self.network.module.named_parameters()
        return [(name, p) for name, p in named if name in self.names and id(p) in trained]

    def rate(self, optimizer: Optimizer) -> float:
        """The learning rate of the first of them."""
        own = {id(p) for _, p in self.parameters(optimizer)[:1]}
        groups = optimizer.param_groups
        held = (g["lr"] for g in groups if own & set(map(id, g["params"])))
        return float(next(held, groups[0]["lr"]))

    def gradients_times(self, factor: float) -> Act:
        """Their gradients are scaled."""

        def change(optimizer: Optimizer, _: int) -> None:
            for __, parameter in self.parameters(optimizer):
                parameter.grad = factor * parameter.grad

        return change

    def penalty(self, more: float) -> Act:
        """A multiple of themselves is added to their gradients."""

        def change(optimizer: Optimizer, _: int) -> None:
            for __, parameter in self.parameters(optimizer):
                parameter.grad = parameter.grad + more * parameter

        return change

    def decay(self, more: float) -> Act:
        """They shrink by themselves before each update, by this times the learning rate."""

        def change(optimizer: Optimizer, _: int) -> None:
            rate = self.rate(optimizer)
            for __, parameter in self.parameters(optimizer):
                parameter.mul_(1.0 - rate * more)

        return change

    def rates(self, moved: Callable[[int, str], np.ndarray]) -> "Rates":
        """Their updates are scaled so that they move as far as they are to.

        moved: the number of an update and a weight -> the values that it is to have then.
        """
        return Rates(self, moved)


class Rates:
    """Learning rates that are chosen in the run. See `Changed.rates`.

    own: the reference's learning rates, one for each update.
    factors: how many times those the chosen ones are: the best factor for all weights.
    """

    def __init__(self, changed: Changed, moved: Callable[[int, str], np.ndarray]):
        self.changed, self.moved = changed, moved
        self.own: list[float] = []
        self.factors: list[float] = []

    def made(self) -> Watch:
        """The context in which the updates are scaled."""
        self.own.clear()
        self.factors.clear()
        return AroundUpdates(self._note, after=self._scale)

    def _note(self, optimizer: Optimizer, _: int) -> None:
        self.own.append(self.changed.rate(optimizer))
        found = self.changed.parameters(optimizer)
        self.before = {name: p.detach().clone() for name, p in found}

    def _scale(self, optimizer: Optimizer, update: int) -> None:
        changes = []
        for name, p in self.changed.parameters(optimizer):
            before = self.before[name]
            changes.append((p, before, p - before, p.new_tensor(self.moved(update, name)) - before))
        size = sum(float((own * own).sum()) for _, _, own, _ in changes)
        along = sum(float((own * want).sum()) for _, _, own, want in changes)
        self.factors.append(along / size if size else 1.0)
        for parameter, before, own, _ in changes:
            parameter.copy_(before + self.factors[-1] * own)


def another_momentum(more: float) -> Act:
    """The momentum of all groups that have one is larger by this."""

    def change(optimizer: Optimizer, _: int) -> None:
        for group in optimizer.param_groups:
            if group.get("momentum"):
                group["momentum"] += more

    return change


def known_factors(step: nn.Module) -> dict[str, float]:
    """The factors by which a mistake scales the updates of a step's optimisers -> in words."""
    factors: dict[str, float] = {}
    for group in groups_of(step):
        if momentum := group.get("momentum"):
            factors |= {"1 + momentum": 1.0 + momentum, "1 - momentum": 1.0 - momentum}
        if dampening := group.get("dampening"):
            factors["1 - dampening"] = 1.0 - dampening
        if betas := group.get("betas"):
            one, two = betas
            factors["(1 - beta1) / sqrt(1 - beta2)"] = (1.0 - one) / math.sqrt(1.0 - two)
    if scales := scales_of(step):
        factors["the loss scale"] = scales[0]
    return factors


def scales_of(step: nn.Module) -> list[float]:
    """The numbers of a step that may scale its loss: those of a scaler, and named as a scale."""
    found = [
        float(value.get_scale()) if isinstance(value, torch.amp.GradScaler) else value
        for name, value in vars(step).items()
        if isinstance(value, torch.amp.GradScaler) or "scale" in name
    ]
    numbers = [float(each) for each in found if isinstance(each, int | float)]
    return [each for each in numbers if each not in (0.0, 1.0)]


def groups_of(step: nn.Module) -> list[dict[str, Any]]:
    """The groups of all optimisers that a step or a module within it has as attributes."""
    held = [each for module in step.modules() for each in vars(module).values()]
    return [g for each in held if isinstance(each, Optimizer) for g in each.param_groups]


def trained_by(optimizer: Optimizer) -> list[nn.Parameter]:
    """The parameters of an optimiser that have a gradient."""
    groups = optimizer.param_groups
    return [p for group in groups for p in group["params"] if p.grad is not None]
