"""The first of two networks of MindSpore, by the names that PyTorch's layers have."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from equivalence.comparison import sides
from equivalence.declare.twin import MindSporeCase
from equivalence.structure.layers import Layer
from equivalence.structure.weights import Partners, Slot, reference_name


class First:
    """The first network, built in PyNative mode in the place of a reference.

    network: its side. own: its names -> those by which a sample knows its weights: PyTorch's.
    """

    step = None
    module = None
    made_in: Mapping[str, int] = MappingProxyType({})

    def __init__(self, case: MindSporeCase):
        twin = replace(case.twin, candidate=case.twin.reference)
        self.network = sides.build_candidate(replace(case, twin=twin, execution="pynative"))
        self.own = names(self.network.slots())

    def slots(self) -> dict[str, Slot]:
        """The shape and kind of each weight."""
        return {self.own[name]: slot for name, slot in self.network.slots().items()}

    def layers(self) -> list[Layer]:
        """All cells, a parent before its children."""
        return self.network.layers(self.own)

    def dropouts(self) -> list[str]:
        """The paths of the cells that draw random numbers while training."""
        return self.network.dropouts()

    def tables(self) -> None:
        """None: of tables that are no weights no truth is known; the sample compares them."""
        return

    def renew(self) -> None:
        """Nothing to do: a network keeps no state of a run."""


def names(slots: Mapping[str, Slot]) -> Partners:
    """The names of a network's weights -> PyTorch's, which tell how they are drawn."""
    theirs = {name: reference_name(name, {}) for name in slots}
    found = theirs if len({*theirs.values()}) == len(theirs) else {name: name for name in slots}
    return Partners(found, [found[name] for name, slot in slots.items() if slot.is_constant])
