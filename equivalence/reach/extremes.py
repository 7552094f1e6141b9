"""Which argument Python's `min` and `max` choose in a network's code, such as a window or a map.

While a run is watched, a module of the network finds these functions under the same names; they
give the same, and note what they were given.
"""

import builtins
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from equivalence.reach.decision import Decision, Key
from equivalence.reach.sources import Span, calls

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
