"""The mistakes that are usual in a training, each to be put into the reference's.

A reference that makes a mistake of the candidate gives what the candidate gives: that proves it.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch.optim import Optimizer

from equivalence import dtypes
from equivalence.sides.protocols import ReferenceSide, Watch
from equivalence.stream.torch_stream import without_functions
from equivalence.truth.rules import InPlace, rules_of
from equivalence.truth.updates import Act, AroundUpdates, Changed, groups_of, trained_by


class TrainingMistake(NamedTuple):
    """A mistake in a training.

    told: what the candidate computes, in words, after "computes".
    made: the context in which the reference makes it.
    """

    told: str
    made: Watch


def usual(network: ReferenceSide, scales: Collection[float]) -> Iterator[TrainingMistake]:
    """The mistakes that are usual with the optimisers of a training.

    scales: the numbers by which a loss may have been multiplied, and its gradients not be divided.
    """
    groups = groups_of(network.step)
    yield TrainingMistake("with the network in evaluation mode", _evaluating(network))
    optimizers = _optimizers(network)
    yield from (
        TrainingMistake(f"with {rule.told}", InPlace(rule)) for rule in rules_of(optimizers)
    )
    if len(optimizers) > 1:
        told = "the gradients that the loss of one optimiser leaves in the weights of another"
        yield TrainingMistake(f"without {told}", _without_leaks(network))
        yield TrainingMistake(f"with {told}", _Leaking(network))
    if any(group.get("momentum") for group in groups):
        told = "with" if not any(group.get("nesterov") for group in groups) else "without"
        yield _before(f"{told} Nesterov momentum", _nesterov)
        yield _before("with learning rate and momentum exchanged", _rate_and_momentum_exchanged)
        yield _before("with the learning rate within the velocity", _rate_in_velocity())
    if any(group.get("dampening") for group in groups):
        yield _before("without dampening", _entry(dampening=0.0))
        yield _before("with the first gradient dampened, too", _dampened_from_the_start)
    if any("betas" in group for group in groups):
        yield from _of_adam(any(group.get("amsgrad") for group in groups))
    if any(group.get("weight_decay") for group in groups):
        yield _before("without weight decay", _entry(weight_decay=0.0))
        yield _before("with the weight decay for every weight", _decay_everywhere(groups))
        yield _before("with decoupled weight decay for an L2 penalty", _decoupled)
        yield _before("with an L2 penalty for decoupled weight decay", _coupled)
        yield _before("with decoupled decay that no learning rate multiplies", _decay_without_rate)
    every = Changed(network, network.slots())
    for scale in scales:
        undivided, twice = every.gradients_times(scale), every.gradients_times(1.0 / scale)
        yield _before(
            f"with gradients that are not divided by the loss scale, {scale:g}", undivided
        )
        yield _before(f"with gradients divided once more by the loss scale, {scale:g}", twice)
        told = f"with weight decay divided by the loss scale, {scale:g}, as gradients are"
        yield _before(told, _decay_times(1.0 / scale))
    yield _before("with the gradients of gamma and beta exchanged", _exchanged(network))
    for kind in dtypes.HALVES:  # in which people keep gradients, weights and states
        yield _before(f"with gradients in {kind}", _gradients_in(getattr(torch, kind)))
        yield _before(f"with the learning rate in {kind}", _rate_in(getattr(torch, kind)))
        state = _state_in(getattr(torch, kind))
        yield TrainingMistake(f"with the optimiser's state in {kind}", AroundUpdates(after=state))
        weights = _weights_in(getattr(torch, kind))
        yield TrainingMistake(
            f"with weights in {kind} after each update", AroundUpdates(after=weights)
        )


def _optimizers(network: ReferenceSide) -> list[Optimizer]:
    """The optimisers that a step or a module within it has as attributes."""
    held = [each for module in network.step.modules() for each in vars(module).values()]
    return [each for each in held if isinstance(each, Optimizer)]


def _of_others(network: ReferenceSide, optimizer: Optimizer) -> list[torch.nn.Parameter]:
    """The weights of a network that an optimiser does not train."""
    own = {id(p) for group in optimizer.param_groups for p in group["params"]}
    return [p for p in network.module.parameters() if id(p) not in own]


def _without_leaks(network: ReferenceSide) -> Watch:
    """A context in which an update clears the gradients of the weights of all other optimisers."""

    def clear(optimizer: Optimizer, _: int) -> None:
        for parameter in _of_others(network, optimizer):
            parameter.grad = None

    return AroundUpdates(after=clear)


class _Leaking:
    """A context in which a gradient that is in a weight when another optimiser updates stays there.

    kept: name of a weight -> what its optimiser will find added to its gradient.
    since: name of a weight -> its gradient after its own update: the tensor, and its values then.
    """

    def __init__(self, network: ReferenceSide):
        self.network = network
        self.around = AroundUpdates(self._add, after=self._keep)

    def __enter__(self) -> None:
        self.kept: dict[str, torch.Tensor] = {}
        self.since: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
        self.around.__enter__()

    def __exit__(self, *error: object) -> None:
        self.around.__exit__(*error)

    def _add(self, optimizer: Optimizer, _: int) -> None:
        trained = set(map(id, trained_by(optimizer)))
        for name, parameter in self.network.module.named_parameters():
            if id(parameter) in trained and name in self.kept:
                parameter.grad = parameter.grad + self.kept.pop(name)

    def _keep(self, optimizer: Optimizer, _: int) -> None:
        others = set(map(id, _of_others(self.network, optimizer)))
        for name, parameter in self.network.module.named_parameters():
            gradient = parameter.grad
            if gradient is None:
                continue
            if id(parameter) not in others:
                self.since[name] = gradient, gradient.clone()
                continue
            own, values = self.since.get(name, (None, None))
            # What its own last update has used already is no part of what is left here.
            leaked = gradient - values if own is gradient else gradient.clone()
            self.kept[name] = self.kept.get(name, 0.0) + leaked


def _before(told: str, act: Act) -> TrainingMistake:
    return TrainingMistake(told, AroundUpdates(act))


class _evaluating:  # noqa: N801
    """A context in which the network of a training is in evaluation mode, whatever is asked for."""

    def __init__(self, network: ReferenceSide):
        self.network = network

    def __enter__(self) -> None:
        self.module = self.network.module.eval()
        for module in self.module.modules():
            module.train = lambda _mode=True, module=module: module

    def __exit__(self, *_: object) -> None:
        for module in self.module.modules():
            del module.train


def _entry(**entries: Any) -> Act:
    def change(optimizer: Optimizer, _: int) -> None:
        for group in optimizer.param_groups:
            group.update({name: value for name, value in entries.items() if name in group})

    return change


def _nesterov(optimizer: Optimizer, _: int) -> None:
    for group in optimizer.param_groups:
        group["nesterov"] = not group.get("nesterov")


def _rate_and_momentum_exchanged(optimizer: Optimizer, _: int) -> None:
    for group in optimizer.param_groups:
        if group.get("momentum"):
            group["lr"], group["momentum"] = group["momentum"], group["lr"]


def _dampened_from_the_start(optimizer: Optimizer, update: int) -> None:
    """PyTorch does not dampen the first gradient, of which its penalty is a part."""
    for group in optimizer.param_groups if update == 1 else ():
        share = 1.0 - group.get("dampening", 0.0)
        group["weight_decay"] *= share
        for parameter in group["params"]:
            if parameter.grad is not None:
                parameter.grad = share * parameter.grad


def _rate_in_velocity() -> Act:
    """The velocities of the past keep the learning rate of their time."""
    former: dict[int, float] = {}

    def change(optimizer: Optimizer, update: int) -> None:
        for group in optimizer.param_groups:
            if update > 1 and group["lr"]:
                for parameter in group["params"]:
                    velocity = optimizer.state[parameter].get("momentum_buffer")
                    if velocity is not None:
                        velocity.mul_(former[id(group)] / group["lr"])
            former[id(group)] = group["lr"]

    return change


def _of_adam(amsgrad: bool) -> Iterator[TrainingMistake]:
    """Mistakes with the moments of Adam, made by other settings of the same update."""
    yield _before("without bias correction of both moments", _corrected(first=0, second=0))
    yield _before("without bias correction of the second moment", _corrected(second=0))
    yield _before("without bias correction of the first moment", _corrected(first=0))
    yield _before(
        "with eps added before the second moment is corrected", _corrected(eps_before=True)
    )
    yield _before("with its steps counted from two", _corrected(1, 1))
    yield _before("with the two betas exchanged", _betas_exchanged)
    told = "without" if amsgrad else "with"
    yield _before(f"{told} AMSGrad", _entry(amsgrad=not amsgrad))


def _corrected(
    first: int | None = None, second: int | None = None, eps_before: bool = False
) -> Act:
    """Another correction of the moments for their bias.

    first, second: None for the own correction, 0 for none, 1 for that of the next step.
    eps_before: whether eps is added to the root before that is corrected; PyTorch adds it after.

    The update is rate * m / c1 / (sqrt(v / c2) + eps), which other rates and eps make it.
    """

    def correction(beta: float, update: int, which: int | None) -> float:
        return 1.0 - beta ** (update + (which or 0)) if which != 0 else 1.0

    def change(optimizer: Optimizer, update: int) -> None:
        for group in optimizer.param_groups:
            c1, c2 = (1.0 - beta**update for beta in group["betas"])
            wanted = (
                correction(beta, update, which)
                for beta, which in zip(group["betas"], (first, second), strict=True)
            )
            d1, d2 = wanted
            root = math.sqrt(d2 / c2)
            rate = group["lr"] * c1 / d1 * root
            eps = group["eps"] * (1.0 / math.sqrt(c2) if eps_before else root)
            if _is_decoupled(optimizer, group):
                group["weight_decay"] *= group["lr"] / rate if rate else 1.0
            group["lr"], group["eps"] = rate, eps

    return change


def _betas_exchanged(optimizer: Optimizer, _: int) -> None:
    for group in optimizer.param_groups:
        group["betas"] = (group["betas"][1], group["betas"][0])


def _is_decoupled(optimizer: Optimizer, group: dict[str, Any]) -> bool:
    known = group.get("decoupled_weight_decay", isinstance(optimizer, torch.optim.AdamW))
    return bool(known)


def _decay_times(factor: float) -> Act:
    def change(optimizer: Optimizer, _: int) -> None:
        for group in optimizer.param_groups:
            group["weight_decay"] = factor * group.get("weight_decay", 0.0)

    return change


def _decay_everywhere(groups: Sequence[dict[str, Any]]) -> Act:
    return _entry(weight_decay=max(group.get("weight_decay", 0.0) for group in groups))


def _decoupled(optimizer: Optimizer, _: int) -> None:
    for group in optimizer.param_groups:
        if not _is_decoupled(optimizer, group):
            _shrink(group, group["lr"])


def _decay_without_rate(optimizer: Optimizer, _: int) -> None:
    for group in optimizer.param_groups:
        _shrink(group, 1.0)


def _shrink(group: dict[str, Any], rate: float) -> None:
    """Decay the weights by themselves, and not by way of the gradient."""
    for parameter in group["params"]:
        if parameter.grad is not None:
            parameter.mul_(1.0 - rate * group.get("weight_decay", 0.0))
    group["weight_decay"] = 0.0


def _coupled(optimizer: Optimizer, _: int) -> None:
    for group in optimizer.param_groups:
        if _is_decoupled(optimizer, group):
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad = parameter.grad + group["weight_decay"] * parameter
            group["weight_decay"] = 0.0


def _exchanged(network: ReferenceSide) -> Act:
    """Exchange the gradients of each pair of weight and bias of the same shape."""

    def change(optimizer: Optimizer, _: int) -> None:
        own = set(map(id, trained_by(optimizer)))
        for layer in network.module.modules():
            one: Any = getattr(layer, "weight", None)
            two: Any = getattr(layer, "bias", None)
            if id(one) in own and id(two) in own and one.shape == two.shape:
                one.grad, two.grad = two.grad, one.grad

    return change


def _round(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The values as a shorter precision has them, also where all precisions mean float64."""
    with without_functions():
        return values.to(dtype).to(values.dtype)


