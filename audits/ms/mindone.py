"""mindone's ports of networks of transformers, in a small configuration; some with a change."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from unittest import mock

import mindspore as ms
from mindone.transformers import modeling_utils
from mindspore import Tensor, mint, nn, ops

from audits import tiny

TABLES = ("position_ids", "embed_positions.weight")
"""What ends the names of tables that are no weights."""


class Tensors(nn.Cell):
    """A network that gives the floating-point tensors of what it returns, in order.

    changed: a context in which it runs.
    """

    def __init__(self, net: nn.Cell, changed: Callable[[], AbstractContextManager] = nullcontext):
        super().__init__()
        self.net, self.changed = net, changed

    def construct(self, **inputs: Tensor) -> tuple[Tensor, ...]:
        with self.changed():
            return tiny.floating(self.net(**inputs), Tensor)


def network(family: str, name: str, **own: Any) -> nn.Cell:
    """A port by its family and name; `own` as for `tiny.network`."""
    return Tensors(_built(family, name, **own))


def with_frozen_tables(family: str, name: str, **own: Any) -> nn.Cell:
    """A port whose tables are no trainable parameters."""
    net = _built(family, name, **own)
    for path, weight in net.parameters_and_names():
        if path.endswith(TABLES):
            weight.requires_grad = False
    return Tensors(net)


def with_weights_of_float32(family: str, name: str, **own: Any) -> nn.Cell:
    """A port whose weights are all float32."""
    net = _built(family, name, **own)
    for weight in net.get_parameters():
        weight.set_dtype(ms.float32)
    return Tensors(net)


def without_initial_weights(family: str, name: str, **own: Any) -> nn.Cell:
    """A port that is built without drawing its weights, which a comparison draws."""
    with mock.patch.object(modeling_utils.PreTrainedModel, "init_weights"):
        return Tensors(_built(family, name, **own))


def with_another_split(family: str, name: str, **own: Any) -> nn.Cell:
    """A port with `ops.split` in the place of `mint.split`."""

    def split(tensor: Tensor, size: Any, dim: int = 0) -> tuple[Tensor, ...]:
        return ops.split(tensor, size, dim)

    return Tensors(_built(family, name, **own), lambda: mock.patch.object(mint, "split", split))


def with_other_zeros(family: str, name: str, **own: Any) -> nn.Cell:
    """A port whose `mint.zeros` takes the sizes one by one, too."""
    zeros = mint.zeros

    def any_zeros(*sizes: Any, dtype: Any = None) -> Tensor:
        return zeros(sizes if isinstance(sizes[0], int) else sizes[0], dtype=dtype)

    return Tensors(_built(family, name, **own), lambda: mock.patch.object(mint, "zeros", any_zeros))


def _built(family: str, name: str, **own: Any) -> nn.Cell:
    return tiny.network("mindone.transformers.models", family, name, **own)
