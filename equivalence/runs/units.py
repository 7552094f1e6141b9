"""The unit roundoff by which a case is judged.

A coarse compute mode rounds the factors of convolutions and matrix products. Everything else is
computed in the dtype. A case whose reference multiplies is therefore judged by the mode's unit
roundoff, and any other case by the dtype's. The reference decides, never the candidate. If only
the candidate multiplies, it loses digits on such a device that PyTorch keeps, and is red there.
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


def case_unit_roundoff(case: TwinCase, seed: int) -> float:
    """The unit roundoff by which a case is judged, with base seed `seed`.

    If the compute mode is coarser than the dtype, this reads a record or runs the reference.
    Raises EquivalenceError, as `check` does, if there is neither a record nor torch.
    """
    dtype, mode = _units(case)
    return mode if mode > dtype and _multiplies(case.sizes[0], seed) else dtype


def is_coarse(case: TwinCase, seed: int) -> bool:
    """Whether a case is judged by a compute mode that rounds more than its dtype does."""
    return case_unit_roundoff(case, seed) > _units(case)[0]


def _units(case: TwinCase) -> tuple[float, float]:
    """The unit roundoffs of the case's dtype, and of its matrix products on the device."""
    dtype = case.computed
    if dtype == "float64":
        return DOUBLE, DOUBLE
    return UNIT_ROUNDOFF[dtype], UNIT_ROUNDOFF[devices.place(case.device).computes(dtype)]


def _multiplies(case: TwinCase, seed: int) -> bool:
    """Whether the reference has convolutions or matrix products, by a record or by a run."""
    library = truths.active() if truths.recordable(case) else None
    run = functools.partial(reference_multiplies, case, seed)
    return library.multiplies(case, seed, _units(case), run) if library else run()


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
