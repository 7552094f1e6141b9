"""Runs PyTorch code with some of its calls watched: their arguments are kept.

The code is rewritten while it is imported, so that every watched call goes through `Recorder`. Of
each call, a few sets of arguments are kept that differ in shapes, dtypes or numbers.
"""

import ast
import builtins
import copy
import importlib.machinery
import operator
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

NAME, ALL = "__watched__", "__watched_operators__"
"""The builtins that stand in the rewritten code: the recorder, and the module `operator`."""

KEPT = 2
"""How many sets of arguments of a call are kept."""
MOST = 200_000
"""Elements of all tensors of a call, beyond which it is not kept."""

Position = tuple[str, int, int, int, int]

OPERATORS = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul},
    **{ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod},
    **{ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.BitAnd: operator.and_},
    **{ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift},
    **{ast.RShift: operator.rshift, ast.USub: operator.neg, ast.Invert: operator.invert},
    **{ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge},
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne},
}
"""Kind of operator -> the function that it is."""


def position(node: ast.AST) -> Position:
    """Where a node stands in its file, and its kind."""
    kind = type(node).__name__
    return kind, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


@dataclass
class Kept:
    """The arguments of one call as it ran.

    arguments, named: positions and keywords, tensors as they were before the call.
    inputs: of a layer that the call builds, what the layer was called with.
    """

    arguments: tuple
    named: dict[str, Any]
    inputs: list[tuple] = field(default_factory=list)


class Recorder:
    """Makes watched calls, and keeps their arguments by the number of the call.

    kept: number -> what was kept. reached: the numbers of the calls that ran.
    """

    def __init__(self):
        self.kept: dict[int, list[Kept]] = defaultdict(list)
        self.reached: set[int] = set()
        self._seen: dict[int, set[str]] = defaultdict(set)

    def __call__(self, number: int, function: Any, /, *arguments: Any, **named: Any) -> Any:
        if isinstance(function, str):
            method = function
            receiver, *rest = arguments
            before = self._before(arguments, named)
            result = getattr(receiver, method)(*rest, **named)
        else:
            before = self._before(arguments, named)
            result = function(*arguments, **named)
        self.reached.add(number)
        if before is not None:
            self._keep(number, before, result)
        return result

    def _before(self, arguments: tuple, named: dict) -> tuple | None:
        try:
            return _plain(arguments), _plain(named)
        except TypeError:
            return None

    def _keep(self, number: int, before: tuple, result: Any) -> None:
        kept = Kept(*before)
        layer = isinstance(result, nn.Module)
        if not layer and not tensors((before, result)):
            return
        shape = _shape(before)
        if shape in self._seen[number] or len(self.kept[number]) >= KEPT:
            return
        self._seen[number].add(shape)
        self.kept[number].append(kept)
        if layer:
            result.register_forward_pre_hook(lambda _, given: self._called(kept, given))

    def _called(self, kept: Kept, given: tuple) -> None:
        if not kept.inputs:
            try:
                kept.inputs.append(_plain(given))
            except TypeError:
                return


def tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in nested values, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, slice):
        value = value.start, value.stop, value.step
    values = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list | tuple):
        return [leaf for each in values for leaf in tensors(each)]
    return []


def _plain(value: Any) -> Any:
    """A copy of arguments; TypeError where they cannot be kept."""
    found = tensors(value)
    if sum(each.numel() for each in found) > MOST:
        raise TypeError("too large")
    if isinstance(value, torch.Tensor):
        if value.is_complex() or value.is_quantized:
            raise TypeError(value.dtype)
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value)
    if isinstance(value, slice):
        return slice(_plain(value.start), _plain(value.stop), _plain(value.step))
    if value is None or value is ... or isinstance(value, bool | int | float | str):
        return copy.copy(value)
    if isinstance(value, torch.dtype | torch.device):
        return value
    raise TypeError(type(value).__name__)


def _shape(value: Any) -> str:
    """Values as text, of tensors their shapes and dtypes."""
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{tuple(value.shape)}"
    if isinstance(value, dict):
        return str({key: _shape(each) for key, each in value.items()})
    return str([*map(_shape, value)]) if isinstance(value, list | tuple) else repr(value)


