"""The random layers of a run: how often they draw, and from which law. Imports no framework."""

import contextlib
import difflib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from equivalence.randomness.replay import Replay

DROPOUT = "dropout"
"""The kind of a draw that keeps a part with probability 1 - p, divided by 1 - p, or zeroes it."""

SIGMAS = 6.0
"""Two measured laws are equal if their figures are within so many standard deviations."""

EXACT = 1e-3
"""Relative distance at which two scales are equal whatever was measured: that of float16."""

SAMPLES = 2048
"""Rows of the batch of ones by which the law of a layer is measured."""

MOST_ELEMENTS = 1 << 20
"""Elements of such a batch, at most."""

CALLS = 64
"""Calls of a layer that decides once for the whole batch."""


class RandomLayer(NamedTuple):
    """One draw of random numbers in a run.

    path: the path of the innermost layer that draws.
    kind: DROPOUT or another law that both frameworks have; else the class of a layer of the
        model's own, or the operator that draws.
    p: the probability that a part is zeroed; None where the kind has none.
    decisions: the number of independent parts in this call; None where it is not known.
    scale: the mean of what is kept of a tensor of ones; None where it is not known.
    spread: the standard deviation of what is kept.
    measured: the number of parts from which p, scale and spread were measured; 0: they are exact.
    pinned: whether a comparison runs without this draw.
    """

    path: str
    kind: str
    p: float | None = None
    decisions: int | None = None
    scale: float | None = None
    spread: float = 0.0
    measured: int = 0
    pinned: bool = False

    def __str__(self) -> str:
        return f"{self.path or 'the network itself'} ({self.kind})"


def dropout(path: str, p: float, decisions: int | None) -> RandomLayer:
    """A dropout of known p. decisions: how many parts are kept or zeroed by themselves."""
    scale = 1.0 / (1.0 - p) if p < 1.0 else None
    return RandomLayer(path, DROPOUT, p, decisions, scale, pinned=True)


def listed(layers: Iterable[RandomLayer]) -> str:
    """The layers in words, each once."""
    return ", ".join(dict.fromkeys(map(str, layers))) or "none"


