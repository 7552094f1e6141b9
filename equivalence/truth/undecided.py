"""Undecided elements of an update: rounding decides their value, since their gradient is near zero.

Adam's first update is the learning rate times the sign of the gradient, whatever its size. If a
gradient is zero but for rounding, either sign is right. A network with millions of weights always
has such elements. A few of them are a large part of the update of a small tensor, and perturbed
runs may show other ones.

The reference finds them. Its optimiser gets all gradients shifted up by more than rounding moves
them, and then shifted down. The updates of an element in these runs are the range that it may
have. An element is steep if this range is out of proportion to the shift of its gradient. A steep
element is undecided if the range is more than a share of the usual update of its tensor. A
candidate must then only be within the range. Nothing here depends on Adam.

Perturbed runs tell how far rounding moves a gradient, and so does the reference's own run. Where
terms cancel to zero, as in a bias whose channel a BatchNorm centres later, no perturbation moves an
element, but the rounding of sums does.

Where a step has several optimisers, as that of a GAN has, the gradients that a later one gets
depend on what the earlier ones leave undecided. Runs in which undecided elements take other values
of their range tell by how much.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Flip, Undecided
from equivalence.sample import Perturbed, Sample
from equivalence.seeds import stream
from equivalence.sides.protocols import ReferenceSide
from equivalence.truth.flips import ChosenBranches
from equivalence.truth.measurement import Measurement

SHIFT_SPREADS = 32.0
"""Spreads by which gradients are shifted. This is two budgets, since single elements move by more
than the root mean square of their row."""

PROPORTION_FACTOR = 2.0
"""An element is steep if the range of its update exceeds this many times the range of its shifted
gradients, each relative to the root mean square of its tensor."""

STEEP_SHARE = 2.0**-6
"""A steep element is undecided if the range of its update exceeds this share of the root mean
square of the update. A few elements just below it move by 2^-12 of that with a rounding."""

END_ROUNDINGS = 8.0
"""For how many roundings a run counts in which all undecided elements take ends of their ranges.
This is half a budget, since a candidate may take other ends."""

MAX_SHARE = 0.5
"""The share of an update's elements that may be undecided. With more, only those are whose range
exceeds the root mean square of the update. With more of these, no element is excused: the
reference's own run then exceeds the budget, and the case is ill-posed."""


class Gradients(dict[str, np.ndarray]):
    """Parameter name -> gradient, float64.

    updates: how often optimisers have updated their parameters in the run of these gradients.
    """

    updates: int = 0


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

    def widen(self, gradients: Gradients, times: float = 1.0) -> bool:
        """Add the gradients of one more run; whether an element moves farther than in the others.

        What is not finite tells nothing.

        times: how many times what moves counts.
        """
        farther = False
        for name, values in gradients.items():
            moved = times * np.abs(values - self.base[name])
            moved = np.where(np.isfinite(moved), moved, 0.0)
            farther |= bool((moved > self._moved[name]).any())
            np.maximum(self._moved[name], moved, self._moved[name])
        return farther

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
def watch_gradients(
    network: ReferenceSide, shift: Mapping[str, np.ndarray] | None = None
) -> Iterator[Gradients]:
    """The context of a run of one step; yields the gradients that its optimiser gets.

    The gradients are there after the run. shift: is added to them before the optimiser uses them.
    """
    gradients = Gradients()

    def look(optimizer: torch.optim.Optimizer, *_) -> None:
        gradients.updates += 1
        for name, parameter in _trained(network, optimizer):
            if parameter.grad is None:
                continue
            gradients[name] = parameter.grad.detach().cpu().numpy().astype(np.float64)
            if shift is not None:
                parameter.grad += torch.as_tensor(shift[name]).to(parameter.grad)

    handle = register_optimizer_step_pre_hook(look)
    try:
        yield gradients
    finally:
        handle.remove()


@contextlib.contextmanager
def take_ends(
    network: ReferenceSide, elements: Mapping[str, Undecided], *seed: object
) -> Iterator[None]:
    """The context of a run of one step in which undecided elements take an end of their range.

    elements: by the name of the update. seed: the words that decide which end each takes.
    """
    before: dict[str, np.ndarray] = {}

    def keep(optimizer: torch.optim.Optimizer, *_) -> None:
        for name, parameter in _trained(network, optimizer):
            if (update := tensors.update(1, name)) in elements:
                before[update] = _flat(parameter)[elements[update].at].numpy(force=True)

    def take(optimizer: torch.optim.Optimizer, *_) -> None:
        for name, parameter in _trained(network, optimizer):
            update = tensors.update(1, name)
            if update not in before:
                continue
            these, values = elements[update], _flat(parameter)
            up = stream(*seed, update).random(these.at.size) < 0.5
            ends = before.pop(update) + np.where(up, these.high, these.low)
            values[these.at] = torch.as_tensor(ends).to(values)
            with torch.no_grad():
                parameter.copy_(values.reshape(parameter.shape))

    handles = register_optimizer_step_pre_hook(keep), register_optimizer_step_post_hook(take)
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _trained(
    network: ReferenceSide, optimizer: torch.optim.Optimizer
) -> Iterator[tuple[str, torch.nn.Parameter]]:
    """The parameters of the network that an optimiser updates, with their names."""
    names = {id(parameter): name for name, parameter in network.module.named_parameters()}
    for parameter in (p for group in optimizer.param_groups for p in group["params"]):
        if id(parameter) in names:
            yield names[id(parameter)], parameter


