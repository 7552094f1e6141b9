"""Attributes of a framework that have another value for a while."""

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def patched(owner: Any, **values: Any) -> Iterator[None]:
    """A context in which attributes of a class, a module or an object have these values.

    What was inherited before is inherited again.

    >>> class Sail:
    ...     area = 12
    >>> with patched(Sail, area=3):
    ...     Sail.area
    3
    >>> Sail.area
    12
    """
    own = {name: vars(owner)[name] for name in values if name in vars(owner)}
    try:
        for name, value in values.items():
            setattr(owner, name, value)
        yield
    finally:
        for name in values:
            if name in own:
                setattr(owner, name, own[name])
            elif name in vars(owner):
                delattr(owner, name)
