"""The unit roundoff by which a case is judged, and that of its products.

A coarse compute mode rounds the factors of convolutions and matrix products. Everything else is
computed in the dtype. The reference decides what is a product, never the candidate. If only the
candidate multiplies, it loses digits on such a device that PyTorch keeps, and is red there.
"""

import functools

from equivalence.declare.twin import TwinCase
from equivalence.errors import blaming
from equivalence.host import devices
from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.record import truths
from equivalence.runs import sides

_multiplying: dict[str, bool] = {}
"""Whether a reference multiplies, by the declaration of its case."""


DOUBLE = 2.0**-45
"""The unit roundoff by which float64 is judged. Its own is 2^-53, as is that of the truth, which
has to be far more exact than the unit."""


def unit_roundoff(case: TwinCase) -> float:
    """The unit roundoff by which a case is judged: that of the dtype in which it computes."""
    return DOUBLE if case.computed == "float64" else UNIT_ROUNDOFF[case.computed]


def of_products(case: TwinCase, seed: int) -> float:
    """The unit roundoff of the products of a case, with base seed `seed`; without any, its own.

    If the compute mode is coarser than the dtype, this reads a record or runs the reference.
    Raises EquivalenceError, as `check` does, if there is neither a record nor torch.
    """
    own, mode = unit_roundoff(case), _of_mode(case)
    return mode if mode > own and _multiplies(case.sizes[0], seed) else own


def _of_mode(case: TwinCase) -> float:
    """The unit roundoff of matrix products on the device."""
    return UNIT_ROUNDOFF[devices.place(case.device).computes(case.computed)]


def _multiplies(case: TwinCase, seed: int) -> bool:
    """Whether the reference has convolutions or matrix products, by a record or by a run."""
    library = truths.active() if truths.recordable(case) else None
    run = functools.partial(reference_multiplies, case, seed)
    each = (unit_roundoff(case), _of_mode(case))
    return library.multiplies(case, seed, each, run) if library else run()


def reference_multiplies(case: TwinCase, seed: int) -> bool:
    """Whether a run of the reference has convolutions or matrix products.

    Returns False for a case that must raise, since none of its tensors is judged. The result is
    kept for all seeds, executions and devices, since it does not depend on values.
    """
    if case.twin.raises:
        return False
    key = repr((case.shared, case.twin.reference, case.twin.inputs))
    if key not in _multiplying:
        with blaming("reference", case.name):
            network = sides.build_reference(case)
            from equivalence.truth.products import multiplies  # torch is there

            _multiplying[key] = multiplies(network, sides.draw(case, seed), case.phase)
    return _multiplying[key]
