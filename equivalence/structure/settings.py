"""The configuration of a layer as data, in PyTorch's vocabulary. Imports no framework.

`torch_settings.settings` and `mindspore_settings.settings` read a layer, with the functions of this
file; `layers` compares two configurations.
"""

import contextlib
import functools
import inspect
import math
import operator
import re
import types
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from equivalence.judge.settings import Unread
from equivalence.words import raised

Sides = tuple[tuple[int, int], ...]
"""Padding of each spatial axis, in elements before and after: ((top, bottom), (left, right))."""

SAME = "same"
"""A padding that depends on the input's size: TensorFlow's rule where the stride is above one."""

OWN = "own"
"""A setting that marks a class of the model's own: its name is not the name of a kind of layer."""

MODE = "mode"
"""A setting that says which mode a layer is in; what a layer does in it is compared."""

BY_MODE = ("batch_statistics", "drops")
"""Settings that say what a layer does in training mode: whether it takes the statistics of a batch,
and whether it drops anything."""

FREE = "the network's"
"""The mode of a layer that its owner holds in none."""

_IN_TRAINING = "in training", FREE
_BY_MODES = {
    (True, False): _IN_TRAINING,
    (False, False): ("never", "always evaluation"),
    (True, True): ("always", "always training"),
    (False, True): ("in evaluation", "the other than the network's"),
}
"""Whether a layer is in training mode in training, and in evaluation -> when it does what it does
in training mode, and its mode, in words."""

ALL = "settings"
"""The name that stands for all settings of a layer, where the reader of its class raises."""

OPTIMIZER, STEP = "optimizer", "step"
"""What a training has besides its network, as layers: its optimisers together, and its step."""

RATES = 10_001
"""Of a schedule so many steps are compared."""

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

_OF_A_LAYER = ("d_model", "nhead", "dim_feedforward", "batch_first", "layer_norm_eps", "bias")
_OF_ALL = ("num_encoder_layers", "num_decoder_layers", "dropout", "activation", "norm_first")
UNHELD: Mapping[str, Collection[str]] = {
    "MultiheadAttention": ("bias", "add_bias_kv"),
    "PReLU": ("channel",),
    "PReLUExt": ("init",),
    "Transformer": (*_OF_A_LAYER, *_OF_ALL, "custom_encoder", "custom_decoder"),
    "TransformerDecoder": ("decoder_layer",),
    "TransformerDecoderLayer": _OF_A_LAYER,
    "TransformerEncoder": ("encoder_layer",),
    "TransformerEncoderLayer": _OF_A_LAYER,
}
"""Class of a framework -> the arguments of its constructor that it does not hold: its parts and its
weights show them."""

_RECURRENT = ("hidden_size", "num_layers", "batch_first", "dropout", "bidirectional")


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


@contextlib.contextmanager
def reading(config: dict[str, Any], name: str = ALL, own: bool = False) -> Iterator[None]:
    """Read a setting: where that raises, it is `Unread`; where it is ALL, nothing else is told.

    own: whether code of the model's own is run for it.
    """
    marks = {mark: config[mark] for mark in ("kind", OWN) if mark in config}
    try:
        with warnings.catch_warnings():  # what a property warns of is none of the user's doing
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        if name == ALL:
            config.clear()
            config.update(marks)
        config[name] = Unread(raised(error), own)


def _held(layer: object, name: str, absent: object, read: Callable = getattr) -> Any:
    """An attribute of a layer; `absent` where it has none. What a property raises is raised."""
    try:
        return read(layer, name)
    except AttributeError:
        if inspect.getattr_static(layer, name, absent) is absent:
            return absent
        raise


def arguments(
    layer: object,
    cls: type,
    read: Callable[[object, str], object] = getattr,
    library: bool = False,
) -> dict[str, Any]:
    """The arguments of the constructor of `cls` that the layer still has, as plain values.

    read: reads one argument of the layer; raises AttributeError where it has none.
    library: whether it is a framework's class. Of these an argument that the layer does not hold is
        `Unread`, but for those in `UNHELD`: a release may have renamed it.

    Arrays, layers and functions are left out, too. "bias" is whether there is one; the weights of a
    loss are "given" or "none".
    """
    config: dict[str, Any] = {}
    recurrent = cls.__name__ in ("RNN", "LSTM", "GRU")
    biased = "bias" if hasattr(layer, "bias") else "has_bias"
    ours = (n for n in constructor(cls) if not _ignored(n))
    for name in (*ours, *((*_RECURRENT, biased) if recurrent else ())):
        with reading(config, name):
            value = _held(layer, name, _NOT_PLAIN, read)
            if value is _NOT_PLAIN:
                if library and name not in UNHELD.get(cls.__name__, ()):
                    raise AttributeError(f"{cls.__name__} holds no {name}")
                continue
            if name == "bias" and not isinstance(value, bool):
                config[name] = value is not None
            elif name in ("weight", "pos_weight"):
                config[name] = "none" if value is None else "given"
            elif (plain := _plain(value)) is not _NOT_PLAIN:
                config[name] = plain
    return config


@functools.cache
def constructor(cls: Any) -> tuple[str, ...]:
    """The names of the arguments that a class is called with; none where that is not known."""
    try:
        names = inspect.signature(cls.__init__).parameters
    except (TypeError, ValueError):
        return ()
    return tuple(n for n in names if n not in ("self", "args", "kwargs") and n[0] != "_")


def _ignored(name: str) -> bool:
    """Whether an argument changes nothing of what a layer computes."""
    return name in _IGNORED or name.endswith(_IGNORED_ENDING)


