"""Which calls of layers go on in a step, and under which names their arrays are recorded."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from equivalence import nesting
from equivalence.words import counted

UNREADABLE = (RuntimeError, TypeError, ValueError, NotImplementedError)
"""What a framework raises for a tensor that has no values to read."""


class HookedSide(Protocol):
    """A network of either framework."""

    def array(self, value: Any) -> np.ndarray | None:
        """A tensor as a new array; None for what is none."""

    def watch(self, value: Any, got: Callable[[Any], None]) -> None:
        """Let `got` have the gradient of a layer's output, if there will be one."""


class Passing:
    """What passes through the layers of a network in a step.

    put: gets name and array of what is recorded.
    active: whether the step is recorded.
    seen: the paths of all layers that were called.
    notes: what was not recorded and why -> how often, and the first that it was so of.
    """

    def __init__(self, side: HookedSide, put: Callable[[str, np.ndarray], None]):
        self._side, self._put = side, put
        self.active = False
        self.seen: set[str] = set()
        self.backward = False
        self.notes: dict[str, tuple[int, str]] = {}
        self.begin(False)

    def begin(self, active: bool) -> None:
        """Begin a step."""
        self.active = active
        self._calls: dict[str, int] = defaultdict(int)
        self._open: list[tuple[str, int]] = []
        self._gradients: dict[str, np.ndarray] = {}

    def enter(self, path: str, arguments: tuple, keywords: dict[str, Any]) -> None:
        """A layer is called."""
        call, self._calls[path] = self._calls[path], self._calls[path] + 1
        self._open.append((path, call))
        self.seen.add(path)
        given: list[tuple[int | str, Any]] = [*enumerate(arguments), *keywords.items()]
        for key, each in given:
            for below, value in nesting.leaves(nesting.simplified(each), (key,)):
                self.record(f"{_named(path)}forward.{call}.input.{nesting.name(below)}", value)

    def leave(self, path: str, outputs: Any) -> None:
        """A layer has given its outputs."""
        while self._open and self._open[-1][0] != path:
            self._open.pop()  # a layer that raised
        if not self._open:
            return  # it was called before the step began
        _, call = self._open.pop()
        for name, value in nesting.named(outputs).items():
            self.record(f"{_named(path)}forward.{call}.output.{name}", value)
            self._side.watch(value, self._gradient_of(f"{_named(path)}backward.{call}", name))

    def is_in(self, path: str) -> bool:
        """Whether a layer is the innermost that is called now."""
        return bool(self._open) and self._open[-1][0] == path

    @property
    def has_gradients(self) -> bool:
        """Whether there are gradients of weights that wait for the end of the step."""
        return bool(self._gradients)

    def _gradient_of(self, call: str, name: str) -> Callable[[Any], None]:
        def got(gradient: Any) -> None:
            self.backward = True
            self.record(f"{call}.output.{name}", gradient)

        return got

    def gradient(self, name: str, value: Any) -> None:
        """A backward pass has given the gradient of a weight; a step's gradients are summed."""
        found = self.array(f"gradients/{name}", value) if self.active else None
        if found is not None:
            self.backward = True
            before = self._gradients.get(name)
            self._gradients[name] = found if before is None else before + found

    def end(self, weights: Iterable[tuple[str, Any]]) -> None:
        """Record what a step ends with: gradients of weights in the order of these, and these."""
        weights = [*weights]
        for name, _ in weights:
            if name in self._gradients:
                self._put(f"gradients/{name}", self._gradients.pop(name))
        for name, value in weights:
            self.record(f"weights/{name}", value)

    def record(self, name: str, value: Any) -> None:
        """Record a tensor of the framework, or an array; other values are none."""
        found = self.array(name, value)
        if found is not None:
            self._put(name, found)

    def array(self, name: str, value: Any) -> np.ndarray | None:
        """The value of a tensor or an array; None for others, and what cannot be read."""
        if isinstance(value, np.ndarray | np.generic):
            return np.array(value) if np.asarray(value).dtype.kind in "biufc" else None
        try:
            return self._side.array(value)
        except UNREADABLE as error:
            told = str(error).strip().partition("\n")[0][:200]
            self.note(f"not readable ({type(error).__name__}: {told})", name)
            return None

    def note(self, words: str, example: str) -> None:
        """Keep what was not recorded."""
        number, first = self.notes.get(words, (0, example))
        self.notes[words] = (number + 1, first)

    def told(self) -> list[str]:
        """The notes as sentences."""
        return [
            f"{words}: {counted(number, 'time')}, first {example}"
            for words, (number, example) in self.notes.items()
        ]


def by_weight(rates: Mapping[str, float]) -> dict[str, float]:
    """The one rate of all weights, or those of each.

    >>> by_weight({"fc.weight": 0.1, "fc.bias": 0.1}), by_weight({"a": 0.1, "b": 0.2})
    ({'rate': 0.1}, {'rates/a': 0.1, 'rates/b': 0.2})
    """
    if len({*rates.values()}) == 1:
        return {"rate": next(iter(rates.values()))}
    return {f"rates/{name}": rate for name, rate in rates.items()}


def _named(path: str) -> str:
    """A layer's path as the beginning of names; the network's own is empty."""
    return f"{path}/" if path else ""
