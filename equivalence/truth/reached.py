"""The decisions that the own run of a reference takes; it is watched, and not changed."""

import contextlib
from collections.abc import Iterator

from equivalence.judge.precision import BUDGET
from equivalence.judge.tensors import Trace
from equivalence.reach.decision import Reach
from equivalence.reach.observer import Observer
from equivalence.reach.sizes import of_inputs
from equivalence.sides.torch_noise import Watched
from equivalence.truth.measurement import Measurement

HIDDEN = 64.0
"""How much farther than by its own rounding a tensor may be moved by that of what comes before it.
An epsilon is reached where another one moves its own result by so many budgets."""


def watch(measurement: Measurement) -> tuple[Trace, Reach, dict[str, list[str]]]:
    """The trace of the own run, and the decisions that it takes; those of its sample, too.

    Last, operator -> the dtype of what it gives, forward, call by call; empty where no operator
    computes in half precision.
    """
    observer = observer_of(measurement)
    # In float16 a cell is put into it as a whole, and casts within it are undone.
    half = measurement.network.mixed or measurement.sample.dtype == "bfloat16"
    watched = Watched(forward=True)
    trace = measurement.run_own(_both(observer, watched) if half else observer)
    precisions = {
        name: [str(dtype).removeprefix("torch.") for dtype in each]
        for name, each in watched.precisions.items()
    }
    return trace, observer.reach + of_sample(measurement), precisions


@contextlib.contextmanager
def _both(observer: Observer, watched: Watched) -> Iterator[None]:
    """A context in which both are told of operators."""
    with observer, watched:
        yield


def of_sample(measurement: Measurement) -> Reach:
    """The decisions that the sample of a run takes by its shapes and masks."""
    network, sample = measurement.network, measurement.sample
    calls = [sample.inputs(step) for step in range(1, (network.steps or 1) + 1)]
    return Reach.of(of_inputs(calls, sample.arguments.names))


def observer_of(measurement: Measurement) -> Observer:
    """What watches a run of a reference."""
    network = measurement.network
    return Observer(network.root, missed(measurement))


def missed(measurement: Measurement) -> float:
    """How large a relative change of what an operator gives the judge may miss."""
    return BUDGET * HIDDEN * max(measurement.unit_roundoff, measurement.products)
