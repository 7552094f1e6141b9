"""Mistakes in single operators: what a migrator wrote for one, called with PyTorch's arguments."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from equivalence.errors import DeclarationError

FAMILIES = ("elementwise", "shapes", "functional", "linear", "losses", "special", "rare")


@dataclass(frozen=True)
class Mistake:
    """A wrong counterpart of an operator: its name, what is wrong, the function that makes it.

    counterpart: the API of the right one, whose limits and integer width it shares.
    """

    operator: str
    counterpart: str
    says: str
    function: Callable

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def target(self) -> str:
        return f"{self.function.__module__}:{self.name}"


_declared: dict[str, Mistake] = {}


def mistake(operator: str, counterpart: str, says: str) -> Callable[[Callable], Callable]:
    """Declare the function below as a wrong counterpart of an operator."""

    def declare(function: Callable) -> Callable:
        if function.__name__ in _declared:
            raise DeclarationError(f"mistake {function.__name__!r} is declared twice")
        made = Mistake(operator, counterpart, says, function)
        _declared[function.__name__] = made
        return function

    return declare


def mistakes() -> list[Mistake]:
    """All of them, family by family."""
    for family in FAMILIES:
        importlib.import_module(f"{__name__}.{family}")
    return list(_declared.values())
