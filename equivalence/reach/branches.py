"""Which sides of a network's own branches ran, seen while it runs. Imports no framework.

Python tells of each instruction of the functions that are the network's own; of other functions it
tells that they are called. What runs is not changed. `sys.monitoring` of Python 3.12 would tell the
same, but for its Python alone. While a run is watched, a module of the network finds `min` and
`max` under the same names; they give the same, and note what they were given.
"""

import builtins
import dis
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from types import CodeType, FrameType
from typing import Any

from equivalence.errors import FRAMEWORKS, installed_in, of_models
from equivalence.files import shown
from equivalence.reach.decision import Decision, Key
from equivalence.reach.sources import Branch, Span, branches, calls
from equivalence.reach.words import HANDLER

TRACED = "a debugger, or a measurement of coverage, traces it already"
"""Why the branches of a run are not known."""

Steps = set[tuple[int, int]]
"""Pairs of instructions that ran one after the other, by their offsets; -1 is the beginning."""


class Own:
    """Which source files are a network's own.

    packages: the installed packages that count as well, such as that of its classes.
    """

    def __init__(self, packages: Collection[str] = ()):
        self._packages = frozenset(packages)
        self._known: dict[str, bool] = {}

    def __call__(self, file: str) -> bool:
        """Whether a source file is the network's own."""
        known = self._known.get(file)
        if known is None:
            known = of_models(file) or installed_in(file) in self._packages
            known = self._known[file] = known and not file.startswith("<")
        return known


def packages(made: Iterable[Any]) -> set[str]:
    """The packages of the classes and functions of a network, but for the frameworks.

    >>> from decimal import Decimal
    >>> packages([Decimal])
    {'decimal'}
    """
    found = {(getattr(each, "__module__", None) or "").partition(".")[0] for each in made}
    return found - FRAMEWORKS - {"", __name__.partition(".")[0]}


KINDS = {"min": "minimum", "max": "maximum"}
"""Name of the function -> the kind of its decision."""


