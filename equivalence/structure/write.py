"""What to write in MindSpore so that a setting of a layer is the original's. No framework here."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

NAMES = {
    "bias": "has_bias",
    "dim": "axis",
    "embedding_dim": "embedding_size",
    "eps": "epsilon",
    "groups": "group",
    "negative_slope": "alpha",
    "num_embeddings": "vocab_size",
}
"""Argument of PyTorch -> argument of `mindspore.nn`, where that has another name for it."""

OF_PADDED = ("ceil_mode", "count_include_pad", "dilation", "divisor_override")
"""What a pooling of `mindspore.nn` takes only where its `pad_mode` is "pad"."""

STATISTICS = {"in training": None, "always": True, "never": False}
"""When a normalisation takes the statistics of a batch -> `use_batch_statistics`."""


def to_write(made_by: str, takes: Collection[str], name: str, value: object) -> str:
    """The arguments of a cell's constructor that give it a setting; "" where none is known to.

    made_by: its class, as a port writes it: "nn.LayerNorm", "mint.nn.Conv2d".
    takes: the names of the arguments of its constructor.
    name, value: the setting, in PyTorch's words; see `settings.py`.

    >>> to_write("nn.LayerNorm", ["epsilon"], "eps", 1e-5)
    'epsilon=1e-05'
    >>> to_write("nn.Conv2d", ["pad_mode", "padding"], "padding", ((1, 1), (1, 1)))
    "pad_mode='pad', padding=1"
    """
    given = SPECIAL.get(name, lambda *_: {name: value})(made_by, takes, value)
    if name in OF_PADDED and "Pool" in made_by and "pad_mode" in takes:
        given = {"pad_mode": "pad", **given}
    renamed = {each if each in takes else NAMES.get(each, each): v for each, v in given.items()}
    if not renamed or not all(each in takes and _plain(v) for each, v in renamed.items()):
        return ""
    return ", ".join(f"{each}={v!r}" for each, v in renamed.items())


def given_as(made_by: str, takes: Collection[str], name: str, value: object) -> str:
    """What a port gives for a setting whose argument has another value in MindSpore; else "".

    >>> given_as("nn.BatchNorm2d", ["momentum", "use_batch_statistics"], "momentum", 0.1)
    'momentum=0.9'
    """
    written = to_write(made_by, takes, name, value) if name in OTHER_VALUES else ""
    return "" if written == f"{name}={value!r}" else written


def _plain(value: object) -> bool:
    """Whether a value is written as it is shown."""
    if isinstance(value, tuple):
        return all(map(_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def _padding(_: str, takes: Collection[str], sides: object) -> Mapping[str, Any]:
    """The padding of a window, from the elements before and after each spatial axis."""
    if not isinstance(sides, tuple):
        return {}
    even = all(before == after for before, after in sides)
    if not any(map(any, sides)) and "pad_mode" in takes:
        return {"pad_mode": "valid"}
    if not even:
        flat = tuple(each for side in sides for each in side)
        convolves = len(sides) == 2 and {"pad_mode", "has_bias"} <= {*takes}
        return {"pad_mode": "pad", "padding": flat} if convolves else {}
    each = tuple(before for before, _ in sides)
    padding = each[0] if len({*each}) == 1 else each
    if "pad_mode" not in takes:
        return {"padding": padding}
    if not isinstance(padding, int) and "has_bias" in takes:  # a convolution takes all sides
        padding = tuple(size for size in each for _ in range(2))
    return {"pad_mode": "pad", "padding": padding}


def _momentum(_: str, takes: Collection[str], value: Any) -> Mapping[str, Any]:
    """The momentum of a BatchNorm, which `mindspore.nn` takes as the share of what was before."""
    before = isinstance(value, int | float) and "use_batch_statistics" in takes
    return {"momentum": round(1.0 - value, 15) if before else value}


def _approximate(made_by: str, _: Collection[str], value: object) -> Mapping[str, Any]:
    """Which GELU: `mindspore.nn` takes whether it is approximate."""
    return {"approximate": value != "none" if made_by == "nn.GELU" else value}


def _statistics(_: str, takes: Collection[str], value: object) -> Mapping[str, Any]:
    """When a BatchNorm takes the statistics of a batch."""
    if "use_batch_statistics" in takes and value in STATISTICS:
        return {"use_batch_statistics": STATISTICS[value]}
    return {}


def _nothing(*_: object) -> Mapping[str, Any]:
    return {}


SPECIAL: Mapping[str, Callable[[str, Collection[str], object], Mapping[str, Any]]] = {
    "approximate": _approximate,
    "batch_statistics": _statistics,
    "kind": _nothing,
    "momentum": _momentum,
    "padding": _padding,
}
"""Settings that MindSpore takes in another form -> how."""

OTHER_VALUES = ("approximate", "momentum")
"""Settings of which an argument of the same name has another value in MindSpore."""
