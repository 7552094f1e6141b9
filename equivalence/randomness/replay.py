"""The numbers that the draws of a run get, the same on both sides. Imports no framework.

Every draw is made of uniform numbers between 0 and 1, whatever its law: a dropout keeps a part
where the number is below 1 - p, a normal number is the quantile of it, an order is that in which
they sort. Those of a run come from the name of its sample and the draw's place in the run, so that
the n-th draw of both sides gets the same numbers. They have few bits, and are exact in each dtype.

Two right networks may draw in other ways: one keeps a path where `rand() < keep`, the other where
`floor(keep + rand())` is 1; one draws at once what the other draws in two parts. A `DrawPairing`
says which numbers the candidate's draws get, by a map that leaves their law as it is. If all
tensors are the same under one such map, both networks give the same distribution.
"""

import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from equivalence.errors import of_models
from equivalence.seeds import stream
from equivalence.stream.observer import frames

BITS = {"bfloat16": 8}
"""Dtype -> the bits of a number; `MOST_BITS` in every other one."""

MOST_BITS = 11
"""Bits that float16 holds exactly."""

MIRRORS = 8
"""Pairings that are tried at most in which lines get 1 - u in the place of u."""

MASK, UNIFORM, NORMAL = "a mask", "uniform numbers", "normal numbers"
WHOLE, ORDER = "whole numbers", "an order"
"""The laws of draws, in words; both sides tell them alike."""


class Drawn(NamedTuple):
    """One draw of a run.

    law: what is drawn, such as "dropout" or "normal numbers".
    shape: the shape of the numbers that are drawn; of the mask of channels, one for each channel.
    path: the path of the layer that runs; "" for the network.
    line: the line of the network that draws, such as "net.py:12".
    p: the probability that a part is dropped, or that 1 is drawn; None where it has none.
    """

    law: str
    shape: tuple[int, ...]
    path: str = ""
    line: str = ""
    p: float | None = None

    @property
    def size(self) -> int:
        """How many numbers are drawn."""
        return math.prod(self.shape)

    @property
    def axes(self) -> tuple[int, ...]:
        """The shape without axes of one."""
        return tuple(size for size in self.shape if size != 1)

    def __str__(self) -> str:
        share = "" if self.p is None else f" with p {self.p:.6g}"
        where = " at ".join(filter(None, (self.path, self.line)))
        return f"{self.law}{share} of shape {self.shape}" + (f" ({where})" if where else "")


@dataclass(frozen=True)
class DrawPairing:
    """Which numbers the draws of the candidate get.

    reference: the draws of the reference; none where the run is that of the reference.
    partners: for each draw of the candidate the place of the reference's; None where it has none.
        Empty: each draw gets the numbers of the same place.
    mirrored: the lines of the candidate whose draws get 1 - u.
    joined: whether the numbers of all draws are one sequence, however it is cut.
    seed: the base seed, by which the numbers are drawn.
    """

    reference: Sequence[Drawn] = ()
    partners: Sequence[int | None] = ()
    mirrored: frozenset[str] = frozenset()
    joined: bool = False
    seed: int = 0