_NOT_PLAIN = object()


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Sequence):
        items = tuple(map(_plain, value))
        return _NOT_PLAIN if _NOT_PLAIN in items else items
    return _NOT_PLAIN


def plain(told: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that are plain values, arrays or unread."""
    values = {n: v if isinstance(v, np.ndarray | Unread) else _plain(v) for n, v in told.items()}
    return {n: v for n, v in values.items() if v is not None and v is not _NOT_PLAIN}


def own_values(step: object, base: Mapping[str, Any]) -> dict[str, Any]:
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


def add_epsilon(layer: object, config: dict[str, Any]) -> None:
    """Add the epsilon of a layer of the model's own, as "eps", whatever the attribute's name."""
    for name in EPSILONS:
        config.pop(name, None)
        with reading(config, "eps"):
            if (value := _held(layer, name, None)) is not None:
                config["eps"] = float(value)


def in_modes(
    config: dict[str, Any], modes: tuple[tuple[bool, ...], tuple[bool, ...]]
) -> dict[str, Any]:
    """The configuration of a layer whose owner lets it run in these modes.

    A norm that is held in evaluation never takes the statistics of a batch, as one that is made so
    does not; nor does a dropout drop that is held in evaluation.

    modes: the modes of its calls in training, and in evaluation; none where they are not known.
    """
    if config.get("batch_statistics") == _IN_TRAINING[0]:
        name = "batch_statistics"
    elif str(config["kind"]).startswith("Dropout") and config.get("p"):
        name = "drops"
    else:
        return config
    train, evaluation = modes
    if not train:
        return {each: value for each, value in config.items() if each != name}
    evaluation = evaluation or (False,)
    calls = max(len(train), len(evaluation))
    train, evaluation = (each * calls if len(each) == 1 else each for each in (train, evaluation))
    both = [_BY_MODES[each] for each in zip(train, evaluation, strict=False)]
    when, held = (one[0] if len({*one}) == 1 else one for one in zip(*both, strict=True))
    return {**config, name: when, MODE: held}


def rename(config: dict[str, Any], words: Mapping[str, str]) -> None:
    """Rename settings to their common names. words: old name -> new name."""
    for old, new in words.items():
        if old in config:
            config[new] = config.pop(old)


def convert(config: dict[str, Any], name: str, conversion: Callable[[Any], Any]) -> None:
    """Convert the value of a setting that could be read."""
    if name in config and not isinstance(config[name], Unread):
        value = config.pop(name)
        with reading(config, name):
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


def spread(value: Any, axes: int) -> tuple:
    """One number for each spatial axis: the last numbers of a tuple, or a number for all axes.

    Raises TypeError where an item is no integer. None passes: it means a size that stays as it is.
    """
    spatial = tuple(value)[-axes:] if isinstance(value, Sequence) else (value,) * axes
    return tuple(v if v is None else operator.index(v) for v in spatial)


def of_windows(config: dict[str, Any]) -> None:
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


def _sides(padding: object, config: Mapping[str, Any], axes: int) -> Sides | str:
    if padding == "valid":
        return ((0, 0),) * axes
    if padding == SAME:
        return by_rule(config)[0]
    return tuple((p, p) for p in spread(padding, axes))


def border(config: dict[str, Any]) -> None:
    """Add the value of the padding, "padding_value", for a layer that pads."""
    padding, kind = config.get("padding"), str(config["kind"])
    if isinstance(padding, Unread):
        return
    if padding is None or not (padding == SAME or any(map(any, padding))):
        config.pop("count_include_pad", None)  # has no effect
    elif config.get("padding_mode", "zeros") == "zeros":
        config["padding_value"] = -math.inf if "MaxPool" in kind else 0.0


PADDING = ("padding", "padding_mode", "padding_value")
"""The settings of a convolution that say how it pads."""


def begins_elsewhere(reference: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Whether one of two convolutions alone pads, and its first window begins in the padding.

    Then their outputs are those of other places, whatever the sample, unless the input of the other
    one is padded already. A padding at the end alone may never be read.

    >>> valid, padded = ({"kind": "Conv1d", "padding": ((n, n),)} for n in (0, 1))
    >>> begins_elsewhere(padded, valid), begins_elsewhere(padded, padded)
    (True, False)
    """
    sides = [side.get("padding") for side in (reference, candidate)]
    known = [each for each in sides if isinstance(each, tuple)]
    if not all(re.fullmatch("Conv[123]d", str(side["kind"])) for side in (reference, candidate)):
        return False
    padded = [each for each in known if any(map(any, each))]
    if len(known) != 2 or len(padded) != 1:
        return False
    return all(before > 0 for before, after in padded[0] if before or after)


def by_rule(config: Mapping[str, Any]) -> tuple[Sides | str, bool]:
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
        if "Transpose" in kind and missing + 1 == step:  # its windows lie side by side
            sides.append((0, 0))
        elif "Transpose" in kind and (step > 1 or missing % 2):
            return SAME, False
        elif step == 1:
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


def folded(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
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
    value = pad.get("value")
    if not isinstance(pad.get("padding"), tuple) or not isinstance(value, float):
        return None
    if any(map(any, sides)) or len(sides) != len(pad["padding"]):
        return None
    if "MaxPool" in kind and value <= BELOW_ALL:
        value = -math.inf
    config = {**layer, "padding": pad["padding"], "padding_value": value}
    if "AvgPool" in kind:
        config["count_include_pad"] = True
    return config
