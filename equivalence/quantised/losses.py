"""The signal to noise of each layer of a quantised network beside its float original.

Signal is what the original's layer gives, noise what the quantised one gives besides. In the whole
run, noise of earlier layers adds up; by itself, a layer gets what the original's layer gets.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equivalence.errors import DeclarationError
from equivalence.quantised.running import LayersRun, RunnableNetwork
from equivalence.structure.weights import STANDARD_RENAMES, renamed
from equivalence.words import raised

OTHER = 10.0
"""Decibels. Weights of one name whose signal to noise is lower are others, not quantised ones."""


@dataclass(frozen=True)
class Loss:
    """What one layer loses.

    path, kinds: its path in the original, and its class on both sides.
    whole: its signal to noise in the whole run, in decibels; infinite for the same numbers.
    alone: the same by itself, fed what the original's layer gets; NaN where that cannot be done.
    why: why it cannot.
    """

    path: str
    kinds: tuple[str, str]
    whole: float
    alone: float = math.nan
    why: str = ""


@dataclass(frozen=True)
class LossReport:
    """What a quantised network loses.

    layers: each layer with a partner, in the order of the run. output: that of the network, in
        decibels. largest: the largest difference of an output's element.
    rows: of how many rows of the output the largest element is the same, and of how many.
    other: names of weights that are others on both sides. unpaired: layers of the original that
        gave a result and have no partner.
    """

    layers: tuple[Loss, ...]
    output: float
    largest: float
    rows: tuple[int, int] | None
    other: tuple[str, ...]
    unpaired: tuple[str, ...]

    @property
    def worst(self) -> list[Loss]:
        """The layers by themselves, the one that loses most first."""
        known = [each for each in self.layers if not math.isnan(each.alone)]
        return sorted((each for each in known if math.isfinite(each.alone)), key=lambda x: x.alone)


def decibels(signal: np.ndarray, got: np.ndarray) -> float:
    """20 log10(||signal|| / ||got - signal||); infinite for the same numbers, NaN for other shapes.

    >>> round(decibels(np.ones(4), np.full(4, 1.1)), 6)
    20.0
    """
    if signal.shape != got.shape:
        return math.nan
    signal, got = signal.astype(np.float64), got.astype(np.float64)
    noise, size = float(np.linalg.norm(got - signal)), float(np.linalg.norm(signal))
    if noise == 0.0:
        return math.inf
    return 20.0 * math.log10(size / noise) if size else -math.inf


def report(
    original: RunnableNetwork,
    quantised: RunnableNetwork,
    inputs: Sequence[np.ndarray],
    rename: Mapping[str, str],
) -> LossReport:
    """Run both on the same inputs, and tell what each layer loses.

    rename: runs of segments of the quantised network's paths -> the original's.

    Raises DeclarationError where the outputs have other shapes.
    """
    ours, theirs = quantised.run(inputs), original.run(inputs)
    if theirs.output.shape != ours.output.shape:
        raise DeclarationError(
            f"{quantised.target} gives {ours.output.shape}, and {original.target} "
            f"{theirs.output.shape}: these are no float network and its quantised one"
        )
    partners = {renamed(path, rename): path for path in quantised.layers}
    layers = [
        _loss(path, partners[path], original, quantised, theirs, ours)
        for path in theirs.results
        if path and partners.get(path) in ours.results
    ]
    alone = [path for path in theirs.results if partners.get(path) not in ours.results]
    return LossReport(
        tuple(layers),
        decibels(theirs.output, ours.output),
        float(np.abs(ours.output.astype(np.float64) - theirs.output).max(initial=0.0)),
        _rows(theirs.output, ours.output),
        _others(original.weights(), quantised.weights(), rename),
        tuple(alone),
    )


def _loss(
    path: str,
    partner: str,
    original: RunnableNetwork,
    quantised: RunnableNetwork,
    theirs: LayersRun,
    ours: LayersRun,
) -> Loss:
    kinds = original.kinds()[path], quantised.kinds()[partner]
    whole = decibels(theirs.results[path], ours.results[partner])
    if path not in theirs.given:
        return Loss(path, kinds, whole, why="it is called with more than tensors")
    try:
        got = quantised.alone(partner, theirs.given[path])
    except Exception as error:  # a call that the network itself never makes
        return Loss(path, kinds, whole, why=raised(error))
    return Loss(
        path, kinds, whole, math.nan if got is None else decibels(theirs.results[path], got)
    )


def _rows(signal: np.ndarray, got: np.ndarray) -> tuple[int, int] | None:
    """In how many rows of a matrix the largest element is the same, and of how many."""
    if signal.ndim != 2 or signal.shape[1] < 2:
        return None
    return int((signal.argmax(1) == got.argmax(1)).sum()), len(signal)


def _others(
    theirs: Mapping[str, np.ndarray], ours: Mapping[str, np.ndarray], rename: Mapping[str, str]
) -> tuple[str, ...]:
    """The weights of one name that are others: no quantisation makes one of the other."""
    found = []
    for name, values in ours.items():
        path, _, last = renamed(name, rename).rpartition(".")
        partner = ".".join(filter(None, [path, STANDARD_RENAMES.get(last, last)]))
        signal = theirs.get(name, theirs.get(partner))
        if signal is not None and decibels(signal, values) < OTHER:  # of other shapes it is NaN
            found.append(name)
    return tuple(found)
