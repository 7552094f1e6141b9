"""The declared twins, one module per family; each has a tuple `TWINS`."""

from equivalence.declare.twin import Twin
from tests.collecting import collect

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


def declared() -> tuple[Twin, ...]:
    """Every twin, family by family. Raises DeclarationError where one would be lost."""
    return collect(__name__, Twin, LONGEST_FIRST, apart=("operators",))
