"""The configuration of PyTorch modules in the words of `configuration`."""

import contextlib
from typing import Any

from torch import nn

from equivalence.sides import settings as configuration
from equivalence.sides.settings import convert, dimensions, reversed_pairs, spread

_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)


def settings(module: nn.Module) -> dict[str, object]:
    """Kind and configuration of one module, as plain values; children are not looked into.

    A Sequential of a constant padding and a convolution or pooling is told as the latter. An
    attribute that cannot be read is left out; nothing raises.
    """
    if type(module) is nn.Sequential:
        with contextlib.suppress(Exception):
            children = list(module.children())
            if len(children) == 2 and (told := configuration.folded([*map(settings, children)])):
                return told
    cls = configuration.library_class(module, "torch.", (nn.Module, object))
    if issubclass(cls, nn.Linear):
        cls = nn.Linear  # attention has one of its own, that differs in how it is quantised
    own = type(module).forward is not cls.forward
    if own and issubclass(cls, _CONTAINERS):
        cls = type(module)
    told: dict[str, object] = {"kind": cls.__name__, **configuration.arguments(module, cls)}
    if not cls.__module__.startswith("torch."):
        told[configuration.OWN] = True
    with contextlib.suppress(Exception):
        _adjust(module, told)
    if own:
        # A forward pass of its own may pad first, as TensorFlow's rule is usually written.
        for name in ("padding", "padding_value"):
            told.pop(name, None)
    with contextlib.suppress(Exception):
        _add_frozen(module, told)
    return told


def _adjust(module: nn.Module, told: dict[str, object]) -> None:
    kind = str(told["kind"])
    axes = dimensions(kind)
    if "Pad" in kind:
        _adjust_padding(kind, told)
    elif kind.startswith("Adaptive"):
        convert(told, "output_size", lambda size: spread(size, axes))
    elif "Conv" in kind or "Pool" in kind:
        configuration.of_windows(told)
    elif kind == "Linear":
        told["activation"] = "none"
    elif kind.startswith("Upsample"):
        convert(told, "align_corners", bool)
        convert(told, "recompute_scale_factor", bool)
    elif "BatchNorm" in kind:
        tracked = told.pop("track_running_stats")
        told["batch_statistics"] = "in training" if tracked else "always"
    elif kind == "LayerNorm":
        told["normalized_dims"] = tuple(range(-len(module.normalized_shape), 0))
    if configuration.normalizes(kind):
        trained = any(p.requires_grad for p in module.parameters(False))
        convert(told, configuration.affine(kind), lambda given: given and trained)


def _adjust_padding(kind: str, told: dict[str, object]) -> None:
    if kind.startswith("ZeroPad"):
        told["kind"] = kind.replace("Zero", "Constant")
        told["value"] = 0.0
    convert(told, "padding", reversed_pairs)
    convert(told, "value", float)


def _add_frozen(module: Any, told: dict[str, object]) -> None:
    """Names of the module's own weights that are not trained; constants of a norm are told as
    no scale and shift."""
    if told.get(configuration.affine(str(told["kind"]))) is False:
        return
    frozen = tuple(n for n, p in module.named_parameters(recurse=False) if not p.requires_grad)
    if frozen:
        told["frozen"] = frozen
