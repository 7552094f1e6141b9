"""The state of networks that are handed over, already built.

Of a class, what its constructor draws is state, and so is what it computes of a parameter: the
constructor is called twice, and shows it. A network that is built already, with a queue or the
vector of a spectral norm in it, has no constructor to ask. So its state is what a forward pass
writes: both sides begin with the reference's values of it, as they begin with the same weights, and
what they hold after the run is compared. What a forward pass reads alone stays a constant.
"""

from collections.abc import Callable, Mapping

import numpy as np

from equivalence import targets
from equivalence.declare.network import Network
from equivalence.declare.twin import TwinCase
from equivalence.errors import SideError, blaming
from equivalence.sample import Sample
from equivalence.sides.protocols import ReferenceSide

_known: dict[tuple, Mapping[str, np.ndarray]] = {}


def of(
    case: TwinCase, sample: Sample, build: Callable[[TwinCase], ReferenceSide]
) -> Mapping[str, np.ndarray]:
    """The reference's name -> values of all state of a case; nothing where it has a constructor.

    sample: what the reference is run with, to see what it writes.
    build: builds the reference of a case.
    """
    networks = case.arguments.values()
    given = [each.reference for each in networks if isinstance(each, Network)]
    built = [case.twin.reference, *given]
    if not any(map(targets.offers, built)):
        return {}
    key = (*built, case.twin.steps, *case.twin.phases)
    if key not in _known:
        network = build(case)  # a function may turn out to give one network each time
        _known[key] = _written(case, sample, network) if any(map(targets.copies, built)) else {}
    return _known[key]


def forget() -> None:
    """Drop what is known of all networks."""
    _known.clear()


def _written(case: TwinCase, sample: Sample, network: ReferenceSide) -> dict[str, np.ndarray]:
    """The state of a reference: what it writes in either phase.

    A run in training may be none of the case's; where it fails, nothing is state for it.
    """
    if not network.constants.fractional:
        return {}
    found: dict[str, np.ndarray] = {}
    for phase in dict.fromkeys((*case.twin.phases, "train")):
        try:
            with blaming("reference", case.name):
                found |= network.constants.written(network.run(sample, phase, "float32"))
        except SideError:
            if phase in case.twin.phases:
                raise
    return found
