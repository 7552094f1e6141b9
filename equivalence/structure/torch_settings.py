"""The configuration of PyTorch modules, in the vocabulary of `settings`."""

from typing import Any

from torch import nn

from equivalence.structure import settings as configuration
from equivalence.structure.settings import convert, dimensions, reading, reversed_pairs, spread

_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)


def settings(module: nn.Module) -> dict[str, Any]:
    """The kind and the configuration of one module, as plain values; its children are left out.

    A Sequential of a constant padding and a convolution or pooling counts as one padded layer. An
    attribute that cannot be read is told as `Unread`; nothing raises.
    """
    two = type(module) is nn.Sequential and len(module) == 2
    if two and (folded := configuration.folded([*map(settings, module)])):
        return folded
    cls = configuration.library_class(module, "torch.", (nn.Module, object))
    if issubclass(cls, nn.Linear):
        cls = nn.Linear  # attention has a subclass that differs in quantisation only
    own = type(module).forward is not getattr(cls, "forward", None)
    if own and issubclass(cls, _CONTAINERS):
        cls = type(module)
    library = cls.__module__.startswith("torch.")
    told = configuration.arguments(module, cls, library=library)
    config: dict[str, Any] = {"kind": cls.__name__, **told}
    if not library:
        config[configuration.OWN] = True
        configuration.add_epsilon(module, config)
    with reading(config):
        _adjust(module, config)
    if own:
        # The model's own forward pass may pad first; TensorFlow's rule is usually written so.
        for name in ("padding", "padding_value"):
            config.pop(name, None)
    return config


def _adjust(module: nn.Module, config: dict[str, Any]) -> None:
    kind = str(config["kind"])
    axes = dimensions(kind)
    if "Pad" in kind:
        _adjust_padding(kind, config)
    elif kind.startswith("Adaptive"):
        convert(config, "output_size", lambda size: spread(size, axes))
    elif "Conv" in kind or "pool" in kind.lower():
        configuration.of_windows(config)
    elif kind == "Linear":
        config["activation"] = "none"
    elif kind.startswith("Upsample"):
        convert(config, "align_corners", bool)
        convert(config, "recompute_scale_factor", bool)
    elif "BatchNorm" in kind:
        config["batch_statistics"] = config.pop("track_running_stats")
        convert(config, "batch_statistics", lambda on: "in training" if on else "always")
    elif kind == "LayerNorm":
        config["normalized_dims"] = tuple(range(-len(module.normalized_shape), 0))
    if configuration.normalizes(kind):
        trained = any(p.requires_grad for p in module.parameters(False))
        convert(config, configuration.affine(kind), lambda given: given and trained)


def _adjust_padding(kind: str, config: dict[str, Any]) -> None:
    if kind.startswith("ZeroPad"):
        config["kind"] = kind.replace("Zero", "Constant")
        config["value"] = 0.0
    convert(config, "padding", reversed_pairs)
    convert(config, "value", float)
