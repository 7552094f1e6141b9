"""From "module:attribute" to the object it names, and to the network it builds."""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from equivalence.errors import DeclarationError


def resolve(target: str) -> Any:
    """Import what `target` names; a name that does not resolve is a DeclarationError."""
    module_name, _, attribute = target.partition(":")
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
    return factory(**arguments)
