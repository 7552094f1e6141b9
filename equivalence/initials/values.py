"""Networks built again and again with their own initialisers, for the values that these give.

Each framework is imported by the function that builds with it.
"""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from equivalence.errors import IllPosedError
from equivalence.sample import seed_of
from equivalence.sides import weights
from equivalence.sides.weights import Slot
from equivalence.targets import build

FEWEST, MOST_BUILDS = 3, 512
"""Builds of a side. A random element has one and the same value in three once in 2^46."""

ENOUGH = 4096
"""Random elements of each weight, pooled over builds."""

MOST = 2**15
"""Elements of a weight that are looked at in each build."""

Values = dict[str, tuple[Slot, np.ndarray]]
"""Name -> what kind of weight it is, and a copy of it."""


def reference_values(target: str, arguments: Mapping[str, Any], *seed: object) -> Values:
    """Every parameter and buffer of a PyTorch network that is built under this seed."""
    import torch

    from equivalence import torchvision_schemas

    torchvision_schemas.declare_missing()
    _seed_python_and_numpy(*seed)
    # `torch.manual_seed` would seed every accelerator, too: 0.6 ms, in each of many builds.
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
class Weight:
    """One weight of both sides, every build of it.

    reference, candidate: the values looked at, in the weight's own dtype, shape (builds, n), of
    the flattened weight the leading ones and, where it is large, some of all others.
    evidence: test -> decades. problem, cause: what is wrong with the candidate's, and why.
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
        """Of either side: which elements have one value in all builds, shape (n,)."""
        return fixed(self.reference), fixed(self.candidate)

    @cached_property
    def drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Of either side: the elements that are not fixed on both, pooled, float64, shape (m,)."""
        theirs, ours = self.fixed
        drawn = ~(theirs & ours)
        return tuple(v[:, drawn].ravel().astype(float) for v in (self.reference, self.candidate))


def fixed(values: np.ndarray) -> np.ndarray:
    """Which elements have one value in all builds, shape (n,). values: shape (builds, n)."""
    return (values == values[0]).all(axis=0)


def pooled(
    name: str,
    reference: Callable[[int], Values],
    candidate: Callable[[int], Values],
    rename: Mapping[str, str],
) -> list[Weight]:
    """The weights of both sides, from as many builds as the smallest of them needs.

    reference, candidate: from the number of a build to its values. Raises WeightError when names
    or shapes do not pair up, IllPosedError when a weight has too few elements for MOST_BUILDS.
    """
    builds = [(reference(0), candidate(0))]
    slots, ours = ({n: slot for n, (slot, _) in side.items()} for side in builds[0])
    partners = {n: partner for partner, n in weights.pair(slots, ours, rename).items()}
    if not partners:
        raise IllPosedError(f"{name}: there are no weights, so nothing would be compared")
    builds = [_looked_at(partners, *builds[0])]
    wanted = FEWEST
    while len(builds) < wanted:
        builds += [
            _looked_at(partners, reference(number), candidate(number))
            for number in range(len(builds), wanted)
        ]
        made = [
            Weight(n, slots[n], *map(np.stack, zip(*(each[n] for each in builds), strict=True)))
            for n in partners
        ]
        wanted = _wanted(name, made)
    return made


def _looked_at(
    partners: Mapping[str, str], reference: Values, candidate: Values
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    at = {name: positions(reference[name][0].shape) for name in partners}
    return {
        name: (
            reference[name][1].reshape(-1)[at[name]],
            candidate[partner][1].reshape(-1)[at[name]],
        )
        for name, partner in partners.items()
    }


def positions(shape: tuple[int, ...]) -> np.ndarray:
    """Where the elements that are looked at lie in the flattened weight."""
    size, leading = math.prod(shape), leading_positions(shape)
    others = min(size, MOST) - leading
    rest = leading + np.arange(others) * (size - leading) // max(others, 1)
    return np.concatenate([np.arange(leading), rest])


def leading_positions(shape: tuple[int, ...]) -> int:
    """How many of the elements that are looked at are the first ones, without a gap."""
    size = math.prod(shape)
    return size if size <= MOST else MOST // 2


def _wanted(name: str, made: list[Weight]) -> int:
    """How many builds give every weight enough random elements."""
    # What one side fixes altogether is told from a random weight by the builds there are.
    drawn = {
        each.name: each.drawn[0].size // len(each.reference)
        for each in made
        if not any(side.all() for side in each.fixed)
    }
    few = min((n for n in drawn if drawn[n]), key=lambda n: drawn[n], default=None)
    if few is None:
        return FEWEST
    wanted = max(FEWEST, -(-ENOUGH // drawn[few]))
    if wanted > MOST_BUILDS:
        raise IllPosedError(
            f"{name}: {few} has {drawn[few]} random elements, too few to tell their distribution "
            f"from {MOST_BUILDS} builds; use a configuration that gives it at least "
            f"{-(-ENOUGH // MOST_BUILDS)}"
        )
    return wanted
