"""Reads the calls of PyTorch off code: functions, methods, operators, items and assignments.

A method counts as a tensor's if the receiver is one, or if `torch.Tensor` alone has a method of
that name. Where nobody knows whether a value is a tensor, the call is not `sure`.
"""

import ast
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from equivalence.coverage.torch_names import ROOTS, TENSOR, is_class, public
from equivalence.coverage.values import Kind, Scope, attributes_of, element

BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "bitwise_left_shift",
    ast.RShift: "bitwise_right_shift",
}
"""Operator -> the function of PyTorch that it is."""
AUGMENTED = {
    **{ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.Div: "itruediv"},
    **{ast.FloorDiv: "ifloordiv", ast.Mod: "imod", ast.Pow: "ipow", ast.MatMult: "imatmul"},
    **{ast.BitAnd: "iand", ast.BitOr: "ior", ast.BitXor: "ixor"},
    **{ast.LShift: "ilshift", ast.RShift: "irshift"},
}
"""Operator -> the method of `torch.Tensor` that changes the tensor."""
COMPARED = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
UNARY = {ast.USub: "neg", ast.Invert: "bitwise_not"}
COMMUTATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
PERHAPS = (Kind.TENSOR, Kind.UNKNOWN)
INDEX = "[]"
"""What is given in brackets; torch.gather has an argument called index."""


class ToldArgument(Enum):
    """What a line tells of an argument that it does not write out."""

    TENSOR = "a tensor"
    UNKNOWN = "known when it runs"


@dataclass(frozen=True)
class CallSite:
    """One call, or one mention of a function that something else calls.

    api: PyTorch's name of it; an operator such as `+` has that of its function.
    place: "net.py:12", or the name of a submodule.
    given: position or name of an argument -> its value, or a `ToldArgument`; None: a mention.
    text: the code, on one line.
    sure: whether it is a tensor that it is called on, or may be something else.
    node: the code, for a hint; None for a built module.
    """

    api: str
    place: str
    given: Mapping[int | str, Any] | None = None
    text: str = ""
    sure: bool = True
    node: ast.AST | None = None

    @property
    def private(self) -> bool:
        """Whether the name is none of PyTorch's public ones."""
        return any(part.startswith("_") and not part.endswith("__") for part in self.api.split("."))

    @property
    def in_place(self) -> bool:
        """Whether it is a method that changes its tensor."""
        name = self.api.rpartition(".")[2]
        return self.api.startswith("torch.Tensor.") and name.endswith("_") and name[0] != "_"

    def spelled(self) -> str:
        """The call with those of its arguments that are written out."""
        if self.given is None:
            return self.api
        words = [
            each if isinstance(key, int) else f"{key}={each}"
            for key, value in self.given.items()
            for each in ["..." if isinstance(value, ToldArgument) else repr(value)]
        ]
        return f"{self.api}({', '.join(words)})"


def arguments(
    node: ast.Call, value: Callable[[ast.expr], Any], first: int = 0
) -> dict[int | str, Any]:
    """The arguments of a call. value: what an expression stands for. first: the first position."""
    given: dict[int | str, Any] = {}
    for number, each in enumerate(node.args, first):
        if isinstance(each, ast.Starred):
            given["*"] = ToldArgument.UNKNOWN
            break
        given[number] = value(each)
    for keyword in node.keywords:
        given[keyword.arg or "**"] = value(keyword.value) if keyword.arg else ToldArgument.UNKNOWN
    return given


