"""The random draws of MindSpore: seen with the layer that draws, and pinned."""

import contextlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import mindspore as ms
from mindspore import mint, nn, ops
from mindspore.ops.function import nn_func

from equivalence.randomness import layers
from equivalence.randomness.layers import Draws, RandomLayer
from equivalence.randomness.mindspore_replay import draws, replaying
from equivalence.stream import mindspore_stream
from equivalence.stream.mindspore_stream import Call, Observer

ELEMENTS = ("Dropout", "DropoutExt")
CHANNELS = ("Dropout2D", "Dropout3D", "Dropout2dExt")
"""Primitives that keep or zero single elements, and whole channels."""

ALONE = ("Dropout2dExt",)
"""Those that do not return a mask besides."""

FUNCTIONS = (
    *(nn_func.dropout, nn_func.dropout_ext, nn_func.dropout1d, nn_func.dropout2d),
    *(nn_func.dropout2d_ext, nn_func.dropout3d, mindspore_stream.inner_dropout),
)
"""Functions that the compiler sees by name; `mint` and `ops` export them."""

MODULES = (
    *(nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d),
    *(mint.nn.Dropout, mint.nn.Dropout2d),
)
"""Classes of cells that draw while training, and only then."""


MINT = (mint.nn.Dropout, mint.nn.Dropout2d)
"""Those that no CPU can run."""


def _kept(x, *_, **__):
    """A function of dropout that keeps everything; MindSpore can compile it, too."""
    return x


def _kept_with_mask(x, *_):
    """A primitive of dropout that keeps everything."""
    return x, x


def _keeping(primitive: str) -> Callable | None:
    """What stands for a primitive of dropout; None for any other."""
    if primitive in ELEMENTS or primitive in CHANNELS:
        return _kept if primitive in ALONE else _kept_with_mask
    return None


class Pinned(Observer):
    """Lets no dropout of MindSpore draw: everything is kept."""

    slot = "draws"

    def compiled(self, value: Any) -> Any:
        """The object that the compiler gets in place of one that a source names."""
        if any(value is each for each in FUNCTIONS):
            return _kept
        if isinstance(value, ops.Primitive):
            return _keeping(value.name) or value
        if isinstance(value, type) and issubclass(value, ops.Primitive):
            keeping = _keeping(value.__name__)
            return (lambda *_, **__: keeping) if keeping else value
        return value

    def before(self, call: Call) -> None:
        """Let a dropout in PyNative mode keep everything.

        It has to run: PyNative mode gives no gradient to a result that another operator made.
        """
        if _keeping(call.name) is None:
            return
        x, *shares = call.args
        if call.primitive is None:
            call.args = (x, 0.0, *shares[1:])
        else:
            call.primitive = getattr(ops, call.name)(1.0)
            call.args = (x, *([1.0, *shares[1:]] if shares else []))


class MindSporeDraws(Draws):
    """What a MindSpore network draws."""

    def running(self, network: nn.Cell) -> contextlib.AbstractContextManager[Any]:
        """The context of a run, in which what is pinned draws nothing."""
        if self.replay:
            return replaying(self.replay, network)
        return self.notes or (Pinned() if self.pins else contextlib.nullcontext())


def dropouts(network: nn.Cell) -> list[str]:
    """The paths of the cells of MindSpore that draw while training."""
    return [
        path
        for path, cell in network.cells_and_names()
        if isinstance(cell, MODULES) and getattr(cell, "p", None) != 0
    ]


class Notes(Pinned):
    """Notes every draw of a PyNative run with its cell, and pins what it can.

    network: the cell that runs.
    own: path -> class of the random layers of the model's own.
    layers: the draws in order; a layer of the model's own is one draw in each of its calls.
    """

    compiled: Any = None

    def __init__(self, network: nn.Cell, own: Mapping[str, str]):
        self.network, self.own = network, own
        self.layers: list[RandomLayer] = []
        self._inside = 0
        self._drew = False
        self._laws: dict[tuple[str, tuple[int, ...]], RandomLayer] = {}

    def begin(self) -> None:
        """Follow which cells run."""
        self._stack = contextlib.ExitStack()
        running = mindspore_stream.layers(self.network, self._entered, self._left)
        self._path = self._stack.enter_context(running)

    def end(self) -> None:
        """Follow them no more."""
        self._stack.close()

    def before(self, call: Call) -> None:
        """Note a draw, and pin it, but within a layer of the model's own."""
        name = call.name
        if not draws(name):
            return
        self._drew = True
        if self._inside:
            return
        path = self._path[-1] if self._path else ""
        if _keeping(name) is None:
            self.layers.append(RandomLayer(path, name))
            return
        x, *shares = call.args
        if call.primitive is not None:
            p = round(1.0 - call.primitive.keep_prob, 9)
        else:
            p = round(float(shares[0]), 7)  # it comes in single precision
        if name != "Dropout2dExt" or shares[1]:
            parts = math.prod(x.shape[:2] if name in CHANNELS else x.shape)
            if 0.0 < p < 1.0:
                self.layers.append(layers.dropout(path, p, parts))
        super().before(call)

    def _entered(self, path: str, cell: nn.Cell, inputs: tuple) -> None:
        """The call of a cell begins."""
        if isinstance(cell, MINT) and cell.training and 0.0 < cell.p < 1.0:
            parts = math.prod(inputs[0].shape[: 2 if isinstance(cell, MINT[1]) else None])
            self.layers.append(layers.dropout(path, cell.p, parts))
            cell.set_train(False)
            self._stack.callback(cell.set_train)
        own = path in self.own
        if own and not self._inside:
            self._drew = False
        self._inside += own

    def _left(self, path: str, cell: nn.Cell, inputs: tuple) -> None:
        """The call of a cell has ended."""
        own = path in self.own
        self._inside -= own
        if own and not self._inside and self._drew:
            self.layers.append(self._law(path, cell, inputs))

    def _law(self, path: str, cell: nn.Cell, inputs: tuple) -> RandomLayer:
        """The law of a layer of the model's own; without figures where it has several inputs."""
        kind = self.own[path]
        if len(inputs) != 1 or not isinstance(inputs[0], ms.Tensor):
            return RandomLayer(path, kind, pinned=True)
        shape = tuple(inputs[0].shape)
        if (path, shape) not in self._laws:
            ones = ops.ones(layers.batch_of(shape), inputs[0].dtype)
            self._inside += 1
            self._laws[path, shape] = layers.measure(
                path, kind, shape, lambda: cell.construct(ones).asnumpy()
            )
            self._inside -= 1
        return self._laws[path, shape]
