"""What a sample cannot show, settings and numbers in the code: the truth with each of them changed.

One float64 run for each. A setting is hidden if its change moves no tensor beyond the budget: a
candidate with that other value would pass, but for the comparison of settings. A number in the
code of a network is no setting, nothing compares it: `clamp(max=100)` where nothing is above 50.
"""

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from torch.optim import Optimizer

from equivalence.errors import of_engine
from equivalence.files import shown
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET
from equivalence.reach.branches import module_file
from equivalence.reach.decision import REFERENCE, Decision, Key, numberless
from equivalence.reach.words import NUMBER, SETTING
from equivalence.sides.protocols import Watch
from equivalence.stream.observer import callers
from equivalence.stream.torch_stream import Call, Observer
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

BOUNDS = (
    *("clamp", "clip", "clamp_min", "clamp_max", "threshold", "hardtanh", "softplus"),
    *("masked_fill", "full", "full_like", "where", "gt", "ge", "lt", "le"),
)
"""Functions whose whole numbers are values, too; of others they are sizes, axes and exponents."""

FINE, COARSE = 1e-2, 1e3
"""A number in the code that is smaller or larger is taken for a guard, or for a stand-in of
infinity, and changed tenfold; others are doubled."""

LAYERS_OF_TORCH = ("torch.nn.modules", "torch.optim", "torch.amp", "torch.cuda.amp")
"""Modules whose numbers are settings."""


class TriedValue(NamedTuple):
    """A setting, or a number in the code, and what another value does to the truth of a sample.

    path: the layer and the setting, in the reference's names; or the line and the function.
    value: its value, as text.
    other: the value that it was changed to, as text.
    moved: how far that moves the tensor that it moves most, in roundings.
    decision: the decision that it is; reached where the sample shows it.
    """

    path: str
    value: str
    other: str
    moved: float
    decision: Decision

    @property
    def hidden(self) -> bool:
        """Whether no tensor is moved beyond the budget."""
        return self.moved <= BUDGET

    def __str__(self) -> str:
        moves = "moves nothing"
        if self.moved:
            moves += f" by more than {self.moved:.2g} roundings"
        return f"{self.path} {self.value}: {self.other} {moves}"


class _SettingPlace(NamedTuple):
    """Where a setting stands: its value, and how to set another."""

    value: Any
    set: Callable[[Any], None]


def _tried(key: Key, path: str, value: str, other: str, moved: float) -> TriedValue:
    decision = Decision(key, int(moved > BUDGET), 1, detail=other)
    return TriedValue(path, value, other, moved, decision)