def literal(node: ast.expr) -> Any:
    """The value of a literal; `ToldArgument.UNKNOWN` for any other expression."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return ToldArgument.UNKNOWN


class CallReader(ast.NodeVisitor):
    """Hands the calls in nodes to `found`, and other names that are imported to `other`.

    scope: the names.
    place: line -> where that is.
    found: called with each call of PyTorch.
    other: called with the dotted name of what is neither PyTorch's nor Python's, or None and the
    name of a function or class of the same file.
    """

    def __init__(
        self,
        scope: Scope,
        place: Callable[[int], str],
        found: Callable[[CallSite], None],
        other: Callable[[str], None],
    ):
        self.scope, self.place, self.found, self.other = scope, place, found, other
        self.branches = 0

    def read(self, *nodes: ast.AST) -> None:
        """Read nodes in order."""
        for node in nodes:
            self.visit(node)

    # Names.

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._mention(self.scope.dotted(node) or f":{node.id}", node, None)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if (api := self.scope.dotted(node)) is not None:
            self._mention(api, node, None)
        else:
            self.visit(node.value)

    def _mention(self, api: str, node: ast.expr, given: Mapping[int | str, Any] | None) -> None:
        root = api.split(".")[0]
        if root in ROOTS:
            if "." in api:
                self._add(api, node, given)
        elif root not in sys.stdlib_module_names:
            self.other(api)

    def _add(self, api: str, node: Any, given: Mapping[Any, Any] | None, sure: bool = True) -> None:
        line: Any = node.func.end_lineno if isinstance(node, ast.Call) else node.lineno
        text = " ".join(ast.unparse(node).split())
        self.found(CallSite(public(api), self.place(line), given, text, sure, node))

    def _value(self, node: ast.expr) -> Any:
        if (value := literal(node)) is not ToldArgument.UNKNOWN:
            return value
        if (name := self.scope.dotted(node) or "").startswith("torch.") and not is_class(name):
            return name
        kind = self.scope.kind(node)
        return ToldArgument.TENSOR if kind in (Kind.TENSOR, Kind.TENSORS) else ToldArgument.UNKNOWN

    # Calls.

    def visit_Call(self, node: ast.Call) -> None:
        api = self.scope.dotted(node.func)
        if api == "functools.partial" and node.args and self.scope.dotted(node.args[0]):
            self._partial(node)
            return
        if api is not None:
            self._mention(api, node, arguments(node, self._value))
        elif isinstance(node.func, ast.Attribute):
            self._method(node, node.func)
            self.visit(node.func.value)
        else:
            self.visit(node.func)
        self.read(*node.args, *(each.value for each in node.keywords))

    def _partial(self, node: ast.Call) -> None:
        """`partial(nn.ReLU, inplace=True)`: some arguments are told, others when it is called."""
        function, *rest = node.args
        given = arguments(ast.Call(function, rest, node.keywords), self._value)
        self._mention(
            self.scope.dotted(function) or "",
            function,
            {**given, "*": ToldArgument.UNKNOWN, "**": ToldArgument.UNKNOWN},
        )
        self.read(*rest, *(each.value for each in node.keywords))

    def _method(self, node: ast.Call, method: ast.Attribute) -> None:
        receiver = method.value
        # `self.` is a layer or a method of the class itself, not of a tensor.
        if isinstance(receiver, ast.Name) and receiver.id in ("self", "cls"):
            return
        kind, scope = self.scope.kind(receiver), self.scope
        given = {0: ToldArgument.TENSOR, **arguments(node, self._value, 1)}
        if method.attr in scope.alone and kind is not Kind.MODULE:
            self._add(f"{TENSOR}.{method.attr}", node, given)
        elif method.attr in scope.shared and kind in PERHAPS:
            if kind is Kind.UNKNOWN and hasattr(dict, method.attr):
                return
            self._add(f"{TENSOR}.{method.attr}", node, given, kind is Kind.TENSOR)

    # Operators.

    def visit_BinOp(self, node: ast.BinOp) -> None:
        kind = self.scope.kind(node)
        if kind in PERHAPS or isinstance(node.op, ast.MatMult):
            left, right = self._value(node.left), self._value(node.right)
            if not isinstance(left, ToldArgument) and type(node.op) in COMMUTATIVE:
                left, right = right, left
            given = {0: left, 1: right}
            sure = kind is Kind.TENSOR or isinstance(node.op, ast.MatMult)
            self._add(f"torch.{BINARY[type(node.op)]}", node, given, sure)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        kind = self.scope.kind(node)
        if type(node.op) in UNARY and kind in PERHAPS:
            given = {0: ToldArgument.TENSOR}
            self._add(f"torch.{UNARY[type(node.op)]}", node, given, kind is Kind.TENSOR)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            kinds = {self.scope.kind(left), self.scope.kind(right)}
            # What is compared with a text, or with a dtype, is no tensor.
            perhaps = Kind.TENSOR in kinds or (Kind.UNKNOWN in kinds and Kind.OTHER not in kinds)
            if type(operator) in COMPARED and perhaps:
                given = {0: self._value(left), 1: self._value(right)}
                api = f"torch.{COMPARED[type(operator)]}"
                self._add(api, node, given, Kind.TENSOR in kinds)
            left = right
        self.generic_visit(node)

    # Items and assignments.

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load):
            self._item(node, "__getitem__")
        self.read(node.value, node.slice)

    def _item(self, node: ast.Subscript, name: str) -> None:
        kind = self.scope.kind(node.value)
        text = self.scope.kind(node.slice) is Kind.OTHER and not isinstance(node.slice, ast.List)
        if kind is Kind.TENSOR or (kind is Kind.UNKNOWN and not text):
            rest = name == "__getitem__"
            index = "places" if self._of_places(node.slice, rest) else "elements"
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if index == "places" and any(isinstance(p, ast.Slice) and p.step for p in parts):
                index = "steps"
            given = {0: ToldArgument.TENSOR, INDEX: index}
            self._add(f"{TENSOR}.{name}", node, given, kind is Kind.TENSOR)

    def _of_places(self, index: ast.expr, rest: bool) -> bool:
        """Whether an index has integers and slices only, no mask and no list. rest: or `...`."""
        if isinstance(index, ast.Tuple):
            return all(self._of_places(each, rest) for each in index.elts)
        if isinstance(index, ast.Slice):
            return True
        value = literal(index)
        if value is not ToldArgument.UNKNOWN:
            return value is None or isinstance(value, int) or (rest and value is ...)
        return self.scope.kind(index) is Kind.NUMBERS and not isinstance(index, ast.List)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            pairs = [(target, node.value)]
            into, given = _items(target), _items(node.value)
            if into is not None and given is not None and len(into) == len(given):
                pairs = list(zip(into, given, strict=True))
            for one, value in [(one, self.scope.kind(value)) for one, value in pairs]:
                self._assign(one, value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self._assign(node.target, self.scope.kind(node.value))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._assign(node.target, self.scope.kind(node.value))

    def _assign(self, target: ast.expr, kind: Kind) -> None:
        """What an assignment to a target does; items of it are calls."""
        for each in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if isinstance(each, ast.Subscript):
                self._item(each, "__setitem__")
                self.read(each.value, each.slice)
            elif isinstance(each, ast.Attribute):
                self.visit(each.value)
        self.scope.set(target, kind, self.branches > 0)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        kind, of = self.scope.kind(node.target), self.scope.kind(node.value)
        if isinstance(node.target, ast.Subscript):
            self._item(node.target, "__getitem__")
            self._item(node.target, "__setitem__")
            self.read(node.target.value, node.target.slice)
            name = f"torch.{BINARY[type(node.op)]}"
        else:
            name = f"{TENSOR}.__{AUGMENTED[type(node.op)]}__"
        # A number to which a tensor is added becomes one; what nobody knows may be one.
        if kind is Kind.TENSOR or (kind is Kind.UNKNOWN and of is Kind.TENSOR):
            given = {0: ToldArgument.TENSOR, 1: self._value(node.value)}
            self._add(name, node, given)
        elif kind is Kind.UNKNOWN and of is not Kind.OTHER:
            self._add(name, node, {0: ToldArgument.TENSOR, 1: self._value(node.value)}, False)
        self.visit(node.value)
        if kind in (Kind.OTHER, Kind.NUMBERS) and of is Kind.TENSOR:
            self.scope.set(node.target, Kind.TENSOR)

    # Statements.

    def visit_If(self, node: ast.If | ast.While) -> None:
        self.visit(node.test)
        self.branches += 1
        self.read(*node.body, *node.orelse)
        self.branches -= 1

    visit_While = visit_If  # noqa: N815

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._loop(node.target, node.iter)
        self.branches += 1
        self.read(*node.body, *node.orelse)
        self.branches -= 1

    def _loop(self, target: ast.expr, over: ast.expr) -> None:
        """The kinds of what a loop counts with."""
        name, counted = "", []
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name):
            name, counted = over.func.id, over.args
        if name == "range":
            self.scope.set(target, Kind.NUMBERS)
        elif name in ("enumerate", "zip") and isinstance(target, ast.Tuple):
            kinds = [element(self.scope.kind(each)) for each in counted]
            kinds = [Kind.NUMBERS, *kinds] if name == "enumerate" else kinds
            for each, kind in zip(target.elts, kinds, strict=False):
                self.scope.set(each, kind)
        else:
            self.scope.set(target, element(self.scope.kind(over)))

    def _comprehension(self, node: Any) -> None:
        outer = self.scope
        self.scope = outer.copy()
        for each in node.generators:
            self.visit(each.iter)
            self._loop(each.target, each.iter)
            self.read(*each.ifs)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        self.read(*parts)
        self.scope = outer

    visit_ListComp = visit_SetComp = _comprehension  # noqa: N815
    visit_GeneratorExp = visit_DictComp = _comprehension  # noqa: N815

    def visit_FunctionDef(self, node: Any) -> None:
        decorators = getattr(node, "decorator_list", ())
        defaults = [each for each in (*node.args.defaults, *node.args.kw_defaults) if each]
        self.read(*decorators, *defaults)
        outer, branches = self.scope, self.branches
        self.scope, self.branches = outer.inner(node), 0
        self.read(*(node.body if isinstance(node.body, list) else [node.body]))
        self.scope, self.branches = outer, branches

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer = self.scope
        self.scope = outer.copy(attributes_of(node, outer))
        self.read(*node.decorator_list, *node.bases, *node.body)
        self.scope = outer

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Imports use nothing."""

    visit_ImportFrom = visit_Import  # noqa: N815


def _items(node: ast.expr) -> list[ast.expr] | None:
    """The items of a tuple or a list that the code writes; None of anything else."""
    return node.elts if isinstance(node, ast.Tuple | ast.List) else None
