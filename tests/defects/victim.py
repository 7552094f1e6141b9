"""What a mistake is put into: a case of a right twin, and the layers that are to be blamed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

WHOLE = ("",)
"""The network itself, or a twin that is a single layer."""


@dataclass(frozen=True)
class Victim:
    """A case of a right twin, and where in it a mistake is made.

    `twin` and `where` choose the case, as in a `Defect`. `layers` are the reference paths that a
    diagnosis must name; of a pipeline they are stages, of an initialisation weights. So
    `RESNET18.compiled.at("conv1")` is the first convolution of a ResNet18 in graph mode.
    """

    twin: str
    where: Mapping[str, Any]
    layers: tuple[str, ...] = WHOLE

    def at(self, *layers: str) -> "Victim":
        """The same case, with the mistake in these layers of it."""
        return replace(self, layers=layers)

    @property
    def compiled(self) -> "Victim":
        """In graph mode."""
        return self._with(execution="graph")

    @property
    def in_half(self) -> "Victim":
        """In half precision."""
        return self._with(dtype="float16")

    @property
    def evaluated(self) -> "Victim":
        """In the evaluation phase."""
        return self._with(phase="eval")

    def _with(self, **axis: str) -> "Victim":
        return replace(self, where={**self.where, **axis})


def victim(twin: str, **where: Any) -> Victim:
    """The first case of a twin with these in its configuration: `victim("resnet", depth=18)`."""
    return Victim(twin, where)


# Those that several families share.
IDENTITY = victim("basic_block", planes=32, stride=1)
PROJECTED = victim("basic_block", planes=64, stride=2)
BOTTLENECK = victim("bottleneck", inplanes=64, stride=2)
RESNET18 = victim("resnet", depth=18)
RESNET50 = victim("resnet", depth=50)
