"""Undecided elements of an update: rounding decides their value, since their gradient is near zero.

Adam's first update is the learning rate times the sign of the gradient, whatever its size. If a
gradient is zero but for rounding, either sign is right. A network with millions of weights always
has such elements. A few of them are a large part of the update of a small tensor, and perturbed
runs may show other ones.

The reference finds them. Its optimiser gets all gradients shifted up by more than rounding moves
them, and then shifted down. The updates of an element in these runs are the range that it may
have. An element is undecided if this range is wider than the usual update of its tensor, and out
of proportion to the shift of its gradient. A candidate must then only be within the range. Nothing
here depends on Adam.
"""

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Flip, Undecided
from equivalence.sample import Perturbed, Sample
from equivalence.sides.torch_training import TorchTraining
from equivalence.truth.flips import Branches
from equivalence.truth.measurement import Measurement

SHIFT_SPREADS = 32.0
"""Spreads by which gradients are shifted. This is two budgets, since single elements move by more
than the root mean square of their row."""

PROPORTION_FACTOR = 2.0
"""An element is undecided only if the range of its update exceeds this many times the range of its
shifted gradients, each relative to the root mean square of its tensor."""

MAX_SHARE = 0.5
"""The share of an update's elements that may be undecided. With more, no element is excused: the
reference's own run then exceeds the budget, and the case is ill-posed."""

Gradients = dict[str, np.ndarray]
"""Parameter name -> gradient, float64."""


class Spread:
    """How far rounding moves each element of the gradients of a training step.

    base: the gradients of the truth.

    The spread of an element is the largest of three: the root mean square of its row (along the
    first axis), that of the whole tensor, and the change of the element itself. It is zero for an
    element that no run moves.
    """

    def __init__(self, base: Gradients):
        self.base = base
        self._moved = {name: np.zeros_like(values) for name, values in base.items()}

    def widen(self, gradients: Gradients) -> None:
        """Add the gradients of one more perturbed run."""
        for name, values in gradients.items():
            np.maximum(self._moved[name], np.abs(values - self.base[name]), self._moved[name])

    def of(self, name: str) -> np.ndarray:
        """The spreads of a gradient, in its own unit and shape."""
        moved = self._moved[name]
        if moved.ndim == 0:
            return moved
        squares = np.square(moved)
        inner = tuple(range(1, moved.ndim))
        rows = squares.mean(inner, keepdims=True) if inner else squares
        spread = np.sqrt(np.maximum(rows, squares.mean()))
        return np.where(moved > 0.0, np.maximum(spread, moved), 0.0)


@contextlib.contextmanager
def watch_gradients(network: TorchTraining, shift: Gradients | None = None) -> Iterator[Gradients]:
    """The context of a run of one step; yields the gradients that its optimiser gets.

    The gradients are there after the run. shift: is added to them before the optimiser uses them.
    """
    gradients: Gradients = {}

    def look(optimizer: torch.optim.Optimizer, *_) -> None:
        names = {id(parameter): name for name, parameter in network.module.named_parameters()}
        for parameter in (p for group in optimizer.param_groups for p in group["params"]):
            name = names.get(id(parameter))
            if name is None or parameter.grad is None:
                continue
            gradients[name] = parameter.grad.detach().cpu().numpy().astype(np.float64)
            if shift is not None:
                parameter.grad += torch.from_numpy(shift[name]).to(parameter.grad)

    handle = register_optimizer_step_pre_hook(look)
    try:
        yield gradients
    finally:
        handle.remove()


def find(truth: np.ndarray, shifted: Sequence[np.ndarray], shift: np.ndarray) -> Undecided | None:
    """The undecided elements of one update; None if it has none.

    truth: the update. shifted: the updates by shifted gradients. shift: the shift of each
    gradient, relative to the root mean square of the gradients. All have the shape of the update.
    """
    updates = [truth, *shifted]
    low, high = np.minimum.reduce(updates), np.maximum.reduce(updates)
    limit = _root_mean_square(truth) * np.maximum(1.0, PROPORTION_FACTOR * 2.0 * shift)
    at = np.flatnonzero(high - low > limit)
    if not 0 < at.size <= MAX_SHARE * truth.size:
        return None
    elements = (values.reshape(-1)[at] for values in (low, high, truth))
    return Undecided(at, *elements, truth.shape)


def _root_mean_square(values: np.ndarray) -> float:
    """The root mean square of an array; 0 for an empty one."""
    return float(np.linalg.norm(values) / np.sqrt(max(values.size, 1)))


def measure(measurement: Measurement, probes: int, near: Sequence[Flip]) -> dict[str, Undecided]:
    """The undecided elements of the updates of a training of one step, by the tensor's name.

    probes: the number of perturbed runs that measure how far rounding moves the gradients. Takes
        three runs besides.
    near: the activations near a kink; all runs take the truth's branch there.
    """

    def run(
        sample: Sample | Perturbed | None = None, shift: Gradients | None = None
    ) -> tuple[Trace, Gradients]:
        with watch_gradients(measurement.network, shift) as gradients:
            return measurement.run(sample, Branches(near)), gradients

    truth, gradients = run()
    spread = Spread(gradients)
    for probe in range(probes):
        spread.widen(run(measurement.perturbed(probe))[1])
    shift = {name: SHIFT_SPREADS * spread.of(name) for name in spread.base}
    up, _ = run(shift=shift)
    down, _ = run(shift={name: -values for name, values in shift.items()})
    found = {}
    for name, change in shift.items():
        update, size = tensors.update(1, name), _root_mean_square(spread.base[name])
        if size > 0.0:  # else there is no gradient, and nothing to shift
            shifted = [up[update], down[update]]
            found[update] = find(truth[update], shifted, change / size)
    return {name: elements for name, elements in found.items() if elements is not None}