def _flat(parameter: torch.Tensor) -> torch.Tensor:
    return parameter.detach().clone().reshape(-1)


def find(
    truth: np.ndarray, shifted: Sequence[np.ndarray], shift: np.ndarray
) -> tuple[Undecided | None, np.ndarray]:
    """The undecided elements of one update; None if it has none. And the update moved by rounding.

    truth: the update. shifted: the updates by shifted gradients. shift: the shift of each
    gradient, relative to the root mean square of the gradients. All have the shape of the update.

    The second is the update by gradients that are one spread larger, in steep elements that are
    not undecided; all others are those of the truth.
    """
    updates, usual = [truth, *shifted], _root_mean_square(truth)
    low, high = np.minimum.reduce(updates), np.maximum.reduce(updates)
    steep = high - low > usual * PROPORTION_FACTOR * 2.0 * shift
    at = np.flatnonzero(steep & (high - low > STEEP_SHARE * usual))
    if at.size > MAX_SHARE * truth.size:
        steep = steep & (high - low > usual)
        at = np.flatnonzero(steep)
    if at.size > MAX_SHARE * truth.size:
        return None, truth
    moved = truth + np.where(steep, (high - low) / (2.0 * SHIFT_SPREADS), 0.0)
    moved.reshape(-1)[at] = truth.reshape(-1)[at]
    low, high, held = (values.reshape(-1)[at] for values in (low, high, truth))
    return Undecided(at, low, high, held, truth.shape) if at.size else None, moved


def _root_mean_square(values: np.ndarray) -> float:
    """The root mean square of an array; 0 for an empty one."""
    return float(np.linalg.norm(values) / np.sqrt(max(values.size, 1)))


def measure(
    measurement: Measurement, probes: int, near: Sequence[Flip]
) -> tuple[dict[str, Undecided], list[Trace]]:
    """The undecided elements of the updates of a training of one step, by the tensor's name.

    probes: the number of perturbed runs that measure how far rounding moves the gradients. Takes
        four runs besides, of which one is the reference's own. For each further optimiser it takes
        `probes` runs and two.
    near: the activations near a kink; all runs take the truth's branch there.
    """
    network = measurement.network

    def run(
        sample: Sample | Perturbed | None = None,
        shift: Mapping[str, np.ndarray] | None = None,
        dtype: str = "float64",
    ) -> tuple[Trace, Gradients]:
        with watch_gradients(network, shift) as gradients:
            return measurement.run(sample, ChosenBranches(near), dtype), gradients

    def run_to_ends(probe: int) -> tuple[Trace, Gradients]:
        with take_ends(network, found, measurement.sample.name, "ends", probe):
            return run()

    def look() -> tuple[dict[str, Undecided], Trace]:
        shift = {name: SHIFT_SPREADS * spread.of(name) for name in spread.base}
        up, _ = run(shift=shift)
        down, _ = run(shift={name: -values for name, values in shift.items()})
        found, moved = {}, {}
        for name, change in shift.items():
            update, size = tensors.update(1, name), _root_mean_square(spread.base[name])
            if size > 0.0:  # else there is no gradient, and nothing to shift
                shifted = [up[update], down[update]]
                elements, moved[update] = find(truth[update], shifted, change / size)
                if elements is not None:
                    found[update] = elements
        return found, moved

    truth, gradients = run()
    spread = Spread(gradients)
    for probe in range(probes):
        spread.widen(run(measurement.perturbed(probe))[1])
    own = measurement.sample.dtype
    spread.widen(run(dtype=own)[1], measurement.coarser)
    (found, moved), ends = look(), []
    for _ in range(1, gradients.updates):
        runs = [run_to_ends(probe) for probe in range(probes if found else 0)]
        ends = [_part(truth, trace) for trace, _ in runs]
        farther = [spread.widen(gradients, 1.0 / END_ROUNDINGS) for _, gradients in runs]
        if not any(farther):
            break
        found, moved = look()
    return found, [moved, *ends]


def _part(truth: Trace, ends: Trace) -> Trace:
    """What one rounding is of a run that counts for `END_ROUNDINGS`."""
    floating = {name: values for name, values in truth.items() if values.dtype.kind == "f"}
    return {name: own + (ends[name] - own) / END_ROUNDINGS for name, own in floating.items()}
