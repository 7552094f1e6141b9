"""Every recipe, stage by stage, on every device: the first red stage is the wrong one."""

from dataclasses import replace

import pytest

from equivalence import kinds
from equivalence.host.devices import places
from equivalence.host.isolation import isolated
from tests.recipes import declared

STAGES = [
    pytest.param(
        case,
        id=f"{recipe.name}-{number}_{stage}-{case.name}",
        marks=[getattr(pytest.mark, device), getattr(pytest.mark, recipe.step.level)],
    )
    for device, place in places().items()
    for recipe in declared()
    for number, (stage, case) in enumerate(recipe.stages(place), 1)
    if case.device == place
]


@pytest.mark.parametrize("case", STAGES)
def test_stage(case, compare):
    compare(case)


@pytest.mark.cpu
@pytest.mark.gate
@pytest.mark.parametrize(
    "checklist",
    [pytest.param(each.checklist, id=each.name) for each in declared() if each.checklist],
)
def test_the_checklist_is_filled_in_alike_on_both_sides(checklist):
    assert not list(checklist.complaints())


@pytest.mark.cpu
@pytest.mark.nightly
@pytest.mark.parametrize("mistake", ["decoupled", "uncorrected"])
def test_a_mistake_in_adam_shows_in_the_update_of_resnet50(mistake, pytestconfig):
    (recipe,) = (each for each in declared() if each.name == "resnet50_on_cifar10")
    case = next(case for stage, case in recipe.stages("cpu") if stage == "update")
    candidate = f"tests.defects.step_candidates:resnet_{mistake}"
    wrong = replace(case, twin=replace(case.twin, candidate=candidate))
    with isolated():
        outcome = kinds.check(wrong, pytestconfig.getoption("seed"))
    assert not outcome.judgement.ill_posed
    assert outcome.judgement.differing
    assert all(verdict.name.startswith("update") for verdict in outcome.judgement.differing)