@dataclass
class Replay:
    """The numbers that the draws of each run get, and a note of what was drawn in the last run.

    name: what names the numbers: the sample.
    dtype: the dtype of the case.
    pairing: which numbers the draws get.
    drawn: the draws of the last run, in order.
    refused: what has drawn in the last run without getting numbers from here, in words.
    """

    name: str
    dtype: str = "float32"
    pairing: DrawPairing = DrawPairing()
    drawn: list[Drawn] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    paths: Sequence[str] = ()

    @property
    def bits(self) -> int:
        """The bits of each number."""
        return BITS.get(self.dtype, MOST_BITS)

    def begin(self, paths: Sequence[str]) -> None:
        """A run begins. paths: the paths of the layers that run now, the innermost last."""
        self.drawn, self.refused, self.paths = [], [], paths

    def of_part(self) -> "Replay":
        """That of a part of the network alone, whose draws are paired in their order."""
        alone = DrawPairing(mirrored=self.pairing.mirrored, seed=self.pairing.seed)
        return replace(self, pairing=alone, drawn=[], refused=[])

    def refuse(self, what: str) -> None:
        """Note a draw that gets no numbers from here."""
        self.refused.append(f"{what} ({line()})")

    def uniform(self, law: str, shape: Sequence[int], p: float | None = None) -> np.ndarray:
        """The uniform numbers of the next draw: float64, each above 0 and below 1, of `shape`."""
        path = self.paths[-1] if self.paths else ""
        drawn = Drawn(law, tuple(map(int, shape)), path, line(), p)
        place = len(self.drawn)
        self.drawn.append(drawn)
        numbers = self._numbers(place, drawn)
        return 1.0 - numbers if drawn.line in self.pairing.mirrored else numbers

    def normal(self, law: str, shape: Sequence[int]) -> np.ndarray:
        """The normal numbers of the next draw, of as few bits."""
        return quantiles(self.uniform(law, shape), self.bits)

    def _numbers(self, place: int, drawn: Drawn) -> np.ndarray:
        pairing = self.pairing
        if pairing.joined:
            before = sum(each.size for each in self.drawn[:-1])
            every = [self._fresh(i, each.size) for i, each in enumerate(pairing.reference)]
            flat = np.concatenate([*every, np.full(drawn.size, 0.5)])
            return flat[before : before + drawn.size].reshape(drawn.shape)
        partner: int | None = place
        if pairing.partners:
            partner = pairing.partners[place] if place < len(pairing.partners) else None
        if partner is None:
            return self._fresh(-1 - place, drawn.size).reshape(drawn.shape)
        numbers = self._fresh(partner, drawn.size)
        theirs = pairing.reference[partner] if partner < len(pairing.reference) else drawn
        return _laid(numbers, theirs, drawn)

    def _fresh(self, place: int, count: int) -> np.ndarray:
        """The numbers of a draw, flat: odd multiples of a power of two."""
        half = 1 << (self.bits - 1)
        whole = stream(self.pairing.seed, self.name, "draw", place).integers(0, half, count)
        return (2.0 * whole + 1.0) / (2.0 * half)


def _laid(numbers: np.ndarray, theirs: Drawn, ours: Drawn) -> np.ndarray:
    """The numbers of the reference's draw in the layout of the candidate's.

    Where both shapes have the same axes in another order, as with channels last, each number stays
    with its axes.
    """
    if theirs.axes != ours.axes and sorted(theirs.axes) == sorted(ours.axes):
        left = list(theirs.axes)
        order = []
        for size in ours.axes:
            order.append(left.index(size))
            left[order[-1]] = -1
        numbers = numbers.reshape(theirs.axes).transpose(order)
    return numbers.reshape(ours.shape)


def line() -> str:
    """The innermost line of a network's own code that runs now: "net.py:12"."""
    for frame in frames(sys._getframe(1)):
        file = frame.f_code.co_filename
        if of_models(file) and not file.startswith("<"):
            return f"{file.rpartition('/')[2]}:{frame.f_lineno}"
    return ""


_TABLES: dict[int, np.ndarray] = {}


