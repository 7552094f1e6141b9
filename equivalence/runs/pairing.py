"""Pairs the weights of a case as its twin declares it."""

from collections.abc import Mapping

from equivalence.declare.twin import TwinCase
from equivalence.structure import order, weights
from equivalence.structure.weights import Partners, Slot


def partners(
    case: TwinCase, reference: Mapping[str, Slot], candidate: Mapping[str, Slot]
) -> Partners:
    """The partners of all weights. Raises WeightError where a weight has none.

    With `pair="order"` they have what was proposed, too, in words.
    """
    twin = case.twin
    rename, constants = twin.rename, tuple(twin.constants)
    if twin.pair == "name":
        return weights.pair(reference, candidate, rename, constants)
    proposal = order.propose(reference, candidate, rename, constants)
    found = weights.pair(
        reference, candidate, {**rename, **proposal.rename}, (*constants, *proposal.constants)
    )
    found.proposed = tuple(proposal.lines())
    return found
