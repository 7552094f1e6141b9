"""The state dict of a PyTorch optimiser, whose parameters are numbers, to and from names."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equivalence.checkpoints.formats import StoredWeight, TorchOptimizer
from equivalence.convert.optimizer_state import (
    BUFFER,
    FIRST,
    LARGEST,
    LEAVE,
    SECOND,
    State,
    demand_same,
)
from equivalence.errors import CheckpointError

MOST_ASSIGNMENTS = 10_000
"""Above this many states of the search for the only assignment, it counts as ambiguous."""


def from_pytorch(
    read: TorchOptimizer, parameters: Mapping[str, tuple[int, ...]], steps: int | None
) -> State:
    """The state that a PyTorch file has of `parameters`: name -> shape, in the file's order.

    steps: how many steps the user says were taken, where PyTorch does not count them.

    Raises CheckpointError for optimisers other than SGD, Adam and AdamW, and where it remains open
    which parameter a number stands for.
    """
    adaptive = all({"betas", "eps", "amsgrad"} <= group.keys() for group in read.groups)
    if not adaptive and not all(
        {"momentum", "dampening", "nesterov"} <= g.keys() for g in read.groups
    ):
        raise CheckpointError(
            f"the optimiser of the file is none of SGD, Adam and AdamW: its groups have "
            f"{', '.join(str(key) for key in read.groups[0] if key != 'params')}; {LEAVE}"
        )
    quantities = (FIRST, SECOND, LARGEST, "step") if adaptive else (BUFFER,)
    for number, entry in read.state.items():
        for quantity in entry:
            if quantity not in quantities:
                raise CheckpointError(
                    f"{quantity} of parameter {number} has no counterpart in MindSpore; {LEAVE}"
                )
    names = _names(read, parameters) if read.state else {}
    state = State(set(parameters), settings=_settings(read.groups, adaptive))
    state.moments = {quantity: {} for quantity in quantities[: 2 if adaptive else 1]}
    counts: dict[int, str] = {}
    for number, name in names.items():
        entry = dict(read.state.get(number, {}))
        if adaptive:
            step = entry.pop("step", None)
            counts.setdefault(0 if step is None else int(step.values.reshape(())), name)
        for quantity, values in entry.items():
            if values.shape != parameters[name]:
                raise CheckpointError(
                    f"{quantity} of parameter {number} is {values.shape}, but {name}, whose it "
                    f"would be, is {parameters[name]}"
                )
            state.moments.setdefault(quantity, {})[name] = values
    if len(counts) > 1:
        examples = ", ".join(f"{name} {count}" for count, name in list(counts.items())[:2])
        raise CheckpointError(
            f"the parameters are not equally many steps on ({examples}), and MindSpore counts once "
            f"for all of them; {LEAVE}"
        )
    if adaptive and steps is not None:
        raise CheckpointError("--steps is for PyTorch's SGD alone: this file counts its steps")
    state.steps = next(iter(counts), 0) if adaptive else steps
    return state


def _settings(groups: Sequence[Mapping[str, Any]], adaptive: bool) -> dict[str, set]:
    """Hyperparameter -> its values in all groups, for those that decide how a state goes on."""
    if not adaptive:
        keys = ("momentum", "dampening", "nesterov")
        return {key: {float(group[key]) for group in groups} for key in keys}
    settings = {
        "beta1": {float(group["betas"][0]) for group in groups},
        "beta2": {float(group["betas"][1]) for group in groups},
        "amsgrad": {float(group["amsgrad"]) for group in groups},
        "nesterov": {0.0},
    }
    decaying = [g for g in groups if g.get("weight_decay") and "decoupled_weight_decay" in g]
    if decaying:
        settings["decoupled weight decay"] = {float(g["decoupled_weight_decay"]) for g in decaying}
    return settings


def _names(read: TorchOptimizer, parameters: Mapping[str, tuple[int, ...]]) -> dict[int, str]:
    """Number -> name, from the file, or else by the only assignment in which all shapes fit."""
    numbers = [list(group["params"]) for group in read.groups]
    count = sum(map(len, numbers))
    if all("param_names" in group for group in read.groups):
        pairs = (zip(g["params"], g["param_names"], strict=True) for g in read.groups)
        names = dict(itertools.chain.from_iterable(pairs))
        if set(names.values()) != set(parameters):
            odd = sorted(set(names.values()) ^ set(parameters))[0]
            raise CheckpointError(
                f"{odd} is a parameter of one only of the file's optimiser and --optimizer's"
            )
        return names
    if count != len(parameters):
        raise CheckpointError(
            f"the optimiser of the file has {count} parameters, that of --optimizer "
            f"{len(parameters)}"
        )
    shapes = {number: _shape(read.state.get(number, {})) for g in numbers for number in g}
    ways = _assignments(list(parameters.items()), numbers, shapes)
    if len(ways) != 1:
        trouble = "do not fit the weights in any way" if not ways else "fit in several ways"
        raise CheckpointError(
            f"which parameter each number of the optimiser stands for is not known: its groups, "
            f"each in the order of the weights, {trouble}; save it from an optimiser that was "
            f"built from named_parameters(), or {LEAVE}"
        )
    return ways[0]


def _shape(entry: Mapping[str, StoredWeight]) -> tuple[int, ...] | None:
    """The shape of a parameter, as its state shows it; None where there is no state."""
    return next((values.shape for name, values in entry.items() if name != "step"), None)


def _assignments(
    parameters: Sequence[tuple[str, tuple[int, ...]]],
    groups: Sequence[Sequence[int]],
    shapes: Mapping[int, tuple[int, ...] | None],
) -> list[dict[int, str]]:
    """At most two ways to give each parameter the next number of a group whose shape fits.

    A state of the search is how far each group has come; two ways to each state are kept. Above
    MOST_ASSIGNMENTS states two empty ways are returned, which count as ambiguous.
    """
    reached: dict[tuple[int, ...], list[dict[int, str]]] = {(0,) * len(groups): [{}]}
    for name, shape in parameters:
        following: dict[tuple[int, ...], list[dict[int, str]]] = {}
        for progress, ways in reached.items():
            for group, position in enumerate(progress):
                if position == len(groups[group]):
                    continue
                number = groups[group][position]
                if shapes[number] not in (None, shape):
                    continue
                next_progress = (*progress[:group], position + 1, *progress[group + 1 :])
                ways_there = following.setdefault(next_progress, [])
                ways_there += [way | {number: name} for way in ways][: 2 - len(ways_there)]
        if len(following) > MOST_ASSIGNMENTS:
            return [{}, {}]
        reached = following
    return [way for ways in reached.values() for way in ways][:2]


def to_pytorch(
    state: State, groups: list[dict[str, Any]], names: Mapping[int, str]
) -> TorchOptimizer:
    """The state of the optimiser that was built.

    state: its moments by PyTorch's names of the parameters.
    groups: the groups of the optimiser that was built.
    names: number -> name of each of its parameters.

    Raises CheckpointError where the two optimisers do not fit.
    """
    adaptive = all("betas" in group for group in groups)
    if adaptive != state.adaptive:
        kind = {True: "Adam", False: "SGD"}
        raise CheckpointError(
            f"the file has the state of {kind[state.adaptive]}, and --optimizer builds "
            f"{kind[adaptive]}"
        )
    settings = _settings(groups, adaptive)
    demand_same(state.settings, settings)
    moments = dict(state.moments)
    if adaptive:
        _demand_powers(state, settings)
        amsgrad = any(weight.values.any() for weight in moments.get(LARGEST, {}).values())
        if state.steps and settings["amsgrad"] != {float(amsgrad)}:
            raise CheckpointError(
                "one only of the file's optimiser and --optimizer's has amsgrad, the largest "
                "second moment"
            )
        if not amsgrad:
            moments.pop(LARGEST, None)  # MindSpore keeps zeros there
    elif settings["momentum"] == {0.0}:
        moments.pop(BUFFER, None)  # not used, and PyTorch has none
    for parameter in sorted(state.parameters ^ set(names.values())):
        raise CheckpointError(
            f"{parameter} is a parameter of one only of the file's optimiser and --optimizer's"
        )
    # MindSpore's count is no more than a hint where it came from PyTorch's SGD, which has none.
    fresh = state.steps == 0 and not any(
        weight.values.any() for values in moments.values() for weight in values.values()
    )
    optimizer = TorchOptimizer({}, groups)
    for number, name in names.items():
        entry = {quantity: values[name] for quantity, values in moments.items() if name in values}
        if adaptive:
            entry["step"] = StoredWeight("float32", np.array(state.steps, np.float32))
        if entry and not fresh:
            optimizer.state[number] = entry
    return optimizer


def _demand_powers(state: State, settings: Mapping[str, set]) -> None:
    """Raise CheckpointError where a beta's power is not the one in the file."""
    steps = state.steps or 0
    for name, power in zip(("beta1", "beta2"), state.powers, strict=False):
        for beta in settings[name]:
            # MindSpore multiplies in float32, step by step.
            if not np.isclose(power, beta**steps, rtol=1e-6 * (steps + 1), atol=1e-30):
                raise CheckpointError(
                    f"{name}_power is {power:g} in the file, but {beta:g}^{steps} is "
                    f"{beta**steps:g}: --optimizer has another {name}, or the file's "
                    f"global_step is another's"
                )
