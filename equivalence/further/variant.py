"""Other inputs for a case, as draws; and the case that has them. Loads no framework."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import nesting
from equivalence.declare.draws import Draw, file
from equivalence.declare.twin import Twin, TwinCase
from equivalence.sample import call_of

SAVED = Path("reports", "further")
"""Where the inputs of a further sample are saved that shows a difference, and its declaration."""

SCALED = {"normal": ("scale", "shift"), "uniform": ("low", "high")}
"""Kinds of draws that are written with other numbers where all values are multiplied."""


@dataclass(frozen=True)
class Variant:
    """Other inputs for a case.

    told: what they are, in words, such as "a batch of 1".
    draws: a draw with its sizes for each input, in order.
    at_ties: whether elements are put exactly where a gradient is not defined, so that one that
        differs there says nothing.
    always: whether it is worth a comparison even where it reaches nothing new.
    simpler: variants that may show the same, the simplest first.
    turns: the twin that declares this sample and one before it as `sizes`, where it takes both.
    """

    told: str
    draws: tuple[Draw, ...]
    at_ties: bool = False
    always: bool = False
    simpler: tuple["Variant", ...] = ()
    turns: Twin | None = None

    def case(self, case: TwinCase, sizes: Sequence[Mapping[str, int]] = ()) -> TwinCase:
        """The case with these inputs; weights are drawn as before.

        sizes: what the names in the shapes of the draws stand for, as `Twin.sizes` has it.

        Raises DeclarationError where a draw cannot have such a shape.
        """
        if self.turns is not None:
            return replace(case, twin=self.turns, size=None)
        twin, draws, dimensions = case.twin, iter(self.draws), case.dimensions

        def put(leaf: Any) -> Any:
            if not isinstance(leaf, Draw):
                return leaf
            return nesting.LEFT_OUT if leaf.resolve(dimensions) is None else next(draws)

        inputs = nesting.transform(twin.inputs, put)
        config = {key: value for key, value in case.config.items() if not key.isupper()}
        changed = replace(twin, inputs=inputs, configs=(config,), sizes=sizes, reach=None)
        return replace(case, twin=changed, size=None)


@dataclass(frozen=True)
class GivenInputs:
    """The inputs of a case as they are drawn.

    case: the case.
    draws: a draw with its sizes for each input, in order.
    values: their values, in the dtype of the case.
    folder: where values are saved that no draw gives.
    """

    case: TwinCase
    draws: tuple[Draw, ...]
    values: tuple[np.ndarray, ...]
    folder: Path

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each input."""
        return tuple(each.shape for each in self.values)

    @property
    def names(self) -> Sequence[str]:
        """The name of each input."""
        return call_of(self.case.twin.inputs, self.case.dimensions).names

    def told(self, at: int) -> str:
        """An input in words, as decisions name it: the first is input 0."""
        return f"input {self.names[at]}"

    @property
    def floats(self) -> list[int]:
        """The positions of the inputs that hold numbers of any size: no masks, no labels."""
        return [
            i
            for i, (draw, each) in enumerate(zip(self.draws, self.values, strict=True))
            if each.dtype.kind == "f"
            and each.size
            and draw.kind not in ("binary", "distribution", "masked")
            and not np.isin(each, (0, 1)).all()
        ]

    @property
    def masks(self) -> list[int]:
        """The positions of the inputs of zeros and ones that have rows."""
        return [
            i
            for i, each in enumerate(self.values)
            if each.ndim > 1
            and each.size
            and each.dtype.kind != "c"
            and (each.dtype == bool or np.isin(each.astype(np.float64), (0, 1)).all())
        ]

    @property
    def indices(self) -> list[int]:
        """The positions of the inputs of whole numbers that are no masks."""
        masks = self.masks
        kinds = [each.dtype.kind in "iu" and each.size > 0 for each in self.values]
        return [i for i, whole in enumerate(kinds) if whole and i not in masks]

    def resized(self, told: str, shapes: Sequence[tuple[int, ...]]) -> Variant:
        """The same draws with other shapes; values of a file are repeated, or cut off."""
        pairs = zip(self.draws, self.values, shapes, strict=True)
        return Variant(told, tuple(self._sized(*each) for each in pairs))

    def _sized(self, draw: Draw, values: np.ndarray, shape: tuple[int, ...]) -> Draw:
        if values.shape == shape:
            return draw
        if draw.stored is None and draw.kind != "given":
            return replace(draw, shape=shape)
        for axis, size in enumerate(shape):
            values = values.take(np.arange(size) % values.shape[axis], axis)
        return self._saved(draw, values)

    def scaled(self, told: str, factor: float, at: Sequence[int]) -> Variant:
        """All values of some inputs multiplied. at: the positions of these inputs."""
        draws = list(self.draws)
        for i in at:
            options = SCALED.get(draws[i].kind)
            if options:
                given = {k: float(v * factor) for k, v in draws[i].options.items()}
                draws[i] = replace(draws[i], options=given)
            else:
                draws[i] = self._saved(draws[i], self.values[i] * factor)
        return Variant(told, tuple(draws))

    def replaced(self, told: str, values: dict[int, np.ndarray], at_ties: bool = False) -> Variant:
        """Other values for some inputs. values: position -> values, of any shape."""
        draws = list(self.draws)
        for i, each in values.items():
            draws[i] = self._saved(draws[i], each)
        return Variant(told, tuple(draws), at_ties)

    def _saved(self, draw: Draw, values: np.ndarray) -> Draw:
        """A draw of these values, saved in a file."""
        kind = self.values[self.draws.index(draw)].dtype if draw in self.draws else values.dtype
        narrow = kind.name in ("float16", "float64") or kind.kind in "iubc"
        values = np.asarray(values, kind if narrow else np.float32)
        path = Path(self.folder, f"input_{next(_numbers)}.npy")
        np.save(path, values.copy(order="C"), allow_pickle=False)  # 0-d stays 0-d
        saved = file(path)
        return saved if draw.differentiable or values.dtype.kind != "f" else saved.constant()


_numbers: Iterator[int] = itertools.count()


def declared(case: TwinCase) -> Path:
    """The file that declares the twin of a further sample that shows a difference."""
    name = re.sub(r"\W", "_", case.name)
    return SAVED / f"twins_{name}.py"


def keep(variant: Variant, folder: Path, stem: str) -> Variant:
    """The same variant with its files copied to a folder that stays.

    stem: how the names of the files begin.
    """
    folder, draws = folder.absolute(), []
    for i, draw in enumerate(variant.draws):
        stored = draw.stored
        if stored is not None and not Path(draw.options["path"]).is_relative_to(folder):
            values = draw.array(np.random.default_rng(0), stored.shape)
            folder.mkdir(parents=True, exist_ok=True)
            path = Path(folder, f"{stem}_{i}.npy")
            np.save(path, values, allow_pickle=False)
            copied = file(path)
            draw = copied if draw.differentiable else copied.constant()
        draws.append(draw)
    return replace(variant, draws=tuple(draws))
