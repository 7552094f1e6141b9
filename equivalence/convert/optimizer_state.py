"""The state of an optimiser: PyTorch numbers the parameters, MindSpore names them.

Both keep the same values. PyTorch's SGD and MindSpore's Momentum and SGD have one buffer,
`v <- momentum * v + gradient`, with weight decay inside the gradient and the learning rate outside
the buffer. Adam and AdamW have both moments of the gradient before the bias correction and, with
amsgrad, the largest second moment. Both sides count the steps; `mindspore.nn.Adam` also keeps
beta^step.

Hyperparameters are no state: the optimiser that a file is for has its own. Where both sides have
one, they must agree.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equivalence.checkpoints.formats import StoredWeight, numpy_dtype
from equivalence.errors import CheckpointError

BUFFER, FIRST, SECOND, LARGEST = "momentum_buffer", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"
"""PyTorch's names of what an optimiser keeps for each parameter."""

STARTED = "stat"
"""Flags of MindSpore's SGD: 1 until its first step, which takes the gradient itself as buffer."""

HOLDS = {
    "moments": BUFFER,
    "accum": BUFFER,
    "stat": STARTED,
    "moment1": FIRST,
    "moment2": SECOND,
    "vhat": LARGEST,
    "exp_avg": FIRST,
    "exp_avg_sq": SECOND,
    "max_exp_avg_sq": LARGEST,
}
"""First segment of a MindSpore name -> PyTorch's name of what it holds."""
FORMS = (
    ({"moments"}, 0),
    ({"accum", "stat"}, 0),
    ({"moment1", "moment2"}, 2),
    ({"moment1", "moment2", "vhat"}, 2),
    ({"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}, 0),
)
"""(first segments of the names, number of powers) of each optimiser that is converted.

In order: `nn.Momentum`; both `SGD`; `nn.Adam` without and with amsgrad; `Adam` and `AdamW` of
mindspore.experimental.optim. Other optimisers use some of these names, too.
"""
OTHERS = (
    *("adam_m", "adam_v", "momentum_buf", "accum_update", "exp_inf", "ax", "ax_", "linear"),
    *("lamb_m", "lamb_v", "mean_grad", "mean_square", "moment", "prev", "step_size"),
)
"""First segments of the names of optimisers whose state has no counterpart in PyTorch.

AdamWeightDecay never corrects the bias of its moments. In mindspore.mint, Adam counts its steps
from 0 and AdamW from -1 under one name. The rest: AdaDelta, AdaMax, ASGD, FTRL, Lamb, RMSProp,
Rprop.
"""
OTHER_COUNTS = ("step_t", "mu_product")
"""Names of the counts of those optimisers."""
STEPS = ("global_step", "state_step")
"""Names of the count of steps."""
POWERS = ("beta1_power", "beta2_power")
"""Names of the powers beta^steps."""
SETTING = re.compile(r"momentum|learning_rate(_group_\d+)?")
"""Names of hyperparameters in a file."""

LEAVE = "--drop optimizer leaves the state behind"
"""The advice at the end of errors."""


@dataclass
class State:
    """The state of one optimiser.

    parameters: names of the parameters that it trains.
    moments: PyTorch's name of a quantity -> parameter -> values, of the parameter's shape.
    steps: how many were taken; None where the file does not say.
    powers: beta^steps, from the file.
    settings: hyperparameter -> its values in all groups, where the file has them.
    """

    parameters: set[str] = field(default_factory=set)
    moments: dict[str, dict[str, StoredWeight]] = field(default_factory=dict)
    steps: int | None = None
    powers: tuple[float, ...] = ()
    settings: dict[str, set] = field(default_factory=dict)

    @property
    def adaptive(self) -> bool:
        """Whether the optimiser is an Adam or AdamW."""
        return FIRST in self.moments


def demand_same(file: Mapping[str, set], built: Mapping[str, set]) -> None:
    """Raise CheckpointError where a hyperparameter differs between the two optimisers."""
    for key in sorted(file.keys() & built.keys()):
        ours, theirs = sorted(file[key]), sorted(built[key])
        if not (len(ours) == len(theirs) and np.allclose(ours, theirs, rtol=1e-6, atol=0)):
            raise CheckpointError(
                f"the optimiser of the file has {key} {_list(ours)}, the one of --optimizer "
                f"{_list(theirs)}; build it with the file's"
            )


def _list(values: Sequence) -> str:
    return ", ".join(map(str, values)) or "none"


# --- MindSpore -----------------------------------------------------------------------------------


def state_names(names: Mapping[str, Any]) -> set[str]:
    """The names in a MindSpore file that belong to the state of an optimiser."""
    first = {*HOLDS, *OTHERS}
    names_of_state = {
        n for n in names if n.partition(".")[0] in first and n.partition(".")[2] in names
    }
    if names_of_state or "global_step" in names:
        whole_names = (*STEPS, *POWERS, *OTHER_COUNTS)
        names_of_state |= {name for name in names if name in whole_names or SETTING.fullmatch(name)}
    return names_of_state


def from_mindspore(
    entries: Mapping[str, StoredWeight], shapes: Mapping[str, tuple[int, ...]]
) -> State:
    """The state in these entries of a MindSpore file, by MindSpore's names of the parameters.

    shapes: name -> shape of each weight in the file.

    Raises CheckpointError for optimisers that have no counterpart in PyTorch.
    """
    state = State(powers=tuple(float(entries[n].values.item()) for n in POWERS if n in entries))
    first = {name.partition(".")[0] for name in entries if "." in name}
    if (first, len(state.powers)) not in FORMS:
        raise CheckpointError(
            f"the optimiser of the file keeps {', '.join(sorted(first)) or 'nothing'} of its "
            f"weights: it is none of those whose state has a counterpart in PyTorch; {LEAVE}"
        )
    for name, weight in entries.items():
        if name in STEPS:
            state.steps = int(weight.values.item())
        elif name == "momentum":
            state.settings["momentum"] = {float(weight.values)}
        elif "." in name:
            start, _, parameter = name.partition(".")
            if weight.shape != shapes[parameter]:
                raise CheckpointError(
                    f"{name} is {weight.shape}, but {parameter} is {shapes[parameter]}"
                )
            state.moments.setdefault(HOLDS[start], {})[parameter] = weight
            state.parameters.add(parameter)
    if state.powers and state.steps is None:
        raise CheckpointError(f"the file has powers of betas and no {STEPS[0]}; {LEAVE}")
    started = state.moments.pop(STARTED, {})
    for name, flags in started.items():
        if flags.values.any():  # no step yet: what is in the buffer is not used
            del state.moments[BUFFER][name]
    return state


@dataclass
class BuiltForMindSpore:
    """A MindSpore optimiser that was built for the destination.

    entries: name -> (dtype, shape) of its state, in the order of a file.
    values: name -> values of those entries that are hyperparameters.
    settings: hyperparameter -> its values in all groups.
    betas: those of an Adam or AdamW, else empty.
    scheduled: whether the learning rate follows the count of steps.
    """

    entries: dict[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    values: dict[str, StoredWeight] = field(default_factory=dict)
    settings: dict[str, set] = field(default_factory=dict)
    betas: tuple[float, ...] = ()
    scheduled: bool = False


def to_mindspore(
    state: State, built: BuiltForMindSpore, partners: Mapping[str, str]
) -> dict[str, tuple[str, StoredWeight]]:
    """Name -> (origin in words, values) of everything that `built` has in a file.

    partners: MindSpore's name -> PyTorch's name of each weight; `state` has PyTorch's.

    Raises CheckpointError where the state does not fit.
    """
    demand_same(state.settings, built.settings)
    entries: dict[str, tuple[str, StoredWeight]] = {}
    used = set()
    for name, (dtype, shape) in built.entries.items():
        if name in built.values:
            entries[name] = ("(as built)", built.values[name])
        elif name in STEPS:
            entries[name] = _steps(state, built, name, dtype, shape)
        elif name in POWERS:
            power = np.full(shape, built.betas[POWERS.index(name)] ** (state.steps or 0))
            entries[name] = (
                "(beta to the number of steps)",
                StoredWeight(dtype, power.astype(dtype)),
            )
        else:
            start, _, parameter = name.partition(".")
            quantity, parameter = HOLDS[start], partners[parameter]
            source = BUFFER if quantity == STARTED else quantity
            values = state.moments.get(source, {}).get(parameter)
            used.add((source, parameter))
            if quantity == STARTED:
                flags = np.full(shape, values is None, numpy_dtype(dtype))
                entries[name] = ("(1 before the first step, then 0)", StoredWeight(dtype, flags))
            elif values is not None:
                if values.shape != shape:
                    raise CheckpointError(
                        f"{quantity} of {parameter} is {values.shape}, but {name} is {shape}"
                    )
                entries[name] = (f"{quantity} of {parameter}", values)
            else:
                entries[name] = (
                    "(none yet)",
                    StoredWeight(dtype, np.zeros(shape, numpy_dtype(dtype))),
                )
    for quantity, parameters in state.moments.items():
        for parameter in parameters:
            if (quantity, parameter) not in used:
                raise CheckpointError(
                    f"{quantity} of {parameter} has no place in the optimiser of --optimizer"
                )
    return entries


def _steps(
    state: State, built: BuiltForMindSpore, name: str, dtype: str, shape: tuple[int, ...]
) -> tuple[str, StoredWeight]:
    """The count of steps and its origin; CheckpointError where a schedule needs a missing count."""
    if state.steps is None and built.scheduled:
        raise CheckpointError(
            f"PyTorch's SGD does not count its steps, and the learning rate of --optimizer follows "
            f"{name}: say how many were taken with --steps"
        )
    values = np.full(shape, state.steps or 0, numpy_dtype(dtype))
    origin = "(not counted by PyTorch's SGD)" if state.steps is None else f"({state.steps} steps)"
    return origin, StoredWeight(dtype, values)
