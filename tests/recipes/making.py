"""Declares recipes in few words."""

from collections.abc import Mapping
from typing import Any

from equivalence.declare.batches import Batches
from equivalence.declare.initial import Initial
from equivalence.declare.twin import Twin
from tests.pipelines import declared as pipelines
from tests.recipe import Recipe

DECLARES_NOTHING = True


def fed(pipeline: str, together: int | None = None, **config: Any) -> Batches:
    """The batches of a declared pipeline."""
    by_name = {each.name: each for each in pipelines()}
    return Batches(by_name[pipeline], config, together)


def recipe(name: str, step: str, inputs: Batches, config: Mapping, **settings: Any) -> Recipe:
    """A recipe of `pt_reference.recipes` and `ms_models.recipes`."""
    initial = settings.pop("initial", None) or Initial(
        f"{name}_weights",
        reference="pt_reference.resnet:resnet",
        candidate="ms_models.resnet:resnet",
        configs=[{"depth": config["depth"]}],  # few classes make a bias too small to test
    )
    twin = Twin(
        name,
        reference=f"pt_reference.recipes:{step}",
        candidate=f"ms_models.recipes:{settings.pop('candidate', step)}",
        configs=[config],
        inputs=inputs,
        phases=("train",),
        **settings,
    )
    return Recipe(twin, initial)
