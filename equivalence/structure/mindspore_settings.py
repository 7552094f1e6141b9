"""The configuration of MindSpore cells, in the vocabulary of `settings`.

Layers of `mindspore.mint` have PyTorch's names and conventions. Layers of `mindspore.nn` have their
own names, defaults and padding rules, and keep some arguments in their primitives only.
"""

import re
from collections.abc import Mapping
from typing import Any

from mindspore import Parameter, nn
from mindspore.train import amp

from equivalence.judge.settings import Unread
from equivalence.structure import settings as configuration
from equivalence.structure.settings import Sides, convert, dimensions, reversed_pairs, spread

KINDS = {
    "AvgPool1dExt": "AvgPool1d",
    "AvgPool2dExt": "AvgPool2d",
    "AvgPool3dExt": "AvgPool3d",
    "CellDict": "ModuleDict",
    "CellList": "ModuleList",
    "Conv1dTranspose": "ConvTranspose1d",
    "Conv2dTranspose": "ConvTranspose2d",
    "Conv3dTranspose": "ConvTranspose3d",
    "Dense": "Linear",
    "Dropout2dExt": "Dropout2d",
    "DropoutExt": "Dropout",
    "EmbeddingExt": "Embedding",
    "HShrink": "Hardshrink",
    "HSigmoid": "Hardsigmoid",
    "HSwish": "Hardswish",
    "L1LossExt": "L1Loss",
    "LRN": "LocalResponseNorm",
    "LayerNormExt": "LayerNorm",
    "LogSoftmaxExt": "LogSoftmax",
    "MAELoss": "L1Loss",
    "MaxPool2dExt": "MaxPool2d",
    "MultilabelMarginLoss": "MultiLabelMarginLoss",
    "PReLUExt": "PReLU",
    "SeLU": "SELU",
    "SequentialCell": "Sequential",
    "SoftShrink": "Softshrink",
    "SoftmaxCrossEntropyWithLogits": "CrossEntropyLoss",
    "SoftmaxExt": "Softmax",
    "UnfoldExt": "Unfold",
    "UpsampleExt": "Upsample",
}
"""Class of MindSpore -> kind: the name of PyTorch's class."""

WORDS = {
    "axis": "dim",
    "embedding_size": "embedding_dim",
    "epsilon": "eps",
    "group": "groups",
    "has_bias": "bias",
    "vocab_size": "num_embeddings",
}
"""Argument of `mindspore.nn` -> argument of PyTorch."""

FIXED: Mapping[str, Mapping[str, Any]] = {
    "AvgPool": {"ceil_mode": False, "count_include_pad": True, "divisor_override": None},
    "MaxPool": {"ceil_mode": False, "dilation": 1},
    "MaxPool3D": {"dilation": 1},
}
"""Primitive -> what its layer can be told and it cannot: it is as it is by default."""

BY_FLAGS = (
    *(nn.MSELoss, nn.FocalLoss, nn.MultiMarginLoss, nn.CosineEmbeddingLoss, nn.PoissonNLLLoss),
    *(nn.MultilabelMarginLoss, nn.MAELoss, nn.SampledSoftmaxLoss),
)
"""Losses that hold their reduction as two flags alone."""

_ROOTS = (nn.Cell, nn.LossBase, object)
_CONTAINERS = (nn.SequentialCell, nn.CellList, nn.CellDict)


CASTING = amp.__name__
"""The module of the cells that cast what a cell within them gives."""


def settings(cell: nn.Cell) -> dict[str, Any]:
    """The kind and the configuration of one cell, as plain values; its children are left out.

    A SequentialCell of a constant padding and a convolution or pooling counts as one padded layer,
    and what level O2 puts around a norm, which casts what it gives, as the norm.
    An attribute that cannot be read is told as `Unread`; nothing raises.
    """
    cell = wrapped(cell)
    two = type(cell) is nn.SequentialCell and len(cell) == 2
    if two and (folded := configuration.folded([*map(settings, cell.cells())])):
        return folded
    cls = configuration.library_class(cell, "mindspore.", _ROOTS)
    own = getattr(type(cell), "construct", None) is not getattr(cls, "construct", None)
    own = own and not _rewritten(type(cell), cls)
    if own and issubclass(cls, _CONTAINERS):
        cls = type(cell)
    library = cls.__module__.startswith("mindspore.")
    kind = KINDS.get(cls.__name__, cls.__name__) if library else cls.__name__
    read = _read if library else getattr
    told = configuration.arguments(cell, cls, read, library)
    config: dict[str, Any] = {"kind": kind, **told}
    if library:
        with configuration.reading(config):
            _adjust(cell, cls, config)
    else:
        config[configuration.OWN] = True
        configuration.add_epsilon(cell, config)
    if own:
        # The model's own forward pass may pad first; TensorFlow's rule is usually written so.
        for name in ("padding", "padding_value"):
            config.pop(name, None)
    return config


