"""A watched call of PyTorch, and the one of MindSpore that coverage hints for it."""

import ast
import copy
import dataclasses
import functools
import operator
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mindspore as ms
import torch

from equivalence import targets
from equivalence.coverage.compared import PLACES, signatures
from equivalence.coverage.reader import CallSite, ToldArgument, literal
from equivalence.coverage.text import hint, left
from equivalence.coverage.torch_names import TENSOR, is_class, look_up
from equivalence.coverage.verdict import CallVerdict, Judge
from tests.engine.coverage.watched import OPERATORS, Kept, tensors


class UnplayableError(Exception):
    """A call that cannot be made again, with the reason."""


@dataclasses.dataclass
class Site:
    """One judged call in one file."""

    path: Path
    call: CallSite
    verdict: CallVerdict

    @property
    def told(self) -> str:
        """Where the call is, and its code."""
        return f"{self.call.place}: {self.call.text}"


def reference(call: CallSite) -> Callable[..., Any]:
    """What a call calls in PyTorch, with the arguments in the order of the code."""
    node = call.node
    kinds = {ast.BinOp: "op", ast.UnaryOp: "op"}
    if type(node) in kinds:
        return OPERATORS[type(node.op)]
    if isinstance(node, ast.Compare):
        return OPERATORS[type(node.ops[0])]
    if isinstance(node, ast.Subscript):
        return operator.getitem
    if call.api.startswith(f"{TENSOR}."):
        name = call.api.rpartition(".")[2]
        return lambda x, *rest, **named: getattr(x, name)(*rest, **named)
    return look_up(call.api)


def candidate(site: Site, judge: Judge, kept: Kept) -> Callable[..., Any]:
    """What coverage hints for a call, as a function of the same arguments.

    A function of the arguments of a layer returns the layer. Raises UnplayableError.
    """
    call, counterpart = site.call, site.verdict.counterpart
    if counterpart is None:
        raise UnplayableError("no counterpart to call")
    if isinstance(call.node, ast.Call) and (
        counterpart.through or (site.verdict.built and _own(site.verdict.built))
    ):
        return _by_name(site, kept)
    node, names, keywords = _with_names(call.node, kept)
    own = dataclasses.replace(call, node=node, text=ast.unparse(node))
    written = hint(own, site.verdict, judge)
    if not written:
        raise UnplayableError("no hint")
    if written.endswith(", a layer"):
        return _by_name(site, kept)
    code = compile(written, written, "eval")

    def made(*arguments: Any, **named: Any) -> Any:
        space = {"ms": ms, **dict(zip(names, arguments, strict=True))}
        return eval(code, space | {f"_{key}": named[key] for key in keywords})

    return made


def _own(built: str) -> bool:
    return not built.startswith("mindspore.")


def _with_names(node: ast.AST, kept: Kept) -> tuple[ast.AST, list[str], list[str]]:
    """(a call with a name for each argument, the names of positions, the keywords)."""
    node = copy.deepcopy(node)
    names = [f"_{number}" for number in range(len(kept.arguments))]
    given = [ast.Name(name, ast.Load()) for name in names]
    if isinstance(node, ast.BinOp):
        node.left, node.right = given
    elif isinstance(node, ast.UnaryOp):
        node.operand = given[0]
    elif isinstance(node, ast.Compare):
        node.left, node.comparators = given[0], [given[1]]
    elif isinstance(node, ast.Subscript):
        node.value, node.slice = given
    else:
        if any(each.arg is None for each in node.keywords):
            raise UnplayableError("its keywords are gathered in a dictionary")
        stars = sum(isinstance(each, ast.Starred) for each in node.args)
        if stars:
            raise UnplayableError("its arguments are unpacked")
        if len(given) > len(node.args):  # a method: the first is what it is called on
            node.func.value = given.pop(0)
        # What the code writes out stays as it is: the hint may write it in another way.
        node.args = [
            old if literal(old) is not ToldArgument.UNKNOWN else new
            for old, new in zip(node.args, given, strict=True)
        ]
        for each in (each for each in node.keywords if literal(each.value) is ToldArgument.UNKNOWN):
            each.value = ast.Name(f"_{each.arg}", ast.Load())
    return node, names, [each.arg for each in getattr(node, "keywords", [])]


def _by_name(site: Site, kept: Kept) -> Callable[..., Any]:
    """A function of the project that makes the call: inputs in order, all else by name."""
    call, verdict = site.call, site.verdict
    counterpart = verdict.counterpart
    count = len(kept.arguments)
    signature = max(
        (list(each) for each in signatures(call.api)),
        key=lambda names: len(verdict.named & set(names[:count])),
        default=[],
    )
    of_class = is_class(call.api)

    def bound(arguments: tuple, named: Mapping[str, Any]) -> tuple[list, dict]:
        told = dict(zip(signature, arguments, strict=False)) | dict(named)
        told = {name: value for name, value in told.items() if name not in PLACES}
        if of_class:
            return [], told
        inputs = [value for name, value in told.items() if name not in verdict.named]
        return inputs, {name: told[name] for name in told if name in verdict.named}

    def made(*arguments: Any, **named: Any) -> Any:
        inputs, told = bound(arguments, named)
        if verdict.built and of_class and not counterpart.through:
            return targets.resolve(verdict.built)(**verdict.left, **told)
        if counterpart.through:
            told = left(call, verdict) | told
            through = targets.resolve(counterpart.through)
            told = {key: _word(value) for key, value in told.items()}
            if of_class and isinstance(through, type):
                return through(**told)
            if of_class:
                return Layer(functools.partial(through, **told))
            return through(*inputs, **told)
        told = {counterpart.names.get(name, name): value for name, value in told.items()}
        for name, (ours, _) in counterpart.defaults.items():
            told.setdefault(counterpart.names.get(name, name), ours)
        return operator.attrgetter(counterpart.api)(ms)(**told)(*inputs)

    return made


