"""The reference's side of a case, kept for the next cases; and the candidate."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from equivalence.checkpoints import files
from equivalence.comparison import random_layers, sides
from equivalence.comparison.comparison import CaseAtSeed, reference_multiplies
from equivalence.declare.twin import TwinCase
from equivalence.errors import blaming
from equivalence.host import devices
from equivalence.judge.truth import Flip, Truth
from equivalence.reach.decision import Reach
from equivalence.reach.sizes import of_draws
from equivalence.record import candidates, truths
from equivalence.sides.protocols import CandidateSide
from equivalence.structure.weights import Slot
from equivalence.truth.known import Reference, sketch_large

if TYPE_CHECKING:
    from equivalence.truth.measurement import Measurement

MAX_SMALL = 64
"""References that are kept at once, of single operators and of cases with sizes; all are dropped
before the next one. Only one reference of any other network is kept."""

_references: list[tuple[tuple, "References"]] = []


def looks(case: TwinCase, seed: int) -> Iterator[Reference]:
    """The reference's side of a case: with the noise of two runs, then with that of all.

    A candidate that is equal by the first is right, and the second is not needed. The second alone
    serves a candidate that must not be too exact.
    """
    return _kept(case, seed).looks(cheap=not case.twin.computes)


def reference(case: TwinCase, seed: int) -> Reference:
    """The reference's side of a case with all that excuses and a diagnosis need.

    It is read from a record if there is one, and is run otherwise. Raises EquivalenceError if
    neither is possible.
    """
    return _kept(case, seed).complete


def slots(case: TwinCase, seed: int) -> dict[str, Slot]:
    """The weights of the reference, which is not run for them. Raises as `reference` does."""
    return _kept(case, seed).slots


def _kept(case: TwinCase, seed: int) -> "References":
    """What is kept of a sample's reference, until a case with another sample comes."""
    drawn, twin = CaseAtSeed(case, seed), case.twin
    library = truths.active() if truths.recordable(case) else None
    beside = devices.place(case.device).reference
    parts = (twin.reference, twin.inputs, twin.random_layers, twin.degenerate, twin.backward, seed)
    given = twin.weights and files.digest(str(twin.weights))
    key = (case.small, *case.shared, *parts, drawn.products, library, beside, given)
    for other, side in _references:
        if other == key:
            return side
    small = case.small and len(_references) < MAX_SMALL and all(each[0] for each, _ in _references)
    # beside the same sample with what draws pinned, which its graph needs, too
    beside_pinned = case.replayed is not None and len(_references) == 1
    if not (small or beside_pinned):
        _references.clear()  # free the former truth before the next is computed
    side = References(drawn, library)
    _references.append((key, side))
    return side


class References:
    """The reference's side of one sample; each look is computed when it is first asked for.

    No look is changed by a later one, so that no verdict and no figure depends on earlier cases.

    drawn: a case of the sample.
    library: the records that may answer for it; None without.
    """

    def __init__(self, at_seed: CaseAtSeed, library: truths.Library | None):
        self._drawn, self._library = at_seed, library

    def looks(self, cheap: bool) -> Iterator[Reference]:
        """What `looks` gives. cheap: whether all looks may serve, or only the last."""
        if self._recorded or not cheap:
            yield self.complete
            return
        yield self._begun
        yield self.complete

    @cached_property
    def _recorded(self) -> bool:
        """Whether a record is read, or is to be written."""
        drawn, library = self._drawn, self._library
        return library is not None and library.answers(drawn.case, drawn.seed, drawn.products)

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """The shape and kind of each weight."""
        return self.complete.slots if self._recorded else self._built.network.slots()

    @cached_property
    def _built(self) -> "Measurement":
        sample = self._drawn.sample()
        with blaming("reference", self._drawn.case.name):
            return self._drawn.measurement(sample)

    @cached_property
    def _begun(self) -> Reference:
        """With the noise of two runs."""
        drawn, measurement = self._drawn, self._built
        del self._built  # its network is as large as all weights
        with blaming("reference", drawn.case.name):
            from equivalence.truth import compute  # torch is there

            return _side(drawn, measurement, compute.begin(measurement))

    @cached_property
    def complete(self) -> Reference:
        """With the noise of all runs; or from a record."""
        drawn = self._drawn
        if self._recorded:
            self.__dict__.pop("_built", None)
            return from_record(drawn, functools.partial(_run_reference, drawn))
        begun = self._begun
        with blaming("reference", drawn.case.name):
            measurement = drawn.measurement(begun.sample)
            from equivalence.truth import compute  # torch is there

            return replace(begun, expected=compute.add_noise(measurement, begun.expected))


def from_record(at_seed: CaseAtSeed, run: Callable[[bool], Reference]) -> Reference:
    """The reference from its record, or by `run` if there is none.

    run: runs the reference; its argument says whether the result is to be recorded.
    """
    library = truths.active()
    if library is None:
        return run(False)
    return library.reference(at_seed.case, at_seed.seed, at_seed.products, at_seed.sample, run)


def forget() -> None:
    """Drop all kept references, and the state of networks that were handed over."""
    _references.clear()
    sides.forget()


def _run_reference(at_seed: CaseAtSeed, keep: bool = False) -> Reference:
    """Run the reference.

    keep: whether to prepare it for a record: large tensors are sketched, and `multiplies`
        is set.
    """
    case, sample = at_seed.case, at_seed.sample()
    with blaming("reference", case.name):
        measurement = at_seed.measurement(sample)
        from equivalence.truth import compute  # torch is there

        expected = compute.compute(measurement, sketch_large(sample) if keep else compute.whole)
        side = _side(at_seed, measurement, expected)
    if keep:
        side.multiplies = reference_multiplies(case, at_seed.seed)
    return side


def _side(at_seed: CaseAtSeed, measurement: "Measurement", expected: Truth) -> Reference:
    """The reference's side, of a network that has run."""
    case, network = at_seed.case, measurement.network
    draws = random_layers.of_reference(measurement, case)
    if expected.reach is not None:
        expected.reach += Reach.of(of_draws((each.path, each.kind) for each in draws))
    written = tuple(network.constants.changed(network.module))
    side = Reference(measurement.sample, network.slots(), draws, expected, written=written)
    tables = network.tables()
    side.tables = tables and tables.without(written)
    side.layers = sides.reference_layers(case, network)
    if (replay := network.draws.replay) is not None:
        side.drawn, side.refused = tuple(replay.drawn), tuple(replay.refused)
    return side


def may_flip(side: Reference, measurement: "Measurement") -> tuple[Flip, ...]:
    """The activations that may have taken the other branch. They are searched for only once."""
    if side.may_flip is None:
        from equivalence.truth import flips  # torch is there

        side.may_flip = flips.may_flip(measurement, side.expected.near)
    return side.may_flip


def candidate(case: TwinCase, seed: int, before: CandidateSide | None = None) -> CandidateSide:
    """The candidate of a case: a recorded run, `before`, or a new network.

    before: the candidate of an earlier comparison of the same case; None builds one.
    """

    def build() -> CandidateSide:
        return sides.build_candidate(case) if before is None else before

    runs = candidates.active(case)
    if not runs:
        return build()
    return runs.candidate(case, seed, CaseAtSeed(case, seed).products, build)