class Extremes:
    """Notes the choices of `min` and `max` in the modules that are shadowed.

    side: whose network it is.
    place: gives the file of a frame's code, as it is told.
    """

    def __init__(self, side: str, place: Callable[[FrameType], str]):
        self._side, self._place = side, place
        self._shadowed: list[dict[str, Any]] = []
        self.decisions: list[Decision] = []

    def shadow(self, names: dict[str, Any]) -> None:
        """Watch in a module, whose global names these are; names of its own stay."""
        for name in KINDS:
            if name not in names:
                names[name] = self._watched(name)
                self._shadowed.append(names)

    def close(self) -> None:
        """Take everything back."""
        for names in self._shadowed:
            for name in KINDS:
                if getattr(names.get(name), "watches", None) is self:
                    del names[name]
        self._shadowed.clear()

    def _watched(self, name: str) -> Callable[..., Any]:
        choose = getattr(builtins, name)

        def watched(*args: Any, **keywords: Any) -> Any:
            if len(args) == 2 and not keywords and all(type(each) in (int, float) for each in args):
                self._note(name, sys._getframe(1), *args)
            return choose(*args, **keywords)

        watched.watches = self  # type: ignore[attr-defined]  # by which `close` knows it
        return watched

    def _note(self, name: str, frame: FrameType, first: float, second: float) -> None:
        code: Any = frame.f_code
        text = name
        if hasattr(code, "co_positions"):
            line, end, column, end_column = [*code.co_positions()][frame.f_lasti // 2]
            text = calls(code.co_filename).get(Span((line, column), (end, end_column)), name)
        key = Key(self._side, KINDS[name], self._place(frame), frame.f_lineno, text=text)
        smaller, larger = int(first < second), int(first > second)
        yes, no = (smaller, larger) if name == "min" else (larger, smaller)
        self.decisions.append(Decision(key, yes, no, detail=f"{first} and {second}"))


class Branches:
    """A context that sees which branches of a network's own code are taken.

    own: which files are its own.
    side: whose network it is, `REFERENCE` or `CANDIDATE`.
    extremes: notes the choices of `min` and `max` in its modules; None where none are noted.
    unknown: why nothing was seen; "" where it was.
    """

    def __init__(self, own: Own, side: str, extremes: Extremes | None = None):
        self._own, self._side, self.unknown = own, side, ""
        self._extremes = extremes
        self._codes: dict[int, tuple[CodeType, str, Steps]] = {}

    def __enter__(self) -> "Branches":
        if sys.gettrace() is not None:
            self.unknown = TRACED
        else:
            sys.settrace(self._called)
        return self

    def __exit__(self, *error: object) -> None:
        if not self.unknown:
            sys.settrace(None)
        if self._extremes is not None:
            self._extremes.close()

    def _called(self, frame: FrameType, _: str, __: Any) -> Any:
        code = frame.f_code
        if not self._own(code.co_filename):
            return None
        seen = self._codes.get(id(code))
        if seen is None:
            file = module_file(frame)
            if self._extremes is not None:
                self._extremes.shadow(frame.f_globals)
            seen = self._codes[id(code)] = (code, file, set())
        steps, before = seen[2], -1

        def step(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal before
            if event == "opcode":
                at = frame.f_lasti
                steps.add((before, at))
                before = at
            return step

        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return step

    @property
    def decisions(self) -> list[Decision]:
        """The branches that were decided, and their sides that ran."""
        return [each for seen in self._codes.values() for each in self._of(*seen)]

    @property
    def entered(self) -> list[tuple[CodeType, str]]:
        """The functions that were entered, each with the file that it is told in."""
        return [(code, file) for code, file, _ in self._codes.values()]

    def _of(self, code: CodeType, file: str, steps: Steps) -> Iterator[Decision]:
        spans = _spans(code)
        ends = _returns(code)
        moves = {(spans.get(one), spans.get(other), other in ends) for one, other in steps}
        inside = Span((code.co_firstlineno, 0), _end(spans))
        for branch in branches(code.co_filename):
            if not inside.holds(branch.whole):
                continue
            if not COLUMNS:
                if branch.shares_a_line:
                    continue
                branch = _by_line(branch)
            yes, no = _taken(branch, moves)
            if not (yes or no):
                continue
            key = Key(self._side, branch.kind, file, branch.line, text=branch.text)
            yield Decision(key, yes, no, detail=_never_ran(branch, yes, no))


Moves = set[tuple[Span | None, Span | None, bool]]
"""Parts of the code that ran one after the other, and whether the second returns."""


def _taken(branch: Branch, moves: Moves) -> tuple[int, int]:
    """Whether the sides of a branch ran."""
    ran = any(after and branch.body.holds(after) for _, after, _ in moves)
    if branch.kind == HANDLER:
        tried = any(after and branch.decides(after) for _, after, _ in moves)
        return int(ran and tried), int(tried)
    left = any(
        before
        and after
        and _decides(branch, before)
        # What a function returns at its end has the place of the test before it.
        and not (branch.body.holds(after) or (_decides(branch, after) and not returns))
        for before, after, returns in moves
    )
    return int(ran), int(left)


def _decides(branch: Branch, span: Span) -> bool:
    return branch.decides(span) and not branch.body.holds(span)


def _never_ran(branch: Branch, yes: int, no: int) -> str:
    """Which lines never ran, where these are lines of their own."""
    span = branch.body if not yes else branch.other
    if (yes and no) or span is None or branch.shares_a_line:
        return ""
    first, last = span.start[0], span.end[0]
    return f"line {first} never ran" if first == last else f"lines {first}-{last} never ran"


WIDE = 1 << 30
"""A column behind every other."""

COLUMNS = hasattr(CodeType, "co_positions")
"""Whether Python tells the columns of an instruction."""


def _spans(code: Any) -> dict[int, Span]:
    """Offset of an instruction -> its part of the source."""
    if not COLUMNS:
        lines, now, found = dict(dis.findlinestarts(code)), code.co_firstlineno, {}
        for at in range(0, len(code.co_code), 2):
            now = lines.get(at, now)
            found[at] = Span((now, 0), (now, WIDE))
        return found
    found = {}
    for i, (line, end, column, end_column) in enumerate(code.co_positions()):
        if None not in (line, end, column, end_column):
            found[2 * i] = Span((line, column), (end, end_column))
    return found


def _returns(code: CodeType) -> set[int]:
    """The offsets of the instructions that return."""
    return {each.offset for each in dis.get_instructions(code) if "RETURN_" in each.opname}


def _by_line(branch: Branch) -> Branch:
    """The branch with all of its lines, where Python tells no columns."""

    def wide(span: Span) -> Span:
        return Span((span.start[0], 0), (span.end[0], WIDE))

    other = branch.other and wide(branch.other)
    tests = tuple(map(wide, branch.tests))
    return replace(branch, tests=tests, body=wide(branch.body), other=other)


def _end(spans: dict[int, Span]) -> tuple[int, int]:
    return max((span.end for span in spans.values()), default=(0, 0))


def module_file(frame: FrameType) -> str:
    """The file of a frame's code, below the folder that its module is imported from."""
    name, file = frame.f_globals.get("__name__", ""), frame.f_code.co_filename
    base = shown(file)
    if "." not in name:
        return base
    parts = name.split(".")
    folder = parts if base == "__init__.py" else parts[:-1]
    return "/".join([*folder, base])