def quantiles(uniform: np.ndarray, bits: int) -> np.ndarray:
    """The normal numbers of uniform ones, rounded to as many bits."""
    if bits not in _TABLES:
        half, normal = 1 << (bits - 1), NormalDist()
        upper = [normal.inv_cdf((2 * i + 1) / (2 * half)) for i in range(half // 2, half)]
        fraction, exponent = np.frexp(upper)
        rounded = np.ldexp(np.round(fraction * (1 << bits)), exponent - bits)
        _TABLES[bits] = np.concatenate([-rounded[::-1], rounded])
    return _TABLES[bits][((uniform * (1 << bits) - 1.0) / 2.0).astype(int)]


def whole(uniform: np.ndarray, low: ArrayLike, high: ArrayLike) -> np.ndarray:
    """Whole numbers from `low` to below `high`."""
    return np.asarray(low) + np.floor(uniform * np.subtract(high, low)).astype(np.int64)


def order(uniform: np.ndarray) -> np.ndarray:
    """The order in which numbers sort along the last axis: a permutation."""
    return np.argsort(uniform, axis=-1, kind="stable")


def choices(shares: np.ndarray, count: int, replacement: bool, replay: Replay) -> np.ndarray:
    """Categories that are drawn by their shares, (..., count) of shares (..., categories)."""
    shares = np.asarray(shares, np.float64)
    law = f"{count} of {shares.shape[-1]} categories"
    if not replacement:
        numbers = replay.uniform(law, shares.shape)
        with np.errstate(divide="ignore"):
            return np.argsort(-np.log(numbers) / shares, -1, kind="stable")[..., :count]
    numbers = replay.uniform(law, (*shares.shape[:-1], count))
    upto = np.cumsum(shares, -1) / shares.sum(-1, keepdims=True)
    return (numbers[..., :, None] >= upto[..., None, :-1]).sum(-1)


def pairings(
    reference: Sequence[Drawn], candidate: Sequence[Drawn], seed: int
) -> Iterator[DrawPairing]:
    """The pairings to try, the most likely first; none where the draws cannot be paired."""
    for pairing in _in_order(reference, candidate):
        partners = [reference[i] for i in pairing.partners if i is not None]
        both = zip(partners, candidate, strict=True) if partners else ((None, c) for c in candidate)
        lines = list(dict.fromkeys(two.line for one, two in both if not _decided(one, two)))
        subsets = itertools.chain.from_iterable(
            itertools.combinations(lines, size)
            for size in (0, len(lines), *range(1, len(lines)))
            if size <= len(lines)
        )
        for mirrored in itertools.islice(dict.fromkeys(subsets), MIRRORS):
            yield replace(pairing, mirrored=frozenset(mirrored), seed=seed)


def _in_order(reference: Sequence[Drawn], candidate: Sequence[Drawn]) -> Iterator[DrawPairing]:
    """The pairings in which all draws get their numbers: in order, by layer, or as a sequence."""
    apart = unpaired(reference, candidate)
    if not apart:
        yield DrawPairing(reference, range(len(reference)))
    by_path = [_calls(side) for side in (reference, candidate)]
    places = {each: place for place, each in enumerate(by_path[0])}
    partners = [places[each] for each in by_path[1] if each in places]
    if len(partners) == len(places) == len(candidate) and partners != sorted(partners):
        yield DrawPairing(reference, partners)
    if apart and sum(each.size for each in reference) == sum(each.size for each in candidate):
        yield DrawPairing(reference, joined=True)


def _calls(side: Sequence[Drawn]) -> list[tuple[str, tuple[int, ...], int]]:
    """The layer of each draw, its axes, and how many draws of the same come before it."""
    seen: dict[tuple, int] = {}
    found = []
    for each in side:
        key = each.path, tuple(sorted(each.axes))
        seen[key] = seen.get(key, -1) + 1
        found.append((*key, seen[key]))
    return found


def _decided(one: Drawn | None, two: Drawn) -> bool:
    """Whether two draws mean the same by the same numbers: masks of ones as often."""
    return one is not None and one.law == two.law and one.p == two.p and one.p is not None


def unpaired(reference: Sequence[Drawn], candidate: Sequence[Drawn]) -> list[str]:
    """What keeps the draws from being paired one by one, in words; nothing where they can be."""
    found = []
    for number, (one, two) in enumerate(itertools.zip_longest(reference, candidate), 1):
        if one is None:
            found.append(f"only the candidate draws {two}")
        elif two is None:
            found.append(f"only the reference draws {one}")
        elif one.size != two.size:
            found.append(f"draw {number} is {one} in the reference, {two} in the candidate")
    return found
