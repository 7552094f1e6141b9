"""The configuration of a layer as data, in PyTorch's vocabulary. Imports no framework.

`torch_settings.settings` and `mindspore_settings.settings` read a layer, with the functions of this
file. `differences` compares two configurations.
"""

import contextlib
import functools
import inspect
import math
import operator
import re
import types
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from equivalence.judge.settings import Difference
from equivalence.words import listed

Sides = tuple[tuple[int, int], ...]
"""Padding of each spatial axis, in elements before and after: ((top, bottom), (left, right))."""

SAME = "same"
"""A padding that depends on the input's size: TensorFlow's rule where the stride is above one."""

OWN = "own"
"""A setting that marks a class of the model's own: its name is not the name of a kind of layer."""

OPTIMIZER, STEP = "optimizer", "step"
"""What a training has besides its network, as layers: its optimisers together, and its step."""

RATES = 10_001
"""Of a schedule so many steps are compared."""

SINGLE = 1e-6
"""Relative distance within which two numbers of an optimiser, kept in float32, are the same."""

COSINE = 2.0**-22
"""Distance within which two rates are the same, too, relative to the largest rate of a schedule:
a few roundings of float32, by which a cosine near its end is off."""

BELOW_ALL = -1e4
"""A padding from here down stands for minus infinity in a max pooling, as far as half precision
goes."""

CONTAINERS = ("Sequential", "ModuleList", "ModuleDict")
"""Kinds that only hold layers.

Which of them does is no difference, nor that one stands in the place of a layer: what it holds has
settings of its own."""

EPSILONS = ("eps", "epsilon", "variance_epsilon")
"""Attributes in which the layers of models keep their epsilon."""

# Arguments of constructors that do not change what a layer computes.
_IGNORED = ("device", "dtype", "inplace", "name", "data_format", "size_average", "reduce")
_IGNORED_ENDING = "_init"

_RECURRENT = (
    "hidden_size",
    "num_layers",
    "bias",
    "has_bias",
    "batch_first",
    "dropout",
    "bidirectional",
)


def common(reference: Mapping[str, object], candidate: Mapping[str, object]) -> list[str]:
    """The names of the settings that can be compared.

    Where the kinds differ, only the kind is compared, since other settings then have other
    meanings. Where the kinds differ and one of them is a class of the model's own, only the epsilon
    is compared, which has one meaning everywhere. Containers have no settings. A setting that only
    one side has is left out, except frozen weights.
    """
    ours, theirs = reference.get("kind"), candidate.get("kind")
    own = OWN in reference or OWN in candidate
    if ours in CONTAINERS or theirs in CONTAINERS:
        return []
    if ours != theirs and not own:
        return ["kind"]
    shared = [name for name in reference if name in candidate and name not in (OWN, "frozen")]
    if ours != theirs:
        return [name for name in shared if name == "eps"]
    if own:
        shared.remove("kind")
    frozen = "frozen" in reference or "frozen" in candidate
    return [*shared, "frozen"] if frozen else shared


def differences(
    reference: Mapping[str, object], candidate: Mapping[str, object]
) -> list[Difference]:
    """The settings that differ, of those that can be compared (`common`).

    Floats that agree to nine digits are equal, since a conversion such as 1 - 0.9 is not exact. A
    number stands for a pair or a triple of it, as of a window's sides.
    """
    constants = reference.get("constants", ())
    frozen = tuple(name for name in candidate.get("frozen", ()) if name not in constants)
    candidate = {**candidate, "frozen": frozen} if "frozen" in candidate else candidate
    found: list[Difference] = []
    for name in common(reference, candidate):
        missing = () if name == "frozen" else None
        ours, theirs = (side.get(name, missing) for side in (reference, candidate))
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            found += _by_weight(name, ours, theirs)
        elif not _same(ours, theirs):
            found.append(Difference(name, _shown(ours), _shown(theirs)))
    return found


def _by_weight(
    name: str, reference: Mapping[str, object], candidate: Mapping[str, object]
) -> list[Difference]:
    """The differences of a setting that each weight has for itself, those of equal values as one.

    An array holds the values of steps 0, 1, ...; the first step that differs is told. A number
    stands for all steps of the candidate, but only for the first step of the reference, whose
    schedule may not be known. Single precision keeps six digits.
    """
    shared = [weight for weight in reference if weight in candidate]
    groups: dict[tuple[str, str, str], list[str]] = {}
    for weight in shared:
        ours, theirs, step = reference[weight], candidate[weight], ""
        if isinstance(ours, np.ndarray) or isinstance(theirs, np.ndarray):
            first = _first_step(ours, theirs)
            if first is None:
                continue
            ours, theirs = (x[first] if isinstance(x, np.ndarray) else x for x in (ours, theirs))
            step = f"in step {first} (the first is 0)"
        elif _same(ours, theirs, SINGLE):
            continue
        groups.setdefault((_shown(ours, 7), _shown(theirs, 7), step), []).append(weight)
    return [
        Difference(
            name,
            *values,
            " ".join(filter(None, (step, len(of) < len(shared) and f"for {listed(of)}"))),
        )
        for (*values, step), of in groups.items()
    ]


