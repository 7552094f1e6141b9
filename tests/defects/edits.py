"""Changes to a built cell, small enough that a catalogue's line reads as the mistake."""

from collections.abc import Callable
from typing import Any

from mindspore import nn

Edit = Callable[[nn.Cell], nn.Cell | None]


def layer(cell: nn.Cell, path: str) -> Any:
    """The layer at a dotted path of the candidate; "" is the cell itself."""
    for name in filter(None, path.split(".")):
        cell = cell[int(name)] if isinstance(cell, nn.SequentialCell) else getattr(cell, name)
    return cell


def replaced(make: Callable[[nn.Cell], Any], *paths: str) -> Edit:
    """Put `make(layer)` in place of the layer at each path."""

    def edit(cell: nn.Cell) -> None:
        for path in paths:
            parent, _, name = path.rpartition(".")
            parent = layer(cell, parent)
            changed = make(layer(parent, name))
            if isinstance(parent, nn.SequentialCell):
                parent[int(name)] = changed  # its list of cells is what it calls
            else:
                setattr(parent, name, changed)
        # Graph mode wants every name once; a replaced layer knows only the end of its own.
        for path, parameter in cell.parameters_and_names():
            parameter.name = path

    return edit


def recast(kind: type[nn.Cell], *paths: str) -> Edit:
    """Let each layer compute as a subclass of its kind does, with its own weights and settings."""

    def edit(cell: nn.Cell) -> None:
        for path in paths:
            layer(cell, path).__class__ = kind

    return edit


def together(*edits: Edit) -> Edit:
    """One edit after the other."""

    def edit(cell: nn.Cell) -> None:
        for each in edits:
            each(cell)

    return edit


def norms_with(*paths: str, **settings: Any) -> Edit:
    """BatchNorms built with `settings`, for the layers at these paths."""
    return replaced(lambda old: nn.BatchNorm2d(old.num_features, **settings), *paths)


def convolutions_with(*paths: str, **settings: Any) -> Edit:
    """Convolutions that differ from those at these paths in `settings` alone."""

    def make(old: nn.Conv2d) -> nn.Conv2d:
        as_it_was = {
            "kernel_size": old.kernel_size,
            "stride": old.stride,
            "pad_mode": old.pad_mode,
            "padding": old.padding,
            "dilation": old.dilation,
            "group": old.group,
            "has_bias": old.has_bias,
        }
        return nn.Conv2d(old.in_channels, old.out_channels, **{**as_it_was, **settings})

    return replaced(make, *paths)


def convolution_with(**settings: Any) -> Edit:
    """As `convolutions_with`, of a cell that is itself a convolution."""

    def edit(cell):
        held = nn.SequentialCell(cell)
        convolutions_with("0", **settings)(held)
        return held[0]

    return edit
