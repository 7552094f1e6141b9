"""The declared twins, one module per family; each has a tuple `TWINS`."""

import functools

from equivalence.declare.twin import Twin
from tests.collecting import collect
from tests.twins.mint_optim import ON_ASCEND

LONGEST_FIRST = (
    "resnet",
    "optim",
    "conv",
    "losses",
    "dynamic",
    "substitutions",
    "sparse",
    "pooling",
    "norm",
)


@functools.cache
def declared(device: str = "cpu") -> tuple[Twin, ...]:
    """Every twin that a device can run, family by family.

    Raises DeclarationError where one would be lost.
    """
    every = collect(__name__, Twin, LONGEST_FIRST, apart=("operators",))
    return tuple(twin for twin in every if device == "ascend" or twin.name not in ON_ASCEND)
