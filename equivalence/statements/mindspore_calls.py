"""Records the operator calls of a MindSpore run in PyNative mode, forward, with their cotangents.

Values and cotangents can be replaced in a run.
"""

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from equivalence import nesting
from equivalence.nesting import of_kind
from equivalence.sides.mindspore_cells import array
from equivalence.sides.mindspore_pullback import FLOATS
from equivalence.statements.calls import Code, Place, Recording, Spot, Statement
from equivalence.statements.lent import Lent, Pull
from equivalence.stream.mindspore_stream import Call, Observer, asking, source_of
from equivalence.stream.patches import patched

Swap = tuple[int, str, int]
"""The number of a call, "input" or "output", and the position of a tensor among them."""


class MindSporeCalls(Observer):
    """Records every operator of a run. Indexing, which MindSpore does not dispatch, is one, too.

    network: the cell that runs.
    replaced: place -> the values that a tensor gets there.
    pulled: spot -> what comes back to the tensor that is taken there, in place of what would.
    recorded: whether the run is recorded; it takes longer.
    lent: path of a cell -> the layer of the reference that computes in its place, as one operator.
    recording: the run as data.
    taken: the values that the call takes which is under way, or has raised.
    returned: whether the forward pass came to its end.
    """

    slot = "calls"

    def __init__(
        self,
        network: nn.Cell,
        replaced: Mapping[Swap, np.ndarray] | None = None,
        pulled: Mapping[Spot, np.ndarray] | None = None,
        recorded: bool = True,
        lent: Mapping[str, Lent] | None = None,
    ):
        self.lent, self.recorded = lent or {}, recorded
        self.network, self.pulled = network, pulled or {}
        self.code = Code(dict(network.cells_and_names()))
        self.replaced = replaced or {}
        self._handles: list = []
        self._begin()

    def _begin(self, *_: Any) -> None:
        """The begin of a forward pass: of a second one where the first lacked a kernel."""
        self.number, self.recording = 0, Recording()
        self.taken: tuple[int, ...] = ()
        self._within = self.returned = False
        self._alive: list[ms.Tensor] = []
        self._followed: set[tuple[int, int]] = set()
        self._reached: list[ms.Tensor] = []

    def begin(self) -> None:
        """See what MindSpore does not dispatch, too: indexing, gradients, layers that are lent."""
        take, put = ms.Tensor.__getitem__, ms.Tensor.__setitem__

        def get_item(tensor: ms.Tensor, index: Any) -> Any:
            return self._watch("getitem", lambda arguments: take(*arguments), (tensor, index))

        def set_item(tensor: ms.Tensor, index: Any, values: Any) -> Any:
            def write(arguments: tuple) -> ms.Tensor:
                put(*arguments)
                # The tensor itself is the result, and is written once more where it is replaced.
                if (other := self.replaced.get((self.number - 1, "output", 0))) is not None:
                    put(tensor, ..., _tensor(other, tensor.dtype))
                return tensor

            self._watch("setitem", write, (tensor, index, values), writes=True)

        def grad(pull: Callable, inputs: tuple) -> Any:
            """A gradient that the network itself asks for; its operators are not dispatched."""
            return self._watch("grad", lambda taken: pull(*taken), inputs, follows=False)

        self._places = contextlib.ExitStack()
        self._places.enter_context(asking(grad))
        self._places.enter_context(patched(ms.Tensor, __getitem__=get_item, __setitem__=set_item))
        self._handles.append(self.network.register_forward_pre_hook(self._begin))
        self._handles.append(self.network.register_forward_hook(self._returned))
        cells = dict(self.network.cells_and_names())
        for path, layer in self.lent.items():
            construct = functools.partial(self._instead, layer)
            self._places.enter_context(_having(cells[path], construct))

    def end(self) -> None:
        """See it no more."""
        self._places.close()
        for handle in self._handles:
            handle.remove()

    def replace(self, call: Call) -> Any:
        """What an operator gives, recorded."""
        taken = tuple(self._made(call.name, each) for each in call.args)
        return self._watch(call.name, lambda given: call.proceed(*given), taken)

    def _made(self, name: str, argument: Any) -> Any:
        """An argument; what another observer has made of a tensor is a call of its own."""
        source = source_of(argument)
        return argument if source is None else self._watch(name, lambda _: argument, (source,))

    def _instead(self, layer: Lent, *arguments: Any, **keywords: Any) -> Any:
        """A call of a cell in whose place a layer of the reference computes."""
        tree = arguments, keywords
        stand = Stand(layer, tree)
        inputs = tuple(x for _, x in nesting.leaves(tree) if isinstance(x, ms.Tensor))
        given = iter(self._watch(layer.name, lambda tensors: stand(*tensors), inputs))
        return nesting.transform(
            stand.outputs, lambda x: next(given) if isinstance(x, np.ndarray) else x
        )

    def _watch(
        self,
        name: str,
        call: Callable,
        arguments: tuple,
        writes: bool = False,
        follows: bool = True,
    ) -> Any:
        tensors = of_kind(arguments, ms.Tensor)
        if self._within or (not tensors and not name[:1].isupper()):  # such as make_range
            return call(arguments)
        number, self.number = self.number, self.number + 1
        arguments = self._replace(arguments, number, "input")
        if self.recorded:
            tensors = of_kind(arguments, ms.Tensor)
            places = [*map(_place, tensors)]
            taken = self.taken = self.recording.take([_array(x) for x in tensors], places)
            self._name(tensors, taken)
            if follows:
                self._follow(number, tensors, taken)
        self._within = True
        try:
            result = call(arguments)
        finally:
            self._within = False
        if not writes:
            result = self._replace(result, number, "output")
        if not self.recorded:
            return result
        given = of_kind(result, ms.Tensor)
        self._alive += [*tensors, *given]
        arrays, places = [_array(x) for x in given], [*map(_place, given)]
        self.recording.add(name, taken, arrays, self.code.here(), places)
        self.taken = ()
        return result

    def _name(self, tensors: list[ms.Tensor], taken: tuple[int, ...]) -> None:
        """Note what the code calls the tensors that no call gives."""
        names = self.recording.names
        for tensor, value in zip(tensors, taken, strict=True):
            if value in self.recording.leaves and value not in names:
                names[value] = self.code.called(functools.partial(_is_same, _place(tensor)))

    def _follow(self, number: int, tensors: list[ms.Tensor], taken: tuple[int, ...]) -> None:
        """Keep the cotangents of what a call takes."""
        for i, (tensor, value) in enumerate(zip(tensors, taken, strict=True)):
            if tensor.dtype not in FLOATS:
                continue
            spot = number, i
            tensor_id = value, self.recording.sources.get(spot, -1)
            first = tensor_id not in self._followed
            hook = functools.partial(self._keep, spot) if first else _pass
            try:
                self._handles.append(tensor.register_hook(hook))
            except RuntimeError:  # no gradient flows through it
                self.recording.closed.add(spot)
                continue
            self._followed.add(tensor_id)
            self.recording.flows.add(spot)
            if spot in self.pulled:
                self._reached.append(tensor)

    def _keep(self, spot: Spot, cotangent: ms.Tensor | None) -> ms.Tensor | None:
        if cotangent is None:  # nothing comes back
            return None
        other = self.pulled.get(spot)
        self.recording.cotangents[spot] = _array(cotangent).copy() if other is None else other
        return None if other is None else ms.Tensor(other, cotangent.dtype)

    def _returned(self, _cell: nn.Cell, _inputs: Any, outputs: Any) -> Any:
        """The end of the forward pass: what the backward pass calls is not recorded."""
        self._within = self.returned = True
        if not self._reached:
            return None
        reach, done = ZeroCotangents(), False

        def attach(leaf: Any) -> Any:
            nonlocal done
            if done or not isinstance(leaf, ms.Tensor) or leaf.dtype not in FLOATS:
                return leaf
            done = True
            return reach(leaf, *self._reached)

        return nesting.transform(outputs, attach)

    def _replace(self, values: Any, number: int, side: str) -> Any:
        """The values with the tensors of `replaced` in their places."""
        if not any(spot[:2] == (number, side) for spot in self.replaced):
            return values
        positions = itertools.count()

        def swap(value: ms.Tensor) -> ms.Tensor:
            other = self.replaced.get((number, side, next(positions)))
            return value if other is None else _tensor(other, value.dtype)

        return _exchanged(values, swap)


