"""The right parts of the defective candidates are right, so that only the defect shows."""

import dataclasses

import pytest

from equivalence.comparison.check import check
from equivalence.declare.twin import cases
from tests.defects import candidates
from tests.defects.edits import recast
from tests.twins import declared

HERE = "tests.defects.candidates:"
LOSSES = "tests.defects.loss_candidates:"


def network(**arguments):
    """A residual network that computes as the one in parts does."""
    from ms_models.resnet import resnet

    cell = resnet(**arguments)
    recast(candidates.Network, "")(cell)
    return cell


def spelled_norm(num_features: int, eps: float, momentum: float):
    """The batch normalisation in parts."""
    return candidates.Norm(num_features, eps=eps, momentum=1.0 - momentum)


def part_cases():
    """Twins with the right candidate in parts, in each of their phases."""
    twins = {twin.name: twin for twin in declared()}
    for name, candidate, config in (
        ("basic_block", HERE + "Block", {"planes": 64, "stride": 2}),
        ("resnet", __name__ + ":network", {"depth": 18}),
        ("batch_norm2d", __name__ + ":spelled_norm", {}),
        ("focal_loss_weighted", LOSSES + "Focal", {"reduction": "mean", "WEIGHT": (320,)}),
        ("focal_loss_averaged", LOSSES + "Focal", {"reduction": "mean"}),
        ("sparse_cross_entropy", LOSSES + "CrossEntropy", {"reduction": "mean"}),
    ):
        twin = dataclasses.replace(twins[name], candidate=candidate, executions=("pynative",))
        for case in cases(twin, "cpu"):
            if config.items() <= dict(case.config).items() and case.dtype == "float32":
                yield pytest.param(case, id=case.name)


@pytest.mark.parametrize("case", [*part_cases()])
def test_the_right_parts_pass(case):
    assert check(case, seed=0).passed
