"""The branches of a source file: its conditions, loops and handlers, and where each side is.

And the bounds that only the port has: a clamp to numbers at which the reference decides nothing.
They are read in the functions of the port that ran; whether they bite is not watched.
"""

import ast
import functools
import linecache
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, NamedTuple

from equivalence.reach.decision import CANDIDATE, Decision, Key, Reach
from equivalence.reach.words import BOUND, BRANCH, CHOICE, HANDLER, LOOP

TRACED = ("is_scripting", "is_tracing", "is_in_onnx_export", "TYPE_CHECKING", "is_compiling")
"""Names in conditions that no run as written can change."""

LONGEST = 60
"""Characters of a condition, at most."""

Spot = tuple[int, int]
"""A line, from 1, and a column, from 0."""


class Span(NamedTuple):
    """A part of a source: from its first character to behind its last one."""

    start: Spot
    end: Spot

    def holds(self, other: "Span") -> bool:
        """Whether another part lies within this one."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True)
class Branch:
    """A branch of the code.

    kind: BRANCH, CHOICE, LOOP or HANDLER of `words`.
    text: what is decided, such as "if self.training".
    line: its line.
    whole: all of it.
    tests: what is evaluated to decide.
    body: what runs where it holds.
    other: what runs where it does not; None where that is whatever comes next.
    """

    kind: str
    text: str
    line: int
    whole: Span
    tests: tuple[Span, ...]
    body: Span
    other: Span | None

    def decides(self, span: Span) -> bool:
        """Whether an instruction of this part of the code belongs to the test."""
        return span == self.whole or any(test.holds(span) for test in self.tests)

    @property
    def shares_a_line(self) -> bool:
        """Whether its test and its body stand on one line."""
        return any(test.end[0] >= self.body.start[0] for test in self.tests)


def branches(file: str) -> tuple[Branch, ...]:
    """The branches of a file, in its order; none where it cannot be read or parsed.

    A condition that guards a `raise` is none: no result comes of it.
    """
    return _read(file)[0]


def calls(file: str) -> Mapping[Span, str]:
    """Where a file calls a function by its name -> the call, as text."""
    return _read(file)[1]


def _read(file: str) -> tuple[tuple[Branch, ...], Mapping[Span, str]]:
    linecache.checkcache(file)  # it may have been edited since
    return _parsed("".join(linecache.getlines(file)))


@functools.cache
def _parsed(text: str) -> tuple[tuple[Branch, ...], Mapping[Span, str]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return (), {}
    called = {
        _span([node]): text_of(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return tuple(sorted(_found(tree), key=lambda each: (each.line, each.whole))), called


def _found(tree: ast.AST) -> Iterator[Branch]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and not (_raises(node.body) or _raises(node.orelse)):
            yield from _conditional(BRANCH, node, f"if {text_of(node.test)}", node.test)
        elif isinstance(node, ast.IfExp):
            text = f"... if {text_of(node.test)}"
            yield from _conditional(CHOICE, node, text, node.test)
        elif isinstance(node, ast.While) and not isinstance(node.test, ast.Constant):
            yield from _conditional(LOOP, node, f"while {text_of(node.test)}", node.test)
        elif isinstance(node, ast.For):
            text = f"for {text_of(node.target)} in {text_of(node.iter)}"
            yield from _conditional(LOOP, node, text, node.target, node.iter)
        elif isinstance(node, ast.Try):
            for handler in node.handlers:
                if not _raises(handler.body):
                    kind = f" {text_of(handler.type)}" if handler.type else ""
                    yield Branch(
                        HANDLER,
                        f"except{kind}",
                        handler.lineno,
                        _span([node]),
                        (_span(node.body),),
                        _span(handler.body),
                        None,
                    )


def _conditional(kind: str, node: Any, text: str, *tests: ast.expr) -> Iterator[Branch]:
    if any(name in text for name in TRACED):
        return
    body = node.body if isinstance(node.body, list) else [node.body]
    other = node.orelse if isinstance(node.orelse, list) else [node.orelse]
    yield Branch(
        kind,
        text,
        node.lineno,
        _span([node]),
        tuple(_span([each]) for each in tests),
        _span(body),
        _span(other) if other else None,
    )


def _raises(body: Sequence[ast.stmt]) -> bool:
    """Whether a block ends by raising an error."""
    return bool(body) and isinstance(body[-1], ast.Raise)


def _span(nodes: Sequence[Any]) -> Span:
    first, last = nodes[0], nodes[-1]
    return Span((first.lineno, first.col_offset), (last.end_lineno, last.end_col_offset))


def text_of(node: ast.AST) -> str:
    """A part of the source as Python writes it, cut where it is long."""
    text = ast.unparse(node)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


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


def bounds_alone(entered: Collection[tuple[CodeType, str]], reference: Reach) -> Iterator[Decision]:
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