def _gradients_in(dtype: torch.dtype) -> Act:
    def change(optimizer: Optimizer, _: int) -> None:
        for parameter in trained_by(optimizer):
            parameter.grad = _round(parameter.grad, dtype)

    return change


def _rate_in(dtype: torch.dtype) -> Act:
    def change(optimizer: Optimizer, _: int) -> None:
        for group in optimizer.param_groups:
            group["lr"] = float(_round(torch.tensor(float(group["lr"])), dtype))

    return change


def _state_in(dtype: torch.dtype) -> Act:
    """Round what is kept; a velocity that is rounded has already moved the weights so."""

    def change(optimizer: Optimizer, _: int) -> None:
        for group in optimizer.param_groups:
            share = group["lr"] * (group.get("momentum") if group.get("nesterov") else 1.0)
            for parameter in group["params"]:
                for name, values in optimizer.state[parameter].items():
                    if isinstance(values, torch.Tensor) and values.ndim:
                        rounded = _round(values, dtype)
                        if name == "momentum_buffer":
                            parameter.add_(share * (values - rounded))
                        values.copy_(rounded)

    return change


def _weights_in(dtype: torch.dtype) -> Act:
    def change(optimizer: Optimizer, _: int) -> None:
        for parameter in trained_by(optimizer):
            parameter.copy_(_round(parameter, dtype))

    return change
