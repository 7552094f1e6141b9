"""The cells that call a network and pull cotangents back through it. Graph mode compiles them.

Also what the cells within a network give, and the cotangents that come back to them.
"""

import contextlib
import itertools
import linecache
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import mindspore as ms
from mindspore import nn, ops

from equivalence import dtypes, nesting
from equivalence.errors import EquivalenceError
from equivalence.nesting import Arguments
from equivalence.sides.mindspore_cells import array
from equivalence.stand_ins.context import lacks_kernel
from equivalence.stream.observer import attached
from equivalence.structure.layers import Sink, Site

_calls = itertools.count(1)


def called(network: nn.Cell, arguments: Arguments) -> nn.Cell:
    """A cell from the arrays of a call to the outputs of the network.

    It is the network itself where it takes the arrays as they are. Any other call is written in
    Python, since the compiler understands tuples, lists and dicts only where it reads them.
    """
    if arguments.is_plain:
        return network
    file = f"<the inputs of a twin, {next(_calls)}>"
    source = f"def construct(self, *values):\n    return self.network({arguments.expression})\n"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = {"__name__": __name__}
    exec(compile(source, file, "exec"), module)
    cell = type("Call", (nn.Cell,), {"construct": module["construct"]})(auto_prefix=False)
    cell.network = network
    return cell


class Pullback(nn.Cell):
    """A cell from (inputs..., cotangents...) to (outputs, gradients).

    It differentiates a scalar: the sum of output times cotangent. The derivative of that scalar
    with respect to an output is exactly the output's cotangent. `named` reads the outputs.

    network: the cell to differentiate.
    inputs: the number of its inputs.
    positions: the positions of the inputs whose gradients are wanted.
    weights: the parameters whose gradients are wanted.
    outputs: the names of the outputs that have a cotangent.
    every: the names of all outputs of the reference that are not None.
    in_graph: whether graph mode compiles the cell.
    """

    def __init__(
        self,
        network: nn.Cell,
        inputs: int,
        positions: tuple[int, ...],
        weights: tuple,
        outputs: tuple[str, ...],
        every: tuple[str, ...],
        in_graph: bool,
    ):
        super().__init__(auto_prefix=False)
        self.network = network
        self.inputs = inputs
        self.outputs, self.every = outputs, every
        self.in_graph = in_graph
        self.gradients = differentiated(self.project, positions, weights)

    def project(self, *arguments):
        """(the scalar, the outputs)."""
        outputs = self.network(*arguments[: self.inputs])
        if not self.in_graph:
            outputs = nesting.simplified(outputs)
        cotangents = arguments[self.inputs :]
        total = ops.zeros((), ms.float32)
        leaves = flatten(outputs)
        places = find(paths(outputs, ()), none(leaves), self.outputs, self.every)
        for number in range(len(leaves)):
            output, place = as_pairs(leaves[number]), places[number]
            # The judge reports an output that is missing or has a wrong shape.
            floating = isinstance(output, ms.Tensor) and output.dtype in FLOATS
            if floating and place >= 0 and output.shape == cotangents[place].shape:
                total = total + (output * cotangents[place]).sum()
        if numbered(outputs):
            return total, outputs
        return total, {"paths": paths(outputs, ()), "leaves": kept(leaves), "none": none(leaves)}

    def construct(self, *arguments):
        return self.gradients(*arguments)

    def __call__(self, *arguments: ms.Tensor) -> Any:
        try:
            return super().__call__(*arguments)
        except Exception:
            if self.in_graph:
                demand_plain(self.network, arguments[: self.inputs])
            raise


FLOATS = (ms.float32, ms.float16, ms.bfloat16, ms.float64)
"""The dtypes of outputs that have a cotangent."""


class OddOutputsError(Exception):
    """A network does not return what `NumberedPullback` is for."""


