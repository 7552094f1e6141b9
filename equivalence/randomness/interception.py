"""Sees MindSpore's operators as they run, and replaces what the compiler reads. Loads MindSpore."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import mindspore as ms
from mindspore.graph import _parse

Dispatched = Callable[[Callable, tuple], Any]
"""Gets an operator and its arguments, and returns its result."""


class Dispatch(ms.MsDispatchMode):
    """A context in which PyNative mode sends each operator to a function, the innermost first."""

    def __init__(self, dispatch: Dispatched):
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
    resolve = _parse.resolve_symbol

    def resolve_replaced(namespace: Any, symbol: str) -> Any:
        value = resolve(namespace, symbol)
        return value if namespace.name.startswith(own) else replace(value)

    _parse.resolve_symbol = resolve_replaced
    try:
        with Dispatch(dispatch):
            yield
    finally:
        _parse.resolve_symbol = resolve
