"""The originals of mindone's ports, in a small configuration; some with a difference taken out."""

import math
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from audits import tiny

transformers.logging.set_verbosity_error()


class WithoutLayerDrop(TorchFunctionMode):
    """A mode in which the number by which a layer may be left out is not drawn.

    Some networks draw it in evaluation, too, and do not use it there.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.rand and args == ([],):
            return torch.ones(())
        return func(*args, **(kwargs or {}))


class Tensors(nn.Module):
    """A network that gives the floating-point tensors of what it returns, in order."""

    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net

    def forward(self, **inputs: Tensor) -> tuple[Tensor, ...]:
        with WithoutLayerDrop():
            return tiny.floating(self.net(**inputs), Tensor)


def network(family: str, name: str, **own: Any) -> nn.Module:
    """A network of transformers by its family and name; `own` as for `tiny.network`."""
    return Tensors(tiny.network("transformers.models", family, name, **own))


def fnet_without_gradient(family: str, name: str, **own: Any) -> nn.Module:
    """FNet whose Fourier transform passes no gradient."""
    made = network(family, name, **own)
    for layer in made.net.encoder.layer:
        part = layer.fourier.self
        part.fourier_transform = _detached(part.fourier_transform)
    return made


def _detached(function: Any) -> Any:
    return lambda x: function(x).detach()


class Expectation:
    """YOSO's expectation, differentiated as it stands."""

    @staticmethod
    def apply(query_mask, key_mask, query, key, value, config):
        angles = torch.acos(torch.matmul(query, key.transpose(-1, -2)))
        expectation = (1 - angles / math.pi) ** config["hash_code_len"]
        return torch.matmul(expectation * query_mask[:, :, None] * key_mask[:, None, :], value)


class Differentiated(Tensors):
    """YOSO with the derivative of its expectation."""

    def forward(self, **inputs: Tensor) -> tuple[Tensor, ...]:
        home = transformers.models.yoso.modeling_yoso
        declared, home.YosoCumulation = home.YosoCumulation, Expectation
        try:
            return super().forward(**inputs)
        finally:
            home.YosoCumulation = declared


def yoso_differentiated(family: str, name: str, **own: Any) -> nn.Module:
    """YOSO with the derivative of its expectation in the place of its own."""
    return Differentiated(network(family, name, **own).net)
