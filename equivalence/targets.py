"""Targets: the object that "module:attribute" names, and the network that it builds.

"module:attribute.part" names an attribute of the built network.
"""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from equivalence.errors import DeclarationError


def resolve(target: str) -> Any:
    """The object that `target` names; its module is imported.

    Raises DeclarationError where there is no such module or attribute.
    """
    module_name, _, attribute = target.partition(":")
    attribute = attribute.partition(".")[0]
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name + ".").startswith(error.name + "."):
            raise DeclarationError(f"{target!r}: there is no module {error.name!r}") from None
        raise
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise DeclarationError(
            f"{target!r}: module {module_name!r} has no attribute {attribute!r}"
        ) from None


def build(target: str, arguments: Mapping[str, Any]) -> Any:
    """The result of calling `target` with `arguments`, or the part of it that `target` names.

    Raises DeclarationError where the callable does not take these arguments.
    """
    factory = resolve(target)
    try:
        inspect.signature(factory).bind(**arguments)
    except TypeError as error:
        raise DeclarationError(f"{target!r} does not take {dict(arguments)}: {error}") from None
    except ValueError:
        pass  # a built-in without a signature
    return part(target, factory(**arguments))


def part(target: str, built: Any) -> Any:
    """The part of `built` that `target` names, or all of `built` where `target` names no part.

    Raises DeclarationError where there is no such attribute.
    """
    for name in target.partition(":")[2].split(".")[1:]:
        if not hasattr(built, name):
            raise DeclarationError(
                f"{target!r}: what is built, a {type(built).__name__}, has no attribute {name!r}"
            )
        built = getattr(built, name)
    return built
