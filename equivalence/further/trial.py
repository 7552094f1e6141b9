"""One run of the reference on a variant: what it reaches, or that it is no sample. Loads torch."""

import contextlib
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.twin import TwinCase
from equivalence.errors import EquivalenceError, SideError, blaming
from equivalence.further.evidence import NOT_FINITE
from equivalence.further.variant import Variant
from equivalence.judge.tensors import is_none
from equivalence.reach.decision import Reach
from equivalence.truth.measurement import Measurement

EMPTY = "the original computes with empty tensors"


@dataclass(frozen=True)
class TriedVariant:
    """A variant that the reference has run on.

    reach: the decisions that it takes; None where it is no sample.
    refused: why it is none: what the reference raises, or that it gives NaN.
    """

    variant: Variant
    reach: Reach | None
    refused: str = ""


class Trials:
    """Runs one reference on variants of a case.

    A variant is no sample where the reference raises; where it gives NaN or infinity, warns of what
    it gets, or computes with empty tensors, and does not do so on the inputs that were given.

    given: these inputs.
    seconds: how long all runs have taken.
    """

    def __init__(self, case: TwinCase, seed: int, given: Variant):
        self._case, self._seed = case, seed
        drawn = CaseAtSeed(case, seed)
        self.measurement = drawn.measurement(drawn.sample())
        self.empty = self.infinite = False
        self._warned: frozenset[tuple[str, int]] | None = None
        self.seconds = 0.0
        refused = self(given).refused
        self.empty, self.infinite = refused == EMPTY, refused == NOT_FINITE

    def on(self, variant: Variant) -> Measurement:
        """The reference with the sample of a variant. Raises DeclarationError where it is none."""
        drawn = CaseAtSeed(variant.case(self._case), self._seed)
        before = self.measurement
        units = before.unit_roundoff, before.products
        return Measurement(before.network, drawn.sample(), before.phase, *units)

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        """A context whose time counts."""
        begun = time.process_time()
        try:
            yield
        finally:
            self.seconds += time.process_time() - begun

    def __call__(self, variant: Variant, finite: bool = True) -> TriedVariant:
        """Run on a variant. finite: whether it must give finite numbers."""
        try:
            with (
                blaming("reference", self._case.name),
                self.timed(),
                warnings.catch_warnings(record=True) as raised,
            ):
                warnings.simplefilter("always")
                measurement = self.on(variant)
                observer = measurement.observer()
                trace = measurement.run_own(observer)
        except SideError as error:
            cause = error.__cause__
            return TriedVariant(variant, None, f"the original raises {type(cause).__name__}")
        except EquivalenceError as error:
            return TriedVariant(variant, None, str(error))
        if warned := self._warns(raised):
            return TriedVariant(variant, None, warned)
        arrays = [np.asarray(each) for each in trace.values()]
        hollow = any(not (each.size or is_none(each.dtype, each.shape)) for each in arrays)
        if (observer.empty or hollow) and not self.empty:
            return TriedVariant(variant, None, EMPTY)
        numbers = [each for each in arrays if each.dtype.kind in "fc"]
        if finite and not self.infinite and not all(np.isfinite(each).all() for each in numbers):
            return TriedVariant(variant, None, NOT_FINITE)
        return TriedVariant(variant, observer.reach + measurement.of_sample())

    def _warns(self, raised: Sequence[warnings.WarningMessage]) -> str:
        """Of what the reference warns where it has not warned before; empty: of nothing.

        What the given inputs made it warn of has been shown. That a function is deprecated is no
        word on what it gets.
        """
        told = {
            (each.filename, each.lineno): str(each.message).partition("\n")[0]
            for each in raised
            if issubclass(each.category, UserWarning)
        }
        if self._warned is None:
            self._warned = frozenset(told)
        fresh = [text for place, text in told.items() if place not in self._warned]
        return f"the original warns: {fresh[0]}" if fresh else ""
