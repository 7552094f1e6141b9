"""The catalogue of defects, one module per family; each has a tuple `DEFECTS`."""

import importlib

from equivalence.errors import DeclarationError
from tests.defects.defect import Defect

# Longest first, so that parallel workers end together.
FAMILIES = (
    "networks",
    "training",
    "optim",
    "precision",
    "steps",
    "maps",
    "layers",
    "attention",
    "functional",
    "functional_gradients",
    "quantised",
    "language_models",
    "diffusion",
    "vision",
    "yolox",
    "recurrent",
    "sequences",
    "operators",
    "losses",
    "dynamic",
    "tables",
    "random_layers",
    "structures",
    "attributes",
    "handed",
    "settings",
    "data",
)


def catalogue() -> list[Defect]:
    """Every defect, family by family. Raises DeclarationError when a name is taken twice."""
    defects: dict[str, Defect] = {}
    for family in FAMILIES:
        for defect in importlib.import_module(f"{__name__}.{family}").DEFECTS:
            if defect.name in defects:
                raise DeclarationError(f"defect {defect.name!r} is declared twice")
            defects[defect.name] = defect
    return list(defects.values())
