"""The random draws of MindSpore: seen with the layer that draws, and pinned."""

import contextlib
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import mindspore as ms
from mindspore import mint, nn, ops
from mindspore.ops.function import nn_func

from equivalence.randomness import layers
from equivalence.randomness.interception import Dispatch, intercepted
from equivalence.randomness.layers import Draws, RandomLayer

ELEMENTS = ("Dropout", "DropoutExt")
CHANNELS = ("Dropout2D", "Dropout3D", "Dropout2dExt")
"""Primitives that keep or zero single elements, and whole channels."""

ALONE = ("Dropout2dExt",)
"""Those that do not return a mask besides."""

DRAWING = re.compile(
    r"(Rand(?!om)|Random|Bernoulli|Multinomial|Poisson|Cauchy|StandardNormal|StandardLaplace"
    r"|TruncatedNormal|ParameterizedTruncatedNormal|Uniform(?!CandidateSampler)|InplaceNormal"
    r"|InplaceUniform|InplaceExponential|LogNormalReverse|Gamma$|Normal(Float|Tensor)|Dropout)"
)
"""What the names of primitives that draw begin with, besides `Inplace`."""

FUNCTIONS = (
    *(nn_func.dropout, nn_func.dropout_ext, nn_func.dropout1d, nn_func.dropout2d),
    *(nn_func.dropout2d_ext, nn_func.dropout3d, nn_func._inner_dropout),
)
"""Functions that the compiler sees by name; `mint` and `ops` export them."""

MODULES = (
    *(nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d),
    *(mint.nn.Dropout, mint.nn.Dropout2d),
)
"""Classes of cells that draw while training, and only then."""


MINT = (mint.nn.Dropout, mint.nn.Dropout2d)
"""Those that no CPU can run."""


def draws(primitive: str) -> bool:
    """Whether a primitive draws random numbers, by its name."""
    name = primitive.removeprefix("Inplace")
    return bool(DRAWING.match(primitive) or DRAWING.match(name)) and "Grad" not in primitive


def _kept(x, *_, **__):
    """A function of dropout that keeps everything; MindSpore can compile it, too."""
    return x


def _kept_with_mask(x, *_):
    """A primitive of dropout that keeps everything."""
    return x, x


def pinned() -> contextlib.AbstractContextManager[None]:
    """A context in which no dropout of MindSpore draws: everything is kept."""
    return intercepted(_pin, _replace, __name__)


def _replace(value: Any) -> Any:
    """The object that the compiler gets in place of one that a source names."""
    if any(value is each for each in FUNCTIONS):
        return _kept
    if isinstance(value, ops.Primitive):
        return _keeping(value.name) or value
    if isinstance(value, type) and issubclass(value, ops.Primitive):
        keeping = _keeping(value.__name__)
        return (lambda *_, **__: keeping) if keeping else value
    return value


def _keeping(primitive: str) -> Callable | None:
    """What stands for a primitive of dropout; None for any other."""
    if primitive in ELEMENTS or primitive in CHANNELS:
        return _kept if primitive in ALONE else _kept_with_mask
    return None


def _pin(func: Callable, arguments: tuple) -> Any:
    """The result of an operator in PyNative mode; a dropout keeps everything."""
    if _keeping(func.name) is None:
        return func(*arguments)
    if not isinstance(arguments[0], ops.Primitive):
        x, _, *rest = arguments
        return func(x, 0.0, *rest)
    # It has to run: PyNative mode gives no gradient to a result that another operator made.
    _, name, (x, *shares) = arguments
    return func(getattr(ops, name)(1.0), name, (x, *([1.0, *shares[1:]] if shares else [])))


def _inputs(arguments: tuple) -> tuple:
    """The inputs of an operator; a primitive that is called has itself and its name before them."""
    return arguments[2] if isinstance(arguments[0], ops.Primitive) else arguments


class MindSporeDraws(Draws):
    """What a MindSpore network draws."""

    def running(self) -> contextlib.AbstractContextManager[Any]:
        """The context of a run, in which what is pinned draws nothing."""
        return self.notes or (pinned() if self.pins else contextlib.nullcontext())


def dropouts(network: nn.Cell) -> list[str]:
    """The paths of the cells of MindSpore that draw while training."""
    return [
        path
        for path, cell in network.cells_and_names()
        if isinstance(cell, MODULES) and getattr(cell, "p", None) != 0
    ]


class Notes:
    """A context that notes every draw of a PyNative run with its cell, and pins what it can.

    network: the cell that runs.
    own: path -> class of the random layers of the model's own.
    layers: the draws in order; a layer of the model's own is one draw in each of its calls.
    """

    def __init__(self, network: nn.Cell, own: Mapping[str, str]):
        self.network, self.own = network, own
        self.layers: list[RandomLayer] = []
        self._path: list[str] = []
        self._inside = 0
        self._drew = False
        self._laws: dict[tuple[str, tuple[int, ...]], RandomLayer] = {}

    def __enter__(self) -> "Notes":
        self._stack = contextlib.ExitStack()
        for path, cell in self.network.cells_and_names():
            own = path in self.own
            for handle in (
                cell.register_forward_pre_hook(self._before(path, own)),
                cell.register_forward_hook(self._after(own)),
            ):
                self._stack.callback(handle.remove)
        self._stack.enter_context(Dispatch(self._see))
        return self

    def __exit__(self, *error) -> None:
        self._stack.close()

    def _see(self, func: Callable, arguments: tuple) -> Any:
        name = func.name
        if not draws(name):
            return func(*arguments)
        self._drew = True
        if self._inside:
            return func(*arguments)
        path = self._path[-1] if self._path else ""
        if _keeping(name) is None:
            self.layers.append(RandomLayer(path, name))
            return func(*arguments)
        x, shares = _inputs(arguments)[0], _inputs(arguments)[1:]
        if isinstance(arguments[0], ops.Primitive):
            p = round(1.0 - arguments[0].keep_prob, 9)
        else:
            p = round(float(shares[0]), 7)  # it comes in single precision
        if name != "Dropout2dExt" or shares[1]:
            parts = math.prod(x.shape[:2] if name in CHANNELS else x.shape)
            if 0.0 < p < 1.0:
                self.layers.append(layers.dropout(path, p, parts))
        return _pin(func, arguments)

    def _before(self, path: str, own: bool):
        def hook(cell, inputs):
            self._path.append(path)
            if isinstance(cell, MINT) and cell.training and 0.0 < cell.p < 1.0:
                parts = math.prod(inputs[0].shape[: 2 if isinstance(cell, MINT[1]) else None])
                self.layers.append(layers.dropout(path, cell.p, parts))
                cell.set_train(False)
                self._stack.callback(cell.set_train)
            if own and not self._inside:
                self._drew = False
            self._inside += own

        return hook

    def _after(self, own: bool):
        def hook(cell, inputs, _):
            path = self._path.pop()
            self._inside -= own
            if own and not self._inside and self._drew:
                self.layers.append(self._law(path, cell, inputs))

        return hook

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