def settings(measurement: Measurement, expected: Mapping[str, Expected]) -> list[TriedValue]:
    """The settings of a reference, each tried with another value.

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
        key = Key(REFERENCE, SETTING, layer=numberless(path), text=str(value))
        found.append(_tried(key, path, str(value), str(other), moved))
    return found


def numbers(measurement: Measurement, expected: Mapping[str, Expected]) -> list[TriedValue]:
    """The numbers in a reference's code, each tried with another one.

    expected: the truth of the case.
    """
    measurement.run(watch=(seen := NumbersInCode()))
    found = []
    for number in seen.met:
        other = other_number(number)
        moved = _moved(measurement, expected, NumbersInCode({number: other}))
        value, told = f"{number.value:g}", f"{other:g}"
        file, _, what = number.path.partition(":")
        text = f"{what.partition(' ')[2]} {value}"
        key = Key(REFERENCE, NUMBER, number.told or file, number.line, text=text)
        found.append(_tried(key, number.path, value, told, moved))
    return found


class Number(NamedTuple):
    """A number that the code of a network gives to a function of PyTorch.

    file, line: where the code is.
    function: the name of the function.
    argument: the place of the number among the arguments, or its keyword.
    value: the number.
    told: the file as decisions tell it.
    """

    file: str
    line: int
    function: str
    argument: int | str
    value: float
    told: str = ""

    @property
    def path(self) -> str:
        """The line and the function, such as `net.py:41 clamp max`."""
        keyword = f" {self.argument}" if isinstance(self.argument, str) else ""
        return f"{shown(self.file)}:{self.line} {self.function}{keyword}"


class NumbersInCode(Observer):
    """Notes the numbers in the code of a network, and puts others in their place.

    met: all that were met, in order, each once.
    """

    slot = "code"

    def __init__(self, others: Mapping[Number, float] = types.MappingProxyType({})):
        self.others = others
        self.met: dict[Number, None] = {}

    def before(self, call: Call) -> None:
        """Note the numbers among the arguments, and replace them."""
        given: dict[Any, Any] = {**dict(enumerate(call.args)), **call.kwargs}
        name = getattr(call.function, "__name__", "").strip("_")
        values = {key: value for key, value in given.items() if _is_value(name, value)}
        if values and (frame := _frame_of_network()):
            line, settings = (frame.f_code.co_filename, frame.f_lineno), _settings_at(frame)
            numbers = {
                key: Number(*line, name, key, value, module_file(frame))
                for key, value in values.items()
                if value not in settings
            }
            self.met |= dict.fromkeys(numbers.values())
            given |= {key: self.others.get(each, each.value) for key, each in numbers.items()}
            call.args = tuple(given[i] for i in range(len(call.args)))
            call.kwargs = {key: given[key] for key in call.kwargs}


def _is_value(function: str, argument: Any) -> bool:
    """Whether an argument is a number that may be changed, no size and no axis."""
    kinds = int | float if function in BOUNDS else float
    usable = isinstance(argument, kinds) and not isinstance(argument, bool)
    return usable and bool(argument) and bool(np.isfinite(argument))


def _frame_of_network() -> types.FrameType | None:
    """The frame of the network's code that calls; None where a layer of PyTorch does."""
    for frame in callers():
        module = frame.f_globals.get("__name__", "")
        if module.startswith(LAYERS_OF_TORCH):
            return None
        if not (of_engine(frame.f_code.co_filename) or module.partition(".")[0] == "torch"):
            return frame
    return None


def _settings_at(frame: types.FrameType) -> list[Any]:
    """The values of the settings that the layer of a frame holds, which `settings` tries."""
    held = getattr(frame.f_locals.get("self"), "__dict__", {})
    numbers = {n: v for n, v in held.items() if type(v) in (int, float)}
    return [value for name, value in numbers.items() if _other(name, value) != value]


def other_number(number: Number) -> float:
    """Another value that people may give a number in the code."""
    other = _other(str(number.argument), number.value)
    if other != number.value:
        return other
    guard = not FINE <= abs(number.value) < COARSE
    return number.value * (10 if guard else 2)


def _moved(
    measurement: Measurement, expected: Mapping[str, Expected], watch: Watch | None = None
) -> float:
    """How far the truth of a changed network is from the truth, in roundings.

    watch: what changes it, as a context around the run.
    """
    try:
        values = measurement.run(watch=watch)
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


def _places(network: Any) -> Iterator[tuple[str, _SettingPlace]]:
    """The settings of all modules, of the optimisers and of a step's functions, by their paths."""
    for path, module in network.module.named_modules():
        unpadded = getattr(module, "padding", 0) in (0, (0,), (0, 0), (0, 0, 0))
        for name, value in vars(module).items():
            if unpadded and name in PADDED:
                continue
            yield f"{path}.{name}" if path else name, _SettingPlace(value, _setter(module, name))
    for name, held in vars(network.step).items() if network.step is not None else ():
        if isinstance(held, Optimizer):
            for key in held.defaults:
                value = held.param_groups[0][key]
                yield f"{OPTIMIZER}.{key}", _SettingPlace(value, _group_setter(held, key))
        if isinstance(held, types.FunctionType):
            cells = zip(held.__code__.co_freevars, held.__closure__ or (), strict=True)
            for free, cell in cells:
                place = _SettingPlace(cell.cell_contents, _setter(cell, "cell_contents"))
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
