"""What a training reads of its loaders, batch by batch. Imports no framework.

Where a loader of the original draws, as a random crop does, no port gives the same pictures. So the
port gets the original's batches where it reads its own: in each column that draws, and in no other.
What the script then does to them is compared as ever. The loaders themselves are compared by
their law, as they stand.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equivalence.loaders.stages import BATCH, READ, TRIALS, Item, Loader
from equivalence.words import counted, listed

Columns = dict[str, np.ndarray]

Begins = Callable[[Any, int | None], Callable[[Any], Any]]
"""A loader of so many batches begins an epoch: gives what each batch goes through."""


@dataclass(eq=False)
class Reading:
    """What a script reads of one loader.

    loader: as it stands. key: the line that first reads it. step: the step, from 1, that follows.
    count: the batches of an epoch; None where the loader does not say.
    batches: the columns of each batch, in order, by the line that reads it.
    drawn: the columns that the loader draws. stages: what draws in it, by name.
    taken: how many batches have been handed over, by the line of the port that reads them.
    """

    loader: Any
    key: str
    step: int
    count: int | None = None
    batches: dict[str, list[Columns]] = field(default_factory=dict)
    drawn: Sequence[str] = ()
    stages: Sequence[str] = ()
    taken: dict[str, int] = field(default_factory=dict)

    @property
    def longest(self) -> Sequence[Columns]:
        """The batches of the line that reads most; another one may only look at the first."""
        return max(self.batches.values(), key=len, default=[])

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets: no loader, and no batches."""
        return {**vars(self), "loader": None, "batches": {}}


def pairs(theirs: Sequence[Reading], ours: Sequence[Reading]) -> Iterator[tuple[Reading, Reading]]:
    """The original's readings and the port's.

    Each of the port's stands for the first one left that has as many batches, else for the next.
    """
    free = [*theirs]
    for each in ours:
        if free:
            other = next((one for one in free if one.count == each.count), free[0])
            free.remove(other)
            yield other, each


def told(theirs: Sequence[Reading], ours: Sequence[Reading]) -> Iterator[str]:
    """What each of the original's loaders draws, and whether the port has got it, in a line."""
    partners = dict(pairs(theirs, ours))
    for each in theirs:
        if not each.drawn:
            continue
        column = f"column{'s' * (len(each.drawn) > 1)} {listed(each.drawn, 9)}"
        kept = "no data set of MindSpore that the port reads pairs with it"
        if (port := partners.get(each)) is not None:
            count = counted(sum(port.taken.values()), "batch")
            kept = (
                f"the port gets {count} of the original where it reads its own, and the loaders "
                "are compared by their law"
            )
        yield f"{listed(each.stages, 9)} draw {column} of the original's batches: {kept}"


def drawing(loader: Loader, seed: int = 0) -> tuple[list[str], list[str]]:
    """The columns of a batch that a loader draws, and the names of what draws them.

    It makes its first batch several times, or its first sample where it makes no batches.
    """
    level = BATCH if loader.batch_size else READ
    count = 2 + TRIALS // (loader.batch_size or 1)
    first, *others = loader.again(level, count, seed, still=False)
    columns = [
        name
        for name, values in first.items()
        if any(not _same(values, other.get(name)) for other in others)
    ]
    return columns, [*loader.random] or [loader.drawer(level)] * bool(columns)


def _same(one: np.ndarray, other: np.ndarray | None) -> bool:
    return other is not None and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


def handed(theirs: Item, drawn: Sequence[str], ours: Item) -> tuple[Columns, list[str]]:
    """The values of the port's columns that stand for drawn ones; and why others have none.

    Columns pair by name, else by place, else by shape. Channels may come last on either side.
    """
    found: Columns = {}
    lost = []
    for name in drawn:
        column, values = _partner(name, theirs, ours), theirs[name]
        fit = None if column is None else fitted(values, ours[column])
        if column is None or fit is None:
            got = "no such column" if column is None else _shape(ours[column])
            lost.append(f"column {name} is {_shape(values)}, and in the port {got}")
        else:
            found[column] = fit
    return found, lost


def _partner(name: str, theirs: Item, ours: Item) -> str | None:
    """The port's column for one of the original's."""
    if name in ours:
        return name
    if len(theirs) == len(ours):
        return [*ours][[*theirs].index(name)]
    alike = [n for n, values in ours.items() if fitted(theirs[name], values) is not None]
    return alike[0] if len(alike) == 1 else None


def fitted(values: np.ndarray, own: np.ndarray) -> np.ndarray | None:
    """Values in the layout of a column of the same kind; None where its shape is another.

    >>> fitted(np.zeros((2, 3, 8, 8)), np.zeros((2, 8, 8, 3))).shape
    (2, 8, 8, 3)
    """
    if (values.dtype.kind in "fc") != (own.dtype.kind in "fc"):
        return None
    if values.shape == own.shape:
        return values
    if values.ndim == 4:
        for axes in ((0, 2, 3, 1), (0, 3, 1, 2)):
            if values.transpose(axes).shape == own.shape:
                return np.ascontiguousarray(values.transpose(axes))
    return None


def _shape(values: np.ndarray) -> str:
    return f"{values.dtype} {'x'.join(map(str, values.shape))}"
