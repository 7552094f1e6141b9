"""Pairs the weights of a case as its twin declares it."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from equivalence.declare.renames import JOIN, has_run
from equivalence.declare.twin import TwinCase
from equivalence.errors import WeightError
from equivalence.structure import order, weights
from equivalence.structure.weights import Partners, Slot, Unseen


def partners(
    case: TwinCase,
    reference: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    unheld: Callable[[], Sequence[str]] = tuple,
) -> Partners:
    """The partners of all weights. Raises WeightError where a weight has none.

    unheld: gives the attributes of the candidate that hold cells in a list of Python; it is asked
        for the error alone.

    With `pair="order"` they have what was proposed, too, in words.
    """
    if case.own is not None:
        return case.own.partners(case)
    if isinstance(candidate, Unseen):
        return _unseen(case, reference)
    try:
        return _partners(case, reference, candidate)
    except WeightError as error:
        first, _, rest = str(error).partition("\n")
        lines = [
            f"  candidate {name} is a list, tuple or dict of Python, so that its cells are none of "
            "the network's: write nn.CellList"
            for name in unheld()
        ]
        raise WeightError("\n".join([first, *lines, rest])) from None


def _unseen(case: TwinCase, reference: Mapping[str, Slot]) -> Partners:
    """The partners where the candidate holds its weights itself: none, and no buffer is compared.

    Raises WeightError where the reference would get others.
    """
    if reference and case.twin.weights is None:
        raise WeightError(
            "the candidate is a function of arrays, which holds its weights itself, and those of "
            "the reference would be drawn; give the reference the same by --weights FILE "
            '(weights="own" for those that a network has)'
        )
    return Partners({}, reference)


def _partners(
    case: TwinCase, reference: Mapping[str, Slot], candidate: Mapping[str, Slot]
) -> Partners:
    twin = case.twin
    rename, constants = dict(twin.rename), tuple(twin.constants)
    if case.of_training:  # the other renames are for what its step keeps, and demanded there
        rename = {old: new for old, new in rename.items() if _finds(old, candidate)}
    found = _paired(twin.pair, reference, candidate, rename, constants)
    found.rename = {**twin.rename, **found.rename}
    return found


def _finds(old: str, candidate: Iterable[str]) -> bool:
    """Whether one of the runs that a rename joins is in a name."""
    return any(has_run(name, run) for run in old.split(JOIN) for name in candidate)


def _paired(
    pair: str,
    reference: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    rename: Mapping[str, str],
    constants: tuple[str, ...],
) -> Partners:
    if pair == "name":
        return weights.pair(reference, candidate, rename, constants)
    proposal = order.propose(reference, candidate, rename, constants)
    found = weights.pair(
        reference, candidate, {**rename, **proposal.rename}, (*constants, *proposal.constants)
    )
    found.proposed = tuple(proposal.lines())
    return found
