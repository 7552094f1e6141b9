"""Training recipes from the files to the updated weights, stage by stage.

One module per family; each has a tuple `RECIPES`.
"""

from tests.collecting import collect
from tests.recipe import Recipe

LONGEST_FIRST = ("training_run", "imagenet")


def declared() -> tuple[Recipe, ...]:
    """Every recipe, family by family. Raises DeclarationError where one would be lost."""
    return collect(__name__, Recipe, LONGEST_FIRST)
