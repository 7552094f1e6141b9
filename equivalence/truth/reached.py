"""The decisions that the own run of a reference takes; it is watched, and not changed."""

from equivalence.judge.precision import BUDGET
from equivalence.judge.tensors import Trace
from equivalence.reach.decision import Reach
from equivalence.reach.observer import Observer
from equivalence.reach.sizes import of_inputs
from equivalence.truth.measurement import Measurement

HIDDEN = 64.0
"""How much farther than by its own rounding a tensor may be moved by that of what comes before it.
An epsilon is reached where another one moves its own result by so many budgets."""


def watch(measurement: Measurement) -> tuple[Trace, Reach]:
    """The trace of the own run, and the decisions that it takes; those of its sample, too."""
    network, sample = measurement.network, measurement.sample
    missed = BUDGET * HIDDEN * max(measurement.unit_roundoff, measurement.products)
    observer = Observer(network.root, missed)
    trace = measurement.run_own(observer)
    calls = [sample.inputs(step) for step in range(1, (network.steps or 1) + 1)]
    return trace, observer.reach + Reach.of(of_inputs(calls, sample.arguments.names))
