"""The operators: each torch function, its MindSpore counterparts, and what examples are drawn."""

import importlib

from equivalence.declare.operator import Operator
from equivalence.errors import DeclarationError

FAMILIES = (
    "elementwise",
    "comparisons",
    "promotion",
    "activations",
    "reductions",
    "functional",
    "norms",
    "losses",
    "shapes",
    "parts",
    "indexing",
    "linear",
    "factors",
    "casts",
    "creation",
)


def operators() -> list[Operator]:
    """Every operator, family by family. Raises DeclarationError when a name is taken twice."""
    declared: dict[str, Operator] = {}
    for family in FAMILIES:
        for operator in importlib.import_module(f"{__name__}.{family}").OPERATORS:
            if operator.name in declared:
                raise DeclarationError(f"operator {operator.name!r} is declared twice")
            declared[operator.name] = operator
    return list(declared.values())
