"""A step of each side can be timed: in training and in evaluation, in both execution modes."""

import itertools

import pytest

from equivalence.comparison import sides
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, cases
from equivalence.host.isolation import isolated
from equivalence.timing import steps
from equivalence.timing.sides import builders, torch_step

TWIN = Twin(
    "conv1x1",
    reference="torchvision.models.resnet:conv1x1",
    candidate="ms_models.conv:conv1x1",
    configs=[{"in_planes": 3, "out_planes": 2}],
    inputs=[normal(2, 3, 5, 4)],
)


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_both_sides_of_a_small_step_are_run(monkeypatch, phase):
    monkeypatch.setattr(steps, "ROUNDS", 1)
    with isolated():
        ticks = itertools.count()
        chosen = [case for case in cases(TWIN, "cpu") if case.phase == phase]
        found = steps.measured(builders(chosen), lambda: next(ticks))
    assert list(found) == [steps.REFERENCE, "MindSpore pynative", "MindSpore graph"]
    # Each step, and the first with what comes before it, lies between two readings of the clock.
    assert {side: (times.first, times.steps) for side, times in found.items()} == {
        side: (1, [1]) for side in found
    }


def test_a_step_in_training_has_gradients_and_one_in_evaluation_an_output():
    case = next(cases(TWIN, "cpu"))
    for phase, kind in (("train", tuple), ("eval", object)):
        with isolated():
            made = torch_step(sides.build_reference(case), sides.draw(case, 0), phase)()
        assert isinstance(made, kind)
        if phase == "eval":
            assert made.shape == (2, 2, 5, 4)
            assert not made.requires_grad
        else:
            assert [tuple(each.shape) for each in made] == [(2, 3, 5, 4), (2, 3, 1, 1)]
