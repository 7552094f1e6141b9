"""The reference's side of a case, kept for the next cases; and the candidate."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from equivalence.checkpoints import files
from equivalence.declare.twin import TwinCase
from equivalence.errors import blaming
from equivalence.host import devices
from equivalence.judge.truth import Flip, Truth
from equivalence.record import candidates, truths
from equivalence.runs import pinned, sides, units
from equivalence.runs.drawn import Drawn
from equivalence.truth.known import Reference, sketch_large

if TYPE_CHECKING:
    from equivalence.sides.mindspore_network import MindSporeNetwork
    from equivalence.truth.measurement import Measurement

MAX_SMALL = 64
"""References that are kept at once, of single operators and of cases with sizes; all are dropped
before the next one. Only one reference of any other network is kept."""

_references: list[tuple[tuple, Reference]] = []


def reference(case: TwinCase, seed: int) -> Reference:
    """The reference's side of a case, kept until a case with another sample comes.

    It is read from a record if there is one, and is run otherwise. Raises EquivalenceError if
    neither is possible.
    """
    drawn, twin = Drawn(case, seed), case.twin
    small = case.alone or case.size is not None
    library = truths.active() if truths.recordable(case) else None
    beside = devices.place(case.device).reference
    parts = (twin.reference, twin.inputs, twin.random_layers, seed)
    parts += (drawn.unit_roundoff, library, beside, twin.weights and files.digest(twin.weights))
    key = (small, *case.shared, *parts)
    for other, side in _references:
        if other == key:
            return side
    if not (small and len(_references) < MAX_SMALL and all(other[0] for other, _ in _references)):
        _references.clear()  # free the former truth before the next is computed
    run = functools.partial(_run_reference, drawn)
    side = from_record(drawn, run) if library else run()
    _references.append((key, side))
    return side


def from_record(drawn: Drawn, run: Callable[[bool], Reference]) -> Reference:
    """The reference from its record, or by `run` if there is none.

    run: runs the reference; its argument says whether the result is to be recorded.
    """
    return truths.active().reference(drawn.case, drawn.seed, drawn.unit_roundoff, drawn.sample, run)


def forget() -> None:
    """Drop all kept references."""
    _references.clear()


def _run_reference(drawn: Drawn, keep: bool = False) -> Reference:
    """Run the reference.

    keep: whether to prepare it for a record: large tensors are sketched, and `finer` and
        `multiplies` are set.
    """
    case, sample = drawn.case, drawn.sample()
    with blaming("reference", case.name):
        measurement = drawn.measurement(sample)
        from equivalence.truth import compute  # torch is there

        if case.alone:
            expected = compute.of_layer(measurement)
        else:
            expect = sketch_large(sample) if keep else compute.whole
            expected = compute.compute(measurement, expect)
        network = measurement.network
        side = Reference(sample, network.slots(), pinned.of_reference(measurement, case), expected)
    side.layers = sides.reference_layers(case, network)
    if keep:
        finer(side, drawn)
        side.multiplies = units.reference_multiplies(case, drawn.seed)
    return side


def finer(side: Reference, drawn: Drawn) -> Truth:
    """The truth with more exact sensitivities, for an error of little more than the budget.

    It does not replace the first truth, so that no case depends on another.
    """
    if side.finer is None:
        with blaming("reference", drawn.case.name):
            measurement = drawn.measurement(side.sample)
            from equivalence.truth import compute  # torch is there

            side.finer = compute.refine(measurement, side.expected, drawn.case.alone)
    return side.finer


def farther(side: Reference, measurement: "Measurement") -> tuple[Flip, ...]:
    """The activations that may have taken the other branch. They are searched for only once."""
    if side.far is None:
        from equivalence.truth import compute  # torch is there

        side.far = compute.farther(measurement)
    return side.far


def candidate(
    case: TwinCase, seed: int, before: "MindSporeNetwork | None" = None
) -> "MindSporeNetwork":
    """The candidate of a case: a recorded run, `before`, or a new network.

    before: the candidate of an earlier comparison of the same case; None builds one.
    """

    def build() -> "MindSporeNetwork":
        return sides.build_candidate(case) if before is None else before

    runs = candidates.active(case)
    if not runs:
        return build()
    return runs.candidate(case, seed, Drawn(case, seed).unit_roundoff, build)
