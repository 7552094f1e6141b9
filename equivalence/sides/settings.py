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
from collections.abc import Callable, Iterable, Mapping, Sequence

Sides = tuple[tuple[int, int], ...]
"""Padding of each spatial axis, in elements before and after: ((top, bottom), (left, right))."""

SAME = "same"
"""A padding that depends on the input's size: TensorFlow's rule where the stride is above one."""

OWN = "own"
"""A setting that marks a class of the model's own: its name is not the name of a kind of layer."""

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


def differences(reference: Mapping[str, object], candidate: Mapping[str, object]) -> list[str]:
    """One phrase for each setting that differs, such as `eps 1e-05 (reference) 0.0001 (candidate)`.

    Where the kinds differ, only the kind is listed, since other settings then have other meanings.
    Where the kinds differ and one of them is a class of the model's own, nothing is listed. A
    setting that only one side has is left out, except frozen weights. Floats that agree to nine
    digits are equal, since a conversion such as 1 - 0.9 is not exact.
    """
    if reference.get("kind") != candidate.get("kind"):
        if OWN in reference or OWN in candidate:
            return []
        names = ["kind"]
    else:
        names = [name for name in reference if name in candidate and name != "frozen"]
        names.append("frozen")
    constants = reference.get("constants", ())
    frozen = tuple(name for name in candidate.get("frozen", ()) if name not in constants)
    candidate, missing = {**candidate, "frozen": frozen}, {"frozen": ()}
    sides = [(n, *(side.get(n, missing.get(n)) for side in (reference, candidate))) for n in names]
    return [
        f"{name} {_shown(ours)} (reference) {_shown(theirs)} (candidate)"
        for name, ours, theirs in sides
        if not _same(ours, theirs)
    ]


def _same(one: object, two: object) -> bool:
    if isinstance(one, tuple) and isinstance(two, tuple):
        return len(one) == len(two) and all(map(_same, one, two))
    numbers = isinstance(one, int | float) and isinstance(two, int | float)
    if numbers and (isinstance(one, float) or isinstance(two, float)):
        return math.isclose(one, two, rel_tol=1e-9)
    return one == two


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, tuple):
        if all(isinstance(item, str) for item in value):
            return ", ".join(value) or "none"
        inside = ", ".join(map(_shown, value))
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
        with contextlib.suppress(Exception):
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
    config = {**layer, "padding": pad["padding"], "padding_value": float(pad["value"])}
    if "AvgPool" in kind:
        config["count_include_pad"] = True
    return config
