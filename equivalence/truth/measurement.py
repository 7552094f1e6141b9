"""A reference network and the sample on which it is run again and again."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from equivalence.dtypes import HALVES
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.judge.tensors import Trace
from equivalence.reach.decision import Reach
from equivalence.reach.observer import ReachObserver
from equivalence.reach.sizes import of_inputs
from equivalence.sample import Perturbed, Sample
from equivalence.sides.protocols import ReferenceSide, Watch
from equivalence.sides.torch_noise import WatchedPrecision

NOISY_RUNS = 2
"""Runs in which every number is rounded once at random; they measure how far rounding moves each
tensor, and each activation that has a kink."""

HIDDEN = 64.0
"""How much farther than by its own rounding a tensor may be moved by that of what comes before it.
An epsilon is reached where another one moves its own result by so many budgets."""


@dataclass(frozen=True)
class Measurement:
    """A reference network, and everything that its runs need.

    network: the reference.
    sample: the inputs, weights and cotangents of its runs.
    phase: "train" or "eval".
    unit_roundoff: the unit roundoff by which the case is judged. A perturbed run multiplies each
        number by 1 + unit_roundoff or 1 - unit_roundoff.
    products: the unit roundoff of products, where a compute mode rounds their factors more.
    replaceable: whether another sample is as good, as for an operator: then none is judged in which
        the reference's own run overflows.
    degenerate: whether a truth without a finite number is meant.
    """

    network: ReferenceSide
    sample: Sample
    phase: str
    unit_roundoff: float
    products: float = 0.0
    replaceable: bool = False
    degenerate: bool = False

    def run(
        self,
        sample: Sample | Perturbed | None = None,
        watch: Watch | None = None,
        dtype: str = "float64",
    ) -> Trace:
        """The trace of one run, forward and backward.

        sample: another sample to run; None runs the own one.
        watch: a context that is open during the run.
        dtype: the precision of the run.
        """
        return self.network.run(sample or self.sample, self.phase, dtype, watch)

    def forward(
        self,
        sample: Sample | Perturbed | None = None,
        watch: Watch | None = None,
        dtype: str = "float64",
    ) -> None:
        """Run forward only, for what `watch` sees of it; of a training, run all of it."""
        if not self.trains:
            watch = watch or contextlib.nullcontext()
            self.network.forward(sample or self.sample, self.phase, watch, dtype)
        else:
            self.run(sample, watch, dtype)

    def run_own(self, watch: Watch | None = None) -> Trace:
        """The trace of the reference's own run, in the precision of the case.

        watch: a context that is open during the run.
        """
        return self.run(watch=watch, dtype=self.sample.dtype)

    @property
    def trains(self) -> bool:
        """Whether the reference is a training, whose run updates its weights."""
        return self.network.steps is not None

    @property
    def calls(self) -> int:
        """How many times a run calls the reference: once for each step of a training."""
        return self.network.steps or 1

    @property
    def coarser(self) -> float:
        """How much farther the mode rounds than the reference's own run does, at least 1."""
        own = UNIT_ROUNDOFF[self.sample.dtype]
        return max(self.unit_roundoff / own, self.products / own, 1.0)

    def perturbed(self, probe: int) -> Perturbed:
        """Perturbation number `probe` of the sample; it moves each value by one rounding."""
        return Perturbed(self.sample, probe, self.unit_roundoff, self.products)

    def watch_own(self) -> tuple[Trace, Reach, dict[str, list[str]]]:
        """The trace of the own run, and the decisions that it takes; those of its sample, too.

        Last, operator -> the dtype of what it gives, forward, call by call; empty where no operator
        computes in half precision.
        """
        observer = self.observer()
        half = self.network.mixed or self.sample.dtype in HALVES
        watched = WatchedPrecision(forward=True)
        trace = self.run_own(_both(observer, watched) if half else observer)
        precisions = {
            name: [str(dtype).removeprefix("torch.") for dtype in each]
            for name, each in watched.precisions.items()
        }
        return trace, observer.reach + self.of_sample(), precisions

    def of_sample(self) -> Reach:
        """The decisions that the sample takes by its shapes and masks."""
        calls = [self.sample.inputs(step) for step in range(1, self.calls + 1)]
        return Reach.of(of_inputs(calls, self.sample.arguments.names))

    def observer(self) -> ReachObserver:
        """What watches the decisions of a run, and does not change it."""
        return ReachObserver(self.network.root, self.missed)

    @property
    def missed(self) -> float:
        """How large a relative change of what an operator gives the judge may miss."""
        return BUDGET * HIDDEN * max(self.unit_roundoff, self.products)


@contextlib.contextmanager
def _both(observer: ReachObserver, watched: WatchedPrecision) -> Iterator[None]:
    """A context in which both are told of operators."""
    with observer, watched:
        yield
