"""From "module:attribute" to the object it names, and to the network it builds.

"module:attribute.part" names an attribute of what the call builds.
"""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from equivalence.errors import DeclarationError


def resolve(target: str) -> Any:
    """Import what `target` names; a name that does not resolve is a DeclarationError."""
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
    """Call what `target` names with `arguments`; arguments that do not fit are named."""
    factory = resolve(target)
    try:
        inspect.signature(factory).bind(**arguments)
    except TypeError as error:
        raise DeclarationError(f"{target!r} does not take {dict(arguments)}: {error}") from None
    except ValueError:
        pass  # a built-in that tells no signature
    return part(target, factory(**arguments))


def part(target: str, built: Any) -> Any:
    """The part of what was built that `target` asks for; all of it, when it asks for none."""
    for name in target.partition(":")[2].split(".")[1:]:
        if not hasattr(built, name):
            raise DeclarationError(
                f"{target!r}: what is built, a {type(built).__name__}, has no attribute {name!r}"
            )
        built = getattr(built, name)
    return built
