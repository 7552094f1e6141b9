"""A run of the candidate must not use torch. It is watched where it is loaded already."""

import contextlib
import sys
from collections.abc import Iterator

from equivalence.errors import BorrowingError

_lending: list[bool] = []


@contextlib.contextmanager
def without_torch() -> Iterator[None]:
    """A context in which an operator of torch raises BorrowingError, and so does its import."""
    if sys.modules.get("torch") is None:  # None where its import is forbidden
        yield
        if sys.modules.get("torch") is not None:
            raise BorrowingError("it imports torch; the candidate must compute with MindSpore")
        return
    from equivalence.stream.torch_stream import Call, Observer

    class Forbidden(Observer):
        """Refuses every operator, but what the engine itself runs."""

        slot = "borrowing"

        def before(self, call: Call) -> None:
            if not _lending:
                called = f"it calls torch ({call.function})"
                raise BorrowingError(f"{called}; the candidate must compute with MindSpore")

    with Forbidden():
        yield


@contextlib.contextmanager
def lending_torch() -> Iterator[None]:
    """A context within `without_torch` in which the engine itself calls torch."""
    _lending.append(True)
    try:
        yield
    finally:
        _lending.pop()
