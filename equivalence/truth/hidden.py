"""Settings that a sample cannot show: the truth of the case with each of them changed.

One float64 run for each setting. A setting is hidden if its change moves no tensor beyond the
budget: a candidate with that other value would pass, but for the comparison of settings.
"""

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from torch.optim import Optimizer

from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET
from equivalence.structure.settings import OPTIMIZER, STEP
from equivalence.truth.measurement import Measurement

TENFOLD = (
    *("eps", "epsilon", "variance_epsilon", "negative_slope", "lambd", "margin"),
    *("weight_decay", "limit", "max_norm"),
)
DOUBLED = ("alpha", "beta", "threshold", "min_val", "max_val", "upscale_factor", "delta")
FLIPPED = (
    *("ceil_mode", "count_include_pad", "align_corners", "antialias", "nesterov", "amsgrad"),
    *("centered", "norm_first", "full"),
)
PADDED = ("padding_mode", "count_include_pad")
"""Settings without an effect where nothing is padded."""

OTHERS: Mapping[str, Callable[[Any], Any]] = {
    "momentum": lambda share: 1.0 - share,
    "p": lambda share: 0.5 * share + 0.25,
    "label_smoothing": lambda share: 0.0 if share else 0.1,
    "ignore_index": lambda index: 0 if index < 0 else -100,
    "padding_mode": lambda mode: "replicate" if mode == "zeros" else "zeros",
    "approximate": lambda how: "tanh" if how == "none" else "none",
    "betas": lambda betas: (betas[0], 1.0 - 2.0 * (1.0 - betas[1])),
    "dampening": lambda share: 0.5 * share + 0.25,
}
"""Mistakes that people make with each setting: value -> another one."""


class Hidden(NamedTuple):
    """A setting that a sample does not show.

    path: the layer and the setting, in the reference's names.
    value: its value, as text.
    other: the value that it was changed to, as text.
    moved: how far that moves the tensor that it moves most, in roundings.
    """

    path: str
    value: str
    other: str
    moved: float

    def __str__(self) -> str:
        moves = "moves nothing"
        if self.moved:
            moves += f" by more than {self.moved:.2g} roundings"
        return f"{self.path} {self.value}: {self.other} {moves}"


class _Place(NamedTuple):
    """Where a setting stands: its value, and how to set another."""

    value: Any
    set: Callable[[Any], None]


def hidden(measurement: Measurement, expected: Mapping[str, Expected]) -> tuple[list[Hidden], int]:
    """The settings of a reference that its sample does not show, and how many were tried.

    expected: the truth of the case.
    """
    network, found = measurement.network, []
    changes = {}
    for path, place in _places(network):
        other = _other(path.rpartition(".")[2], place.value)
        if other != place.value:
            changes[path] = place.value, other
    for path, (value, other) in changes.items():
        # A training step is another one after each run.
        dict(_places(network))[path].set(other)
        moved = _moved(measurement, expected)
        if path in (again := dict(_places(network))):
            again[path].set(value)
        if moved <= BUDGET:
            found.append(Hidden(path, str(value), str(other), moved))
    return found, len(changes)


def _moved(measurement: Measurement, expected: Mapping[str, Expected]) -> float:
    """How far the truth of a changed network is from the truth, in roundings."""
    try:
        values = measurement.run()
        return max(
            max(known.errors(values[name], measurement.unit_roundoff))
            for name, known in expected.items()
        )
    except Exception:  # such as an output of another shape
        return np.inf


def _other(name: str, value: Any) -> Any:
    """Another value that people may give a setting; the same where there is none to try."""
    if name in FLIPPED and isinstance(value, bool | None):
        return not value
    if name in TENFOLD + DOUBLED and isinstance(value, float | int) and value:
        return (10.0 if name in TENFOLD else 2.0) * value
    if name in OTHERS and value is not None:
        return OTHERS[name](value)
    return value


def _places(network: Any) -> Iterator[tuple[str, _Place]]:
    """The settings of all modules, of the optimisers and of a step's functions, by their paths."""
    for path, module in network.module.named_modules():
        unpadded = getattr(module, "padding", 0) in (0, (0,), (0, 0), (0, 0, 0))
        for name, value in vars(module).items():
            if unpadded and name in PADDED:
                continue
            yield f"{path}.{name}" if path else name, _Place(value, _setter(module, name))
    step = getattr(network, "step", None)
    for name, held in vars(step).items() if step is not None else ():
        if isinstance(held, Optimizer):
            for key in held.defaults:
                value = held.param_groups[0][key]
                yield f"{OPTIMIZER}.{key}", _Place(value, _group_setter(held, key))
        if isinstance(held, types.FunctionType):
            cells = zip(held.__code__.co_freevars, held.__closure__ or (), strict=True)
            for free, cell in cells:
                place = _Place(cell.cell_contents, _setter(cell, "cell_contents"))
                yield f"{STEP}.{name}.{free}", place


def _setter(owner: Any, name: str) -> Callable[[Any], None]:
    return lambda value: setattr(owner, name, value)


def _group_setter(optimizer: Optimizer, key: str) -> Callable[[Any], None]:
    """Sets an entry of the groups that have the value of the first group."""
    groups = [g for g in optimizer.param_groups if g[key] == optimizer.param_groups[0][key]]

    def set_all(value: Any) -> None:
        for group in groups:
            group[key] = value

    return set_all
