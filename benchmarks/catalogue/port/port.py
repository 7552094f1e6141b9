"""From a PyTorch network to a MindSpore cell, whose source is written by the rules.

`torch.fx` lists the layers and functions that a network calls. Each becomes a line of `construct`:
a layer is called under its path, a function is the one of its name in `functions.py`. The cell has
the tree of the network, so that weights pair by the standard renames.
"""

import hashlib
import importlib.util
import operator
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore as ms
import torch
from mindspore import nn
from torch import fx

from benchmarks.catalogue.port import functions
from benchmarks.catalogue.port.cells import CELLS
from benchmarks.catalogue.pt import vision
from equivalence.errors import DeclarationError

OPERATORS: dict[Callable[..., Any], str] = {
    operator.add: "{} + {}",
    operator.floordiv: "{} // {}",
    operator.getitem: "{}[{}]",
    operator.mul: "{} * {}",
    getattr: "{}.{}",
}
"""Operators of Python that a network may apply -> their source."""

ASSERTIONS = ("_assert",)
"""Functions that compute nothing."""

ALIASES = {torch.nn.functional.max_pool2d: "max_pool2d"}
"""Functions whose own name does not tell what they are."""

HEADER = """\"\"\"Written by benchmarks/catalogue/port/port.py.\"\"\"

from benchmarks.catalogue.port import functions
from benchmarks.catalogue.port.port import Ported


class Network(Ported):
    def construct(self, {inputs}):
"""

_folder = tempfile.TemporaryDirectory(prefix="ported-")
# Sources of the cells: graph mode reads a cell's source in its file.


class Group(nn.Cell):
    """What a module holds, under the same names; it is not called itself."""


class Ported(Group):
    """A network that calls its layers by aliases, such as `layer1_0_conv1` for `layer1.0.conv1`."""

    def __init__(self, network: torch.nn.Module, constants: dict[str, torch.Tensor]):
        super().__init__()
        fill(self, network)
        for name, values in constants.items():
            object.__setattr__(self, identifier(name), ms.Tensor(values.detach().numpy()))
        for path, module in network.named_modules():
            if path and type(module).__name__ in CELLS:
                alias(self, path)
            for name in held(module):
                alias(self, f"{path}.{name}" if path else name)


def fill(cell: nn.Cell, module: torch.nn.Module) -> None:
    """Give a cell what a module holds itself, and its children."""
    for name, values in held(module).items():
        array = values.detach().numpy()
        trained = isinstance(values, torch.nn.Parameter) and values.requires_grad
        setattr(cell, name, ms.Parameter(ms.Tensor(array), name=name, requires_grad=trained))
    for name, child in module.named_children():
        rule = CELLS.get(type(child).__name__)
        if rule is not None:
            ported = rule(child)
        else:
            ported = Group()
            fill(ported, child)
        setattr(cell, name, ported)


def held(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The parameters and buffers that a module holds itself, if it is no layer with a rule."""
    if type(module).__name__ in CELLS:
        return {}
    return dict(module.named_parameters(recurse=False)) | dict(module.named_buffers(recurse=False))


def alias(cell: nn.Cell, path: str) -> None:
    """Make what is at a path an attribute of the cell, but not a second child of it."""
    part = cell
    for name in path.split("."):
        part = getattr(part, name)
    object.__setattr__(cell, identifier(path), part)


def identifier(path: str) -> str:
    """The alias of a path."""
    return "at_" + re.sub(r"\W", "_", path)


def source(graph: fx.Graph, network: torch.nn.Module) -> str:
    """The source of the cell. Raises DeclarationError where there is no rule."""
    for node in list(graph.nodes):
        if node.op == "call_function" and node.target.__name__ in ASSERTIONS:
            graph.erase_node(node)
    graph.eliminate_dead_code()
    inputs = [node.name for node in graph.nodes if node.op == "placeholder"]
    lines = [line(node, network) for node in graph.nodes if node.op != "placeholder"]
    return HEADER.format(inputs=", ".join(inputs)) + "".join(f"        {each}\n" for each in lines)


def line(node: fx.Node, network: torch.nn.Module) -> str:
    """The statement of a node."""
    if node.op == "output":
        return f"return {written(node.args[0])}"
    return f"{node.name} = {expression(node, network)}"


def expression(node: fx.Node, network: torch.nn.Module) -> str:
    """The source of what a node computes. Raises DeclarationError where there is no rule."""
    if node.op == "get_attr":
        owner, _, name = node.target.rpartition(".")
        if type(network.get_submodule(owner)).__name__ in CELLS:  # a Linear: of the same name
            return f"self.{identifier(owner)}.{name}"
        return f"self.{identifier(node.target)}"
    if node.op == "call_function" and node.target in OPERATORS:
        first, second = node.args
        shown = second if node.target is getattr else subscript(second)
        return OPERATORS[node.target].format(written(first), shown)
    arguments = [written(each) for each in node.args]
    arguments += [f"{name}={written(each)}" for name, each in node.kwargs.items()]
    if node.op == "call_module":
        kind = type(network.get_submodule(node.target)).__name__
        if kind not in CELLS:
            raise DeclarationError(
                f"{node.target} is a {kind}, for which port/cells.py has no rule"
            )
        if kind == "MultiheadAttention":
            arguments = [each for each in arguments if each != "average_attn_weights=True"]
        return f"self.{identifier(node.target)}({', '.join(arguments)})"
    name = node.target
    if node.op == "call_function":
        name = ALIASES.get(node.target, node.target.__name__)
    if not hasattr(functions, name):
        raise DeclarationError(f"{name} has no rule in port/functions.py")
    return f"functions.{name}({', '.join(arguments)})"


def written(value: Any) -> str:
    """The source of an argument; lists become tuples."""
    if isinstance(value, fx.Node):
        return value.name
    if isinstance(value, tuple | list):
        return f"({''.join(f'{written(each)}, ' for each in value)})"
    return repr(value)


def subscript(value: Any) -> str:
    """The source of what stands in brackets, or beside an operator."""
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return ":".join("" if part is None else written(part) for part in parts)
    if isinstance(value, tuple | list):
        return ", ".join(map(subscript, value))
    return written(value)


def port(network: torch.nn.Module) -> nn.Cell:
    """The MindSpore cell of a PyTorch network, without its weights.

    Raises DeclarationError where a layer or a function has no rule.
    """
    traced = fx.symbolic_trace(network)
    # Tensors that the network computes from its buffers alone.
    constants = {n: t for n, t in traced.named_buffers() if n.startswith("_tensor_constant")}
    constants |= {n: t for n, t in vars(traced).items() if n.startswith("_tensor_constant")}
    text = source(traced.graph, network)
    name = "ported_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    if name not in sys.modules:
        path = Path(_folder.name, f"{name}.py")
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name].Network(network, constants)


def torchvision(name: str, **options: Any) -> nn.Cell:
    """The port of a network of torchvision."""
    return port(vision.network(name, **options))
