"""Compares default arguments of PyTorch's and MindSpore's functions, as their signatures have them.

A function may have several signatures (overloads). A signature that cannot be read raises
SignatureError, so that no difference is overlooked.
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
"""Stands for an argument without a default."""
ITSELF = object()
"""Stands for a default that means its own value."""

VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
"""Kinds of parameters that take any arguments; they are not compared."""

MEANINGS = {
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
"""(function, argument) -> what its default stands for, where that is not the value itself."""


def differences(
    torch: str, counterpart: Counterpart, meant: Mapping[tuple[str, str], Any] = MEANINGS
) -> dict[str, tuple[Any, Any]]:
    """Argument of torch -> (torch's default, MindSpore's), where the two differ.

    meant: (function, argument) -> what its default stands for.

    Where a function has several signatures, all defaults of an argument count: one that both sides
    have is enough to be equal.

    Raises SignatureError where a signature cannot be read.
    """
    ours, theirs = of_torch(torch), of_mindspore(counterpart.api)
    differing = {}
    for name in dict.fromkeys(name for signature in ours for name in signature):
        other = counterpart.names.get(name, name)
        mine = _defaults(ours, name, meant.get((torch, name), ITSELF))
        others = _defaults(theirs, other, meant.get((counterpart.api, other), ITSELF))
        if mine and others and not any(_alike(a, b) for a in mine for b in others):
            differing[name] = (mine[0], others[0])
    return differing


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other


def _plain(value: Any) -> Any:
    """What a default says: 1 for (1, 1), and None for an empty list of axes."""
    if isinstance(value, list | tuple):  # one value for each axis, or a list of axes
        items = [_plain(item) for item in value]
        if not items:
            return None
        return items[0] if items.count(items[0]) == len(items) else tuple(items)
    # MindSpore's layers name the default dtype of both frameworks.
    return None if str(value) == "Float32" else value


def _defaults(signatures: list[Signature], name: str, meant: Any) -> list[Any]:
    given = [signature.get(name, REQUIRED) for signature in signatures]
    values = [_plain(value) for value in given if value is not REQUIRED]
    return values if meant is ITSELF or not values else [meant]


def of_torch(name: str) -> list[Signature]:
    """The signatures of "torch.softmax": Python's, or else the schemas of the operator.

    Where it has neither, the signature that PyTorch keeps to test overriding. Raises
    SignatureError.
    """
    import torch
    from torch.overrides import get_testing_overrides

    function = _look_up(name)
    if (signature := _of_python(function)) is not None:
        return [signature]
    owner, _, last = name.rpartition(".")
    word = f"linalg_{last}" if owner == "torch.linalg" else last
    for candidate in (word, getattr(function, "__name__", word)):
        if signatures := list(_of_schemas(getattr(torch.ops.aten, candidate, None))):
            return signatures
    signature = _of_python(get_testing_overrides().get(function))
    if signature is None:
        raise SignatureError(f"{name} tells no signature")
    return [signature]


def of_mindspore(api: str) -> list[Signature]:
    """The signatures of "ops.softmax": Python's, or else the calls in its documentation.

    Raises SignatureError where there are neither.
    """
    function = _look_up(f"mindspore.{api}")
    if (signature := _of_python(function)) is not None:
        return [signature]
    signatures = list(_of_documentation(inspect.getdoc(function) or "", api.rpartition(".")[2]))
    if not signatures:
        raise SignatureError(f"mindspore.{api} tells no signature, nor does its documentation")
    return signatures


def _look_up(name: str) -> Any:
    """The object of a dotted name, in a module or a class; SignatureError if there is none."""
    owner, _, last = name.rpartition(".")
    try:
        holder: Any = importlib.import_module(owner)
    except ModuleNotFoundError:
        holder = _look_up(owner) if owner else None
    try:
        return getattr(holder, last)
    except AttributeError:
        raise SignatureError(f"there is no {name}") from None


def _of_python(function: Callable | None) -> Signature | None:
    """The signature of a Python function, or None.

    None for a function that is not written in Python, and for a wrapper that takes any arguments.
    """
    if function is None:
        return None
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if {parameter.kind for parameter in parameters} == set(VARIADIC):
        # MindSpore wraps some functions and constructors; the closure has the original as `fn`.
        wrapper = function.__init__ if inspect.isclass(function) else function
        closed = inspect.getclosurevars(wrapper).nonlocals if inspect.isfunction(wrapper) else {}
        return _of_python(closed.get("fn"))
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind not in VARIADIC
    }


def _of_schemas(packet: Any) -> Iterator[Signature]:
    """Signatures of the overloads that return a new tensor, made from one or on a device."""
    for overload in packet.overloads() if packet else ():
        arguments = getattr(packet, overload)._schema.arguments
        creates = any(argument.name == "device" for argument in arguments)
        if not creates and not (arguments and "Tensor" in str(arguments[0].type)):
            continue
        if any(argument.is_out for argument in arguments):
            continue
        yield {
            argument.name: argument.default_value if argument.has_default_value() else REQUIRED
            for argument in arguments
        }


def _of_documentation(text: str, name: str) -> Iterator[Signature]:
    """Signatures in lines such as `add(input, other, *, alpha=1) -> Tensor`.

    Such a line starts a paragraph.
    """
    call = re.compile(rf"^(?:\.\. \w+:: )?(?:\w+\.)*{re.escape(name)}(\(.*\)) -> ", re.MULTILINE)
    for match in call.finditer(text):
        try:
            (made,) = ast.parse(f"def call{match[1]}: ...").body
        except SyntaxError:
            raise SignatureError(f"{name} is documented as {match[0]!r}") from None
        if isinstance(made, ast.FunctionDef):
            yield dict(_arguments(made.args))


def _arguments(arguments: ast.arguments) -> Iterator[tuple[str, Any]]:
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
