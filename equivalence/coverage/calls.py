"""A call of PyTorch in a line of code, and its arguments as far as the line tells them."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Told(Enum):
    """What a line tells of an argument that it does not write out."""

    TENSOR = "a tensor"
    UNKNOWN = "known when it runs"


@dataclass(frozen=True)
class Call:
    """One call, or one mention of a function that something else calls.

    api: PyTorch's name of it; an operator such as `+` has that of its function.
    place: "net.py:12", or the name of a submodule.
    given: position or name of an argument -> its value, or a `Told`; None: a mention.
    text: the code, on one line.
    sure: whether it is a tensor that it is called on, or may be something else.
    node: the code, for a hint; None for a built module.
    """

    api: str
    place: str
    given: Mapping[int | str, Any] | None = None
    text: str = ""
    sure: bool = True
    node: ast.AST | None = None

    @property
    def private(self) -> bool:
        """Whether the name is none of PyTorch's public ones."""
        return any(part.startswith("_") and not part.endswith("__") for part in self.api.split("."))

    @property
    def in_place(self) -> bool:
        """Whether it is a method that changes its tensor."""
        name = self.api.rpartition(".")[2]
        return self.api.startswith("torch.Tensor.") and name.endswith("_") and name[0] != "_"

    def spelled(self) -> str:
        """The call with those of its arguments that are written out."""
        if self.given is None:
            return self.api
        words = [
            each if isinstance(key, int) else f"{key}={each}"
            for key, value in self.given.items()
            for each in ["..." if isinstance(value, Told) else repr(value)]
        ]
        return f"{self.api}({', '.join(words)})"


def arguments(
    node: ast.Call, value: Callable[[ast.expr], Any], first: int = 0
) -> dict[int | str, Any]:
    """The arguments of a call. value: what an expression stands for. first: the first position."""
    given: dict[int | str, Any] = {}
    for number, each in enumerate(node.args, first):
        if isinstance(each, ast.Starred):
            given["*"] = Told.UNKNOWN
            break
        given[number] = value(each)
    for each in node.keywords:
        given[each.arg or "**"] = value(each.value) if each.arg else Told.UNKNOWN
    return given


def literal(node: ast.expr) -> Any:
    """The value of a literal; `Told.UNKNOWN` for any other expression."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return Told.UNKNOWN