class Rewritten(ast.NodeTransformer):
    """Code in which calls go through the recorder. sites: position -> number of the call."""

    def __init__(self, sites: Mapping[Position, int]):
        self.sites = sites

    def visit(self, node: ast.AST) -> ast.AST:
        """The node, rewritten if it is watched."""
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            node.value = self.visit(node.value)
            return node
        number = self.sites.get(position(node)) if isinstance(node, ast.expr) else None
        made = self.generic_visit(node)
        if number is None:
            return made
        return ast.copy_location(self._watched(number, made), made)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Annotations are left alone."""
        return node

    def _watched(self, number: int, node: ast.expr) -> ast.expr:
        match node:
            case ast.Call(func=ast.Attribute() as method) if not self._is_function(number):
                return _call(number, ast.Constant(method.attr), method.value, *node.args, of=node)
            case ast.Call():
                return _call(number, node.func, *node.args, of=node)
            case ast.BinOp():
                return _call(number, _own(node.op), node.left, node.right)
            case ast.UnaryOp():
                return _call(number, _own(node.op), node.operand)
            case ast.Compare(ops=[one]):
                return _call(number, _own(one), node.left, node.comparators[0])
            case ast.Subscript(ctx=ast.Load()):
                return _call(number, _attribute("getitem"), node.value, _index(node.slice))
        return node

    def _is_function(self, number: int) -> bool:
        return number in self.functions

    functions: frozenset[int] = frozenset()


def _call(number: int, function: ast.expr, *arguments: ast.expr, of: ast.Call | None = None):
    keywords = of.keywords if of else []
    return ast.Call(
        ast.Name(NAME, ast.Load()), [ast.Constant(number), function, *arguments], keywords
    )


def _own(kind: ast.AST) -> ast.expr:
    return _attribute(OPERATORS[type(kind)].__name__)


def _attribute(name: str) -> ast.expr:
    return ast.Attribute(ast.Name(ALL, ast.Load()), name, ast.Load())


def _index(node: ast.expr) -> ast.expr:
    """An index as a value: slices are built."""
    if isinstance(node, ast.Slice):
        parts = [each or ast.Constant(None) for each in (node.lower, node.upper, node.step)]
        return ast.Call(ast.Name("slice", ast.Load()), parts, [])
    if isinstance(node, ast.Tuple):
        return ast.Tuple([*map(_index, node.elts)], ast.Load())
    return node


class Importing(importlib.machinery.PathFinder):
    """Finds modules of some files, and rewrites them.

    sites: path -> position -> number. functions: the numbers of calls that are no methods.
    """

    def __init__(self, sites: Mapping[str, Mapping[Position, int]], functions: frozenset[int]):
        self.sites, self.functions = sites, functions

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None):
        """The spec of a module whose file is watched; None for any other."""
        spec = super().find_spec(name, path, target)
        origin = str(Path(spec.origin).resolve()) if spec and spec.origin else ""
        if origin not in self.sites:
            return None
        spec.loader = _Loader(name, spec.origin, self.sites[origin], self.functions)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, sites: Mapping, functions: frozenset[int]):
        super().__init__(name, path)
        self.sites, self.functions = sites, functions

    def get_code(self, _: str):
        """The rewritten code; none is kept on disk."""
        rewriting = Rewritten(self.sites)
        rewriting.functions = self.functions
        tree = rewriting.visit(ast.parse(Path(self.path).read_bytes(), self.path))
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


def main(sites_file: str, kept_file: str, target: str) -> None:
    """Run `target`, "module:function", with the calls of a file of sites watched."""
    sites, functions = torch.load(sites_file, weights_only=False)
    recorder = Recorder()
    setattr(builtins, NAME, recorder)
    setattr(builtins, ALL, operator)
    sys.meta_path.insert(0, Importing(sites, functions))
    module, _, name = target.partition(":")
    torch.manual_seed(0)
    getattr(importlib.import_module(module), name)()
    torch.save((dict(recorder.kept), recorder.reached), kept_file)


if __name__ == "__main__":
    from equivalence import torchvision_schemas
    from tests.engine.coverage import watched

    torchvision_schemas.declare_missing()
    watched.main(*sys.argv[1:])
