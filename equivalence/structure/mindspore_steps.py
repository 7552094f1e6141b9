"""The settings of MindSpore's training steps, in the words of `torch_steps`.

Numbers that MindSpore keeps in float32 are told as the shortest decimals that give them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.experimental.optim import Optimizer

from equivalence.judge.settings import Unread
from equivalence.structure import settings as configuration
from equivalence.structure.layers import Layer
from equivalence.structure.settings import OPTIMIZER, RATES, STEP
from equivalence.structure.weights import Partners

ALGORITHMS = {
    "AdaMax": "Adamax",
    "Momentum": "SGD",
    "RMSProp": "RMSprop",
}
"""Class of MindSpore -> class of PyTorch; other optimisers have the same name."""

WORDS = {
    "decay": "alpha",
    "epsilon": "eps",
    "use_amsgrad": "amsgrad",
    "use_nesterov": "nesterov",
}
"""Attribute of an optimiser of `mindspore.nn` -> PyTorch's word."""

SHARED = ("momentum", "dampening", "nesterov", "eps", "amsgrad", "alpha", "centered")

BETAS = ("beta1", "beta2")

HELD: Mapping[str, Sequence[str]] = {
    "ASGD": ("alpha",),
    "AdaFactor": ("eps",),
    "AdaMax": ("eps", *BETAS),
    "Adadelta": ("epsilon",),
    "Adam": ("eps", "use_amsgrad", *BETAS),
    "AdamOffload": ("eps", *BETAS),
    "AdamWeightDecay": ("eps", *BETAS),
    "LazyAdam": ("eps", "use_nesterov", *BETAS),
    "Lamb": ("eps", *BETAS),
    "Momentum": ("momentum", "use_nesterov"),
    "RMSProp": ("momentum", "centered", "decay", "epsilon"),
    "SGD": ("momentum", "dampening", "nesterov"),
}
"""Optimiser of `mindspore.nn` -> the attributes of its settings; without one, a release has renamed
it."""


def layers(
    step: nn.Cell,
    parameters: Mapping[str, ms.Parameter],
    partners: Partners,
    begun: Sequence[object],
) -> list[Layer]:
    """The optimiser and the step itself as layers.

    parameters: the weights of the network, by path.
    partners: path of a weight -> the reference's name.
    begun: the `rates` of the step before its first call.
    """
    names = {id(parameter): partners.sources(path) for path, parameter in parameters.items()}
    settings: dict[str, dict[str, Any]] = {}
    for _, cell in step.cells_and_names():
        for parameter, told in of_optimizer(cell):
            for name in names.get(id(parameter), ()):
                for setting, value in configuration.plain(told).items():
                    settings.setdefault(setting, {})[name] = value
    if rates(step) != begun:
        moved = Unread("the step sets the rate itself", own=True)
        settings["lr"] = dict.fromkeys(settings.get("lr", ()), moved)
    own = configuration.own_values(step, vars(nn.Cell()))
    for name, value in vars(step).items():
        if isinstance(value, ms.amp.DynamicLossScaler):
            own |= {f"{name}.{entry}": number for entry, number in _scaler(value).items()}
    made = [Layer.of(STEP, {"kind": STEP, **own}, frozenset())]
    return [Layer.of(OPTIMIZER, {"kind": OPTIMIZER, **settings}, frozenset()), *made]


def rates(step: nn.Cell) -> list[object]:
    """The rates that the optimisers of a step have now, but for those of a schedule."""
    found: list[object] = []
    for _, cell in step.cells_and_names():
        if isinstance(cell, nn.Optimizer):
            found += [_number(rate) for rate in _rates(cell) if not isinstance(rate, nn.Cell)]
        else:
            found += [_number(group["lr"]) for group in _groups(cell)]
    return found


def _scaler(scaler: ms.amp.DynamicLossScaler) -> dict[str, Any]:
    factor = _number(scaler.scale_factor)
    return {
        "scale": _number(scaler.scale_value),
        "growth_factor": factor,
        "backoff_factor": 1.0 / factor,
        "growth_interval": int(_number(scaler.scale_window)),
    }


