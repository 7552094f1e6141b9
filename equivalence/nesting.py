"""Inputs and outputs of any structure: tuples, lists, mappings and dataclasses of leaves.

Every leaf has a path, such as ("cache", 0, 1), and a name made from it, `cache.0.1`.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Path = tuple[int | str, ...]
"""The way to a leaf: the position in each tuple or list, the key in each mapping."""

LEFT_OUT = object()
"""A leaf that `transform` leaves out of the tuple, list or dict that holds it."""


def leaves(tree: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """The leaves of tuples, lists and dicts with their paths, depth first.

    >>> leaves({"ids": 1, "cache": [(2, 3)]})
    [(('ids',), 1), (('cache', 0, 0), 2), (('cache', 0, 1), 3)]
    """
    if not isinstance(tree, tuple | list | dict):
        return [(path, tree)]
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [leaf for key, child in entries for leaf in leaves(child, (*path, key))]


def of_kind(tree: Any, kind: type) -> list[Any]:
    """The leaves of tuples, lists and mappings that are of a class, depth first.

    >>> of_kind({"ids": [1, None], "mask": (2.5, 3)}, int)
    [1, 3]
    """
    if isinstance(tree, kind):
        return [tree]
    if isinstance(tree, tuple | list):
        return [leaf for child in tree for leaf in of_kind(child, kind)]
    if isinstance(tree, Mapping):
        return [leaf for child in tree.values() for leaf in of_kind(child, kind)]
    return []


def transform(tree: Any, change: Callable[[Any], Any]) -> Any:
    """The same tuples, lists and dicts with other leaves; LEFT_OUT leaves one out."""
    if isinstance(tree, dict):
        entries = {key: transform(child, change) for key, child in tree.items()}
        return {key: child for key, child in entries.items() if child is not LEFT_OUT}
    if isinstance(tree, tuple | list):
        children = [transform(child, change) for child in tree]
        children = [child for child in children if child is not LEFT_OUT]
        return children if isinstance(tree, list) else tuple(children)
    return change(tree)


def simplified(outputs: Any) -> Any:
    """Outputs as tuples, lists and dicts: mappings and dataclasses become dicts of their entries.

    The keys of a dict become strings.
    """
    if isinstance(outputs, Mapping):
        return {str(key): simplified(child) for key, child in outputs.items()}
    if dataclasses.is_dataclass(outputs) and not isinstance(outputs, type):
        fields = [each.name for each in dataclasses.fields(outputs)]
        return {name: simplified(getattr(outputs, name)) for name in fields}
    if isinstance(outputs, tuple | list):
        children = [simplified(child) for child in outputs]
        return children if isinstance(outputs, list) else tuple(children)
    return outputs


def unusual(outputs: Any) -> str | None:
    """The class of the first mapping, tuple or dataclass that is no plain tuple, list or dict."""
    plain = type(outputs) in (tuple, list, dict)
    holds = isinstance(outputs, Mapping | tuple | list) or dataclasses.is_dataclass(outputs)
    if plain or not holds or isinstance(outputs, type):
        children = outputs.values() if isinstance(outputs, dict) else outputs if plain else ()
        return next(filter(None, map(unusual, children)), None)
    return type(outputs).__name__


def named(outputs: Any) -> dict[str, Any]:
    """The leaves of a network's outputs by name, see `names`.

    >>> named({"logits": 1.5, "hidden": (2.5, None)})
    {'logits': 1.5, 'hidden.0': 2.5, 'hidden.1': None}
    >>> named((1.5, (2.5, 3.5)))
    {'0': 1.5, '1': 2.5, '2': 3.5}
    """
    found = leaves(simplified(outputs))
    return dict(zip(names([path for path, _ in found]), (leaf for _, leaf in found), strict=True))


def names(paths: Sequence[Path]) -> list[str]:
    """The names of a network's outputs, by their paths.

    Without any mapping, tensors are numbered through all tuples and lists: it does not matter how
    these are nested. A tensor alone is number 0.
    """
    if not any(isinstance(key, str) for path in paths for key in path):
        return [str(number) for number in range(len(paths))]
    return [name(path) for path in paths]


def name(path: Path) -> str:
    """The name of a path: `cache.0.1`. A key that is no identifier is in brackets: `[0]`."""
    plain = [isinstance(key, int) or key.isidentifier() for key in path]
    return ".".join(
        str(key) if is_plain else f"[{key}]" for key, is_plain in zip(path, plain, strict=True)
    )


def by_order(theirs: Sequence[str], ours: Sequence[str]) -> dict[str, str]:
    """Name of an output of ours -> that of theirs, where only one side names as many outputs.

    theirs, ours: the names of the outputs that are not None, in order.

    >>> by_order(["logits", "hidden"], ["0", "1"]), by_order(["logits"], ["hidden"])
    ({'0': 'logits', '1': 'hidden'}, {})
    """
    named = [not all(map(str.isdecimal, each)) for each in (theirs, ours)]
    if len(theirs) != len(ours) or not theirs or named[0] == named[1]:
        return {}
    return dict(zip(ours, theirs, strict=True))


def words(outputs: Sequence[str]) -> str:
    """What a network returns, in words, by the names of its outputs.

    >>> words(["logits", "hidden.0", "hidden.1"]), words(["0", "1"])
    ('a dict (logits, hidden)', 'a tuple of 2 tensors')
    """
    first = list(dict.fromkeys(each.partition(".")[0] for each in outputs))
    if not all(each.isdecimal() for each in first):
        return f"a dict ({', '.join(first)})"
    return {0: "nothing", 1: "one tensor"}.get(len(first), f"a tuple of {len(first)} tensors")


@dataclass(frozen=True)
class Position:
    """The position of an array among the arguments of a call.

    number: its number among the arrays of the call, from 0.
    """

    number: int


@dataclass(frozen=True)
class Arguments:
    """How a network is called: which arguments it gets, with a Position for every array.

    positional: the positional arguments, any nesting of tuples, lists and dicts.
    keywords: the keyword arguments.

    >>> call = Arguments((Position(0),), {"mask": None, "cache": [(Position(1), Position(2))]})
    >>> call.names
    ['0', 'cache.0.0', 'cache.0.1']
    >>> call.filled("abc")
    (('a',), {'mask': None, 'cache': [('b', 'c')]})
    >>> call.expression
    'values[0], mask=None, cache=[(values[1], values[2],)]'
    """

    positional: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def plain(cls, number: int) -> "Arguments":
        """So many arrays, each a positional argument."""
        return cls(tuple(map(Position, range(number))))

    @property
    def is_plain(self) -> bool:
        """Whether every argument is positional and an array."""
        return not self.keywords and all(isinstance(each, Position) for each in self.positional)

    @property
    def names(self) -> list[str]:
        """The names of the arrays, in order."""
        found = [*leaves(self.positional), *leaves(dict(self.keywords))]
        return [name(path) for path, leaf in found if isinstance(leaf, Position)]

    def filled(self, arrays: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and the keyword arguments, with these arrays in their positions."""

        def fill(leaf: Any) -> Any:
            return arrays[leaf.number] if isinstance(leaf, Position) else leaf

        return transform(self.positional, fill), transform(dict(self.keywords), fill)

    @property
    def expression(self) -> str:
        """The arguments in Python, where `values` are the arrays."""
        written = [_written(each) for each in self.positional]
        written += [f"{key}={_written(each)}" for key, each in self.keywords.items()]
        return ", ".join(written)


def _written(tree: Any) -> str:
    """A nesting in Python."""
    if isinstance(tree, Position):
        return f"values[{tree.number}]"
    if isinstance(tree, dict):
        return f"{{{', '.join(f'{key!r}: {_written(child)}' for key, child in tree.items())}}}"
    if isinstance(tree, tuple | list):
        children = ", ".join(map(_written, tree))
        if isinstance(tree, list):
            return f"[{children}]"
        return f"({children},)" if tree else "()"
    return repr(tree)
