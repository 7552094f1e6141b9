"""A PyTorch network as a candidate: the second of two networks of PyTorch that are compared."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from equivalence.declare.twin import TwinCase
from equivalence.host import devices
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.randomness.layers import RandomLayer
from equivalence.sample import INTEGER_BUFFERS, Sample
from equivalence.sides.feed import Feed
from equivalence.sides.torch_network import TorchNetwork
from equivalence.structure.layers import Layer, Sink, below
from equivalence.structure.settings import in_modes
from equivalence.structure.tables import Tables
from equivalence.structure.torch_settings import settings
from equivalence.structure.weights import Partners, Slot


class TorchCandidate:
    """A PyTorch network that runs as a candidate, in the dtype of the case; see `protocols`.

    case: what it is a candidate of. arguments: what its target is called with.
    network: the network.
    """

    step = None
    products = None
    unseen = ""

    def __init__(self, case: TwinCase, arguments: Mapping[str, Any]):
        self.network = TorchNetwork(case.twin.candidate, arguments, devices.place(case.device))
        self.network.draws.pinned = case.twin.pinned
        self.network.backward = case.twin.backward
        self.stand_ins = SimpleNamespace(used={})
        self.cell = self.network.module

    @property
    def built(self) -> "TorchCandidate":
        """This network: it runs here."""
        return self

    @property
    def classes(self) -> list[type]:
        """The classes of its layers."""
        return [type(each) for each in self.network.module.modules()]

    @property
    def filled(self) -> list[str]:
        """The names of the parameters that have values."""
        return self.network.filled

    def slots(self) -> dict[str, Slot]:
        """The shape and kind of each weight, by its path; counts of batches are left out."""
        slots = self.network.slots()
        return {n: slot for n, slot in slots.items() if n.rpartition(".")[2] not in INTEGER_BUFFERS}

    def unheld(self) -> list[str]:
        """None: PyTorch's own error tells of modules in a list of Python."""
        return []

    def dropouts(self) -> list[str]:
        """The paths of the layers that draw random numbers while training."""
        return self.network.dropouts()

    def drawn_by(self, note: Callable[[], list[RandomLayer]]) -> list[RandomLayer]:
        """The draws that `note` finds in a run."""
        return note()

    def random_layers(self, feed: Feed) -> list[RandomLayer]:
        """Every draw of random numbers in a run, in order."""
        return self.network.random_layers(_NamedSample(feed), feed.phase)

    def layers(self, partners: Partners) -> list[Layer]:
        """All modules, a parent before its children; their weights have the reference's names."""
        names, modes = self.slots(), self.network.modes.each()
        found = []
        for path, module in self.network.module.named_modules():
            read = in_modes(settings(module), modes[path])
            found.append(Layer.of(path, read, partners.held(below(path, names))))
        return found

    def tables(self, partners: Partners) -> Tables:
        """What it alone has by path, as made: constants, and what its code looks up."""
        made = self.network.tables()
        return made.without(name for name in made.values if partners.sources(name))

    def written_alone(self, partners: Partners) -> list[str]:
        """The paths of the constants that it alone has, and has written in its last run."""
        changed = self.network.constants.changed(self.network.module)
        return [name for name in changed if not partners.sources(name)]

    def run(self, feed: Feed) -> Trace:
        """Run forward and backward in the sample's dtype, by the reference's names."""
        trace = self.network.run(_NamedSample(feed), feed.phase, feed.sample.dtype)
        names, partners = self.slots(), feed.partners
        for of in (tensors.parameter_gradient, tensors.buffer):
            own = {name: trace.pop(of(name)) for name in names if of(name) in trace}
            trace |= {of(name): values for name, values in partners.restored(own).items()}
        begin = tensors.attribute("")
        own = {name.removeprefix(begin): v for name, v in trace.items() if name.startswith(begin)}
        trace = {name: v for name, v in trace.items() if not name.startswith(begin)}
        return trace | {begin + partners.place(name): v for name, v in own.items()}

    def call_before(self, feed: Feed, _both: bool) -> None:
        """Run with the values of another sample, so that what is kept of them shows in `run`."""
        self.run(feed)

    def observe(self, feed: Feed, sink: Sink) -> None:
        """Run while `sink` gets the outputs and cotangents of every layer, by its own paths."""
        with self.network.observed(sink):
            self.run(feed)


class _NamedSample(Sample):
    """A sample by the candidate's names of its weights."""

    def __init__(self, feed: Feed):
        vars(self).update(vars(feed.sample))
        self._sample, self._partners = feed.sample, feed.partners

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        """The sample's inputs, of whatever kind it is."""
        return self._sample.inputs(step)

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The values of a weight: those of its partner, or its own name's where it has none."""
        values = self._partners.drawn(name, shape, self._sample.weight)
        return self._sample.weight(name, shape) if values is None else values

    def constant(self, name: str, values: np.ndarray) -> np.ndarray:
        """The values of a constant: what its constructor made, or those that both begin with."""
        theirs = self._partners.get(name, name)
        if self._sample.begun(theirs):
            return np.asarray(self._sample.state[theirs], values.dtype)
        return self._sample.constant(theirs, values)