class MindSporeGradients(MindSporeCalls):
    """Asks every operator of a run for its gradient by itself, before it is called.

    refused: the statement of each call that raises then, and what it raises.
    """

    def __init__(self, network: nn.Cell):
        super().__init__(network, recorded=False)
        self.refused: list[tuple[Statement | None, Exception]] = []

    def _watch(
        self,
        name: str,
        call: Callable,
        arguments: tuple,
        writes: bool = False,
        follows: bool = True,
    ) -> Any:
        if not self._within and not writes:
            self._ask(call, arguments)
        return super()._watch(name, call, arguments, writes, follows)

    def _ask(self, call: Callable, arguments: tuple) -> None:
        tensors = of_kind(arguments, ms.Tensor)
        kinds = {*FLOATS, ms.complex64, ms.complex128}
        floating = tuple(i for i, tensor in enumerate(tensors) if tensor.dtype in kinds)
        if not floating:
            return

        def alone(*given: ms.Tensor) -> Any:
            left = iter(given)
            return call(_exchanged(arguments, lambda _: next(left)))

        self._within = True
        try:
            ms.grad(alone, floating)(*tensors)
        except Exception as error:  # it is what is asked for
            self.refused.append((self.code.here(), error))
        finally:
            self._within = False


class ZeroCotangents(nn.Cell):
    """Hands an output on, and zeros back to other tensors, so that something comes back to each."""

    def construct(self, output, *_tensors):
        return output + 0

    def bprop(self, *arguments):
        return arguments[-1], *map(ops.zeros_like, arguments[1:-2])