def _word(value: Any) -> Any:
    """A dtype by its name, as the functions of the project take it."""
    return str(value).lower() if isinstance(value, ms.Type) else value


class Layer(ms.nn.Cell):
    def __init__(self, function: Callable):
        super().__init__()
        self.function = function

    def construct(self, *inputs):
        return self.function(*inputs)


class Made(torch.nn.Module):
    """A call of PyTorch as a module of its tensors. cast: the dtype that integers get."""

    def __init__(self, function: Callable, kept: Kept, cast: str | None):
        super().__init__()
        self.function, self.kept, self.cast = function, kept, cast

    def forward(self, *inputs):
        # The suite widens int32, as labels are given; the call had what it had.
        before = with_elements((self.kept.arguments, self.kept.named))
        own = [
            each if each.is_floating_point() else each.to(old.dtype)
            for each, old in zip(inputs, before, strict=True)
        ]
        arguments, named = _filled((self.kept.arguments, self.kept.named), iter(own))
        found = tensors(self.function(*arguments, **named))
        whole = [not (each.is_floating_point() or each.dtype == torch.bool) for each in found]
        dtype = getattr(torch, self.cast or "int64")
        return tuple(
            each.to(dtype) if counts and self.cast else each
            for each, counts in zip(found, whole, strict=True)
        )


class MadeBeside(ms.nn.Cell):
    """The call of MindSpore."""

    def __init__(self, function: Callable, kept: Kept):
        super().__init__()
        self.function, given = function, (kept.arguments, kept.named)
        # Empty ones are made beforehand: no call of PyTorch may be among those of MindSpore.
        self.given = _filled(given, iter(with_elements(given)), in_mindspore)

    def construct(self, *inputs):
        arguments, named = _filled(self.given, iter(inputs))
        return tuple(leaves(self.function(*map(in_mindspore, arguments), **in_mindspore(named))))


def leaves(value: Any) -> list:
    """The tensors of MindSpore in nested values, in order."""
    if isinstance(value, list | tuple):
        return [leaf for each in value for leaf in leaves(each)]
    return [value] if isinstance(value, ms.Tensor) else []


def with_elements(value: Any) -> list[torch.Tensor]:
    """The tensors in nested values that have elements: those of which values are handed on."""
    return [each for each in tensors(value) if each.numel()]


def untied(call: CallSite, judge: Judge) -> set[int]:
    """The inputs that are compared without equal values alone: which is first, none promises."""
    kinds: dict[int, set[str]] = {}
    for operator_ in judge.known.operators(call.api):
        for example in judge.compared(operator_).fitting(call):
            for number, draw in enumerate(example.inputs):
                kinds.setdefault(number, set()).add(draw.kind)
    return {number for number, drawn in kinds.items() if drawn == {"distinct"}}


def places(values: torch.Tensor) -> torch.Tensor:
    """Each value's place in the order of all of them, around zero; equal ones stand in a row."""
    order = values.reshape(-1).argsort(stable=True).argsort()
    return (order - order.numel() // 2).reshape(values.shape).to(values.dtype)


def _filled(value: Any, inputs: Any, empty: Callable = lambda each: each) -> Any:
    """Nested arguments with the next inputs in the place of tensors. empty: of one without any."""
    if isinstance(value, torch.Tensor):
        return next(inputs) if value.numel() else empty(value)
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*(_filled(each, inputs, empty) for each in parts))
    if isinstance(value, dict):
        return {key: _filled(each, inputs, empty) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_filled(each, inputs, empty) for each in value)
    return value


def in_mindspore(value: Any) -> Any:
    """Arguments of PyTorch as MindSpore has them."""
    if isinstance(value, torch.Tensor):
        return ms.Tensor(value.numpy())
    if isinstance(value, slice):
        return slice(*map(in_mindspore, (value.start, value.stop, value.step)))
    if isinstance(value, torch.dtype):
        word = str(value).removeprefix("torch.")
        return getattr(ms, {"bool": "bool_"}.get(word, word))
    if isinstance(value, dict):
        return {key: in_mindspore(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(in_mindspore, value))
    return value


def of_tensors(call: CallSite, kept: Kept) -> bool:
    """Whether what may be an operator or a method of a tensor was called on one."""
    first = kept.arguments[:1]
    if isinstance(call.node, ast.BinOp | ast.UnaryOp | ast.Compare):
        first = kept.arguments
    elif isinstance(call.node, ast.Call) and not call.api.startswith(f"{TENSOR}."):
        return True
    return any(isinstance(each, torch.Tensor) for each in first)
