"""Checks twins whose two sides must raise."""

from collections.abc import Callable

from equivalence.declare.twin import TwinCase
from equivalence.errors import (
    EquivalenceError,
    LeavingError,
    RecordError,
    TorchMissingError,
    staying,
)
from equivalence.judge.truth import Truth
from equivalence.record import truths
from equivalence.runs import kept, sides
from equivalence.runs.drawn import Drawn
from equivalence.structure import weights
from equivalence.truth.known import Reference


def demand(case: TwinCase, seed: int) -> str | None:
    """Demand that each side raises the error that the twin names.

    Returns the reference's `Reference.record`. Raises EquivalenceError if a side raises another
    error, or none.
    """
    side = reference(case, seed)

    def candidate() -> None:
        network = kept.candidate(case, seed)
        rename = weights.plain(case.twin.rename)
        names = {n: weights.reference_name(n, rename) for n in network.slots()}
        network.run(side.sample, weights.Partners(names), case.phase, {})

    _demand_raised("candidate", case, candidate)
    return side.record


def reference(case: TwinCase, seed: int) -> Reference:
    """The reference of a case that must raise. It raises now, or did so when it was recorded."""
    drawn = Drawn(case, seed)
    sample = drawn.sample()

    def run(_: bool = False) -> Reference:
        def raising() -> None:
            sides.build_reference(case).run(sample, case.phase, case.dtype)

        _demand_raised("reference", case, raising)
        return Reference(sample, {}, [], Truth(), multiplies=False)  # no tensor is judged

    return kept.from_record(drawn, run) if truths.active() else run()


def _demand_raised(side: str, case: TwinCase, run: Callable[[], object]) -> None:
    """Raise EquivalenceError unless `run` raises the error that the twin names."""
    meant = case.twin.raises
    if meant is None:
        raise ValueError(f"{case.name} declares no error")
    try:
        with staying():
            run()
    except (TorchMissingError, RecordError, LeavingError):
        raise
    except Exception as error:
        if wrong := meant.refuses(side, error):
            raise EquivalenceError(f"{case.name}: the {side} {wrong}") from error
    else:
        raise EquivalenceError(f"{case.name}: the {side} did not raise {meant.error}")