def batch_of(shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of a batch of ones with many samples, for a layer that gets inputs of `shape`."""
    rest = math.prod(shape[1:]) or 1
    rows = max(1, min(SAMPLES, MOST_ELEMENTS // rest))
    return (max(rows, shape[0]) if shape else 1, *shape[1:])


def measure(path: str, kind: str, shape: Sequence[int], run: Callable[[], np.ndarray]):
    """The law of a layer that is called with ones.

    shape: the shape of its inputs in the network.
    run: its output for a new batch of ones.

    An axis along which no element differs from the first has one decision for all of it.
    """
    values = [run()]
    if not np.ptp(values[0]):
        values += [run() for _ in range(CALLS - 1)]
    runs = np.stack(values).astype(np.float64)
    varying = [a for a in range(1, runs.ndim) if (runs != runs.take([0], axis=a)).any()]
    parts = runs[tuple(slice(None) if a in (0, *varying) else 0 for a in range(runs.ndim))]
    kept = parts[parts != 0.0]
    sized = len(shape) == runs.ndim - 1 and np.ptp(runs) > 0.0
    return RandomLayer(
        path,
        kind,
        1.0 - kept.size / parts.size,
        math.prod(shape[a - 1] for a in varying) if sized else None,
        float(kept.mean()) if kept.size else None,
        float(kept.std()) if kept.size else 0.0,
        parts.size,
        pinned=True,
    )


Own = TypeVar("Own", bound="Draws")


class Draws:
    """What a network draws, and what of it is pinned. Each framework has a subclass.

    pinned: the paths and classes of random layers of the model's own, which run in evaluation mode,
    while no function of the framework draws; None where nothing is pinned.
    prefix: the path of the network, with a dot, in the one that `pinned` speaks of.
    drew: whether any run has drawn random numbers; only PyTorch's generators tell.
    replay: what gives each draw its numbers; then nothing is pinned. None: nothing does.
    """

    def __init__(self, pinned: Collection[str] | None = None, prefix: str = ""):
        self.pinned, self.prefix = pinned, prefix
        self.drew = False
        self.notes: Any = None
        self.replay: Replay | None = None

    def of_part(self: Own, path: str) -> Own:
        """The same of the layer at a path, run as a network of its own."""
        part = type(self)(self.pinned, f"{self.prefix}{path}." if path else self.prefix)
        part.replay = self.replay and self.replay.of_part()
        return part

    @contextlib.contextmanager
    def apart(self) -> Iterator[None]:
        """A context of one more run within `running`, which leaves no note of its draws."""
        replay = self.replay
        before = (replay.drawn, replay.refused) if replay else None
        if replay:
            replay.begin(replay.paths)
        yield
        if replay and before:
            replay.drawn, replay.refused = before

    def own(self, layers: Iterable[tuple[str, Any]]) -> dict[str, str]:
        """The random layers of the model's own, among all layers: path -> class.

        A class stands for those that derive from it, too.
        """
        found = {}
        for path, layer in layers:
            classes = [each.__name__ for each in type(layer).__mro__]
            declared = [name for name in classes if name in (self.pinned or ())]
            if declared or self.prefix + path in (self.pinned or ()):
                found[path] = (declared or classes)[0]
        return found

    @property
    def pins(self) -> bool:
        """Whether a run now pins what it can; one that notes or replays its draws does not."""
        return self.pinned is not None and self.notes is None and self.replay is None

    @contextlib.contextmanager
    def noting(self, notes: Any) -> Iterator[None]:
        """A context in which runs tell `notes` of every draw."""
        self.notes = notes
        try:
            yield
        finally:
            self.notes = None


def compare(
    reference: Sequence[RandomLayer], candidate: Sequence[RandomLayer]
) -> list[tuple[RandomLayer, str | None]]:
    """Each random layer, in order of the draws, with what differs; None: both sides agree.

    Where one side draws more often, a draw without a partner is a difference of its own.
    """
    ours, theirs = ([_key(each) for each in side] for side in (reference, candidate))
    pairs: list[tuple[Any, Any]] = []
    if len(ours) == len(theirs):
        pairs = list(zip(reference, candidate, strict=True))
    else:
        matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
        for _, i, j, k, m in matcher.get_opcodes():
            both = min(j - i, m - k)
            pairs += zip(reference[i : i + both], candidate[k : k + both], strict=True)
            pairs += [(each, None) for each in reference[i + both : j]]
            pairs += [(None, each) for each in candidate[k + both : m]]
    return [(one or two, _difference(one, two)) for one, two in pairs]


def _key(layer: RandomLayer) -> tuple[Any, ...]:
    """What draws are aligned by where their numbers differ."""
    return (layer.decisions, None if layer.measured else layer.p)


def _difference(one: RandomLayer | None, two: RandomLayer | None) -> str | None:
    if one is None:
        return f"only the candidate draws: {two}{_p(two)}"
    if two is None:
        return f"only the reference draws: {one}{_p(one)}"
    phrases = []
    known = not (one.measured or two.measured)
    if known and one.kind != two.kind:
        phrases.append(_phrase("kind", one.kind, two.kind))
    elif one.p is not None and two.p is not None and abs(one.p - two.p) > _share_bound(one, two):
        phrases.append(_phrase("p", _figure(one.p, one), _figure(two.p, two)))
    elif None not in (one.scale, two.scale) and not _alike(one, two):
        phrases.append(_phrase("scale of what is kept", *map(_scale, (one, two))))
    if None not in (one.decisions, two.decisions) and one.decisions != two.decisions:
        phrases.append(_phrase("independent parts in a call", one.decisions, two.decisions))
    return ", ".join(phrases) or None


def _p(layer: RandomLayer | None) -> str:
    return "" if layer is None or layer.p is None else f" with p {_figure(layer.p, layer)}"


def _phrase(what: str, one: object, two: object) -> str:
    return f"{what} {one} (reference) {two} (candidate)"


def _figure(value: float, layer: RandomLayer) -> str:
    return f"{value:.3g}" if layer.measured else f"{value:.9g}"


def _scale(layer: RandomLayer) -> str:
    return f"{layer.scale:.4g}" + (f" +- {layer.spread:.2g}" if layer.spread > EXACT else "")


def _share_bound(one: RandomLayer, two: RandomLayer) -> float:
    """How far two shares may be apart by chance."""
    counts = [each.measured for each in (one, two) if each.measured]
    if not counts:
        return 1e-6
    p = next((each.p for each in (one, two) if not each.measured), None)
    if p is None:
        p = sum((each.p or 0.0) * each.measured for each in (one, two)) / sum(counts)
    return SIGMAS * math.sqrt(p * (1.0 - p) * sum(1.0 / count for count in counts)) + 1e-6


def _alike(one: RandomLayer, two: RandomLayer) -> bool:
    """Whether what is kept has the same mean and spread, within chance."""
    both = [each for each in (one, two) if each.measured]
    counts = [max(1.0, each.measured * (1.0 - (each.p or 0.0))) for each in both]
    chance = SIGMAS * max(one.spread, two.spread) * math.sqrt(sum(1.0 / n for n in counts))
    ours, theirs = (each.scale or 0.0 for each in (one, two))
    bound = chance + EXACT * max(abs(ours), abs(theirs))
    return abs(ours - theirs) <= bound and abs(one.spread - two.spread) <= bound
