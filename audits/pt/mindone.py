"""The originals of mindone's ports: networks of transformers, in a small configuration."""

from typing import Any

import transformers
from torch import Tensor, nn

from audits import tiny

transformers.logging.set_verbosity_error()


class Tensors(nn.Module):
    """A network that gives the floating-point tensors of what it returns, in order."""

    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net

    def forward(self, **inputs: Tensor) -> tuple[Tensor, ...]:
        return tiny.floating(self.net(**inputs), Tensor)


def network(family: str, name: str, **own: Any) -> nn.Module:
    """A network of transformers by its family and name; `own` as for `tiny.network`."""
    return Tensors(tiny.network("transformers.models", family, name, **own))
