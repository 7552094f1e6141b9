"""What goes through the cells of a MindSpore network, where Python calls them.

In PyNative mode Python calls each cell. Of a compiled graph, it calls the outermost cell alone: its
inputs and outputs are seen. A hook of a cell would be compiled into the graph; so it is the method
`__call__` that is replaced, of which a graph knows nothing. Hooks of tensors and weights would be,
too: they are there from a call that is differentiated in PyNative mode to the end of its step.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.train import Callback

from equivalence import dtypes
from equivalence.dumps.passing import Passing, by_weight
from equivalence.stream.mindspore_stream import requires_gradients
from equivalence.stream.patches import patched
from equivalence.structure.mindspore_steps import rates_now
from equivalence.structure.weights import WRAPPERS

GRAPH = (
    "graph mode: inputs and outputs of what Python calls, weights and losses; neither its layers "
    "nor gradients are seen"
)

_observers: list[tuple["HookedSide", Passing]] = []
"""Who sees the calls of cells: the network, and who is told."""

_replaced: dict[type, contextlib.AbstractContextManager] = {}
"""Class -> the context in which it has another `__call__`."""


class HookedSide:
    """A MindSpore network that is recorded."""

    def __init__(self, net: nn.Cell):
        self.net = _unwrapped(net)
        self.layers = dict(self.net.cells_and_names())
        graph = _is_graph()
        self.notes = [GRAPH] if graph else []
        mode = "graph" if graph else "pynative"
        self.made = {"framework": "mindspore", "version": ms.__version__, "mode": mode}
        self.paths = {id(cell): path for path, cell in self.layers.items()}
        self._handles: list[Any] = []
        self._watches_weights = False

    @property
    def trains(self) -> bool:
        """Whether the network is in training mode now."""
        return bool(self.net.training)

    @contextlib.contextmanager
    def observed(self, passing: Passing) -> Iterator[None]:
        """A context in which `passing` gets what goes through the cells."""
        observer = (self, passing)
        _observers.append(observer)
        for cell in self.layers.values():
            _replace(type(cell))
        try:
            yield
        finally:
            _observers.remove(observer)
            if not _observers:
                for place in _replaced.values():
                    place.__exit__(None, None, None)
                _replaced.clear()
            self.forget()

    def weights(self) -> Iterator[tuple[str, ms.Parameter]]:
        """Name and value of each parameter, by its place in the network."""
        yield from self.net.parameters_and_names()

    def rates(self, optimizer: Any) -> dict[str, float]:
        """The learning rate of now, or those of each weight where they differ."""
        if optimizer is None:
            return {}
        names = {id(weight): name for name, weight in self.net.parameters_and_names()}
        return by_weight(
            {
                names[id(weight)]: float(rate)
                for weight, rate in rates_now(optimizer)
                if id(weight) in names
            }
        )

    def scale(self, scaler: Any) -> float:
        """The scale that a scaler of the loss has now."""
        return float(scaler.scale_value.asnumpy())

    def watch(self, value: Any, got: Callable[[Any], None]) -> None:
        """Let `got` have the gradient of a cell's output, if there will be one."""
        if isinstance(value, ms.Tensor) and value.is_floating_point() and _is_differentiated():
            self._handles.append(value.register_hook(lambda gradient: got(gradient)))

    def watch_weights(self, passing: Passing) -> None:
        """Let `passing` have the gradients of weights, if there will be some in this step."""
        if self._watches_weights or not _is_differentiated():
            return
        self._watches_weights = True
        for name, weight in self.net.parameters_and_names():
            if weight.requires_grad:
                self._handles.append(weight.register_hook(_gradient_hook(name, passing)))

    def forget(self) -> None:
        """Take the hooks off all outputs and weights."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._watches_weights = False

    def array(self, value: Any) -> np.ndarray | None:
        """A tensor as a new array; None for what is none."""
        if not isinstance(value, ms.Tensor):
            return None
        if value.dtype == ms.bfloat16:
            return dtypes.marked(value.asnumpy().astype(np.float32))
        return np.array(value.asnumpy())


def _replace(kind: type) -> None:
    """Let the observers see the calls of cells of a class."""
    for each in kind.__mro__:
        if issubclass(each, nn.Cell) and "__call__" in vars(each) and each not in _replaced:
            _replaced[each] = patched(each, __call__=_observing(vars(each)["__call__"]))
            _replaced[each].__enter__()


def _observing(call: Callable) -> Callable:
    """The `__call__` of cells, of which the observers are told."""

    def __call__(self: nn.Cell, *arguments: Any, **keywords: Any) -> Any:  # noqa: N807
        told = [
            (side, side.paths[id(self)], passing)
            for side, passing in _observers
            if passing.active
            and id(self) in side.paths
            and not passing.is_in(side.paths[id(self)])  # where a class calls that of its base
        ]
        for side, path, passing in told:
            side.watch_weights(passing)
            passing.enter(path, arguments, keywords)
        outputs = call(self, *arguments, **keywords)
        for _, path, passing in told:
            passing.leave(path, outputs)
        return outputs

    return __call__


def _gradient_hook(name: str, passing: Passing) -> Callable[[ms.Tensor], None]:
    def got(gradient):
        passing.gradient(name, gradient)

    return got


def _is_graph() -> bool:
    return ms.get_context("mode") == ms.GRAPH_MODE


def _is_differentiated() -> bool:
    """Whether a backward pass in PyNative mode will follow."""
    return not _is_graph() and requires_gradients()


def _unwrapped(net: nn.Cell) -> nn.Cell:
    """The network in wrappers that add a name and no weight."""
    children = net.name_cells()
    if (
        len(children) == 1
        and {*children} <= {*WRAPPERS}
        and not [*net.get_parameters(expand=False)]
    ):
        return _unwrapped(next(iter(children.values())))
    return net


class StepListener(Protocol):
    """What is told of each step."""

    def loss(self, value: Any) -> None:
        """Keep the loss of the step."""

    def scale(self, value: float) -> None:
        """Keep the scale of the loss."""

    def step(self) -> None:
        """End the step."""


class _Ending(Callback):
    """Hands a monitor the loss of each step of a `Model`, and ends the step."""

    def __init__(self, monitor: StepListener):
        super().__init__()
        self.monitor = monitor

    def on_train_step_end(self, run_context: Any) -> None:
        """End a step. A step with a loss scale gives the loss, the overflow and the scale."""
        outputs = run_context.original_args().net_outputs
        several = isinstance(outputs, tuple | list)
        loss = outputs[0] if several else outputs
        if isinstance(loss, ms.Tensor) and loss.size == 1:
            self.monitor.loss(loss)
        if several and len(outputs) == 3:
            self.monitor.scale(float(outputs[2].asnumpy().reshape(-1)[0]))
        self.monitor.step()


def callback(monitor: StepListener) -> Callback:
    """A callback that ends each step of a `Model`."""
    return _Ending(monitor)
