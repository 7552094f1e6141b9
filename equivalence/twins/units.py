"""By which unit roundoff a case is judged.

A coarse compute mode rounds the factors of convolutions and matrix products; everything else is
computed in the dtype. So the mode's unit is that of cases whose reference multiplies, and the
dtype's that of all others. The reference decides, never the candidate: one that multiplies where
the reference does not loses digits on such a device that PyTorch keeps, and is red there.
"""

import functools

from equivalence.declare.twin import Case
from equivalence.host import devices
from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.record import truths

_seen: dict[str, bool] = {}


def case_unit_roundoff(case: Case, seed: int) -> float:
    """The unit roundoff that a case is judged by, drawn with base seed `seed`.

    Only where the compute mode is coarser than the dtype anything is looked up or run for it.
    Raises what `check.check` does where neither a record nor torch tells.
    """
    dtype, mode = _units(case)
    return mode if mode > dtype and _multiplies(case.sizes[0], seed) else dtype


def is_coarse(case: Case, seed: int) -> bool:
    """Whether a case is judged by the unit of a mode that rounds more than its dtype does."""
    return case_unit_roundoff(case, seed) > _units(case)[0]


def computed(case: Case) -> str:
    """The dtype that both sides compute in."""
    return case.twin.computes or case.dtype


def _units(case: Case) -> tuple[float, float]:
    """The unit roundoffs of the dtype that is computed in, and of its products on the device."""
    dtype = computed(case)
    return UNIT_ROUNDOFF[dtype], UNIT_ROUNDOFF[devices.place(case.device).computes(dtype)]


def _multiplies(case: Case, seed: int) -> bool:
    """Whether the reference has convolutions or matrix products."""
    library = truths.active() if truths.recordable(case) else None
    run = functools.partial(seen_multiplying, case, seed)
    return library.multiplies(case, seed, _units(case), run) if library else run()


def seen_multiplying(case: Case, seed: int) -> bool:
    """Whether a run of the reference has convolutions or matrix products.

    False of one that must raise, of which nothing is judged. Remembered for all seeds, executions
    and devices: it does not depend on the values.
    """
    if case.twin.raises:
        return False
    key = repr((case.shared, case.twin.reference, case.twin.inputs))
    if key not in _seen:
        from equivalence.twins.check import blaming, build_reference, draw

        with blaming("reference", case):
            network = build_reference(case)
            from equivalence.truth.products import multiplies  # torch is there

            _seen[key] = multiplies(network, draw(case, seed), case.phase)
    return _seen[key]