class NumberedPullback(nn.Cell):
    """`Pullback` of a network that returns a tensor, or tensors in a tuple, compiled in less time.

    The compiler need not find out what the network returns: it is seen afterwards. A call raises
    OddOutputsError where it is anything else, or of other shapes than the cotangents.
    """

    def __init__(
        self,
        network: nn.Cell,
        inputs: int,
        positions: tuple[int, ...],
        weights: tuple,
        outputs: tuple[str, ...],
    ):
        super().__init__(auto_prefix=False)
        self.network = network
        self.inputs = inputs
        self.places = tuple(map(int, outputs))
        self.sum = ops.ReduceSum()
        self.gradients = differentiated(self.project, positions, weights)

    def project(self, *arguments):
        """(the scalar, the outputs)."""
        outputs = self.network(*arguments[: self.inputs])
        if isinstance(outputs, ms.Tensor):
            return self.sum(outputs * arguments[self.inputs]), outputs
        total, plain = 0.0, isinstance(outputs, (tuple, list))
        for number in range(len(self.places)):
            output = outputs[known(self.places[number], plain)]
            total = total + self.sum(output * arguments[self.inputs + number])
        return total, outputs

    def construct(self, *arguments):
        return self.gradients(*arguments)

    def __call__(self, *arguments: ms.Tensor) -> Any:
        try:
            result = super().__call__(*arguments)
        except Exception as error:
            if lacks_kernel(error):
                raise
            raise OddOutputsError from error
        (_, outputs), _ = result
        outputs = outputs if isinstance(outputs, tuple | list) else (outputs,)
        if not all(isinstance(each, ms.Tensor) for each in outputs):
            raise OddOutputsError
        for place, cotangent in zip(self.places, arguments[self.inputs :], strict=True):
            output = outputs[place] if place < len(outputs) else None
            if output is None or output.dtype not in FLOATS or output.shape != cotangent.shape:
                raise OddOutputsError
        return result


def pullback(
    network: nn.Cell,
    inputs: int,
    positions: tuple[int, ...],
    weights: tuple,
    outputs: tuple[str, ...],
    every: tuple[str, ...],
    in_graph: bool,
    numbered: bool,
) -> nn.Cell:
    """A `Pullback`, or a `NumberedPullback` where one may do.

    numbered: whether the network has not been seen to return anything odd.
    """
    if in_graph and numbered and all(name.isdecimal() for name in outputs):
        return NumberedPullback(network, inputs, positions, weights, outputs)
    return Pullback(network, inputs, positions, weights, outputs, every, in_graph)


def differentiated(
    project: Callable[..., Any], positions: tuple[int, ...], weights: tuple
) -> Callable[..., Any]:
    """A function that gives what `project` gives, and the gradients of its first result."""
    return ms.value_and_grad(
        project,
        grad_position=positions or None,
        weights=ms.ParameterTuple(weights) if weights else None,
        has_aux=True,
    )


def named(result: Any) -> dict[str, Any]:
    """The outputs of a network by name: what it returns, or what `Pullback` gives for them."""
    if not isinstance(result, dict) or result.keys() != {"paths", "leaves", "none"}:
        return nesting.named(result)
    leaves = iter(result["leaves"])
    values = [None if is_none else next(leaves) for is_none in result["none"]]
    return dict(zip(nesting.names(result["paths"]), values, strict=True))


def demand_plain(network: nn.Cell, inputs: Sequence[ms.Tensor]) -> None:
    """Raise EquivalenceError if graph mode cannot differentiate what a network returns.

    It hands dataclasses, named tuples and mappings other than dict back to Python.
    """
    try:
        odd = nesting.unusual(network(*inputs))
    except Exception:  # it does not run forward either, which the caller tells
        return
    if odd is not None:
        raise EquivalenceError(
            f"the candidate returns a {odd}, through which graph mode of MindSpore computes no "
            "gradients; return a tuple or a dict, or declare executions=('pynative',)"
        )


@ops.constexpr
def find(
    paths: Any, none: tuple[bool, ...], names: tuple[str, ...], every: tuple[str, ...]
) -> tuple[int, ...]:
    """The number of each output among the outputs of these names; -1 for any other.

    none: whether each output is None.
    names: those of the reference's outputs that have a cotangent.
    every: those of all its outputs; where one side alone has names, they are paired by order.
    """
    demand(paths is not None)
    found = nesting.names(paths)
    given = [name for name, is_none in zip(found, none, strict=True) if not is_none]
    ordered = nesting.by_order(every, given)
    found = [ordered.get(name, name) for name in found]
    return tuple(names.index(name) if name in names else -1 for name in found)


