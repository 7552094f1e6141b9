"""The configuration of MindSpore cells in the words of `configuration`.

Layers of `mindspore.mint` keep PyTorch's names and conventions; those of `mindspore.nn` have
names, defaults and padding rules of their own, and hide some arguments in their primitives.
"""

import contextlib
from typing import Any

from mindspore import Parameter, nn

from equivalence.sides import settings as configuration
from equivalence.sides.settings import Sides, convert, dimensions, reversed_pairs, spread
from equivalence.sides.weights import STANDARD_RENAMES

# Class of MindSpore -> kind, which is PyTorch's class.
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
    "UpsampleExt": "Upsample",
}

# Argument of mindspore.nn -> argument of PyTorch.
WORDS = {
    "axis": "dim",
    "embedding_size": "embedding_dim",
    "epsilon": "eps",
    "group": "groups",
    "has_bias": "bias",
    "vocab_size": "num_embeddings",
}

_ROOTS = (nn.Cell, nn.LossBase, object)
_CONTAINERS = (nn.SequentialCell, nn.CellList, nn.CellDict)
_STATISTICS = ("running_mean", "running_var")


def settings(cell: nn.Cell) -> dict[str, object]:
    """Kind and configuration of one cell, as plain values; children are not looked into.

    A SequentialCell of a constant padding and a convolution or pooling is told as the latter. An
    attribute that cannot be read is left out; nothing raises.
    """
    if type(cell) is nn.SequentialCell:
        with contextlib.suppress(Exception):
            children = list(cell.cells())
            if len(children) == 2 and (told := configuration.folded([*map(settings, children)])):
                return told
    cls = configuration.library_class(cell, "mindspore.", _ROOTS)
    own = getattr(type(cell), "construct", None) is not getattr(cls, "construct", None)
    if own and issubclass(cls, _CONTAINERS):
        cls = type(cell)
    library = cls.__module__.startswith("mindspore.")
    kind = KINDS.get(cls.__name__, cls.__name__) if library else cls.__name__
    held = _held if library else getattr
    told: dict[str, object] = {"kind": kind, **configuration.arguments(cell, cls, held)}
    if library:
        with contextlib.suppress(Exception):
            _adjust(cell, cls, told)
    else:
        told[configuration.OWN] = True
    if own:
        # A forward pass of its own may pad first, as TensorFlow's rule is usually written.
        for name in ("padding", "padding_value"):
            told.pop(name, None)
    with contextlib.suppress(Exception):
        _add_frozen(cell, told)
    return told


def _held(cell: nn.Cell, name: str) -> object:
    """An argument of the constructor: an attribute of the cell, or of the primitives in it.

    Raises AttributeError where neither has it, or the primitives disagree.
    """
    if hasattr(cell, name):
        return getattr(cell, name)
    found = [v.init_attrs for v in vars(cell).values() if hasattr(v, "init_attrs")]
    found = [attributes[name] for attributes in found if name in attributes]
    if not found or any(value != found[0] for value in found):
        raise AttributeError(name)
    return found[0]


def _adjust(cell: Any, cls: type, told: dict[str, object]) -> None:
    kind = str(told["kind"])
    axes = dimensions(kind)
    configuration.rename(told, WORDS)
    if "Pad" in kind:
        _adjust_padding(cell, told)
    elif kind.startswith("Adaptive"):
        convert(told, "output_size", lambda size: spread(size, axes))
    elif "Conv" in kind or "Pool" in kind:
        if "pad_mode" in told:
            _adjust_windows(cell, told)
        else:
            configuration.of_windows(told)
    elif configuration.normalizes(kind):
        _adjust_norm(cell, told)
    elif kind.startswith("Dropout"):
        _adjust_dropout(cell, told)
    elif kind.endswith("Loss"):
        _adjust_loss(cell, cls, told)
    elif kind == "Linear":
        held = getattr(cell, "activation", None)
        told["activation"] = "none" if held is None else settings(held)["kind"]
    elif kind.startswith("Upsample"):
        convert(told, "align_corners", bool)
        convert(told, "recompute_scale_factor", bool)
    elif kind == "LeakyReLU":
        configuration.rename(told, {"alpha": "negative_slope"})
    elif kind == "PReLU":
        told["num_parameters"] = int((cell.w if hasattr(cell, "w") else cell.weight).shape[0])


def _adjust_windows(cell: Any, told: dict[str, object]) -> None:
    """The rules of mindspore.nn: a pad_mode, kernels with leading ones in one dimension."""
    kind, mode = str(told["kind"]), str(told.pop("pad_mode")).lower()
    axes = dimensions(kind)
    given = told.pop("padding", None)
    if "Conv" in kind:
        told["padding_mode"] = "zeros"
    else:
        told.setdefault("ceil_mode", False)
        convert(told, "ceil_mode", bool)
    if "MaxPool" in kind:
        told.setdefault("dilation", 1)
    if "AvgPool" in kind:
        told.setdefault("count_include_pad", True)
        told["divisor_override"] = told.get("divisor_override") or None
    for name in ("kernel_size", "stride", "dilation", "output_padding"):
        convert(told, name, lambda value: spread(value, axes))
    with contextlib.suppress(Exception):
        if mode == "valid":
            told["padding"] = ((0, 0),) * axes
        elif mode == "same":
            told["padding"], reaches_beyond = configuration.by_rule(told)
            if "Pool" in kind:
                told["ceil_mode"] = reaches_beyond
                told["count_include_pad"] = False
        elif "Conv" in kind:
            told["padding"] = _pairs(given, axes)
        else:
            told["padding"] = _pooled(cell, axes)
    if "AvgPool" not in kind:
        told.pop("count_include_pad", None)
    configuration.border(told)


