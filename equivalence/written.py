"""What a run writes into attributes of the layers: losses, counters, maps, returned or not.

Both sides are walked alike, before and after each run. Of layers of a framework nothing is read,
and no weight, buffer or layer is an attribute. An attribute is called by its path, `moe.aux`; one
within a tuple, a list, a dict or an object of one's own has a longer one, `stats.peak`.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

from equivalence import held, nesting

LIBRARIES = ("torch", "mindspore", "numpy", "equivalence")
"""Packages of whose objects nothing is read."""

DEPTH, WIDTH = 4, 256
"""How deep a value of an attribute is read, and of how many entries at most."""

SMALL = 2**14
"""Elements of a tensor up to which it is seen that one is written in place."""

PER_CALL = "[per call]"
"""The end of the name of what one run adds to a whole number."""


class Attributes:
    """The attributes that the runs of a network write.

    layers: gives path and layer of all of them, now.
    own: names that every layer has of its framework, which are no attributes of the model's own.
    is_tensor: whether a value is a tensor that is no weight.
    array: the values of a tensor as an array that nobody writes.
    """

    def __init__(
        self,
        layers: Callable[[], Iterable[tuple[str, Any]]],
        own: Collection[str],
        is_tensor: Callable[[Any], bool],
        array: Callable[[Any], np.ndarray],
    ):
        self._layers, self._own = layers, frozenset(own)
        self._is_tensor, self._array = is_tensor, array
        self._known: dict[str, None] = {}
        self._before: Mapping[str, tuple[Any, Any]] = {}
        self._made = {name: self._number(value) for name, value in self._read().items()}

    def begin(self) -> None:
        """A run begins: note what all attributes are."""
        self._before = {name: (each, self._copy(each)) for name, each in self._read().items()}

    def end(self) -> dict[str, np.ndarray]:
        """Name -> values of each attribute that this run or an earlier one has written.

        A whole number has a second name, with what this run has added to it.
        """
        now = self._read()
        for name, value in now.items():
            if self._is_new(name, value) or self._written(value, *self._before[name]):
                self._known.setdefault(name)
        trace = {}
        for name in self._known:
            if name not in now:
                continue
            trace[name] = values = self._values(now[name])
            if values.dtype.kind in "iu" and name in self._before:
                before = self._before[name][1]
                if before is not None and before.shape == values.shape:
                    trace[name + PER_CALL] = np.asarray(values - before.astype(values.dtype))
        self._before = {}
        return trace

    def _is_new(self, name: str, value: Any) -> bool:
        """Whether the constructor has made no such attribute, or another number."""
        if name not in self._made or name not in self._before:
            return True
        made = self._made[name]
        return made is not None and not _same(made, self._values(value))

    def _number(self, value: Any) -> np.ndarray | None:
        return None if self._is_tensor(value) else self._values(value)

    def _written(self, now: Any, before: Any, copy: np.ndarray | None) -> bool:
        if self._is_tensor(now) and now is not before:
            return True
        if copy is None:
            return False
        return not _same(copy, self._values(now))

    def _copy(self, value: Any) -> np.ndarray | None:
        """The values of a number, or of a tensor that is small; else None."""
        small = not self._is_tensor(value) or math.prod(value.shape) <= SMALL
        return self._values(value) if small else None

    def _values(self, value: Any) -> np.ndarray:
        return self._array(value) if self._is_tensor(value) else np.array(value)

    def _read(self) -> dict[str, Any]:
        """All tensors and numbers that are attributes, by name."""
        found: dict[str, Any] = {}
        seen: set[int] = set()

        def walk(value: Any, path: nesting.Path, depth: int) -> None:
            if self._is_tensor(value) or _is_number(value):
                found[nesting.name(path)] = value
                return
            inside = _inside(value)
            if inside and depth and len(inside) <= WIDTH and id(value) not in seen:
                seen.add(id(value))
                for key, child in inside.items():
                    walk(child, (*path, key if isinstance(key, int) else str(key)), depth - 1)

        layers = list(self._layers())
        seen.update(id(layer) for _, layer in layers)
        for path, layer in layers:
            if _of_library(layer):
                continue
            for name, value in vars(layer).items():
                if name not in self._own:
                    walk(value, (*filter(None, path.split(".")), name), DEPTH)
        return found


def _same(one: np.ndarray, two: np.ndarray) -> bool:
    same = one.dtype == two.dtype and one.shape == two.shape
    return same and np.array_equal(one, two, equal_nan=one.dtype.kind in "fc")


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | np.ndarray | np.generic) and (
        np.asarray(value).dtype.kind in "biuf"
    )


def _inside(value: Any) -> Mapping[Any, Any] | None:
    """The entries of a tuple, a list or a dict, or the attributes of an object of one's own."""
    if isinstance(value, dict):
        return value
    if isinstance(value, tuple | list):
        return dict(enumerate(value))
    return None if isinstance(value, type) or _of_library(value) else held.attributes(value)


def _of_library(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in LIBRARIES
