"""Records the operator calls of a MindSpore run in PyNative mode, forward, with their cotangents.

Values can be replaced in a run, and cotangents added to.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from equivalence import nesting
from equivalence.randomness.interception import Dispatch
from equivalence.sides.mindspore_pullback import FLOATS
from equivalence.statements.calls import Code, Recording

Spot = tuple[int, str, int]
"""The number of a call, "input" or "output", and the position of a tensor among them."""


class MindSporeCalls:
    """Records every operator of a run. Indexing, which MindSpore does not dispatch, is one, too.

    network: the cell that runs.
    replaced: spot -> the values that a tensor gets there; such a run is not recorded.
    added: spot -> what is added to the cotangent of the tensor that is taken there.
    recording: the run as data.
    """

    def __init__(
        self,
        network: nn.Cell,
        replaced: Mapping[Spot, np.ndarray] | None = None,
        added: Mapping[Spot, np.ndarray] | None = None,
    ):
        self.number = 0
        self.network, self.added = network, added or {}
        self.code = Code(dict(network.cells_and_names()))
        self.replaced = replaced or {}
        self.recording = Recording()
        self._within = False
        self._handles: list = []
        self._held: list[tuple[ms.Tensor, np.ndarray]] = []

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
        self._handles.append(self.network.register_forward_hook(self._returned))
        try:
            with Dispatch(self._dispatch):
                yield
        finally:
            for handle in self._handles:
                handle.remove()
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
            self._follow(number, tensors, taken)
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
        self.recording.add(name, taken, outputs, self.code.here())
        return result

    def _follow(self, number: int, tensors: list[ms.Tensor], taken: tuple[int, ...]) -> None:
        """Keep the cotangents of what a call takes."""
        for i, (tensor, value) in enumerate(zip(tensors, taken, strict=True)):
            if tensor.dtype not in FLOATS:
                continue
            first = value not in self.recording.flows
            hook = functools.partial(self._keep, value) if first else _pass
            try:
                self._handles.append(tensor.register_hook(hook))
            except RuntimeError:  # no gradient flows through it
                self.recording.closed.add((number, i))
                continue
            if first:
                self.recording.flows[value] = number, i
            if (more := self.added.get((number, "input", i))) is not None:
                self._held.append((tensor, more))

    def _keep(self, value: int, cotangent: ms.Tensor) -> None:
        self.recording.cotangents[value] = _array(cotangent).copy()

    def _returned(self, _cell: nn.Cell, _inputs: Any, outputs: Any) -> Any:
        """The end of the forward pass: what the backward pass calls is not recorded."""
        self._within = True
        if not self._held:
            return None
        tensors, more = zip(*self._held, strict=True)
        pull, done = Added(more), False

        def attach(leaf: Any) -> Any:
            nonlocal done
            if done or not isinstance(leaf, ms.Tensor) or leaf.dtype not in FLOATS:
                return leaf
            done = True
            return pull(leaf, *tensors)

        return nesting.transform(outputs, attach)

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


class Added(nn.Cell):
    """Hands an output on, and adds to the cotangents of other tensors on the way back.

    more: what is added to each of them.
    """

    def __init__(self, more: tuple[np.ndarray, ...]):
        super().__init__(auto_prefix=False)
        self.more = more

    def construct(self, output, *_tensors):
        return output + 0

    def bprop(self, *arguments):
        tensors = arguments[1:-2]
        more = zip(self.more, tensors, strict=True)
        return arguments[-1], *(ms.Tensor(each, tensor.dtype) for each, tensor in more)


def _pass(_cotangent: ms.Tensor) -> None:
    """A hook that changes nothing."""


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
