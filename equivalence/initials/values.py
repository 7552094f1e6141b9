"""Builds networks again and again with their own initialisers, and collects the values.

Each framework is imported by the function that builds with it.
"""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from equivalence import torchvision_schemas
from equivalence.errors import IllPosedError
from equivalence.seeds import seed_of
from equivalence.structure import weights
from equivalence.structure.weights import Slot
from equivalence.targets import build

FEWEST_BUILDS, MOST_BUILDS = 3, 512
"""The least and the most builds of a side; a weight that needs more raises IllPosedError.

In three builds, a random element has one and the same value only once in 2^46.
"""

ENOUGH_ELEMENTS = 4096
"""Each weight must have at least this many random elements, pooled over builds."""

MOST_ELEMENTS = 2**15
"""At most this many elements of a weight are kept in each build."""

Values = dict[str, tuple[Slot, np.ndarray]]
"""Name -> the shape and kind of a weight, and a copy of its values."""


def reference_values(target: str, arguments: Mapping[str, Any], *seed: object) -> Values:
    """Every parameter and buffer of a PyTorch network that is built under this seed."""
    import torch

    torchvision_schemas.declare_missing()
    _seed_python_and_numpy(*seed)
    # `torch.manual_seed` also seeds every accelerator, which takes 0.6 ms in each build.
    torch.default_generator.manual_seed(seed_of("torch", *seed))
    network = build(target, arguments)
    if not isinstance(network, torch.nn.Module):
        return {}
    return {
        name: (
            Slot(tuple(tensor.shape), "parameter" if tensor.requires_grad else "buffer"),
            tensor.detach().numpy().copy(),
        )
        for name, tensor in (*network.named_parameters(), *network.named_buffers())
    }


def candidate_values(target: str, arguments: Mapping[str, Any], *seed: object) -> Values:
    """Every parameter and buffer of a MindSpore network that is built under this seed."""
    import mindspore as ms

    ms.set_seed(seed_of("mindspore", *seed) % 2**32)
    _seed_python_and_numpy(*seed)  # last: MindSpore's initialisers draw from NumPy's generator
    network = build(target, arguments)
    if not isinstance(network, ms.nn.Cell):
        return {}
    return {
        name: (
            Slot(tuple(p.shape), "parameter" if p.requires_grad else "buffer"),
            np.array(p.asnumpy()),
        )
        for name, p in network.parameters_and_names()
    }


def _seed_python_and_numpy(*seed: object) -> None:
    random.seed(seed_of("python", *seed))
    np.random.seed(seed_of("numpy", *seed) % 2**32)


@dataclass
class BuiltWeight:
    """One weight of both sides, in every build.

    The kept elements are the leading ones of the flattened weight and, where it is large, some of
    the others at equal distances.

    name: its name in the reference.
    slot: its shape and kind.
    reference: the kept values, in the weight's own dtype, shape (builds, n).
    candidate: the same of the candidate.
    evidence: test -> decades.
    problem: what is wrong with the candidate's weight; None: nothing.
    cause: why; empty where no cause is found.
    """

    name: str
    slot: Slot
    reference: np.ndarray
    candidate: np.ndarray
    evidence: dict[str, float] = field(default_factory=dict)
    problem: str | None = None
    cause: str = ""

    @cached_property
    def fixed(self) -> tuple[np.ndarray, np.ndarray]:
        """(reference, candidate): which elements have one value in all builds, each shape (n,)."""
        return fixed(self.reference), fixed(self.candidate)

    @cached_property
    def drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """(reference, candidate): the elements that a side draws, pooled, float64, shape (m,)."""
        theirs, ours = self.fixed
        drawn = ~(theirs & ours)
        theirs, ours = (v[:, drawn].ravel().astype(float) for v in (self.reference, self.candidate))
        return theirs, ours


def fixed(values: np.ndarray) -> np.ndarray:
    """Which elements have one value in all builds, shape (n,). values: shape (builds, n)."""
    return (values == values[0]).all(axis=0)


def pool(
    name: str,
    reference: Callable[[int], Values],
    candidate: Callable[[int], Values],
    rename: Mapping[str, str],
) -> list[BuiltWeight]:
    """The weights of both sides, from as many builds as the smallest weight needs.

    reference, candidate: function of the number of a build that returns its values.

    Raises WeightError when names or shapes do not pair up, and IllPosedError when there are no
    weights or a weight has too few elements for MOST_BUILDS builds.
    """
    builds = [(reference(0), candidate(0))]
    slots, ours = ({n: slot for n, (slot, _) in side.items()} for side in builds[0])
    partners = {n: partner for partner, n in weights.pair(slots, ours, rename).items()}
    if not partners:
        raise IllPosedError(f"{name}: there are no weights, so nothing would be compared")
    kept = [_keep_elements(partners, *builds[0])]
    needed = FEWEST_BUILDS
    while len(kept) < needed:
        kept += [
            _keep_elements(partners, reference(number), candidate(number))
            for number in range(len(kept), needed)
        ]
        pooled_weights = [
            BuiltWeight(n, slots[n], np.stack(theirs), np.stack(ours))
            for n in partners
            for theirs, ours in [zip(*(build[n] for build in kept), strict=True)]
        ]
        needed = _builds_needed(name, pooled_weights)
    return pooled_weights


def _keep_elements(
    partners: Mapping[str, str], reference: Values, candidate: Values
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name -> the kept elements of one build of both sides."""
    at = {name: positions(reference[name][0].shape) for name in partners}
    return {
        name: (
            reference[name][1].reshape(-1)[at[name]],
            candidate[partner][1].reshape(-1)[at[name]],
        )
        for name, partner in partners.items()
    }


def positions(shape: tuple[int, ...]) -> np.ndarray:
    """Positions of the kept elements in the flattened weight."""
    size, leading = math.prod(shape), leading_positions(shape)
    others = min(size, MOST_ELEMENTS) - leading
    rest = leading + np.arange(others) * (size - leading) // max(others, 1)
    return np.concatenate([np.arange(leading), rest])


def whole(shape: tuple[int, ...]) -> bool:
    """Whether all elements of a weight are kept."""
    return math.prod(shape) <= MOST_ELEMENTS


def leading_positions(shape: tuple[int, ...]) -> int:
    """How many of the kept elements are the first ones of the weight, without a gap."""
    size = math.prod(shape)
    return size if size <= MOST_ELEMENTS else MOST_ELEMENTS // 2


def _builds_needed(name: str, pooled_weights: list[BuiltWeight]) -> int:
    """How many builds give every weight enough elements; IllPosedError beyond MOST_BUILDS."""
    # A weight that one side fixes altogether needs no more builds.
    drawn = {
        weight.name: weight.drawn[0].size // len(weight.reference)
        for weight in pooled_weights
        if not any(side.all() for side in weight.fixed)
    }
    smallest = min((n for n in drawn if drawn[n]), key=lambda n: drawn[n], default=None)
    if smallest is None:
        return FEWEST_BUILDS
    needed = max(FEWEST_BUILDS, -(-ENOUGH_ELEMENTS // drawn[smallest]))
    if needed > MOST_BUILDS:
        raise IllPosedError(
            f"{name}: {smallest} has {drawn[smallest]} random elements, too few to tell their "
            f"distribution from {MOST_BUILDS} builds; use a configuration that gives it at least "
            f"{-(-ENOUGH_ELEMENTS // MOST_BUILDS)}"
        )
    return needed
