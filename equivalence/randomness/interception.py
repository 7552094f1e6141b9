"""Sees MindSpore's operators as they run, and replaces what the compiler reads. Loads MindSpore."""

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import mindspore as ms

from equivalence import releases
from equivalence.errors import EquivalenceError
from equivalence.releases import DISPATCHING

PARSER = importlib.import_module(
    "mindspore.graph._parse" if releases.holds(">=2.9") else "mindspore._extends.parse"
)
"""The module whose functions the compiler calls by name."""

Dispatched = Callable[[Callable, tuple], Any]
"""Gets an operator and its arguments, and returns its result."""


class Dispatch(getattr(ms, "MsDispatchMode", object)):
    """A context in which PyNative mode sends each operator to a function, the innermost first.

    Raises EquivalenceError where the release of MindSpore cannot do that.
    """

    def __init__(self, dispatch: Dispatched):
        if not releases.holds(DISPATCHING):
            raise EquivalenceError(
                f"MindSpore {releases.installed()} does not show its operators as they run, which "
                "pinned random layers, rehearsals and statements of a diagnosis need; install "
                f"mindspore{DISPATCHING}"
            )
        self.dispatch = dispatch

    def __ms_dispatch__(self, func, args, kwargs=None):
        return self.dispatch(func, args)


@contextlib.contextmanager
def intercepted(dispatch: Dispatched, replace: Callable[[Any], Any], own: str) -> Iterator[None]:
    """A context in which operators run by `dispatch`, and the compiler reads what `replace` gives.

    The compiler calls `resolve_symbol` for every name in a source, primitives included.

    replace: the object that a source names -> the one that the compiler gets.
    own: the module of these functions; what its sources name is not replaced.
    """
    resolve = PARSER.resolve_symbol

    def resolve_replaced(namespace: Any, symbol: str) -> Any:
        value = resolve(namespace, symbol)
        return value if namespace.name.startswith(own) else replace(value)

    PARSER.resolve_symbol = resolve_replaced
    try:
        with Dispatch(dispatch):
            yield
    finally:
        PARSER.resolve_symbol = resolve
