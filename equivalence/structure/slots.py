"""The weights of a network without their values."""

from dataclasses import dataclass, field

CONSTANT, UNSAVED = "constant", "unsaved constant"
"""Kinds of buffers that are not drawn: they keep what the constructor made. A checkpoint lacks an
unsaved one."""

STATISTICS = ("running_mean", "running_var")
"""PyTorch's names, in a layer, of the buffers of a normalisation, which are drawn on both sides.
Any other buffer may be a constant."""


@dataclass(frozen=True)
class Slot:
    """A weight of a network, without its values.

    shape: its shape.
    kind: "parameter", "buffer", CONSTANT or UNSAVED. Nothing is drawn for a constant.
    names: the other names of a weight that several layers share; a record does not hold them.
    """

    shape: tuple[int, ...]
    kind: str
    names: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_constant(self) -> bool:
        """Whether the weight is not drawn."""
        return self.kind in (CONSTANT, UNSAVED)

    def __str__(self) -> str:
        return f"{self.kind} {self.shape}"
