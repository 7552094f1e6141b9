"""The mode of every layer of a network, training or evaluation. Imports no framework.

Only the root is asked for a mode, as a user's training asks it: `net.train()`, `net.set_train()`.
What becomes of the layers is the network's own affair: the owner of a layer may hold it in
evaluation, and its forward pass may change the mode of a layer before it calls it.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from equivalence.declare.twin import PHASES
from equivalence.stream.observer import attached

Calls = tuple[bool, ...]
"""Whether a layer is in training mode in each of its calls; one mode stands for all of them."""

Given = Callable[[str], Mapping[str, Calls]]
"""Phase -> path -> modes: those that the layers of a part have in the whole network."""


class Modes:
    """The modes of a network's layers.

    ask: asks the root for a mode: training or not.
    layers: gives the paths and layers of the network.
    put: puts one layer, without those below it, into a mode.
    given: phase -> path -> the modes that the layers have in a larger network, of which this one is
    a part; its root is not asked. None: this is the whole.
    noted: phase -> path -> the modes of the layers in the calls of a run.
    moved: whether a run has set a mode, so that those of a phase that did not run are not known.
    """

    moved = False

    def __init__(
        self,
        ask: Callable[[bool], object],
        layers: Callable[[], Iterable[tuple[str, Any]]],
        put: Callable[[Any, bool], object],
        given: Given | None = None,
    ):
        self._ask, self._layers, self._put, self._given = ask, layers, put, given
        self.noted: dict[str, dict[str, Calls]] = {}

    def set(self, phase: str) -> None:
        """Put all layers into the modes that they have in a phase, before their first call."""
        if self._given is None:
            self._ask(phase == "train")
            return
        given = self._given(phase)
        for path, layer in self._layers():
            self._put(layer, (*given.get(path, ()), phase == "train")[0])

    def of(self, phase: str) -> dict[str, Calls]:
        """Path -> the modes of a layer in a phase: those of a run, or else those that are set.

        They are empty where they are not known.
        """
        self.set(phase)
        known = phase in self.noted or not self.moved
        found = {path: (layer.training,) if known else () for path, layer in self._layers()}
        return found | self.noted.get(phase, {})

    def each(self) -> dict[str, tuple[Calls, Calls]]:
        """Path -> the modes of a layer in training, and in evaluation; the layers keep theirs."""
        before = [(layer, layer.training) for _, layer in self._layers()]
        train, evaluation = map(self.of, PHASES)
        for layer, mode in before:
            self._put(layer, mode)
        return {path: (modes, evaluation[path]) for path, modes in train.items()}

    def hold(self, layers: Iterable[Any]) -> bool:
        """Whether any of these is a layer of the network."""
        own = {id(layer) for _, layer in self._layers()}
        return any(id(layer) in own for layer in layers)

    def train(self, paths: Iterable[str]) -> list[str]:
        """Those of the layers that are in training mode while the network trains."""
        modes = self.each()
        return [path for path in paths if modes[path][0] != (False,)]

    def below(self, path: str) -> Given:
        """Gives phase -> the modes of the layers at and below a path, by their paths in it."""

        def given(phase: str) -> Mapping[str, Calls]:
            inside, modes = f"{path}." if path else "", self.of(phase)
            found = {n.removeprefix(inside): m for n, m in modes.items() if n.startswith(inside)}
            return found | {"": modes[path]}

        return given

    @contextlib.contextmanager
    def noting(self, phase: str, pinned: Iterable[str] = ()) -> Iterator[None]:
        """A context in which the mode of every layer is noted when it is called.

        pinned: the paths of layers whose mode is not the network's own.
        """
        noted: dict[str, list[bool]] = {}

        def before(path: str) -> Callable[..., None]:
            def hook(layer: Any, *_: Any) -> None:
                noted.setdefault(path, []).append(layer.training)

            return hook

        inside = tuple(f"{path}." for path in pinned)
        layers = [each for each in self._layers() if not f"{each[0]}.".startswith(inside)]
        with attached(layer.register_forward_pre_hook(before(path)) for path, layer in layers):
            yield
        self.noted[phase] = {path: _shortened(calls) for path, calls in noted.items()}


def _shortened(calls: Iterable[bool]) -> Calls:
    """One mode where all calls have the same."""
    calls = tuple(calls)
    return calls[:1] if len(set(calls)) == 1 else calls
