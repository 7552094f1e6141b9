"""Every recipe, stage by stage, on every device: the first red stage is the wrong one."""

import pytest

from equivalence.devices import DEVICES
from tests.recipes import RECIPES

STAGES = [
    pytest.param(
        case,
        id=f"{recipe.name}-{number}_{stage}-{case.name}",
        marks=[getattr(pytest.mark, device), getattr(pytest.mark, recipe.step.level)],
    )
    for device in DEVICES
    for recipe in RECIPES
    for number, (stage, case) in enumerate(recipe.stages(device), 1)
    if case.device == device
]


@pytest.mark.parametrize("case", STAGES)
def test_stage(case, compare):
    compare(case)