def _pairs(padding: Any, axes: int) -> Sides:
    """A number, or (top, bottom, left, right), maybe after pairs of axes that are not there."""
    if isinstance(padding, int):
        return ((padding, padding),) * axes
    return reversed_pairs(padding)[::-1][-axes:]


def _pooled(cell: Any, axes: int) -> Sides:
    """What a pooling pads by, as its primitive has it."""
    if hasattr(cell, "avg_pool"):
        return _pairs(_held(cell, "pad"), axes)
    attributes = cell.max_pool.init_attrs
    each = attributes["pads"] if "pads" in attributes else attributes["pad_list"]
    return tuple((p, p) for p in spread(each, axes))


def _adjust_norm(cell: Any, told: dict[str, object]) -> None:
    kind = str(told["kind"])
    if kind == "BatchNorm3d" and hasattr(cell, "bn2d"):  # a shell around one of two dimensions
        told |= {**settings(cell.bn2d), "kind": kind}
        return
    if "BatchNorm" in kind and "track_running_stats" in told:
        told["batch_statistics"] = "in training" if told.pop("track_running_stats") else "always"
    elif "BatchNorm" in kind and "use_batch_statistics" in told:
        forced = told.pop("use_batch_statistics")
        names = {None: "in training", True: "always", False: "never"}
        told["batch_statistics"] = names[forced]
        # The cell keeps 1 - momentum, with its rounding.
        convert(told, "momentum", lambda share: round(share, 15))
    elif kind == "LayerNorm":
        first = told.pop("begin_norm_axis", -len(told["normalized_shape"]))
        told.pop("begin_params_axis", None)
        if first < 0:  # counted from the front, it depends on the rank of the input
            told["normalized_dims"] = tuple(range(first, 0))
    elif "InstanceNorm" in kind:
        told.pop("momentum", None)  # its meaning is not documented
    held = [getattr(cell, name, None) for name in ("gamma", "beta", "weight", "bias")]
    trained = any(isinstance(p, Parameter) and p.requires_grad for p in held)
    told[configuration.affine(kind)] = trained


def _adjust_dropout(cell: Any, told: dict[str, object]) -> None:
    kept = told.pop("keep_prob", None)
    if told.get("p") is None:
        told["p"] = cell.prob if kept is None and hasattr(cell, "prob") else None
        if told["p"] is None:
            told["p"] = round(1.0 - (cell.keep_prob if kept is None else kept), 15)


def _adjust_loss(cell: Any, cls: type, told: dict[str, object]) -> None:
    if "reduction" not in told and isinstance(cell, nn.LossBase):
        told["reduction"] = ("mean" if cell.average else "sum") if cell.reduce else "none"
    if cls is nn.SoftmaxCrossEntropyWithLogits:
        told.pop("sparse", None)  # class numbers or distributions, which PyTorch tells by dtype
        told |= {"label_smoothing": 0.0, "weight": "none"}


def _adjust_padding(cell: Any, told: dict[str, object]) -> None:
    kind = str(told["kind"])
    if kind.startswith("ZeroPad"):
        told["kind"] = kind.replace("Zero", "Constant")
        told["value"] = 0.0
    if kind == "Pad":
        leading, spatial = cell.paddings[:2], cell.paddings[2:]
        if cell.mode == "CONSTANT" and spatial and not any(map(any, leading)):
            told.clear()
            told |= {"kind": f"ConstantPad{len(spatial)}d", "value": 0.0}
            told["padding"] = tuple((int(before), int(after)) for before, after in spatial)
        return
    if "padding" in told and isinstance(cell.padding[0], list):  # a reflection keeps pairs
        told["padding"] = tuple((int(before), int(after)) for before, after in cell.padding)
    else:
        convert(told, "padding", reversed_pairs)
    convert(told, "value", float)


def _add_frozen(cell: nn.Cell, told: dict[str, object]) -> None:
    """The reference's names of the cell's own weights that are not trained; constants of a norm
    are told as no scale and shift."""
    names = {**STANDARD_RENAMES, "w": "weight"}
    parameters = {name.rpartition(".")[2]: p for name, p in cell.parameters_and_names(expand=False)}
    frozen = [names.get(n, n) for n, p in parameters.items() if not p.requires_grad]
    constant = told.get(configuration.affine(str(told["kind"]))) is False
    skipped = (*_STATISTICS, "num_batches_tracked", *(("weight", "bias") if constant else ()))
    frozen = tuple(name for name in frozen if name not in skipped)
    if frozen:
        told["frozen"] = frozen