@ops.constexpr
def known(place: int, plain: bool | None) -> int:
    """The place of an output, where the outputs are known to be in a tuple or a list."""
    demand(bool(plain))
    return place


def demand(is_known: bool) -> None:
    """Raise TypeError where the outputs are not known while the graph is compiled."""
    if not is_known:
        raise TypeError("graph mode does not know what the network returns until it has run")


# Graph mode compiles the functions below.


def flatten(outputs: Any) -> tuple:
    """The leaves of tuples, lists and dicts, depth first."""
    if isinstance(outputs, dict):
        return flatten(tuple(outputs.values()))
    if isinstance(outputs, (tuple, list)):
        leaves = ()
        for item in outputs:
            leaves = leaves + flatten(item)
        return leaves
    return (outputs,)


def paths(outputs: Any, path: tuple) -> tuple:
    """The paths of the leaves, as `nesting.leaves` has them."""
    found = ()
    if isinstance(outputs, dict):
        for key, item in outputs.items():
            found = found + paths(item, (*path, str(key)))
        return found
    if isinstance(outputs, (tuple, list)):
        position = 0
        for item in outputs:
            found = found + paths(item, (*path, position))
            position = position + 1
        return found
    return (path,)


def numbered(outputs: Any) -> bool:
    """Whether the outputs are tensors in tuples and lists alone."""
    if isinstance(outputs, dict):
        return False
    right = True
    for item in flatten(outputs):
        right = right and isinstance(item, ms.Tensor)
    return right


def as_pairs(value: Any) -> Any:
    """A complex tensor as pairs of real numbers, along a last axis; anything else as it is."""
    if isinstance(value, ms.Tensor) and value.dtype in (ms.complex64, ms.complex128):
        return ops.stack((ops.real(value), ops.imag(value)), -1)
    return value


def kept(leaves: tuple) -> tuple:
    """The leaves that are not None, which is no output of a graph."""
    found: tuple = ()
    for leaf in leaves:
        if leaf is not None:
            found = (*found, leaf)
    return found


def none(leaves: tuple) -> tuple:
    """Whether each leaf is None."""
    found: tuple = ()
    for leaf in leaves:
        found = (*found, leaf is None)
    return found


@contextlib.contextmanager
def observed(cell: nn.Cell, names: Mapping[str, str], sink: Sink) -> Iterator[None]:
    """A context in which `sink` gets the inputs, outputs and cotangents of cells in PyNative runs.

    names: path of a cell -> path of the reference's layer; other cells are not observed.
    """
    calls: dict[str, int] = {}
    outputs_of: dict[tuple[str, int], list[str]] = {}
    pulled: list[tuple[str, list]] = []
    resumed: set[str] = set()

    def after(path: str):
        def hook(_, inputs, outputs):
            call = calls[path] = calls.get(path, -1) + 1
            given = [each for _, each in nesting.leaves(inputs) if isinstance(each, ms.Tensor)]
            for number, each in enumerate(given):
                sink(Site(path, call, "input", str(number)), dtypes.paired(array(each)))
            if any(path == each for each, _ in pulled):
                resumed.add(path)
            leaves = nesting.named(outputs)
            outputs_of[path, call] = list(leaves)
            for name, out in leaves.items():
                if isinstance(out, ms.Tensor):
                    sink(Site(path, call, "output", name), dtypes.paired(array(out)))

        return hook

    def back(path: str):
        def hook(_, gradients):
            pulled.append((path, [g if g is None else array(g) for g in flatten(gradients)]))

        return hook

    hooks = []
    for name, part in cell.cells_and_names():
        if name in names:
            hooks.append(part.register_forward_hook(after(names[name])))
            hooks.append(part.register_backward_pre_hook(back(names[name])))
    with attached(hooks):
        yield
    reached = Counter(path for path, _ in pulled)
    for path, gradients in pulled:  # the last call is pulled back first
        # Where a call got no gradient, or the network differentiates, nothing says which it is.
        if path in resumed or reached[path] != calls[path] + 1:
            continue
        call = reached[path] - 1
        for name, gradient in zip(outputs_of[path, call], gradients, strict=False):
            if gradient is not None:
                sink(Site(path, call, "cotangent", name), dtypes.paired(gradient))
        reached[path] -= 1
        calls[path] -= 1
