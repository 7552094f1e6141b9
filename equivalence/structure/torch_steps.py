"""The settings of PyTorch's training steps: optimisers, learning rates, clips and loss scalers.

Optimisers and schedulers are found among the attributes of a step. The rates of a scheduler are
told for every step by moving it on, which counts only if the step itself moves it once per update.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from torch import amp, nn, optim
from torch.optim import Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler

from equivalence.judge.settings import Unread
from equivalence.structure import settings as configuration
from equivalence.structure.layers import Layer
from equivalence.structure.settings import OPTIMIZER, RATES, STEP

UNTOLD = ("params", "initial_lr", "foreach", "fused", "capturable", "differentiable")
"""Entries of a parameter group that change nothing, or belong to a schedule."""


def layers(step: nn.Module, network: nn.Module, moved: object) -> list[Layer]:
    """The optimiser and the step itself as layers.

    step: a training step that has not run; its schedulers are moved on.
    network: the trained module.
    moved: the `progress` of a step after its run, with the number of its calls; None without one.
    """
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    optimizers = [each for each in _held(step) if isinstance(each, Optimizer)]
    groups = [group for each in optimizers for group in each.param_groups]
    rates = _rates(step, groups, moved)
    settings = of_optimizers(optimizers, {n: (name,) for n, name in names.items()}, rates)
    own = configuration.own_values(step, vars(nn.Module()))
    for name, value in vars(step).items():
        if isinstance(value, amp.GradScaler):
            own |= {f"{name}.{entry}": number for entry, number in _scaler(value).items()}
    made = [Layer.of(STEP, {"kind": STEP, **own}, frozenset())]
    return [Layer.of(OPTIMIZER, {"kind": OPTIMIZER, **settings}, frozenset()), *made]


def of_optimizers(
    optimizers: Iterable[Optimizer],
    names: Mapping[int, Sequence[str]],
    rates: Sequence[Sequence[float]] | Unread = (),
) -> dict[str, dict[str, Any]]:
    """Setting -> name of a weight -> its value, of all groups of some optimisers.

    names: id of a weight -> its names; others are left out.
    rates: the rates of each group in steps 0, 1, ...; none: the rate is that of now.
    """
    settings: dict[str, dict[str, Any]] = {}
    groups = [(each, group) for each in optimizers for group in each.param_groups]
    for index, (optimizer, group) in enumerate(groups):
        told = {name: value for name, value in group.items() if name not in UNTOLD}
        if type(optimizer).__module__.startswith(optim.__name__):
            told["algorithm"] = type(optimizer).__name__
        if isinstance(rates, Unread):
            told["lr"] = rates  # what it is when, is not known
        elif rates:
            told["lr"] = np.array(rates[index])
        for name, value in configuration.plain(told).items():
            weights = [each for p in group["params"] for each in names.get(id(p), ())]
            settings.setdefault(name, {}).update(dict.fromkeys(weights, value))
    return settings


def _scaler(scaler: amp.GradScaler) -> dict[str, Any]:
    return {
        "scale": float(scaler.get_scale()),
        "growth_factor": scaler.get_growth_factor(),
        "backoff_factor": scaler.get_backoff_factor(),
        "growth_interval": scaler.get_growth_interval(),
    }


def progress(step: nn.Module, calls: int = 0) -> tuple[int, list[Mapping[str, Any]]]:
    """How far a step is: the number of calls, each scheduler's counters, and the rates now."""
    counters = [
        {n: v for n, v in vars(each).items() if isinstance(v, int | float)}
        for each in _schedulers(step)
    ]
    optimizers = [each for each in _held(step) if isinstance(each, Optimizer)]
    groups = [group for each in optimizers for group in each.param_groups]
    return calls, [*counters, {str(n): group["lr"] for n, group in enumerate(groups)}]


def _schedulers(step: nn.Module) -> Iterator[Any]:
    for each in _held(step):
        if callable(getattr(each, "step", None)) and not isinstance(each, nn.Module | Optimizer):
            yield each


def _held(step: nn.Module) -> list[object]:
    """Everything that a step and the modules within it have as attributes."""
    return [each for module in step.modules() for each in vars(module).values()]


def _annealing(held: object) -> Iterator[CosineAnnealingLR]:
    """The cosines of a scheduler, also of one that is made of several."""
    if isinstance(held, CosineAnnealingLR):
        yield held
    for each in held if isinstance(held, list) else vars(held).values():
        if isinstance(each, LRScheduler) or (isinstance(each, list) and each is not held):
            yield from _annealing(each)


def _rates(step: nn.Module, groups: list[dict], moved: Any) -> list[list[float]] | Unread:
    """The learning rates of every group in steps 0, 1, ...; empty where no scheduler moves them."""
    schedulers = list(_schedulers(step))
    if not schedulers:
        itself = moved and moved[1] != progress(step)[1]
        return Unread("the step sets the rate itself", own=True) if itself else []
    if not moved or moved[1] == progress(step)[1]:
        return Unread("no run has shown when the step moves its schedulers", own=True)
    told: list[list[float]] = [[] for _ in groups]
    failed: dict[str, Any] = {}
    with configuration.reading(failed, "lr", own=True):
        for number in range(RATES):
            if number == moved[0] and progress(step)[1] != moved[1]:
                return Unread("the step does not move its schedulers once per call", own=True)
            if any(each.last_epoch > each.T_max for s in schedulers for each in _annealing(s)):
                break  # the training is over: from here PyTorch's cosine would rise again
            for rates, group in zip(told, groups, strict=True):
                rates.append(float(group["lr"]))
            for scheduler in schedulers:
                scheduler.step()
    # Where a scheduler raises after the steps of the run, as OneCycleLR does, the training is over.
    return failed["lr"] if failed and len(told[0]) <= moved[0] else told
