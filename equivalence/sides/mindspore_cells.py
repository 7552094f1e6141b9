"""Builds the cells of MindSpore, and frees their weights."""

import contextlib
import itertools
import linecache
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.nn.utils import no_init_parameters

from equivalence import dtypes, nesting
from equivalence.errors import DeclarationError
from equivalence.folders import is_exported
from equivalence.stream.patches import patched
from equivalence.targets import Arrays, Plain, build, demand_network
from equivalence.words import raised

STATISTICS = ("moving_mean", "moving_variance")
"""What a normalisation calls its statistics, which an exported graph has among its parameters."""


class Function(nn.Cell):
    """A plain callable as a cell, with the networks that it is given as its parts."""

    def __init__(self, call: Callable[..., Any]):
        super().__init__()
        self.plain = Plain.of(call)
        self.call = self.plain.call
        for name, network in self.plain.networks.items():
            setattr(self, name, network)

    def construct(self, *inputs, **keywords):
        return self.call(*inputs, **keywords)


class OfArrays(Function):
    """A function of arrays as a cell, which gives no gradients and is not compiled."""

    def construct(self, *inputs, **keywords):
        inputs, keywords = nesting.transform((inputs, keywords), _as_array)
        return nesting.transform(self.plain(*inputs, **keywords), _as_tensor)


def _as_array(value: Any) -> Any:
    return array(value) if isinstance(value, ms.Tensor) else value


def _as_tensor(value: Any) -> Any:
    """An array, or a number of NumPy, as a tensor."""
    if isinstance(value, np.ndarray | np.generic):
        return ms.Tensor(np.array(value, order="C"))
    return value


_numbers = itertools.count(1)


def as_cell(call: Callable[..., Any]) -> Function:
    """A plain callable as a cell.

    What it is given besides its inputs is written into the code of `construct`: the compiler takes
    a network only where it is an attribute of the cell.
    """
    if isinstance(Plain.of(call).call, Arrays):
        return OfArrays(call)
    made = Function(call)
    plain = made.plain
    if not (plain.before or plain.given):
        return made
    held = {id(network): name for name, network in plain.networks.items()}
    words = {}
    for name, value in {**plain.before, **plain.given}.items():
        words[name] = held.get(id(value), f"given_{name}")
        setattr(made, words[name], value)
    before = "".join(f"self.{words[name]}, " for name in plain.before)
    given = "".join(f"{name}=self.{words[name]}, " for name in plain.given)
    file = f"<a function and its arguments, {next(_numbers)}>"
    source = (
        "def construct(self, *inputs, **keywords):\n"
        f"    return self.call({before}*inputs, {given}**keywords)\n"
    )
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = {"__name__": __name__}
    exec(compile(source, file, "exec"), module)
    made.__class__ = type("Function", (Function,), {"construct": module["construct"]})
    return made


def build_cell(target: str, arguments: Mapping[str, Any]) -> nn.Cell:
    """What a target builds, as a cell; without initial values, since the sample sets every weight.

    A constructor that computes with its initial values (`weight * head_init_scale`) gets them.
    Raises DeclarationError where the target builds no network of MindSpore.
    """
    if is_exported(target):
        return exported(target)
    try:
        with no_init_parameters():
            network = build(target, arguments, stays=True, or_plain=True)
    except RuntimeError:  # MindSpore's for a tensor without values
        network = build(target, arguments, stays=True, or_plain=True)
    demand_network(target, network, "MindSpore")
    return network if isinstance(network, nn.Cell) else as_cell(network)


def exported(file: str) -> nn.Cell:
    """The graph of a MindIR file as a cell, with its weights as parameters.

    Raises DeclarationError where there is no such file, or no graph in it.
    """
    if not os.path.isfile(file):
        raise DeclarationError(f"{file} is not there; name the file that mindspore.export wrote")
    try:
        cell = nn.GraphCell(ms.load(file))
    except (RuntimeError, ValueError, TypeError) as error:
        why = raised(error)
        raise DeclarationError(
            f"{file} cannot be read as a MindIR: {why}; export it anew"
        ) from None
    for name, parameter in cell.parameters_and_names():
        parameter.requires_grad = name.rpartition(".")[2] not in STATISTICS
    return cell


def empty(parameters: Iterable[ms.Parameter]) -> None:
    """Free the values of parameters."""
    for parameter in parameters:
        try:
            parameter.set_data(ms.Tensor(0, parameter.dtype), slice_shape=True)
        except RuntimeError:  # a backward pass that has raised still holds it, and frees it later
            continue


def unheld(network: nn.Cell) -> list[str]:
    """The attributes that hold cells in a list, tuple or dict of Python, whose weights are lost."""
    held = {id(cell) for _, cell in network.cells_and_names()}

    def lost(value: Any) -> bool:
        values = value.values() if isinstance(value, dict) else value
        kind = isinstance(value, list | tuple | dict)
        return kind and any(isinstance(v, nn.Cell) and id(v) not in held for v in values)

    return [
        f"{path}.{name}" if path else name
        for path, cell in network.cells_and_names()
        for name, value in vars(cell).items()
        if lost(value)
    ]


@contextlib.contextmanager
def changes_of_mode(changed: list[nn.Cell]) -> Iterator[None]:
    """A context in which `changed` gets the cells whose mode is set by what is run."""
    add = nn.Cell.add_flags

    def noted(cell: nn.Cell, **flags: Any) -> nn.Cell:
        if "training" in flags:
            changed.append(cell)
        return add(cell, **flags)

    with patched(nn.Cell, add_flags=noted):
        yield


def tensor(values: np.ndarray) -> ms.Tensor:
    """A tensor of the array's values and dtype."""
    if dtypes.name(values.dtype) == "bfloat16":
        return ms.Tensor(values, ms.bfloat16)
    return ms.Tensor(values)


def array(values: Any) -> np.ndarray:
    """A copy as an array: `asnumpy` may share memory with a parameter."""
    if not isinstance(values, ms.Tensor):
        return np.array(values)
    if values.dtype == ms.bfloat16:
        return dtypes.marked(values.asnumpy().astype(np.float32))
    return np.array(values.asnumpy())


def narrow(cell: nn.Cell, dtype: str, as_written: bool = False) -> None:
    """Make a cell compute in float16, with its weights in float32, or have weights of `dtype`.

    as_written: whether only the layers of MindSpore compute in float16 by `to_float`, and the code
        of the network's own keeps its casts, which `to_float` undoes.
    """
    own = [each for _, each in cell.cells_and_names() if not _of_mindspore(each)]
    if dtype == "float16" and not (as_written and own):
        cell.to_float(ms.float16)
        return
    parameters = cell.get_parameters()
    if dtype == "float16":
        layers = [each for _, each in cell.cells_and_names() if each not in own]
        for layer in layers:
            if not any(each in own for _, each in layer.cells_and_names()):
                layer.to_float(ms.float16)
        parameters = (p for each in own for p in each.get_parameters(expand=False))
    for parameter in parameters:
        if parameter.dtype == ms.float32:
            parameter.set_dtype(getattr(ms, dtype))


def _of_mindspore(cell: nn.Cell) -> bool:
    return type(cell).__module__.startswith("mindspore.")
