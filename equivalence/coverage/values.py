"""What the names in a function stand for, as far as its code tells: tensors, modules, or others."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import TypeGuard

from equivalence.coverage.torch_names import TENSOR, computes_nothing, is_class, methods

Kind = Enum("Kind", ["TENSOR", "TENSORS", "MODULE", "NUMBERS", "OTHER", "UNKNOWN"])
"""A tensor; several; a callable layer; numbers of Python; something else; or nobody knows."""

SEVERAL = {
    *("aminmax", "chunk", "cummax", "cummin", "dsplit", "frexp", "histogram", "hsplit", "meshgrid"),
    *("kthvalue", "mode", "qr", "slogdet", "sort", "split", "split_with_sizes", "std_mean", "svd"),
    *("eigh", "tensor_split", "topk", "unbind", "unique_consecutive", "unsafe_chunk", "var_mean"),
    *("vsplit", "broadcast_tensors", "lstsq"),
}
"""Names of functions and methods that return several tensors."""
SEVERAL_OR_ONE = {"max", "min", "median", "nonzero", "unique", "where"}
"""Those whose arguments decide."""
TENSOR_ATTRIBUTES = ("T", "mT", "H", "mH", "data", "grad", "real", "imag")
NUMBER = re.compile(r"\b(int|float|bool)\b")
LITERALS = (ast.JoinedStr, ast.Lambda, ast.Set, ast.Dict, ast.SetComp, ast.DictComp)


class Scope:
    """What is known of the names in one function.

    names: name -> the dotted name that it was imported as.
    attributes: name -> kind, of the attributes of `self`.
    kinds: name -> kind, of local names.
    classes: name -> the classes of the file.
    """

    def __init__(
        self,
        names: Mapping[str, str],
        attributes: Mapping[str, Kind] | None = None,
        kinds: Mapping[str, Kind] | None = None,
        classes: Mapping[str, ast.ClassDef] | None = None,
    ):
        self.names, self.attributes, self.classes = names, attributes or {}, classes or {}
        self.kinds: dict[str, Kind] = dict(kinds or {})
        self.alone, self.shared = methods()

    @classmethod
    def of(cls, tree: ast.Module, names: Mapping[str, str]) -> "Scope":
        """The scope of a file, outside its functions."""
        classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
        scope = cls(names, classes=classes)
        for node in tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    scope.set(target, scope.kind(node.value))
        return scope

    def copy(self, attributes: Mapping[str, Kind] | None = None) -> "Scope":
        """The same scope, which may learn more. attributes: of another class."""
        mine = self.attributes if attributes is None else attributes
        return Scope(self.names, mine, self.kinds, self.classes)

    def inner(self, function: ast.FunctionDef | ast.Lambda) -> "Scope":
        """The scope within a function: its parameters by annotation, by default, and by use."""
        scope = self.copy()
        arguments = function.args
        named = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(named) - len(arguments.defaults)) + arguments.defaults
        named += arguments.kwonlyargs
        forward = getattr(function, "name", "") == "forward"
        building = getattr(function, "name", "") == "__init__"
        used = set(_used_as_tensors(function, scope))
        for argument, default in zip(named, [*defaults, *arguments.kw_defaults], strict=True):
            kind = _annotated(argument.annotation)
            if kind is Kind.UNKNOWN and isinstance(default, ast.Constant | ast.Tuple | ast.UnaryOp):
                is_none = isinstance(default, ast.Constant) and default.value is None
                kind = Kind.UNKNOWN if is_none else scope.kind(default)
            if kind is Kind.UNKNOWN and building:
                kind = Kind.OTHER
            if kind is Kind.UNKNOWN and (forward or argument.arg in used):
                kind = Kind.TENSOR
            scope.kinds[argument.arg] = kind
        for rest in (arguments.vararg, arguments.kwarg):
            if rest is not None:
                scope.kinds[rest.arg] = Kind.OTHER
        return scope

    def set(self, target: ast.expr, kind: Kind, branch: bool = False) -> None:
        """What an assignment makes of its target. branch: it may not run."""
        if isinstance(target, ast.Starred):
            target = target.value
        if isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self.set(each, element(kind), branch)
        elif isinstance(target, ast.Name):
            before = self.kinds.get(target.id, kind)
            # What a branch may leave as it was is what it was, where that says more.
            if branch and before in (Kind.TENSOR, Kind.TENSORS) and kind is not Kind.TENSOR:
                kind = before
            self.kinds[target.id] = kind

    def dotted(self, node: ast.expr) -> str | None:
        """ "torch.nn.functional.relu" for `F.relu`; None where the name is no import."""
        if isinstance(node, ast.Name):
            return None if node.id in self.kinds else self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.dotted(node.value)
            return owner and f"{owner}.{node.attr}"
        return None

    def kind(self, node: ast.expr | None) -> Kind:
        """The kind of an expression."""
        match node:
            case ast.Name():
                return self.kinds.get(node.id, Kind.OTHER if self.dotted(node) else Kind.UNKNOWN)
            case ast.BinOp():
                return _joined(self.kind(node.left), self.kind(node.right))
            case ast.Compare():
                if any(
                    isinstance(each, ast.Is | ast.IsNot | ast.In | ast.NotIn) for each in node.ops
                ):
                    return Kind.NUMBERS
                return _joined(*map(self.kind, (node.left, *node.comparators)))
            case ast.UnaryOp():
                return Kind.NUMBERS if isinstance(node.op, ast.Not) else self.kind(node.operand)
            case ast.BoolOp():
                return _joined(*map(self.kind, node.values))
            case ast.IfExp():
                return _joined(self.kind(node.body), self.kind(node.orelse))
            case ast.NamedExpr() | ast.Starred():
                return self.kind(node.value)
            case ast.Subscript():
                return self._of_item(node)
            case ast.Attribute():
                return self._of_attribute(node)
            case ast.Call():
                return self._of_call(node)
            case ast.List() | ast.Tuple():
                kinds = {self.kind(each) for each in node.elts}
                if kinds and kinds <= {Kind.NUMBERS}:
                    return Kind.NUMBERS
                return Kind.TENSORS if Kind.TENSOR in kinds else Kind.OTHER
            case ast.ListComp() | ast.GeneratorExp():
                inner = self.copy()
                for each in node.generators:
                    inner.set(each.target, element(inner.kind(each.iter)))
                kind = inner.kind(node.elt)
                kept = {Kind.TENSOR: Kind.TENSORS, Kind.NUMBERS: kind}
                return kept.get(kind, Kind.OTHER)
            case ast.Constant():
                return Kind.OTHER if isinstance(node.value, str | bytes) else Kind.NUMBERS
        return Kind.OTHER if isinstance(node, LITERALS) else Kind.UNKNOWN

    def _of_item(self, node: ast.Subscript) -> Kind:
        kind = self.kind(node.value)
        if kind is Kind.TENSORS and isinstance(node.slice, ast.Slice):
            return kind
        if kind is Kind.NUMBERS:
            return kind  # x.shape[0]
        return Kind.TENSOR if kind in (Kind.TENSOR, Kind.TENSORS) else Kind.UNKNOWN

    def _of_attribute(self, node: ast.Attribute) -> Kind:
        if self.dotted(node):
            return Kind.OTHER
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return self.attributes.get(node.attr, Kind.UNKNOWN)
        of = self.kind(node.value)
        if of is Kind.TENSOR:
            return Kind.TENSOR if node.attr in TENSOR_ATTRIBUTES else Kind.NUMBERS
        if of is Kind.MODULE and node.attr in ("weight", "bias"):
            return Kind.TENSOR
        return Kind.NUMBERS if node.attr in ("shape", "dtype", "device", "ndim") else Kind.UNKNOWN

    def _of_call(self, node: ast.Call) -> Kind:
        api = self.dotted(node.func)
        if api is not None:
            return _returned(api, node) if api.split(".")[0] == "torch" else Kind.UNKNOWN
        if isinstance(node.func, ast.Attribute):
            name, receiver = node.func.attr, self.kind(node.func.value)
            if receiver is Kind.TENSOR or (receiver is Kind.UNKNOWN and name in self.alone):
                return _returned(f"{TENSOR}.{name}", node)
            if receiver is Kind.NUMBERS:
                return receiver
            if receiver in (Kind.OTHER, Kind.TENSORS):
                return Kind.UNKNOWN
        if self.kind(node.func) is Kind.MODULE:
            return Kind.TENSOR
        if isinstance(node.func, ast.Name) and node.func.id in BUILT_IN:
            return Kind.NUMBERS
        if isinstance(node.func, ast.Name) and node.func.id in OF_ITS_ARGUMENTS and node.args:
            kinds = {element(self.kind(each)) for each in node.args}
            return kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN
        return Kind.UNKNOWN


BUILT_IN = {"len", "int", "float", "str", "bool", "range", "isinstance", "hasattr", "type", "round"}
OF_ITS_ARGUMENTS = {"sum", "min", "max", "abs", "list", "tuple", "sorted", "reversed"}
"""Functions of Python that return no tensor."""


def element(kind: Kind) -> Kind:
    """The kind of what a loop over something yields."""
    if kind in (Kind.TENSOR, Kind.TENSORS):
        return Kind.TENSOR
    return kind if kind is Kind.NUMBERS else Kind.UNKNOWN


def _joined(*kinds: Kind) -> Kind:
    if Kind.TENSOR in kinds:
        return Kind.TENSOR
    if set(kinds) <= {Kind.NUMBERS}:
        return Kind.NUMBERS
    return Kind.OTHER if Kind.OTHER in kinds or Kind.MODULE in kinds else Kind.UNKNOWN


def _returned(api: str, node: ast.Call) -> Kind:
    name = api.rpartition(".")[2]
    if name in SEVERAL:
        return Kind.TENSORS
    if name in SEVERAL_OR_ONE:
        several = (
            len(node.args) + len(node.keywords) > 1 if name != "where" else len(node.args) == 1
        )
        return Kind.UNKNOWN if several else Kind.TENSOR
    if api != TENSOR and is_class(api):
        return Kind.MODULE
    return Kind.NUMBERS if api != TENSOR and computes_nothing(api) else Kind.TENSOR


def _annotated(annotation: ast.expr | None) -> Kind:
    """What an annotation tells of a parameter."""
    text = ast.unparse(annotation) if annotation is not None else ""
    text = text.strip("'\"").removeprefix("Optional[").removeprefix("torch.")
    if text.startswith(("Tensor", "None | Tensor", "None | torch.Tensor")):
        return Kind.TENSOR
    if not text or text.startswith(("Any", "Union", "Callable")):
        return Kind.UNKNOWN
    if "Tensor" in text:
        return Kind.TENSORS
    if "Module" in text:
        return Kind.MODULE
    return Kind.OTHER if "str" in text else Kind.NUMBERS if NUMBER.search(text) else Kind.UNKNOWN


def _used_as_tensors(function: ast.AST, scope: Scope) -> Iterator[str]:
    """The names that a function calls methods of tensors on, or hands to PyTorch's functions."""
    for node in ast.walk(function):
        used: Iterable[ast.expr] = ()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            api = scope.dotted(node.func)
            if api is None and node.func.attr in scope.alone:
                used = [node.func.value]
            elif api and api.startswith("torch.") and not is_class(api):
                used = node.args[:1]
        elif isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else ()
            used = [node.value] if any(isinstance(each, ast.Slice) for each in parts) else ()
        for each in used:
            while isinstance(each, ast.Subscript):
                each = each.value
            if isinstance(each, ast.Name):
                yield each.id


