"""Elements of an update that rounding decides: their gradient is zero within what it moves by.

Adam's first update is the learning rate times the sign of the gradient, whatever its size. Where a
gradient is zero but for rounding, either sign is right, and of the millions of weights of a network
some always are. A few of them are a large part of the update of a small tensor, and no perturbed
run need show the same ones.

The reference itself tells which they are: its optimiser is given all gradients shifted up by more
than rounding moves them, and again shifted down. What an element's update does between the two is
as far as it may go. Elements that may go farther than an update of that tensor mostly is, and that
out of proportion to their gradients, are undecided: of them nothing but that range is demanded.
Nothing here knows of Adam.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.sample import Perturbed, Sample

if TYPE_CHECKING:
    from equivalence.judge.truth import Flip
    from equivalence.sides.torch_network import TorchTraining

REACH = 32.0
"""Spreads by which gradients are shifted: two budgets, since single elements move by more than the
root mean square of their row."""

JUMP = 2.0
"""By how much more than in proportion to its gradient an undecided element moves."""

MOST = 0.5
"""The share of a tensor that may be undecided; of one in which it is more, the case cannot tell
right from wrong, and its own run shows it."""

Gradients = dict[str, np.ndarray]


@dataclass(frozen=True)
class Undecided:
    """The elements of an update that rounding decides: flat indices, and how far each may go.

    truth: that of these elements; shape: of the whole update.
    """

    at: np.ndarray
    low: np.ndarray
    high: np.ndarray
    truth: np.ndarray
    shape: tuple[int, ...]

    def decided(self, values: np.ndarray) -> np.ndarray:
        """`values` with the truth in place of these elements; what is out of range stays off it."""
        if values.shape != self.shape:
            return values
        made, here = values.copy().reshape(-1), values.reshape(-1)[self.at]
        allowed = np.clip(here, self.low, self.high)
        made[self.at] = self.truth + (here - allowed)
        return made.reshape(values.shape)


class Spread:
    """How far rounding moves each element of the gradients that a training step uses.

    `base`: those of the truth. As far as its row (of the first axis) does in the root mean square,
    the whole tensor, or the element itself, whichever is most; not at all where no run moves it.
    """

    def __init__(self, base: Gradients):
        self.base = base
        self._moved = {name: np.zeros_like(values) for name, values in base.items()}

    def widen(self, gradients: Gradients) -> None:
        """Take another perturbed run's gradients into account."""
        for name, values in gradients.items():
            np.maximum(self._moved[name], np.abs(values - self.base[name]), self._moved[name])

    def of(self, name: str) -> np.ndarray:
        """In units of the gradient, in its shape."""
        moved = self._moved[name]
        if moved.ndim == 0:
            return moved
        squares = np.square(moved)
        inner = tuple(range(1, moved.ndim))
        rows = squares.mean(inner, keepdims=True) if inner else squares
        spread = np.sqrt(np.maximum(rows, squares.mean()))
        return np.where(moved > 0.0, np.maximum(spread, moved), 0.0)


@contextlib.contextmanager
def handed(network: "TorchTraining", shift: Gradients | None = None) -> Iterator[Gradients]:
    """Over a run of one step: the gradients that its optimiser is given, by name, float64.

    shift: added to them before the optimiser sees them.
    """
    import torch
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    seen: Gradients = {}

    def look(optimizer: torch.optim.Optimizer, *_) -> None:
        names = {id(parameter): name for name, parameter in network.module.named_parameters()}
        for parameter in (p for group in optimizer.param_groups for p in group["params"]):
            name = names.get(id(parameter))
            if name is None or parameter.grad is None:
                continue
            seen[name] = parameter.grad.detach().cpu().numpy().astype(np.float64)
            if shift is not None:
                parameter.grad += torch.from_numpy(shift[name]).to(parameter.grad)

    handle = register_optimizer_step_pre_hook(look)
    try:
        yield seen
    finally:
        handle.remove()


def between(
    truth: np.ndarray, shifted: Sequence[np.ndarray], shift: np.ndarray
) -> Undecided | None:
    """What is undecided in one update, from those by shifted gradients; None where nothing is.

    shift: that of each gradient, in units of their root mean square.
    """
    every = [truth, *shifted]
    low, high = np.minimum.reduce(every), np.maximum.reduce(every)
    far = _usual(truth) * np.maximum(1.0, JUMP * 2.0 * shift)
    at = np.flatnonzero(high - low > far)
    if not 0 < at.size <= MOST * truth.size:
        return None
    taken = (values.reshape(-1)[at] for values in (low, high, truth))
    return Undecided(at, *taken, truth.shape)


def _usual(values: np.ndarray) -> float:
    """The root mean square."""
    return float(np.linalg.norm(values) / np.sqrt(max(values.size, 1)))


def measure(
    network: "TorchTraining",
    sample: Sample,
    perturbed: Sequence[Perturbed],
    phase: str,
    near: Sequence["Flip"],
) -> dict[str, Undecided]:
    """What is undecided in the updates of a training of one step, by the names of the trace.

    Takes a run for each of `perturbed`, and three more; all take the truth's branch at `near`.
    """
    from equivalence.truth.flips import Branches

    def run(values: Sample | Perturbed, shift: Gradients | None = None) -> tuple[Trace, Gradients]:
        with handed(network, shift) as gradients:
            return network.run(values, phase, "float64", Branches(near)), gradients

    truth, gradients = run(sample)
    spread = Spread(gradients)
    for each in perturbed:
        spread.widen(run(each)[1])
    shift = {name: REACH * spread.of(name) for name in spread.base}
    up, _ = run(sample, shift)
    down, _ = run(sample, {name: -values for name, values in shift.items()})
    found = {}
    for name, by in shift.items():
        update, usual = tensors.update(1, name), _usual(spread.base[name])
        if usual > 0.0:  # or else there is no gradient, and nothing to shift
            shifted = [up[update], down[update]]
            found[update] = between(truth[update], shifted, by / usual)
    return {name: here for name, here in found.items() if here is not None}
