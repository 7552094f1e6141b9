"""Weights that one side joins, cuts, transposes or reshapes, from one side to the other."""

from collections.abc import Callable, Mapping

import numpy as np

from equivalence.checkpoints.formats import Weight
from equivalence.errors import WeightError
from equivalence.structure.rearranged import Rearrangement


def to_candidate(group: Rearrangement, weights: Mapping[str, Weight]) -> dict[str, Weight]:
    """The candidate's weights of a group, made of the reference's. Both are by name."""
    return _rearrange(group.to_candidate, group.reference, weights)


def to_reference(group: Rearrangement, weights: Mapping[str, Weight]) -> dict[str, Weight]:
    """The reference's weights of a group, made of the candidate's. Both are by name."""
    return _rearrange(group.to_reference, group.candidate, weights)


def _rearrange(
    rearrange: Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]],
    names: Mapping[str, tuple[int, ...]],
    weights: Mapping[str, Weight],
) -> dict[str, Weight]:
    """Raises WeightError where weights of several dtypes are to be joined."""
    dtypes = list(dict.fromkeys(weights[name].dtype for name in names))
    if len(dtypes) > 1:
        raise WeightError(
            f"{', '.join(names)} belong together and have the dtypes {', '.join(dtypes)}; save "
            "them in one dtype"
        )
    arrays = rearrange({name: weights[name].values for name in names})
    return {name: Weight(dtypes[0], values) for name, values in arrays.items()}
