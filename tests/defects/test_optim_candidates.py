"""The right parts of defective optimisers and steps are right: only the defect shows."""

import dataclasses

import pytest

from equivalence.comparison.check import check
from equivalence.declare.twin import cases
from ms_models.optim import corrected_adam
from ms_models.steps import AccumulatingStep, DynamicLossScaleStep
from tests.defects import step_candidates as steps
from tests.twins import declared

OPTIM = "tests.defects.optim_candidates:"

right_dynamic = steps.dynamic(DynamicLossScaleStep)
right_accumulating = steps.accumulating(AccumulatingStep)
right_clipping = steps.clipping(steps.as_configured)
right_imagenet = steps.imagenet()
right_cifar10 = steps.cifar10(corrected_adam)


def part_cases():
    """Twins with the right candidate in parts."""
    twins = {twin.name: twin for twin in declared()}
    for name, candidate, config in (
        ("momentum", OPTIM + "right_momentum", {}),
        ("momentum_by_warmup_cosine", OPTIM + "right_schedule", {}),
        ("adam_eps", OPTIM + "right_adam", {}),
        ("adamw", OPTIM + "right_adamw", {"amsgrad": False}),
        ("dynamic_loss_scale", __name__ + ":right_dynamic", {}),
        ("accumulated_gradients", __name__ + ":right_accumulating", {}),
        ("clipped_momentum", __name__ + ":right_clipping", {}),
        ("imagenet_recipe", __name__ + ":right_imagenet", {}),
        ("cifar10_recipe", __name__ + ":right_cifar10", {}),
    ):
        twin = dataclasses.replace(twins[name], candidate=candidate)
        for case in cases(twin, "cpu"):
            if config.items() <= dict(case.config).items():
                yield pytest.param(case, id=case.name)


@pytest.mark.parametrize("case", [*part_cases()])
def test_the_right_parts_pass(case):
    assert check(case, seed=0).passed