def _first_step(reference: object, candidate: object) -> int | None:
    """The first step in which rates differ by more than single precision; None where none does."""
    if not isinstance(reference, np.ndarray):
        candidate = candidate[:1]
    count = min(np.size(x) for x in (reference, candidate) if isinstance(x, np.ndarray))
    ours, theirs = (x[:count] if isinstance(x, np.ndarray) else x for x in (reference, candidate))
    wrong = ~np.isclose(theirs, ours, rtol=SINGLE, atol=COSINE * np.max(np.abs(ours)))
    return int(np.argmax(wrong)) if wrong.any() else None


def _same(one: object, two: object, digits: float = 1e-9) -> bool:
    if isinstance(one, tuple) and isinstance(two, tuple):
        each = zip(one, two, strict=False)
        return len(one) == len(two) and all(_same(*pair, digits) for pair in each)
    for many, single in ((one, two), (two, one)):
        if isinstance(many, tuple) and type(single) in (int, float) and len(many) in (2, 3):
            return all(_same(each, single, digits) for each in many)
    numbers = isinstance(one, int | float) and isinstance(two, int | float)
    if numbers and (isinstance(one, float) or isinstance(two, float)):
        return math.isclose(one, two, rel_tol=digits)
    return one == two


def _shown(value: object, digits: int = 12) -> str:
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, tuple):
        if all(isinstance(item, str) for item in value):
            return ", ".join(value) or "none"
        inside = ", ".join(_shown(item, digits) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return str(value)


def library_class(layer: object, library: str, roots: Iterable[type]) -> type:
    """The framework's class that a layer is or derives from; else the layer's own class.

    library: the prefix of the framework's module names.
    roots: the base classes of all layers, which do not count.
    """
    for base in type(layer).__mro__:
        ours = base.__module__.startswith(library) and not base.__name__.startswith("_")
        if ours and base not in roots:
            return base
        if base in roots:
            break
    return type(layer)


def arguments(
    layer: object, cls: type, read: Callable[[object, str], object] = getattr
) -> dict[str, object]:
    """The arguments of the constructor of `cls` that the layer still has, as plain values.

    read: reads one argument of the layer; an argument on which it raises is left out.

    Arrays, layers and functions are left out, too. "bias" is whether there is one; the weights of a
    loss are "given" or "none".
    """
    config: dict[str, object] = {}
    recurrent = _RECURRENT if cls.__name__ in ("RNN", "LSTM", "GRU") else ()
    for name in (*_constructor(cls), *recurrent):
        # What a property warns of is none of the user's doing.
        with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):
            value = read(layer, name)
            if name == "bias" and not isinstance(value, bool):
                config[name] = value is not None
            elif name in ("weight", "pos_weight"):
                config[name] = "none" if value is None else "given"
            elif (plain := _plain(value)) is not _NOT_PLAIN:
                config[name] = plain
    return config


@functools.cache
def _constructor(cls: type) -> tuple[str, ...]:
    try:
        names = inspect.signature(cls.__init__).parameters
    except (TypeError, ValueError):
        return ()
    names = [n for n in names if n not in _IGNORED and not n.endswith(_IGNORED_ENDING)]
    return tuple(n for n in names if n not in ("self", "args", "kwargs"))


_NOT_PLAIN = object()


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Sequence):
        items = tuple(map(_plain, value))
        return _NOT_PLAIN if _NOT_PLAIN in items else items
    return _NOT_PLAIN


def plain(told: Mapping[str, object]) -> dict[str, object]:
    """Those of the settings that are plain values or arrays."""
    values = {n: v if isinstance(v, np.ndarray) else _plain(v) for n, v in told.items()}
    return {n: v for n, v in values.items() if v is not None and v is not _NOT_PLAIN}


def own_values(step: object, base: Mapping[str, object]) -> dict[str, object]:
    """The numbers and words that a training step keeps, also inside of its functions.

    A function shows what it was made with: "clip.limit" is the limit of a `clip`.

    base: the attributes that every layer has.
    """
    kept = {n: v for n, v in vars(step).items() if n not in base and not n.startswith("_")}
    for name, value in list(kept.items()):
        inside = dict(value.keywords) if isinstance(value, functools.partial) else {}
        if isinstance(value, types.FunctionType):
            cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
            inside = {free: cell.cell_contents for free, cell in cells}
        kept |= {f"{name}.{free}": held for free, held in inside.items()}
    return plain(kept)


def add_epsilon(layer: object, config: dict[str, object]) -> None:
    """Add the epsilon of a layer of the model's own, as "eps", whatever the attribute's name."""
    for name in EPSILONS:
        config.pop(name, None)
        with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):
            config["eps"] = float(getattr(layer, name))


def rename(config: dict[str, object], words: Mapping[str, str]) -> None:
    """Rename settings to their common names. words: old name -> new name."""
    for old, new in words.items():
        if old in config:
            config[new] = config.pop(old)