def wrapped(cell: nn.Cell) -> nn.Cell:
    """The cell within what level O2 puts around it; any other cell as it is."""
    within = getattr(cell, "_backbone", None) if type(cell).__module__ == CASTING else None
    return wrapped(within) if isinstance(within, nn.Cell) else cell


def _rewritten(made: type, cls: type) -> bool:
    """Whether MindSpore itself has made a class of another one, as level O1 does to write casts."""
    named = re.fullmatch(rf"{cls.__name__}Opt(_\d+)?", made.__name__)
    return bool(named and re.search(r"Opt(_\d+)+$", made.__module__))


def made_by(cell: nn.Cell) -> tuple[str, tuple[str, ...]]:
    """The class of a cell as a port writes it, and the arguments that this takes.

    Both are empty for a class of the model's own.

    >>> made_by(nn.LeakyReLU(0.1))
    ('nn.LeakyReLU', ('alpha',))
    """
    cls = wrapped(cell).__class__
    if not cls.__module__.startswith("mindspore."):
        return "", ()
    library = "nn" if getattr(nn, cls.__name__, None) is cls else "mint.nn"
    return f"{library}.{cls.__name__}", configuration.constructor(cls)


def _read(cell: nn.Cell, name: str) -> object:
    """An argument of the constructor: an attribute of the cell, of its primitives, of its like.

    Raises AttributeError where none has it, and ValueError where the primitives disagree.
    """
    if hasattr(cell, name):
        return getattr(cell, name)
    primitives = [each for each in vars(cell).values() if hasattr(each, "init_attrs")]
    told = [{**FIXED.get(each.name, {}), **each.init_attrs} for each in primitives]
    values = [attributes[name] for attributes in told if name in attributes]
    alike = [each for each in cell.cells() if type(each).__name__ == type(cell).__name__]
    if not values and alike:  # a loss of mint wraps one of nn
        return getattr(alike[0], name)
    if not values:
        raise AttributeError(name)
    if any(value != values[0] for value in values):
        raise ValueError(f"its primitives have {values}")
    return values[0]


def _adjust(cell: Any, cls: type, config: dict[str, Any]) -> None:
    kind = str(config["kind"])
    axes = dimensions(kind)
    configuration.rename(config, WORDS)
    if "Pad" in kind:
        _adjust_padding(cell, config)
    elif kind.startswith("Adaptive"):
        convert(config, "output_size", lambda size: spread(size, axes))
    elif "Conv" in kind or "pool" in kind.lower():
        if "pad_mode" in config:
            _adjust_windows(cell, config)
        else:
            configuration.of_windows(config)
    elif configuration.normalizes(kind):
        _adjust_norm(cell, cls, config)
    elif kind.startswith("Dropout"):
        _adjust_dropout(cell, config)
    elif kind.endswith("Loss"):
        _adjust_loss(cell, cls, config)
    elif kind == "Linear":
        if not isinstance(config.get("activation"), Unread):
            activation = getattr(cell, "activation", None)  # of mint, none has one
            config["activation"] = "none" if activation is None else settings(activation)["kind"]
    elif kind.startswith("Upsample"):
        convert(config, "align_corners", bool)
        convert(config, "recompute_scale_factor", bool)
    elif kind == "LocalResponseNorm":
        _adjust_local_norm(cell, config)
    elif kind == "LeakyReLU":
        configuration.rename(config, {"alpha": "negative_slope"})
    elif kind == "PReLU":
        config["num_parameters"] = int((cell.w if hasattr(cell, "w") else cell.weight).shape[0])


def _adjust_windows(cell: Any, config: dict[str, Any]) -> None:
    """Convert the arguments of a convolution or pooling of `mindspore.nn` with a `pad_mode`."""
    kind, mode = str(config["kind"]), str(config.pop("pad_mode")).lower()
    axes = dimensions(kind)
    given = config.pop("padding", None)
    if "Conv" in kind:
        config["padding_mode"] = "zeros"
    else:
        config.setdefault("ceil_mode", False)
        convert(config, "ceil_mode", bool)
    if "MaxPool" in kind:
        config.setdefault("dilation", 1)
    if "AvgPool" in kind:
        config.setdefault("count_include_pad", True)
        config["divisor_override"] = config.get("divisor_override") or None
    for name in ("kernel_size", "stride", "dilation", "output_padding"):
        convert(config, name, lambda value: spread(value, axes))
    with configuration.reading(config, "padding"):
        if mode == "valid":
            config["padding"] = ((0, 0),) * axes
        elif mode == "same":
            config["padding"], reaches_beyond = configuration.by_rule(config)
            if "Pool" in kind:
                config["ceil_mode"] = reaches_beyond
                config["count_include_pad"] = False
        elif mode != "pad":
            raise ValueError(f"pad_mode is {mode}")
        elif "Conv" in kind:
            config["padding"] = _pairs(given, axes)
            if "Transpose" in kind:
                _name_less_padding(config)
        else:
            config["padding"] = _pool_padding(cell, axes)
    if "AvgPool" not in kind:
        config.pop("count_include_pad", None)
    configuration.border(config)


