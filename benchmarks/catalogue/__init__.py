"""Right networks at the sizes of users: none may be red. Each file has a tuple `TWINS`.

Networks that both sides write by hand are in `pt/` and `ms/`, in files of the same names;
`port/` makes the cells of the others by rules.
"""

from equivalence.declare.twin import Twin
from tests.collecting import collect


def declared() -> tuple[Twin, ...]:
    """Every twin of the catalogue, file by file. Raises DeclarationError if one would be lost."""
    return collect(__name__, Twin, apart=("ms", "port", "pt"))
