"""The declared twins, one module per family; each has a tuple `TWINS`."""

import importlib

from equivalence.declare.twin import Twin
from equivalence.errors import DeclarationError

# Longest first, so that parallel workers end together.
FAMILIES = (
    "resnet",
    "optim",
    "conv",
    "losses",
    "dynamic",
    "substitutions",
    "sparse",
    "pooling",
    "norm",
    "activations",
    "attention",
    "dense",
    "precision",
    "reductions",
    "differences",
)


def declared() -> list[Twin]:
    """Every twin, family by family. Raises DeclarationError when a name is taken twice."""
    twins: dict[str, Twin] = {}
    for family in FAMILIES:
        for twin in importlib.import_module(f"{__name__}.{family}").TWINS:
            if twin.name in twins:
                raise DeclarationError(f"twin {twin.name!r} is declared twice")
            twins[twin.name] = twin
    return list(twins.values())