def of_optimizer(cell: nn.Cell) -> list[tuple[ms.Parameter, dict[str, Any]]]:
    """Every weight that an optimiser updates, with the settings for it; empty for other cells."""
    told: dict[str, Any] = {}
    if type(cell).__module__.startswith("mindspore."):
        told["algorithm"] = ALGORITHMS.get(type(cell).__name__, type(cell).__name__)
    if isinstance(cell, nn.Optimizer):
        library = configuration.library_class(cell, "mindspore.", (nn.Optimizer,))
        update = getattr(library, "construct", None)
        if (library is type(cell) and not told) or type(cell).construct is not update:
            unknown = Unread("the optimizer's update is of the model's own", own=True)
            settings = {"lr": unknown, "weight_decay": unknown}
            return [(weight, settings) for weight in cell.parameters]
        return _grouped(cell, told | _shared(cell))
    if isinstance(cell, Optimizer):  # a release may have renamed them
        with configuration.reading(told, "lr"):
            _ = cell.param_groups
        if isinstance(lost := told.get("lr"), Unread):
            return [(weight, {**told, "weight_decay": lost}) for weight in cell.parameters]
    return [
        (parameter, told | {n: _number(v) for n, v in group.items() if n != "params"})
        for group in _groups(cell)
        for parameter in group["params"]
    ]


def rates_now(cell: nn.Cell) -> list[tuple[ms.Parameter, float]]:
    """Every weight that an optimiser updates, with its learning rate in the step that is next."""
    at = int(cell.global_step.asnumpy().reshape(-1)[0]) if hasattr(cell, "global_step") else 0
    found = []
    for weight, told in of_optimizer(cell):
        rate = configuration.plain(told).get("lr")
        if isinstance(rate, np.ndarray):
            rate = rate[min(at, len(rate) - 1)]
        if isinstance(rate, int | float | np.floating):
            found.append((weight, float(rate)))
    return found


def _groups(cell: nn.Cell) -> list[dict[str, Any]]:
    """The groups of an optimiser of `mindspore.experimental` or `mindspore.mint`; else none."""
    return getattr(cell, "param_groups", [])


def _shared(cell: nn.Optimizer) -> dict[str, Any]:
    """The settings that are the same for all weights."""
    told: dict[str, Any] = {}
    library = configuration.library_class(cell, "mindspore.", (nn.Optimizer,))
    held = HELD.get(library.__name__, ())
    for name in dict.fromkeys((*SHARED, *WORDS)):
        if name in held or hasattr(cell, name):
            with configuration.reading(told, word := WORDS.get(name, name)):
                told[word] = _number(getattr(cell, name))
    if BETAS[0] in held or all(hasattr(cell, name) for name in BETAS):
        with configuration.reading(told, "betas"):
            told["betas"] = (_number(cell.beta1), _number(cell.beta2))
    return told


def _rates(cell: nn.Optimizer) -> list[Any]:
    """The rate that each weight is updated by: groups without rates share the optimiser's own."""
    if cell.is_group_lr:
        return list(cell.group_lr)
    return [cell.learning_rate] * len(cell.parameters)


def _grouped(cell: Any, shared: Mapping[str, Any]) -> list:
    weights, rates = list(cell.parameters), _rates(cell)
    if cell.is_group:
        decays = list(cell.group_weight_decay)
    else:
        decay = cell.weight_decay
        decays = [decay if flag else 0.0 for flag in cell.decay_flags]
    # An optimiser keeps the decay multiplied by its loss scale, by which it divides the gradients.
    decays = [None if isinstance(d, nn.Cell) else _number(d) / cell.loss_scale for d in decays]
    known = {id(rate): _rate(rate) for rate in rates}
    return [
        (weight, {**shared, "lr": known[id(rate)], "weight_decay": decay})
        for weight, rate, decay in zip(weights, rates, decays, strict=True)
    ]


def _rate(rate: Any) -> object:
    """A learning rate, or those of steps 0, 1, ...; `Unread` where it cannot be told."""
    if not isinstance(rate, nn.Cell):
        return _number(rate)
    listed = getattr(rate, "learning_rate", None)  # of a list that an optimiser was given
    if isinstance(listed, ms.Tensor):
        return listed.asnumpy()[:RATES].astype(np.float64)
    mode = ms.get_context("mode")
    told: dict[str, Any] = {}
    with configuration.reading(told, "lr", own=not type(rate).__module__.startswith("mindspore.")):
        try:
            ms.set_context(mode=ms.PYNATIVE_MODE)
            values = rate(ms.Tensor(np.arange(RATES), ms.int32)).asnumpy()
        finally:
            ms.set_context(mode=mode)
        if values.shape != (RATES,):
            raise ValueError(f"the rates of {RATES} steps are of shape {values.shape}")
        told["lr"] = values.astype(np.float64)
    return told["lr"]


def _number(value: Any) -> Any:
    """The number in a tensor; anything else as it is."""
    if not isinstance(value, ms.Tensor):
        return value
    array = value.asnumpy()
    if array.size != 1 or array.dtype.kind != "f":
        return array.item() if array.size == 1 else None
    return float(np.format_float_scientific(array.reshape(()), unique=True))
