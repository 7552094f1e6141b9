"""Twins whose two sides must both raise."""

import functools
from collections.abc import Callable

from equivalence.declare.twin import Case
from equivalence.errors import EquivalenceError, RecordError, TorchMissingError
from equivalence.judge.truth import Reference, Truth
from equivalence.record import truths
from equivalence.sides import weights
from equivalence.twins import check


def demand(case: Case, seed: int) -> str | None:
    """Demand that each side raises what the twin names; what the reference's record came to.

    Raises EquivalenceError where one raises something else, or nothing.
    """
    known = reference(case, seed)

    def candidate() -> None:
        network = check.kept_candidate(case, seed)
        partners = {n: weights.reference_name(n, case.twin.rename) for n in network.slots()}
        network.run(known.sample, partners, case.phase, {})

    _demand_raised("candidate", case, candidate)
    return known.record


def reference(case: Case, seed: int) -> Reference:
    """A reference that must raise, and does, or did when it was recorded."""
    sample = check.draw(case, seed)

    def run(_: bool = False) -> Reference:
        def raising() -> None:
            check.build_reference(case).run(sample, case.phase, case.dtype)

        _demand_raised("reference", case, raising)
        return Reference(sample, {}, [], Truth(), multiplies=False)  # nothing of it is judged

    library, unit_roundoff = truths.active(), check.case_unit_roundoff(case, seed)
    drawing = functools.partial(check.draw, case, seed)
    return library.reference(case, seed, unit_roundoff, drawing, run) if library else run()


def _demand_raised(side: str, case: Case, run: Callable[[], object]) -> None:
    try:
        run()
    except (TorchMissingError, RecordError):
        raise
    except Exception as error:
        if type(error).__name__ != case.twin.raises:
            raise EquivalenceError(
                f"{case.name}: the {side} raised {type(error).__name__} ({error}), "
                f"not {case.twin.raises}"
            ) from error
    else:
        raise EquivalenceError(f"{case.name}: the {side} did not raise {case.twin.raises}")