def convert(config: dict[str, object], name: str, conversion: Callable[[object], object]) -> None:
    """Convert the value of a setting; a setting whose conversion raises is removed."""
    if name in config:
        value = config.pop(name)
        with contextlib.suppress(Exception):
            config[name] = conversion(value)


def dimensions(kind: str) -> int:
    """The number of spatial axes in a kind's name: 2 for MaxPool2d; 0 where it has no number."""
    number = re.search(r"([123])d$", kind)
    return int(number[1]) if number else 0


def normalizes(kind: str) -> bool:
    """Whether a kind is a normalisation that can have a scale and a shift."""
    return re.search(r"(Batch|Layer|Group|Instance)Norm", kind) is not None


def affine(kind: str) -> str:
    """PyTorch's name of the setting that says whether a norm trains a scale and a shift."""
    return "elementwise_affine" if kind == "LayerNorm" else "affine"


def spread(value: object, axes: int) -> tuple:
    """One number for each spatial axis: the last numbers of a tuple, or a number for all axes.

    Raises TypeError where an item is no integer. None passes: it means a size that stays as it is.
    """
    spatial = tuple(value)[-axes:] if isinstance(value, Sequence) else (value,) * axes
    return tuple(v if v is None else operator.index(v) for v in spatial)


def of_windows(config: dict[str, object]) -> None:
    """Convert the window of a convolution or pooling to one value for each spatial axis.

    The settings are kernel_size, stride, dilation and padding, in PyTorch's conventions.
    """
    kind = str(config["kind"])
    axes = dimensions(kind)
    for name in ("kernel_size", "dilation", "output_padding"):
        convert(config, name, lambda value: spread(value, axes))
    convert(config, "stride", lambda s: config["kernel_size"] if s is None else spread(s, axes))
    convert(config, "padding", lambda padding: _sides(padding, config, axes))
    border(config)


def _sides(padding: object, config: Mapping[str, object], axes: int) -> Sides | str:
    if padding == "valid":
        return ((0, 0),) * axes
    if padding == SAME:
        return by_rule(config)[0]
    return tuple((p, p) for p in spread(padding, axes))


def border(config: dict[str, object]) -> None:
    """Add the value of the padding, "padding_value", for a layer that pads."""
    padding, kind = config.get("padding"), str(config["kind"])
    if padding is None or not (padding == SAME or any(map(any, padding))):
        config.pop("count_include_pad", None)  # has no effect
    elif config.get("padding_mode", "zeros") == "zeros":
        config["padding_value"] = -math.inf if "MaxPool" in kind else 0.0


def by_rule(config: Mapping[str, object]) -> tuple[Sides | str, bool]:
    """TensorFlow's padding rule as (padding, ceil_mode).

    The rule pads so that there are ceil(size / stride) outputs; an odd row goes to the far end. At
    stride one the padding is fixed; a window of one element needs none; a pooling by two equals
    PyTorch's with ceil_mode. Otherwise the padding depends on the input's size and is SAME.
    """
    kind, kernel, stride = str(config["kind"]), config["kernel_size"], config["stride"]
    dilation = config.get("dilation") or (1,) * len(kernel)
    sides, ceil_mode = [], False
    for k, step, d in zip(kernel, stride, dilation, strict=True):
        missing = d * (k - 1)
        if "Transpose" in kind and (step > 1 or missing % 2):
            return SAME, False
        if step == 1:
            sides.append((missing // 2, missing - missing // 2))
        elif missing == 0:
            sides.append((0, 0))
        elif "Pool" in kind and missing + 1 == step == 2:
            sides.append((0, 0))
            ceil_mode = True
        else:
            return SAME, False
    return tuple(sides), ceil_mode


def reversed_pairs(padding: Sequence[int]) -> Sides:
    """(left, right, top, bottom) -> ((top, bottom), (left, right))."""
    pairs = list(zip(padding[::2], padding[1::2], strict=True))
    return tuple((int(before), int(after)) for before, after in reversed(pairs))


def folded(parts: Sequence[Mapping[str, object]]) -> dict[str, object] | None:
    """The configuration of a constant padding and the layer after it, as of one padded layer.

    None where the two parts are anything else.
    """
    if len(parts) != 2:
        return None
    pad, layer = parts
    kind, sides = str(layer["kind"]), layer.get("padding")
    alike = re.fullmatch(r"(Conv|MaxPool|AvgPool)[123]d", kind)
    if not (alike and str(pad["kind"]).startswith("ConstantPad") and isinstance(sides, tuple)):
        return None
    if any(map(any, sides)) or len(sides) != len(pad.get("padding", ())):
        return None
    value = float(pad["value"])
    if "MaxPool" in kind and value <= BELOW_ALL:
        value = -math.inf
    config = {**layer, "padding": pad["padding"], "padding_value": value}
    if "AvgPool" in kind:
        config["count_include_pad"] = True
    return config
