"""Bounds that only the port has: a clamp to numbers at which the reference decides nothing.

They are read in the functions of the port that ran; whether they bite is not watched.
"""

import ast
import functools
import linecache
from collections.abc import Collection, Iterator
from types import CodeType
from typing import NamedTuple

from equivalence.reach.decision import CANDIDATE, Decision, Key, Reach
from equivalence.reach.sources import text_of
from equivalence.reach.words import BOUND

FUNCTIONS = frozenset(
    (
        *("clamp", "clamp_min", "clamp_max", "clip", "clip_by_value", "minimum", "maximum"),
        *("hardtanh", "nan_to_num", "relu6"),
    )
)
"""Functions that bound values, by the last part of their names."""


class _Bound(NamedTuple):
    line: int
    text: str
    numbers: tuple[float, ...]


def alone(entered: Collection[tuple[CodeType, str]], reference: Reach) -> Iterator[Decision]:
    """The bounds of the functions that ran of a port, at which the reference decides nothing.

    entered: each function, and the file that it is told in.
    reference: what the reference decides.
    """
    known = {each.bound for each in reference.decisions.values() if each.bound is not None}
    for code, file in entered:
        last = max((line for _, _, line in code.co_lines() if line), default=0)
        linecache.checkcache(code.co_filename)
        for bound in _bounds("".join(linecache.getlines(code.co_filename))):
            own = [number for number in bound.numbers if number and number not in known]
            if own and code.co_firstlineno <= bound.line <= last:
                yield Decision(Key(CANDIDATE, BOUND, file, bound.line, text=bound.text), 0, 1)


@functools.cache
def _bounds(text: str) -> tuple[_Bound, ...]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in FUNCTIONS:
            given = [*node.args, *(each.value for each in node.keywords)]
            numbers = [n for each in given if (n := _number(each)) is not None]
            found.append(_Bound(node.lineno, text_of(node), tuple(numbers)))
    return tuple(found)


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def _number(node: ast.expr) -> float | None:
    """The number that an argument writes; None where it is none."""
    sign = -1.0 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1.0
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return sign * value
    return None
