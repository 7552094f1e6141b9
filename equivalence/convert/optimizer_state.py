"""An optimiser's state: PyTorch numbers the parameters that MindSpore names.

What they keep is the same. PyTorch's SGD and MindSpore's Momentum and SGD have one buffer,
`v <- momentum * v + gradient`, weight decay in the gradient and the learning rate outside. Adam
and AdamW have the two moments of the gradient, not yet corrected for their bias, and, with
amsgrad, the largest second moment. How far they have come is a count of steps on the one side;
`mindspore.nn.Adam` keeps beta^step as well.

Hyperparameters are no state: they are those of the optimiser that a file is for, and where both
sides tell them they must agree.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equivalence.convert.formats import Weight, numpy_dtype
from equivalence.errors import CheckpointError

BUFFER, FIRST, SECOND, LARGEST = "momentum_buffer", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"
STARTED = "stat"
"""MindSpore's SGD has ones until its first step, which takes the gradient itself as buffer."""

# First segment of a MindSpore name -> what it holds, by PyTorch's name for it.
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
# The first segments, and the powers, of `nn.Momentum`; both `SGD`; `nn.Adam` without and with
# amsgrad; `Adam` and `AdamW` of mindspore.experimental.optim. Others use some of these names too.
FORMS = (
    ({"moments"}, 0),
    ({"accum", "stat"}, 0),
    ({"moment1", "moment2"}, 2),
    ({"moment1", "moment2", "vhat"}, 2),
    ({"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}, 0),
)
# First segments, and names, of optimisers whose state has no counterpart in PyTorch, or another
# meaning: AdamWeightDecay, which never corrects the bias of its moments; those of mindspore.mint,
# whose Adam counts its steps from 0 and AdamW from -1 under one name; AdaDelta, AdaMax, ASGD,
# FTRL, Lamb, RMSProp, Rprop.
OTHERS = (
    *("adam_m", "adam_v", "momentum_buf", "accum_update", "exp_inf", "ax", "ax_", "linear"),
    *("lamb_m", "lamb_v", "mean_grad", "mean_square", "moment", "prev", "step_size"),
)
OTHER_COUNTS = ("step_t", "mu_product")
STEPS = ("global_step", "state_step")
POWERS = ("beta1_power", "beta2_power")
SETTING = re.compile(r"momentum|learning_rate(_group_\d+)?")

LEAVE = "--drop optimizer leaves the state behind"


@dataclass
class State:
    """What one optimiser has remembered.

    parameters: those it steps. moments: what is held, by PyTorch's name -> parameter -> values of
    that parameter's shape. steps: how many were taken; None where the file does not say. powers:
    beta^steps as told. settings: a hyperparameter -> its values in all groups, where known.
    """

    parameters: set[str] = field(default_factory=set)
    moments: dict[str, dict[str, Weight]] = field(default_factory=dict)
    steps: int | None = None
    powers: tuple[float, ...] = ()
    settings: dict[str, set] = field(default_factory=dict)

    @property
    def adaptive(self) -> bool:
        """Whether the optimiser is one of Adam's kind."""
        return FIRST in self.moments


def demand_same(file: Mapping[str, set], built: Mapping[str, set]) -> None:
    """Refuse an optimiser whose hyperparameters are not those of the file's."""
    for key in sorted(file.keys() & built.keys()):
        ours, theirs = sorted(file[key]), sorted(built[key])
        if not (len(ours) == len(theirs) and np.allclose(ours, theirs, rtol=1e-6, atol=0)):
            raise CheckpointError(
                f"the optimiser of the file has {key} {_listed(ours)}, the one of --optimizer "
                f"{_listed(theirs)}; build it with the file's"
            )


def _listed(values: Sequence) -> str:
    return ", ".join(map(str, values)) or "none"


# --- MindSpore -----------------------------------------------------------------------------------


def owned(names: Mapping[str, Any]) -> set[str]:
    """Of a MindSpore file's names those of an optimiser's state."""
    first = {*HOLDS, *OTHERS}
    found = {n for n in names if n.partition(".")[0] in first and n.partition(".")[2] in names}
    if found or "global_step" in names:
        alone = (*STEPS, *POWERS, *OTHER_COUNTS)
        found |= {name for name in names if name in alone or SETTING.fullmatch(name)}
    return found


def from_mindspore(entries: Mapping[str, Weight], shapes: Mapping[str, tuple[int, ...]]) -> State:
    """The state in those entries of a MindSpore file, by MindSpore's names of the parameters.

    shapes: of the weights in the file. Raises CheckpointError for optimisers that have no
    counterpart in PyTorch.
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
    started = state.moments.pop(STARTED, {})
    for name, flags in started.items():
        if flags.values.any():  # no step yet: what is in the buffer is not used
            del state.moments[BUFFER][name]
    return state


@dataclass
class BuiltForMindSpore:
    """What a MindSpore optimiser, built for the destination, has beside the weights.

    entries: name -> (dtype, shape) in the order of a file. values: those of them that are
    hyperparameters. betas: of Adam's kind. scheduled: whether the learning rate follows the count
    of steps.
    """

    entries: dict[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    values: dict[str, Weight] = field(default_factory=dict)
    settings: dict[str, set] = field(default_factory=dict)
    betas: tuple[float, ...] = ()
    scheduled: bool = False


def to_mindspore(
    state: State, built: BuiltForMindSpore, partners: Mapping[str, str]
) -> dict[str, tuple[str, Weight]]:
    """Name -> (where it comes from, values) of everything that `built` has in a file.

    partners: MindSpore's name -> PyTorch's name of each weight, by which `state` goes.
    """
    demand_same(state.settings, built.settings)
    made: dict[str, tuple[str, Weight]] = {}
    placed = set()
    for name, (dtype, shape) in built.entries.items():
        if name in built.values:
            made[name] = ("(as built)", built.values[name])
        elif name in STEPS:
            made[name] = _steps(state, built, name, dtype, shape)
        elif name in POWERS:
            power = np.full(shape, built.betas[POWERS.index(name)] ** (state.steps or 0))
            made[name] = ("(beta to the number of steps)", Weight(dtype, power.astype(dtype)))
        else:
            start, _, parameter = name.partition(".")
            held, parameter = HOLDS[start], partners[parameter]
            source = BUFFER if held == STARTED else held
            found = state.moments.get(source, {}).get(parameter)
            placed.add((source, parameter))
            if held == STARTED:
                flags = np.full(shape, found is None, numpy_dtype(dtype))
                made[name] = ("(1 before the first step, then 0)", Weight(dtype, flags))
            elif found is not None:
                if found.shape != shape:
                    raise CheckpointError(
                        f"{held} of {parameter} is {found.shape}, but {name} is {shape}"
                    )
                made[name] = (f"{held} of {parameter}", found)
            else:
                made[name] = ("(none yet)", Weight(dtype, np.zeros(shape, numpy_dtype(dtype))))
    for held, parameters in state.moments.items():
        for parameter in parameters:
            if (held, parameter) not in placed:
                raise CheckpointError(
                    f"{held} of {parameter} has no place in the optimiser of --optimizer"
                )
    return made


def _steps(
    state: State, built: BuiltForMindSpore, name: str, dtype: str, shape: tuple[int, ...]
) -> tuple[str, Weight]:
    if state.steps is None and built.scheduled:
        raise CheckpointError(
            f"PyTorch's SGD does not count its steps, and the learning rate of --optimizer follows "
            f"{name}: say how many were taken with --steps"
        )
    values = np.full(shape, state.steps or 0, numpy_dtype(dtype))
    told = "(not counted by PyTorch's SGD)" if state.steps is None else f"({state.steps} steps)"
    return told, Weight(dtype, values)
