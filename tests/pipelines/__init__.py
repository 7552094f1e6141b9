"""The declared data pipelines, one module per family; each has a tuple `PIPELINES`."""

from equivalence.declare.pipeline import Pipeline
from tests.collecting import collect

LONGEST_FIRST = ("imagenet", "cifar")


def declared() -> tuple[Pipeline, ...]:
    """Every pipeline, family by family. Raises DeclarationError where one would be lost."""
    return collect(__name__, Pipeline, LONGEST_FIRST)
