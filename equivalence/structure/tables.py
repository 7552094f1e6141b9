"""Tables that both sides keep as data, and that no pair of weights compares. Imports no framework.

A table, such as the index of relative positions or the sines of positions, is a constant of the
original; a port may build it anew, as an attribute, a list or a global. A sample reads some of its
rows. So a table of a port is compared with that of the original as data, where both write it the
same way.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from equivalence.judge.expected import Expected
from equivalence.judge.settings import SettingDifference
from equivalence.structure.layers import Layer, align
from equivalence.structure.looked_up import LookedUp
from equivalence.structure.weights import comparable, renamed
from equivalence.words import counted

NEAR = 1e-3
"""Two numbers of a table are near within this share of its largest and of their own size: what is
nearer may be rounding of a long way, and the sample tells."""

ALIKE = 0.5
"""From this share of near elements on, two tables of one name are written the same way; a mask that
is inverted, or an index that is transposed, is another way, and the sample tells."""

SURE = 0.75
"""The same share of tables that have the same shape alone."""

DIVERSE = 8
"""A table that has fewer values is not found by its values: masks are alike by chance."""

MASKED = -1e4
"""A number from here down masks, whatever it is."""


@dataclass(frozen=True)
class Tables:
    """The tables of one side, by their names.

    values: as the constructor makes them.
    expected: gives the truth of one, with the noise of two runs of the constructor; None where the
        values are the truth.
    places: where its code makes those that it looks up, as "net.py:12".
    """

    values: Mapping[str, np.ndarray]
    expected: Callable[[str], Expected] | None = None
    places: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def without(self, names: Iterable[str]) -> "Tables":
        """The tables but for those of these names."""
        out = {*names}
        return replace(self, values={n: v for n, v in self.values.items() if n not in out})

    def beside(self, found: Mapping[str, LookedUp]) -> "Tables":
        """These tables, and those that code looks up; of one name, these."""
        others = {n: comparable(v.values) for n, v in found.items() if n not in self.values}
        places = {n: each.place for n, each in found.items()}

        def expected(name: str) -> Expected:
            return Expected.whole(others[name]) if name in others else self.truth(name)

        return Tables({**self.values, **others}, expected, places)

    def truth(self, name: str) -> Expected:
        """The truth of one."""
        return self.expected(name) if self.expected else Expected.whole(self.values[name])


@dataclass(frozen=True)
class TablesCompared:
    """What a comparison of tables finds.

    count: how many have a partner that is written the same way.
    differing: those that differ.
    alone: the names of those that the port's code looks up, and that have no partner.
    """

    count: int = 0
    differing: tuple[SettingDifference, ...] = ()
    alone: tuple[str, ...] = ()


def compare(
    tables: Tables,
    ours: Tables,
    layers: tuple[Iterable[Layer], Iterable[Layer]],
    rename: Mapping[str, str],
    unit_roundoff: float,
) -> TablesCompared:
    """The tables that have a partner which is written the same way, compared.

    tables: those of the original that no weight of the port is paired with.
    ours: the port's, by the path of the cell and the name.
    layers: those of the original, and those of the port.
    rename: the renames by which names pair up.
    unit_roundoff: of the precision in which constructors compute.
    """
    if not (tables.values and ours.values):
        return TablesCompared(alone=(*ours.places,))
    theirs, own = ([*each] for each in layers)
    kinds = {layer.path: layer.kind for layer in theirs}
    places = {partner: path for path, partner in align(theirs, own, rename).items()}
    differing = []
    pairs = _paired(tables, ours, places, rename)
    for name, mine in pairs.items():
        odd = _odd(tables.values[name], ours.values[mine])
        if not odd.any():
            continue
        expected = tables.truth(name)
        values = comparable(ours.values[mine]).reshape(expected.shape)
        values = values.astype(expected.truth.dtype)
        if expected.within(values, unit_roundoff):
            continue
        path, _, leaf = name.rpartition(".")
        found = _difference(leaf, path, kinds.get(path, ""), expected.truth, values, odd)
        if place := ours.places.get(mine):
            found = replace(found, where=f"{found.where}, {place}")
        differing.append(found)
    alone = tuple(name for name in ours.places if name not in pairs.values())
    return TablesCompared(len(pairs), tuple(differing), alone)


def _difference(
    leaf: str, path: str, kind: str, theirs: np.ndarray, ours: np.ndarray, odd: np.ndarray
) -> SettingDifference:
    """What is told of a table: its first wrong element, and how many there are."""
    at = np.unravel_index(int(np.argmax(odd)), odd.shape)
    place = f"at ({', '.join(map(str, map(int, at)))}{',' * (len(at) == 1)})"
    if (more := int(odd.sum()) - 1) > 0:
        place += f" and {counted(more, 'more element')}"
    at = at if odd.shape == theirs.shape else np.unravel_index(int(np.argmax(odd)), theirs.shape)
    one, other = (
        f"{each[at]:.9g}" if each.dtype.kind == "f" else str(each[at]) for each in (theirs, ours)
    )
    return SettingDifference(leaf, one, other, place, layer=path, kind=kind)


def _paired(
    theirs: Tables, ours: Tables, places: Mapping[str, str], rename: Mapping[str, str]
) -> dict[str, str]:
    """The original's name -> the port's, of tables that are written the same way.

    By the name in the partner of the layer, by the whole name, by a name that both sides have once,
    or by the values.

    places: path of a cell -> path of the original's layer.
    """
    named: dict[str, str] = {}
    for mine in ours.values:
        path, _, leaf = mine.rpartition(".")
        inside = f"{places[path]}." if places.get(path) else ""
        for name in (renamed(mine, rename), *([inside + leaf] if path in places else [])):
            if name in theirs.values and name not in named:
                named[name] = mine
    once = [_once(each.values) for each in (theirs, ours)]
    for leaf in once[0].keys() & once[1].keys():
        name, mine = once[0][leaf], once[1][leaf]
        by_code = name in theirs.places or mine in ours.places
        if by_code and name not in named and mine not in named.values():
            named[name] = mine
    one, two = theirs.values, ours.values
    found = {name: mine for name, mine in named.items() if _same_way(one[name], two[mine])}
    left = [mine for mine in two if mine not in named.values()]
    for name, table in one.items():
        if name not in named and len(np.unique(table)) >= DIVERSE:
            shares = {mine: _share(table, two[mine]) for mine in left}
            best = max(shares, key=lambda mine: shares[mine], default="")
            if best and shares[best] >= SURE:
                found[name] = best
    return found


def _once(names: Iterable[str]) -> dict[str, str]:
    """The last part of a name, but for its case and underscores -> the name, if one has it."""
    every: dict[str, list[str]] = {}
    for name in names:
        every.setdefault(name.rpartition(".")[2].strip("_").lower(), []).append(name)
    return {leaf: found[0] for leaf, found in every.items() if len(found) == 1}


def _alike(theirs: np.ndarray, ours: np.ndarray) -> bool:
    """Whether two tables have the same kind of numbers and, but for axes of length one, shape."""
    kinds = ["i" if each.dtype.kind == "u" else each.dtype.kind for each in (theirs, ours)]
    shapes = [tuple(n for n in each.shape if n != 1) for each in (theirs, ours)]
    return kinds[0] == kinds[1] in "ibf" and shapes[0] == shapes[1] != ()


def _odd(theirs: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """The elements that are not near, in the original's shape."""
    ours = ours.reshape(theirs.shape)
    if theirs.dtype.kind != "f":
        return theirs != ours
    finite = np.abs(theirs[np.isfinite(theirs)])
    largest = float(finite.max(initial=0.0))
    return ~np.isclose(ours, theirs, rtol=NEAR, atol=NEAR * largest, equal_nan=True)