class Stand(nn.Cell):
    """One call of a layer of the reference, in the place of a cell's.

    outputs: what the layer returns, with arrays for all tensors.
    """

    def __init__(self, layer: Lent, arguments: tuple):
        super().__init__(auto_prefix=False)
        # A cell would take tensors among its attributes for its own.
        self.call = functools.partial(_call, layer, arguments)
        self.outputs: Any = None

    def construct(self, *tensors):
        self.outputs, self.pull = self.call(tensors)
        arrays = [x for _, x in nesting.leaves(self.outputs) if isinstance(x, np.ndarray)]
        return tuple(map(ms.Tensor, arrays))

    def bprop(self, *arguments):
        tensors, cotangents = arguments[:-2], of_kind(arguments[-1], ms.Tensor)
        back = iter(self.pull([x.asnumpy() for x in cotangents if x.dtype in FLOATS]))
        return tuple(
            ms.Tensor(next(back), x.dtype) if x.dtype in FLOATS else ops.zeros_like(x)
            for x in tensors
        )


def _call(layer: Lent, arguments: tuple, tensors: tuple[ms.Tensor, ...]) -> tuple[Any, Pull]:
    """A call of a layer with tensors in the places of those among its arguments."""
    given = iter(tensors)
    arrays = nesting.transform(
        arguments, lambda x: next(given).asnumpy() if isinstance(x, ms.Tensor) else x
    )
    return layer.call(*arrays)


@contextlib.contextmanager
def _having(cell: nn.Cell, construct: Callable) -> Iterator[None]:
    """A context in which a cell has another `construct`, and no gradient that is made by hand."""
    own = vars(cell)
    kept = {name: own[name] for name in ("construct", "has_bprop") if name in own}
    own |= {"construct": construct, "has_bprop": False}
    try:
        yield
    finally:
        del own["construct"], own["has_bprop"]
        own |= kept


def _pass(_cotangent: ms.Tensor) -> None:
    """A hook that changes nothing."""


def _place(tensor: ms.Tensor) -> Place:
    if tensor.has_init:
        tensor.init_data()
    return tensor.data_ptr(), tuple(tensor.shape)


def _is_same(place: Place, value: object) -> bool:
    return isinstance(value, ms.Tensor) and not value.has_init and _place(value) == place


def _exchanged(values: Any, other: Callable[[ms.Tensor], ms.Tensor]) -> Any:
    """Nested values with another tensor for each, in order."""
    if isinstance(values, ms.Tensor):
        return other(values)
    if isinstance(values, tuple | list):
        return type(values)(_exchanged(value, other) for value in values)
    return values


def _tensor(values: np.ndarray, dtype: Any) -> ms.Tensor:
    """A tensor of recorded values, of which complex ones are pairs."""
    if dtype in (ms.complex64, ms.complex128):
        values = values[..., 0] + 1j * values[..., 1]
    return ms.Tensor(values, dtype)


def _array(tensor: ms.Tensor) -> np.ndarray:
    if tensor.has_init:
        tensor.init_data()
    values = array(tensor) if tensor.dtype == ms.bfloat16 else tensor.asnumpy()
    return np.stack((values.real, values.imag), -1) if values.dtype.kind == "c" else values
