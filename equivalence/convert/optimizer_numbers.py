"""The state dict of a PyTorch optimiser, whose parameters are numbers, from and to names."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equivalence.convert.formats import TorchOptimizer, Weight
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

MANY = 10_000
"""Ways to share parameters out among groups that are looked at before they count as too many."""


def from_pytorch(
    read: TorchOptimizer, parameters: Mapping[str, tuple[int, ...]], steps: int | None
) -> State:
    """The state that a PyTorch file has of `parameters`: name -> shape, in the file's order.

    steps: as the user tells them, where PyTorch does not count them.
    Raises CheckpointError for optimisers other than SGD, Adam and AdamW, and where it cannot be
    told which parameter a number stands for.
    """
    adaptive = all({"betas", "eps", "amsgrad"} <= group.keys() for group in read.groups)
    if not adaptive and not all(
        {"momentum", "dampening", "nesterov"} <= g.keys() for g in read.groups
    ):
        raise CheckpointError(
            f"the optimiser of the file is none of SGD, Adam and AdamW: its groups have "
            f"{', '.join(str(key) for key in read.groups[0] if key != 'params')}; {LEAVE}"
        )
    known = (FIRST, SECOND, LARGEST, "step") if adaptive else (BUFFER,)
    for number, entry in read.state.items():
        for quantity in entry:
            if quantity not in known:
                raise CheckpointError(
                    f"{quantity} of parameter {number} has no counterpart in MindSpore; {LEAVE}"
                )
    names = _names(read, parameters) if read.state else {}
    state = State(set(parameters), settings=_settings(read.groups, adaptive))
    state.moments = {quantity: {} for quantity in known[: 2 if adaptive else 1]}
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
        told = ", ".join(f"{name} {count}" for count, name in list(counts.items())[:2])
        raise CheckpointError(
            f"the parameters are not equally many steps on ({told}), and MindSpore counts once "
            f"for all of them; {LEAVE}"
        )
    if adaptive and steps is not None:
        raise CheckpointError("--steps is for PyTorch's SGD alone: this file counts its steps")
    state.steps = next(iter(counts), 0) if adaptive else steps
    return state


def _settings(groups: Sequence[Mapping[str, Any]], adaptive: bool) -> dict[str, set]:
    """What decides how a state goes on: value of every group."""
    if not adaptive:
        keys = ("momentum", "dampening", "nesterov")
        return {key: {float(group[key]) for group in groups} for key in keys}
    found = {
        "beta1": {float(group["betas"][0]) for group in groups},
        "beta2": {float(group["betas"][1]) for group in groups},
        "amsgrad": {float(group["amsgrad"]) for group in groups},
        "nesterov": {0.0},
    }
    told = [g for g in groups if g.get("weight_decay") and "decoupled_weight_decay" in g]
    if told:
        found["decoupled weight decay"] = {float(g["decoupled_weight_decay"]) for g in told}
    return found


def _names(read: TorchOptimizer, parameters: Mapping[str, tuple[int, ...]]) -> dict[int, str]:
    """Number -> name: as the file tells, or else the only way in which the shapes fit."""
    numbers = [list(group["params"]) for group in read.groups]
    count = sum(map(len, numbers))
    if all("param_names" in group for group in read.groups):
        told = {n: t for g in read.groups for n, t in zip(g["params"], g["param_names"], strict=1)}
        if set(told.values()) != set(parameters):
            odd = sorted(set(told.values()) ^ set(parameters))[0]
            raise CheckpointError(
                f"{odd} is a parameter of one only of the file's optimiser and --optimizer's"
            )
        return told
    if count != len(parameters):
        raise CheckpointError(
            f"the optimiser of the file has {count} parameters, that of --optimizer "
            f"{len(parameters)}"
        )
    shapes = {number: _shape(read.state.get(number, {})) for g in numbers for number in g}
    ways = _shared_out(list(parameters.items()), numbers, shapes)
    if len(ways) != 1:
        trouble = "do not fit the weights in any way" if not ways else "fit in several ways"
        raise CheckpointError(
            f"which parameter each number of the optimiser stands for is not known: its groups, "
            f"each in the order of the weights, {trouble}; save it from an optimiser that was "
            f"built from named_parameters(), or {LEAVE}"
        )
    return ways[0]


def _shape(entry: Mapping[str, Weight]) -> tuple[int, ...] | None:
    return next((values.shape for name, values in entry.items() if name != "step"), None)


def _shared_out(
    parameters: Sequence[tuple[str, tuple[int, ...]]],
    groups: Sequence[Sequence[int]],
    shapes: Mapping[int, tuple[int, ...] | None],
) -> list[dict[int, str]]:
    """At most two of the ways to give each parameter a group's next number whose shape fits.

    A state is how far each group has come; of those that lead to the same one, two are kept.
    """
    reached: dict[tuple[int, ...], list[dict[int, str]]] = {(0,) * len(groups): [{}]}
    for name, shape in parameters:
        following: dict[tuple[int, ...], list[dict[int, str]]] = {}
        for places, ways in reached.items():
            for group, place in enumerate(places):
                if place == len(groups[group]):
                    continue
                number = groups[group][place]
                if shapes[number] not in (None, shape):
                    continue
                onward = (*places[:group], place + 1, *places[group + 1 :])
                kept = following.setdefault(onward, [])
                kept += [way | {number: name} for way in ways][: 2 - len(kept)]
        if len(following) > MANY:
            return [{}, {}]
        reached = following
    return [way for ways in reached.values() for way in ways][:2]


def to_pytorch(
    state: State, groups: list[dict[str, Any]], names: Mapping[int, str]
) -> TorchOptimizer:
    """The state of the optimiser that was built: its `groups`, and the `names` of its numbers.

    `state` goes by PyTorch's names.
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
    made = TorchOptimizer({}, groups)
    for number, name in names.items():
        entry = {held: values[name] for held, values in moments.items() if name in values}
        if adaptive:
            entry["step"] = Weight("float32", np.array(state.steps, np.float32))
        if entry and not fresh:
            made.state[number] = entry
    return made


def _demand_powers(state: State, settings: Mapping[str, set]) -> None:
    """Refuse betas whose powers are not those in the file."""
    for name, power in zip(("beta1", "beta2"), state.powers, strict=False):
        for beta in settings[name]:
            # MindSpore multiplies in float32, step by step.
            if not np.isclose(power, beta**state.steps, rtol=1e-6 * (state.steps + 1), atol=1e-30):
                raise CheckpointError(
                    f"{name}_power is {power:g} in the file, but {beta:g}^{state.steps} is "
                    f"{beta**state.steps:g}: --optimizer has another {name}, or the file's "
                    f"global_step is another's"
                )
