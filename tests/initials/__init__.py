"""The declared comparisons of initialisers, one module per family; each has a tuple `INITIALS`."""

from equivalence.declare.initial import Initial
from tests.collecting import collect

LONGEST_FIRST = ("resnet", "initialisers")


def declared() -> tuple[Initial, ...]:
    """Every comparison, family by family. Raises DeclarationError where one would be lost."""
    return collect(__name__, Initial, LONGEST_FIRST)
