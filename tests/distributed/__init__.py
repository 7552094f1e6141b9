"""The declared trainings on several ranks, one module per family; each has a tuple `TRAININGS`."""

from equivalence.declare.data_parallel import DataParallel
from tests.collecting import collect


def declared() -> tuple[DataParallel, ...]:
    """Every training, family by family. Raises DeclarationError where one would be lost."""
    return collect(__name__, DataParallel)
