"""What the cells of a MindSpore network give, and the cotangents that come back to them."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from equivalence import nesting
from equivalence.sides.mindspore_pullback import flatten
from equivalence.structure.layers import Sink, Site


@contextlib.contextmanager
def observed(cell: nn.Cell, names: Mapping[str, str], sink: Sink) -> Iterator[None]:
    """A context in which `sink` gets the outputs and cotangents of cells in PyNative runs.

    names: path of a cell -> path of the reference's layer; other cells are not observed.
    """
    calls: dict[str, int] = {}
    outputs_of: dict[tuple[str, int], list[str]] = {}
    pulled: list[tuple[str, list]] = []

    def after(path: str):
        def hook(_, __, outputs):
            call = calls[path] = calls.get(path, -1) + 1
            leaves = nesting.named(outputs)
            outputs_of[path, call] = list(leaves)
            for name, out in leaves.items():
                if isinstance(out, ms.Tensor):
                    sink(Site(path, call, "output", name), array_of(out))

        return hook

    def back(path: str):
        def hook(_, gradients):
            pulled.append((path, [g if g is None else array_of(g) for g in flatten(gradients)]))

        return hook

    handles = []
    for name, part in cell.cells_and_names():
        if name in names:
            handles.append(part.register_forward_hook(after(names[name])))
            handles.append(part.register_backward_pre_hook(back(names[name])))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
    reached = Counter(path for path, _ in pulled)
    for path, gradients in pulled:  # the last call is pulled back first
        if reached[path] <= calls[path]:
            continue  # one of its calls got no gradient, and nothing says which
        call = reached[path] - 1
        for name, gradient in zip(outputs_of[path, call], gradients, strict=False):
            if gradient is not None:
                sink(Site(path, call, "cotangent", name), gradient)
        reached[path] -= 1
        calls[path] -= 1


def array_of(tensor: Any) -> np.ndarray:
    """A copy as a NumPy array: `asnumpy` may share memory with a parameter."""
    return np.array(tensor.asnumpy() if isinstance(tensor, ms.Tensor) else tensor)
