"""Numbers that a call hands to a function: which may be another one, and a run with that."""

import ast
import contextlib
import linecache
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from equivalence.statements.calls import DEPTH, Code, HandedNumber, Number, Statement, at_line

LITERAL = re.compile(r"(?<![\w.])\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
"""A number in the text of a statement."""

TRIED = 8
"""At most this many numbers are tried in the place of one."""


def handed(here: Statement, there: Statement | None) -> Iterator[HandedNumber]:
    """What the function of a statement may get wrongly, beside a statement of the reference.

    A number that the reference's function gets, or its object holds, by the same name comes first,
    and alone; else any of these, and those in the text of its statement. Where both are the same,
    it is right.
    """
    if there is None:
        return
    theirs = {**dict(there.held), **dict(there.given)}
    literals = [ast.literal_eval(each) for each in LITERAL.findall(there.text)]
    others = dict.fromkeys([*theirs.values(), *literals])
    for name, got in here.given:
        if name in theirs:
            wants = [theirs[name]]
        else:
            wants = [each for each in others if _is_number(each) and _is_number(got)]
        for want in wants[:TRIED]:
            if (type(want), want) != (type(got), got) and not _equal(want, got):
                yield HandedNumber(name, got, want)


def _is_number(value: Number) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(one: Number, other: Number) -> bool:
    return _is_number(one) and _is_number(other) and one == other


class Handing(contextlib.AbstractContextManager):
    """A context in which a function gets another number from one statement that calls it.

    origin: after a run, the statement that hands it on first; of a number that the function has by
        default, the line with `def`.
    """

    def __init__(self, code: Code, here: Statement, number: HandedNumber):
        self.code, self.here, self.number = code, here, number
        self.origin: Statement | None = None

    def __enter__(self) -> "Handing":
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._before)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        """Put the number in its place, where the function begins; Python writes it back."""
        code = frame.f_code
        if event != "call" or code.co_filename != self.here.file or not self._is_it(frame):
            return
        now = frame.f_locals.get(self.number.name)
        if type(now) is not type(self.number.got) or now != self.number.got:
            return
        self.origin = self.origin or self._origin(frame)
        frame.f_locals[self.number.name] = self.number.want

    def _is_it(self, frame: FrameType) -> bool:
        """Whether a frame is that of the function, called by the statement."""
        lines = {line for *_, line in frame.f_code.co_lines()}
        caller, behind = self.here.caller, self._behind(frame)
        return (
            self.here.line in lines
            and caller is not None
            and behind is not None
            and (behind.f_code.co_filename, behind.f_lineno) == (caller.file, caller.line)
        )

    def _behind(self, frame: FrameType) -> FrameType | None:
        """The next frame of the network's own code that leads to one."""
        behind = frame.f_back
        for _ in range(DEPTH):
            if behind is None or self.code.is_own(behind):
                return behind
            behind = behind.f_back
        return None

    def _origin(self, frame: FrameType) -> Statement | None:
        """Where the number comes from: further out, as long as it is handed on as it is."""
        name = self.number.name
        for _ in range(DEPTH):
            behind = self._behind(frame)
            if behind is None:
                return None
            if (line := _by_default(frame, behind, name)) is not None:
                return at_line(frame.f_code.co_filename, line)
            call = at_line(behind.f_code.co_filename, behind.f_lineno)
            code = behind.f_code
            taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            value = frame.f_locals[name]
            on = [each for each in taken if behind.f_locals.get(each) is value]
            on = [each for each in on if re.search(rf"\b{each}\b", call.text)]
            if len(on) != 1 or self._behind(behind) is None:
                return call
            frame, name = behind, on[0]
        return None


def _by_default(frame: FrameType, behind: FrameType, name: str) -> int | None:
    """The line of `def`, where the call leaves an argument to its default; None where it does not.

    It does not where this cannot be read, as in a call by another name.
    """
    function = next(
        (
            node
            for node in _nodes(frame.f_code.co_filename, ast.FunctionDef)
            if node.name == frame.f_code.co_name
            and node.lineno <= (frame.f_lineno or 0) <= (node.end_lineno or 0)
        ),
        None,
    )
    if function is None:
        return None
    calls = [
        node
        for node in _nodes(behind.f_code.co_filename, ast.Call)
        if node.lineno <= behind.f_lineno <= (node.end_lineno or 0)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) == function.name
    ]
    if len(calls) != 1:
        return None
    call, places = calls[0], [each.arg for each in function.args.args]
    method = isinstance(call.func, ast.Attribute) and places[:1] == ["self"]
    unpacked = any(isinstance(each, ast.Starred) for each in call.args)
    by_keyword = {each.arg for each in call.keywords}
    at = places.index(name) - method if name in places else len(call.args)
    passed = unpacked or None in by_keyword or name in by_keyword or at < len(call.args)
    return None if passed else function.lineno


def _nodes(file: str, kind: type[ast.AST]) -> Iterator[Any]:
    """The nodes of a kind in a source; none where it cannot be read."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:  # such as the cell of a notebook, with its magic commands
        return
    yield from (node for node in ast.walk(tree) if isinstance(node, kind))
