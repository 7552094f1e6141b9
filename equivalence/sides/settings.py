"""The configuration of a layer as data, in one vocabulary: PyTorch's. Imports no framework.

`torch_layers.settings` and `mindspore_layers.settings` put a layer into these words; what both
need to do so is here, and `differences` compares the two.
"""

import contextlib
import functools
import inspect
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

Sides = tuple[tuple[int, int], ...]
"""Padding before and after, for each spatial axis: ((top, bottom), (left, right))."""

SAME = "same"
"""A padding that depends on the size of the input: TensorFlow's rule at a stride above one."""

OWN = "own"
"""Marks a class that is the model's and not a framework's: its name is no kind of layer."""

# Arguments of constructors that say nothing about what a layer computes.
_UNTOLD = ("device", "dtype", "inplace", "name", "data_format", "size_average", "reduce")
_UNTOLD_ENDING = "_init"

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

    A kind that differs is told alone: other settings then mean something else on either side; and
    not where one of them is a class of the model's own, whose name says nothing.
    Settings that only one side knows are not told, save for frozen weights. Floats that agree to
    nine digits are one number, since a conversion such as 1 - 0.9 leaves float noise.
    """
    if reference.get("kind") != candidate.get("kind"):
        if OWN in reference or OWN in candidate:
            return []
        names = ["kind"]
    else:
        names = [name for name in reference if name in candidate and name != "frozen"]
        names.append("frozen")
    missing = {"frozen": ()}
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
    """The class of a framework's own that a layer is or derives from; else the layer's class.

    library: how the modules of the framework are called, a prefix; roots: classes that are the
    base of everything.
    """
    for found in type(layer).__mro__:
        ours = found.__module__.startswith(library) and not found.__name__.startswith("_")
        if ours and found not in roots:
            return found
        if found in roots:
            break
    return type(layer)


def arguments(
    layer: object, cls: type, held: Callable[[object, str], object] = getattr
) -> dict[str, object]:
    """The arguments of a class's constructor that the layer still holds as plain values.

    `held` reads one of them; what it raises on is left out, and so is what is not plain: arrays,
    layers, functions. A bias is told as whether there is one, and so are the weights of a loss.
    """
    told: dict[str, object] = {}
    recurrent = _RECURRENT if cls.__name__ in ("RNN", "LSTM", "GRU") else ()
    for name in (*_constructor(cls), *recurrent):
        with contextlib.suppress(Exception):
            value = held(layer, name)
            if name == "bias" and not isinstance(value, bool):
                told[name] = value is not None
            elif name in ("weight", "pos_weight"):
                told[name] = "none" if value is None else "given"
            elif (plain := _plain(value)) is not _NOT_PLAIN:
                told[name] = plain
    return told


@functools.cache
def _constructor(cls: type) -> tuple[str, ...]:
    try:
        names = inspect.signature(cls.__init__).parameters
    except (TypeError, ValueError):
        return ()
    kept = [n for n in names if n not in _UNTOLD and not n.endswith(_UNTOLD_ENDING)]
    return tuple(n for n in kept if n not in ("self", "args", "kwargs"))


_NOT_PLAIN = object()


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Sequence):
        items = tuple(map(_plain, value))
        return _NOT_PLAIN if _NOT_PLAIN in items else items
    return _NOT_PLAIN


def rename(told: dict[str, object], words: Mapping[str, str]) -> None:
    """Give settings their common names."""
    for old, new in words.items():
        if old in told:
            told[new] = told.pop(old)


def convert(told: dict[str, object], name: str, conversion: Callable[[object], object]) -> None:
    """Replace a setting by its conversion; what cannot be converted is left out."""
    if name in told:
        value = told.pop(name)
        with contextlib.suppress(Exception):
            told[name] = conversion(value)


def dimensions(kind: str) -> int:
    """The number of spatial axes that a kind names: 2 for MaxPool2d, 0 where it names none."""
    found = re.search(r"([123])d$", kind)
    return int(found[1]) if found else 0


def normalizes(kind: str) -> bool:
    """Whether a kind is a normalisation that may have a scale and shift."""
    return re.search(r"(Batch|Layer|Group|Instance)Norm", kind) is not None


def affine(kind: str) -> str:
    """What PyTorch calls the choice of a scale and shift; told as whether they are trained."""
    return "elementwise_affine" if kind == "LayerNorm" else "affine"


def spread(value: object, axes: int) -> tuple:
    """A number for each spatial axis; of a longer tuple the last, which are the spatial ones.

    Raises TypeError for what is no number; None is one here: a size that is left as it is.
    """
    spatial = tuple(value)[-axes:] if isinstance(value, Sequence) else (value,) * axes
    return tuple(v if v is None else operator.index(v) for v in spatial)


def of_windows(told: dict[str, object]) -> None:
    """Kernel, stride, dilation and padding of a convolution or pooling, in PyTorch's conventions,
    as one value for each axis."""
    kind = str(told["kind"])
    axes = dimensions(kind)
    for name in ("kernel_size", "dilation", "output_padding"):
        convert(told, name, lambda value: spread(value, axes))
    convert(told, "stride", lambda s: told["kernel_size"] if s is None else spread(s, axes))
    convert(told, "padding", lambda padding: _sides(padding, told, axes))
    border(told)


def _sides(padding: object, told: Mapping[str, object], axes: int) -> Sides | str:
    if padding == "valid":
        return ((0, 0),) * axes
    if padding == SAME:
        return by_rule(told)[0]
    return tuple((p, p) for p in spread(padding, axes))


def border(told: dict[str, object]) -> None:
    """What stands in the padding, for a layer that pads."""
    padding, kind = told.get("padding"), str(told["kind"])
    if padding is None or not (padding == SAME or any(map(any, padding))):
        told.pop("count_include_pad", None)  # of no effect
    elif told.get("padding_mode", "zeros") == "zeros":
        told["padding_value"] = -math.inf if "MaxPool" in kind else 0.0


def by_rule(told: Mapping[str, object]) -> tuple[Sides | str, bool]:
    """TensorFlow's rule in numbers, and whether windows may reach beyond the end (ceil_mode).

    The rule pads to ceil(size / stride) outputs, the odd row at the far end. It is a fixed
    padding at stride one, none where a window is one wide, and like PyTorch's ceil_mode in
    poolings by two; else it depends on the size of the input and stays SAME.
    """
    kind, kernel, stride = str(told["kind"]), told["kernel_size"], told["stride"]
    dilation = told.get("dilation") or (1,) * len(kernel)
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
    """A constant padding and the layer behind it told as that layer, if the two are just that."""
    if len(parts) != 2:
        return None
    pad, layer = parts
    kind, sides = str(layer["kind"]), layer.get("padding")
    alike = re.fullmatch(r"(Conv|MaxPool|AvgPool)[123]d", kind)
    if not (alike and str(pad["kind"]).startswith("ConstantPad") and isinstance(sides, tuple)):
        return None
    if any(map(any, sides)) or len(sides) != len(pad.get("padding", ())):
        return None
    told = {**layer, "padding": pad["padding"], "padding_value": float(pad["value"])}
    if "AvgPool" in kind:
        told["count_include_pad"] = True
    return told