def _share(theirs: np.ndarray, ours: np.ndarray) -> float:
    """The share of near elements; 0 of tables of another kind or shape."""
    return float(1.0 - _odd(theirs, ours).mean()) if _alike(theirs, ours) else 0.0


def _same_way(theirs: np.ndarray, ours: np.ndarray) -> bool:
    """Whether two tables are written the same way, though some elements may be wrong.

    They are not where a value of the original is another one wherever it stands, as minus infinity
    in a mask, nor where a few whole numbers stand in another order, as axes do.
    """
    if _share(theirs, ours) < ALIKE:
        return False
    odd = _odd(theirs, ours)
    if _reordered(theirs, ours):
        return False
    wrong = theirs[odd]
    if theirs.dtype.kind == "f" and bool((wrong <= MASKED).all() and wrong.size):
        return False
    values, counts = np.unique(wrong, return_counts=True)
    everywhere = ~np.isin(values, theirs[~odd])
    return not bool((everywhere & (counts > 1)).any())


def _reordered(theirs: np.ndarray, ours: np.ndarray) -> bool:
    """Whether two short lists have the same whole numbers in another order."""
    few = theirs.dtype.kind == "i" and theirs.size < DIVERSE
    return bool(few and (theirs.ravel() != ours.ravel()).any() and _sorted(theirs) == _sorted(ours))


def _sorted(values: np.ndarray) -> list[int]:
    return sorted(values.ravel().tolist())
