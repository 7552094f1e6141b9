"""Default arguments of PyTorch's and MindSpore's functions, read off signatures and compared.

A function may have several signatures, its overloads. What cannot be read is an error, so that no
difference is overlooked without a word.
"""

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from equivalence.declare.operator import Counterpart
from equivalence.errors import SignatureError

Signature = dict[str, Any]
"""Argument -> its default, or REQUIRED."""

REQUIRED = inspect.Parameter.empty
ITSELF = object()

VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

MEANT = {
    ("torch.meshgrid", "indexing"): "ij",
    ("torch.nn.functional.affine_grid", "align_corners"): False,
    ("torch.std", "correction"): 1,
    ("torch.std_mean", "correction"): 1,
    ("torch.var", "correction"): 1,
    ("torch.var_mean", "correction"): 1,
    ("mint.meshgrid", "indexing"): "ij",
    ("nn.BatchNorm2d", "momentum"): 0.1,  # the share of the old statistics
    ("ops.avg_pool2d", "divisor_override"): None,
    ("ops.avg_pool3d", "divisor_override"): None,
    ("ops.topk", "dim"): -1,
}
"""(Function, argument) -> what its default stands for, where that is not the value itself."""


def differences(
    torch: str, counterpart: Counterpart, meant: Mapping[tuple[str, str], Any] = MEANT
) -> dict[str, tuple[Any, Any]]:
    """Argument of torch -> (torch's default, MindSpore's), for each that both have otherwise.

    meant: (function, argument) -> what to read its default as. Of an overloaded function all
    defaults that an argument has are considered: one in common is enough to be equal.
    Raises SignatureError where a signature cannot be read.
    """
    ours, theirs = of_torch(torch), of_mindspore(counterpart.api)
    found = {}
    for name in dict.fromkeys(name for signature in ours for name in signature):
        other = counterpart.names.get(name, name)
        mine = _defaults(ours, name, meant.get((torch, name), ITSELF))
        others = _defaults(theirs, other, meant.get((counterpart.api, other), ITSELF))
        if mine and others and not any(_alike(a, b) for a in mine for b in others):
            found[name] = (mine[0], others[0])
    return found


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other


def _plain(value: Any) -> Any:
    """What a default says: 1 for (1, 1), and None for no axes at all."""
    if isinstance(value, list | tuple):  # one value for each axis, or the axes
        each = [_plain(item) for item in value]
        if not each:
            return None
        return each[0] if each.count(each[0]) == len(each) else tuple(each)
    # MindSpore's layers name the dtype that both frameworks have unless told.
    return None if str(value) == "Float32" else value


def _defaults(signatures: list[Signature], name: str, meant: Any) -> list[Any]:
    given = [signature.get(name, REQUIRED) for signature in signatures]
    found = [_plain(value) for value in given if value is not REQUIRED]
    return found if meant is ITSELF or not found else [meant]


def of_torch(name: str) -> list[Signature]:
    """Of "torch.softmax": from Python, or else the schema of the operator.

    Where neither tells, from the signatures that PyTorch keeps to test overriding.
    """
    import torch
    from torch.overrides import get_testing_overrides

    function = _found(name)
    if (signature := _of_python(function)) is not None:
        return [signature]
    owner, _, last = name.rpartition(".")
    word = f"linalg_{last}" if owner == "torch.linalg" else last
    for each in (word, getattr(function, "__name__", word)):
        if signatures := list(_of_schemas(getattr(torch.ops.aten, each, None))):
            return signatures
    signature = _of_python(get_testing_overrides().get(function))
    if signature is None:
        raise SignatureError(f"{name} tells no signature")
    return [signature]


def of_mindspore(api: str) -> list[Signature]:
    """Of "ops.softmax": from Python, or else the calls that its documentation starts with."""
    function = _found(f"mindspore.{api}")
    if (signature := _of_python(function)) is not None:
        return [signature]
    signatures = list(_of_documentation(inspect.getdoc(function) or "", api.rpartition(".")[2]))
    if not signatures:
        raise SignatureError(f"mindspore.{api} tells no signature, nor does its documentation")
    return signatures


def _found(name: str) -> Any:
    """The object of a dotted name: in a module, or of a class in one."""
    owner, _, last = name.rpartition(".")
    try:
        holder = importlib.import_module(owner)
    except ModuleNotFoundError:
        holder = _found(owner) if owner else None
    try:
        return getattr(holder, last)
    except AttributeError:
        raise SignatureError(f"there is no {name}") from None


def _of_python(function: Callable | None) -> Signature | None:
    """None for what is not written in Python, and for a wrapper that takes anything."""
    if function is None:
        return None
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if {each.kind for each in parameters} == set(VARIADIC):
        # MindSpore wraps some functions and constructors, and does not say which.
        made = function.__init__ if inspect.isclass(function) else function
        closed = inspect.getclosurevars(made).nonlocals if inspect.isfunction(made) else {}
        return _of_python(closed.get("fn"))
    return {each.name: each.default for each in parameters if each.kind not in VARIADIC}


def _of_schemas(packet: Any) -> Iterator[Signature]:
    """Of overloads that return a new tensor, from one that they take first, or on a device."""
    for overload in packet.overloads() if packet else ():
        arguments = getattr(packet, overload)._schema.arguments
        made = any(each.name == "device" for each in arguments)
        if not made and not (arguments and "Tensor" in str(arguments[0].type)):
            continue
        if any(each.is_out for each in arguments):
            continue
        yield {
            each.name: each.default_value if each.has_default_value() else REQUIRED
            for each in arguments
        }


def _of_documentation(text: str, name: str) -> Iterator[Signature]:
    """Of lines such as `add(input, other, *, alpha=1) -> Tensor`, at the start of a paragraph."""
    call = re.compile(rf"^(?:\.\. \w+:: )?(?:\w+\.)*{re.escape(name)}(\(.*\)) -> ", re.MULTILINE)
    for match in call.finditer(text):
        try:
            arguments = ast.parse(f"def call{match[1]}: ...").body[0].args
        except SyntaxError:
            raise SignatureError(f"{name} is documented as {match[0]!r}") from None
        yield dict(_documented(arguments))


def _documented(arguments: ast.arguments) -> Iterator[tuple[str, Any]]:
    names = [*arguments.posonlyargs, *arguments.args]
    given = [None] * (len(names) - len(arguments.defaults)) + arguments.defaults
    names += arguments.kwonlyargs
    for argument, default in zip(names, [*given, *arguments.kw_defaults], strict=True):
        yield argument.arg, REQUIRED if default is None else _literal(default)


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)
