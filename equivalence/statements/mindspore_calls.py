"""Records the operator calls of a MindSpore run in PyNative mode, and replaces values in it."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from equivalence.randomness.interception import Dispatch
from equivalence.statements.calls import Recording, here

Spot = tuple[int, str, int]
"""The number of a call, "input" or "output", and the position of a tensor among them."""


class MindSporeCalls:
    """Records every operator of a run. Indexing, which MindSpore does not dispatch, is one, too.

    network: the cell that runs.
    replaced: spot -> the values that a tensor gets there; such a run is not recorded.
    recording: the run as data.
    """

    def __init__(self, network: nn.Cell, replaced: Mapping[Spot, np.ndarray] | None = None):
        self.number = 0
        self.paths = {id(cell): path for path, cell in network.cells_and_names()}
        self.replaced = replaced or {}
        self.recording = Recording()
        self._within = False

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """A context in which runs are recorded."""
        kept = {n: ms.Tensor.__dict__.get(n) for n in ("__getitem__", "__setitem__")}
        take, put = ms.Tensor.__getitem__, ms.Tensor.__setitem__

        def get_item(tensor: ms.Tensor, index: Any) -> Any:
            return self._watch("getitem", lambda arguments: take(*arguments), (tensor, index))

        def set_item(tensor: ms.Tensor, index: Any, values: Any) -> Any:
            def write(arguments: tuple) -> ms.Tensor:
                put(*arguments)
                # The tensor itself is the result, and is written once more where it is replaced.
                if (other := self.replaced.get((self.number - 1, "output", 0))) is not None:
                    put(tensor, ..., ms.Tensor(other, tensor.dtype))
                return tensor

            self._watch("setitem", write, (tensor, index, values), writes=True)

        ms.Tensor.__getitem__, ms.Tensor.__setitem__ = get_item, set_item
        try:
            with Dispatch(self._dispatch):
                yield
        finally:
            for name, method in kept.items():
                if method is None:
                    delattr(ms.Tensor, name)
                else:
                    setattr(ms.Tensor, name, method)

    def _dispatch(self, func: Callable, arguments: tuple) -> Any:
        if arguments and isinstance(arguments[0], ops.Primitive):
            primitive, name, inner = arguments
            return self._watch(func.name, lambda given: func(primitive, name, given), inner)
        return self._watch(func.name, lambda given: func(*given), arguments)

    def _watch(self, name: str, call: Callable, arguments: tuple, writes: bool = False) -> Any:
        tensors = _tensors(arguments)
        if self._within or (not tensors and not name[:1].isupper()):  # such as make_range
            return call(arguments)
        number, self.number = self.number, self.number + 1
        arguments = self._replace(arguments, number, "input")
        if not self.replaced:
            taken = self.recording.take([_array(x) for x in tensors])
        self._within = True
        try:
            result = call(arguments)
        finally:
            self._within = False
        if not writes:
            result = self._replace(result, number, "output")
        if self.replaced:
            return result
        outputs = [_array(x) for x in _tensors(result)]
        self.recording.add(name, taken, outputs, here(self.paths))
        return result

    def _replace(self, values: Any, number: int, side: str) -> Any:
        """The values with the tensors of `replaced` in their places."""
        if not any(spot[:2] == (number, side) for spot in self.replaced):
            return values
        position = -1

        def swap(value: Any) -> Any:
            nonlocal position
            if isinstance(value, ms.Tensor):
                position += 1
                other = self.replaced.get((number, side, position))
                return value if other is None else ms.Tensor(other, value.dtype)
            if isinstance(value, tuple | list):
                return type(value)(map(swap, value))
            return value

        return swap(values)


def _tensors(values: Any) -> list[ms.Tensor]:
    """The tensors in nested values, in order."""
    if isinstance(values, ms.Tensor):
        return [values]
    if isinstance(values, tuple | list):
        return [leaf for item in values for leaf in _tensors(item)]
    return []


def _array(tensor: ms.Tensor) -> np.ndarray:
    if tensor.has_init:
        tensor.init_data()
    values = tensor.asnumpy()
    return np.stack((values.real, values.imag), -1) if values.dtype.kind == "c" else values