def _name_less_padding(config: dict[str, Any]) -> None:
    """Call less padding at the end what PyTorch's transposed convolutions call it: output_padding.

    `mindspore.nn`'s own output_padding appends zeros, so that a right port pads less instead.
    """
    less = tuple(before - after for before, after in config["padding"])
    if any(less) and min(less) >= 0 and not any(config.get("output_padding", ())):
        config["padding"] = tuple((before, before) for before, _ in config["padding"])
        config["output_padding"] = less


def _pairs(padding: Any, axes: int) -> Sides:
    """The padding of the last `axes` axes, from a number or from (top, bottom, left, right).

    Further pairs before these belong to axes that the input lacks, and are dropped.
    """
    if isinstance(padding, int):
        return ((padding, padding),) * axes
    return reversed_pairs(padding)[::-1][-axes:]


def _pool_padding(cell: Any, axes: int) -> Sides:
    """The padding of a pooling, read from its primitive."""
    if hasattr(cell, "avg_pool"):
        return _pairs(_read(cell, "pad"), axes)
    attributes = cell.max_pool.init_attrs
    each = attributes["pads"] if "pads" in attributes else attributes["pad_list"]
    return tuple((p, p) for p in spread(each, axes))


def _adjust_norm(cell: Any, cls: type, config: dict[str, Any]) -> None:
    kind = str(config["kind"])
    if cls is nn.BatchNorm3d:  # it contains a BatchNorm2d
        config.clear()
        config |= {**settings(cell.bn2d), "kind": kind}
        return
    if "BatchNorm" in kind and "track_running_stats" in config:
        config["batch_statistics"] = config.pop("track_running_stats")
        convert(config, "batch_statistics", lambda on: "in training" if on else "always")
    elif "BatchNorm" in kind and "use_batch_statistics" in config:
        config["batch_statistics"] = config.pop("use_batch_statistics")
        names = {None: "in training", True: "always", False: "never"}
        convert(config, "batch_statistics", names.__getitem__)
        # The cell keeps 1 - momentum, with its rounding.
        convert(config, "momentum", lambda share: round(share, 15))
    elif kind == "LayerNorm":
        first = config.pop("begin_norm_axis", -len(config["normalized_shape"]))
        config.pop("begin_params_axis", None)
        if first < 0:  # from the front, the dims would depend on the input's rank
            config["normalized_dims"] = tuple(range(first, 0))
    elif "InstanceNorm" in kind:
        config.pop("momentum", None)  # its meaning is not documented
    weights = [getattr(cell, name, None) for name in ("gamma", "beta", "weight", "bias")]
    trained = any(isinstance(p, Parameter) and p.requires_grad for p in weights)
    config[configuration.affine(kind)] = trained


def _adjust_local_norm(cell: Any, config: dict[str, Any]) -> None:
    """PyTorch divides alpha by the number of channels that it looks at; MindSpore does not."""
    told = cell.lrn_op
    size = 2 * told.depth_radius + 1
    own = {"size": size, "alpha": told.alpha * size, "beta": told.beta, "k": told.bias}
    config.clear()
    config |= {"kind": "LocalResponseNorm", **own}


def _adjust_dropout(cell: Any, config: dict[str, Any]) -> None:
    if config["kind"] == "Dropout":
        kept = config.pop("keep_prob", None)  # of mint, none has one
        if config["p"] is None:
            config["p"] = kept
            convert(config, "p", lambda share: round(1.0 - share, 15))
    elif hasattr(cell, "prob"):
        config["p"] = cell.prob
    elif isinstance(config["p"], Unread):
        config["p"] = round(1.0 - cell.keep_prob, 15)


def _adjust_loss(cell: Any, cls: type, config: dict[str, Any]) -> None:
    if cls in BY_FLAGS:
        config["reduction"] = ("mean" if cell.average else "sum") if cell.reduce else "none"
    if cls is nn.SoftmaxCrossEntropyWithLogits:
        config.pop("sparse", None)  # PyTorch decides this by the dtype of the targets
        config |= {"label_smoothing": 0.0, "weight": "none"}


def _adjust_padding(cell: Any, config: dict[str, Any]) -> None:
    kind = str(config["kind"])
    if kind.startswith("ZeroPad"):
        config["kind"] = kind.replace("Zero", "Constant")
        config["value"] = 0.0
    if kind == "Pad":
        leading, spatial = cell.paddings[:2], cell.paddings[2:]
        if cell.mode == "CONSTANT" and spatial and not any(map(any, leading)):
            config.clear()
            config |= {"kind": f"ConstantPad{len(spatial)}d", "value": 0.0}
            config["padding"] = tuple((int(before), int(after)) for before, after in spatial)
        return
    if "padding" in config and isinstance(cell.padding[0], list):  # a reflection has pairs
        config["padding"] = tuple((int(before), int(after)) for before, after in cell.padding)
    else:
        convert(config, "padding", reversed_pairs)
    convert(config, "value", float)
