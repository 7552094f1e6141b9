"""mindone's ports of networks of transformers, in a small configuration."""

from typing import Any

from mindspore import Tensor, nn

from audits import tiny


class Tensors(nn.Cell):
    """A network that gives the floating-point tensors of what it returns, in order."""

    def __init__(self, net: nn.Cell):
        super().__init__()
        self.net = net

    def construct(self, **inputs: Tensor) -> tuple[Tensor, ...]:
        return tiny.floating(self.net(**inputs), Tensor)


def network(family: str, name: str, **own: Any) -> nn.Cell:
    """A port by its family and name; `own` as for `tiny.network`."""
    return Tensors(tiny.network("mindone.transformers.models", family, name, **own))