def attributes_of(body: ast.ClassDef, scope: Scope) -> dict[str, Kind]:
    """The kinds of the attributes that a class gives itself, and of its buffers and parameters."""
    kinds: dict[str, Kind] = {}
    for base in body.bases:
        if isinstance(base, ast.Name) and scope.classes.get(base.id, body) is not body:
            kinds |= attributes_of(scope.classes[base.id], scope)
    for method in (each for each in body.body if isinstance(each, ast.FunctionDef)):
        kinds.setdefault(method.name, Kind.UNKNOWN)
        inner = scope.inner(method)
        for node in ast.walk(method):
            for name, kind in _kept(node, inner):
                kinds[name] = kind if kinds.get(name, kind) is kind else Kind.UNKNOWN
    return kinds


def _kept(node: ast.AST, scope: Scope) -> Iterator[tuple[str, Kind]]:
    """The attributes of `self` that a statement or a call sets."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        kind = scope.kind(node.value)
        if isinstance(node.value, ast.Call):
            name = (scope.dotted(node.value.func) or "").rpartition(".")[2]
            if name in ("Parameter", "Buffer"):
                kind = Kind.TENSOR
            elif kind is Kind.UNKNOWN:
                kind = Kind.MODULE  # what a network builds and keeps, it calls
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if _of_self(target):
                yield target.attr, kind
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        registers = node.func.attr in ("register_buffer", "register_parameter")
        if registers and isinstance(node.args[0], ast.Constant):
            yield str(node.args[0].value), Kind.TENSOR


def _of_self(node: ast.expr) -> TypeGuard[ast.Attribute]:
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return node.value.id == "self"
