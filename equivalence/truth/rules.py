"""Rules of MindSpore's optimisers that are not those of PyTorch's optimisers of the same name.

Each is put into the place of the reference's own: what it leaves of the weights is what the
candidate has, if the candidate's optimiser is that one.
"""

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch import nn, optim
from torch.optim import Optimizer

from equivalence.truth.updates import AroundUpdates, trained_by

Group = dict[str, Any]
State = dict[str, torch.Tensor]
Change = Callable[[torch.Tensor, State, Group, int], torch.Tensor]
"""(gradient, state of the weight, settings, number of the update from 1) -> what the weight loses.
The state is empty before the first update."""


class Rule(NamedTuple):
    """A rule of an optimiser of MindSpore.

    of: the class of PyTorch beside which it is used.
    told: what it does otherwise, by which finding, and what to write, after "computes with".
    change: the rule.
    """

    of: type[Optimizer]
    told: str
    change: Change


def _rms_prop(gradient: torch.Tensor, state: State, group: Group, _: int) -> torch.Tensor:
    """`mindspore.nn.RMSProp`."""
    alpha = group["alpha"]
    square = state.setdefault("square", torch.ones_like(gradient))
    square.mul_(alpha).addcmul_(gradient, gradient, value=1.0 - alpha)
    spread = square
    if group["centered"]:
        mean = state.setdefault("mean", torch.zeros_like(gradient))
        mean.mul_(alpha).add_(gradient, alpha=1.0 - alpha)
        spread = square - mean * mean
    velocity = state.setdefault("velocity", torch.zeros_like(gradient))
    change = group["lr"] * gradient / torch.sqrt(spread + group["eps"])
    return velocity.mul_(group["momentum"]).add_(change).clone()


def _adagrad(
    gradient: torch.Tensor, state: State, group: Group, update: int, accum: float | None = None
) -> torch.Tensor:
    """`mindspore.nn.Adagrad`. accum: with what it begins; None: with what the reference does."""
    begins = group["initial_accumulator_value"] if accum is None else accum
    total = state.setdefault("total", torch.full_like(gradient, begins))
    total.addcmul_(gradient, gradient)
    rate = group["lr"] / (1.0 + (update - 1) * group["lr_decay"])
    return rate * gradient / torch.sqrt(total + 1e-8)


def _adamax(gradient: torch.Tensor, state: State, group: Group, update: int) -> torch.Tensor:
    """`mindspore.nn.AdaMax`."""
    one, two = group["betas"]
    mean = state.setdefault("mean", torch.zeros_like(gradient))
    norm = state.setdefault("norm", torch.zeros_like(gradient))
    mean.mul_(one).add_(gradient, alpha=1.0 - one)
    torch.maximum(norm * two, gradient.abs(), out=norm)
    return group["lr"] / (1.0 - one**update) * mean / (norm + group["eps"])


def _nesterov(gradient: torch.Tensor, state: State, group: Group, update: int) -> torch.Tensor:
    """`mindspore.nn.Adam(use_nesterov=True)`."""
    one, two = group["betas"]
    mean = state.setdefault("mean", torch.zeros_like(gradient))
    square = state.setdefault("square", torch.zeros_like(gradient))
    mean.mul_(one).add_(gradient, alpha=1.0 - one)
    square.mul_(two).addcmul_(gradient, gradient, value=1.0 - two)
    rate = group["lr"] * math.sqrt(1.0 - two**update) / (1.0 - one**update)
    return rate * (one * mean + (1.0 - one) * gradient) / (square.sqrt() + group["eps"])


RULES = (
    Rule(
        optim.RMSprop,
        "a mean square that begins at 1 and eps within the root, as mindspore.nn.RMSProp does "
        "(finding rms_prop_begins_at_one; mindspore.experimental.optim.RMSprop is PyTorch's)",
        _rms_prop,
    ),
    Rule(
        optim.Adagrad,
        "eps 1e-08 within the root, as mindspore.nn.Adagrad does "
        "(finding adagrad_epsilon; mindspore.experimental.optim.Adagrad is PyTorch's)",
        _adagrad,
    ),
    Rule(
        optim.Adagrad,
        "accumulators that begin at 0.1, as those of mindspore.nn.Adagrad do where accum is not "
        "given, and eps 1e-08 within the root",
        functools.partial(_adagrad, accum=0.1),
    ),
    Rule(
        optim.Adamax,
        "eps added to the norm, as mindspore.nn.AdaMax does "
        "(finding adamax_epsilon; mindspore.experimental.optim.Adamax is PyTorch's)",
        _adamax,
    ),
    Rule(
        optim.NAdam,
        "momentum without a schedule, as mindspore.nn.Adam(use_nesterov=True) does "
        "(finding adam_nesterov; mindspore.experimental.optim.NAdam is PyTorch's)",
        _nesterov,
    ),
)
"""The rules; each is shown by its finding."""


def rules_of(optimizers: Iterable[Optimizer]) -> Iterator[Rule]:
    """The rules that may stand in the place of those of some optimisers."""
    kinds = {type(each) for each in optimizers}
    yield from (rule for rule in RULES if rule.of in kinds)


class InPlace:
    """A context in which a rule updates the weights of the optimisers that it is used beside."""

    def __init__(self, rule: Rule):
        self.rule = rule
        self.around = AroundUpdates(self._note, after=self._put)

    def __enter__(self) -> None:
        self.states: dict[int, State] = defaultdict(dict)
        self.around.__enter__()

    def __exit__(self, *error: object) -> None:
        self.around.__exit__(*error)

    def _note(self, optimizer: Optimizer, _: int) -> None:
        """Keep what the update begins with."""
        self.begun = {id(p): (p.clone(), p.grad.clone()) for p in trained_by(optimizer)}

    def _put(self, optimizer: Optimizer, update: int) -> None:
        """Leave what the rule does."""
        if type(optimizer) is not self.rule.of:
            return
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if id(parameter) in self.begun:
                    parameter.copy_(self._after(parameter, group, update))

    def _after(self, parameter: nn.Parameter, group: Group, update: int) -> torch.Tensor:
        weight, gradient = self.begun[id(parameter)]
        gradient = gradient + group["weight_decay"] * weight
        return weight - self.rule.change(gradient, self.states[id(parameter)], group, update)
