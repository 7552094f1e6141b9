"""A wrong training step is blamed on its network, its loss or its update, and on what in it."""

import re
from dataclasses import replace

import pytest

from equivalence.comparison.check import check
from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin, TwinCase
from equivalence.diagnosis import stages
from equivalence.diagnosis.causes import ACQUITTED
from equivalence.diagnosis.diagnose import diagnose
from tests.engine.comparison.test_training import CLASSIFIER, GIVEN, one_case


def wrong(twin, candidate: str) -> TwinCase:
    return one_case(twin, "graph", candidate=f"tests.engine.parts.steps_ms:{candidate}")


SCALED = Twin(
    "scaled",
    reference="pt_reference.precision:scaled_step",
    candidate="ms_models.precision:scaled_step",
    configs=[{"learning_rate": 30.0, "loss_weight": 1e-7, "loss_scale": 2.0**20}],
    inputs=[normal(4, 12), integers(4, high=5)],
    phases=("train",),
    steps=1,
    rename={"backbone._backbone": "backbone.network"},
    computes="float16",
)
PASSES = Twin(
    "passes",
    reference="tests.engine.parts.passes_pt:Passes",
    candidate="tests.engine.parts.passes_ms:Passes",
    inputs=[normal(4, 3), normal(4, 5)],
    phases=("train",),
    steps=2,
)


def passes(candidate: str) -> TwinCase:
    return one_case(PASSES, "pynative", candidate=f"tests.engine.parts.passes_ms:{candidate}")


FIRST, SECOND = "wrong in the first step: every weight", "right up to step 1, then: every weight"


@pytest.mark.parametrize(
    ("candidate", "stage", "causes"),
    [
        # The rate and the decay are 0.1; a loss scale of 2 that is kept doubles the gradient.
        (
            "without_decay",
            "update",
            [FIRST, "computes without weight decay: so .* these weights in all 4 steps$"],
        ),
        ("scaled", "update", [FIRST, "off by -0.1 times the gradient"]),
        (
            "at_a_constant_rate",
            "update",
            [SECOND, "1.25 times the reference's update, as by another learning rate"],
        ),
        (
            "with_other_momentum",
            "update",
            [SECOND, "off by -0.08 times the update before, as by another momentum"],
        ),
        ("untrained", "update", [FIRST, "every weight does not move"]),
        ("without_bias", "update", ["first step: bias$", "bias does not move"]),
        ("clipped_each", "update", [FIRST, "another multiple of the gradient, .0.0"]),
        ("with_signs", "update", [FIRST, "of the update; no multiple"]),
        ("with_doubled_loss", "loss", ["in step 1 it is 2 times the reference's"]),
    ],
)
def test_a_stage_of_the_step_is_named_with_its_cause(candidate, stage, causes):
    found = diagnose(wrong(GIVEN, f"given_{candidate}"), 0)
    (culprit,) = found.culprits
    assert culprit.reference == stage
    assert len(culprit.causes) == len(causes)
    for told, expected in zip(culprit.causes, causes, strict=True):
        assert re.search(expected, told), told


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.parametrize(
    ("reference", "candidate", "causes"),
    [
        (
            "clipped",
            "clipped_each",
            ["first step: kernel, bias$", "another multiple of"],
        ),
        ("", "divided", ["kernel, bias$", "off by .* times the gradient, as by another scale"]),
        ("", "of_a_spare_weight_that_decays", ["spare$", "spare moves where the reference's"]),
    ],
)
def test_an_inaccurate_kernel_does_not_draw_the_blame_for_a_wrong_step(
    reference, candidate, causes, execution
):
    (culprit,) = diagnose(bent(reference, candidate, execution), 0).culprits
    assert culprit.reference == "update"
    assert len(culprit.causes) == len(causes)
    for told, expected in zip(culprit.causes, causes, strict=True):
        assert re.search(expected, told), told


def test_a_mistake_in_a_network_beside_an_inaccurate_kernel_is_blamed_on_it():
    (culprit,) = diagnose(bent("", "more"), 0).culprits
    assert "ops.tanh(self.factor * " in culprit.statement
    assert not any(cause.startswith(ACQUITTED) for cause in culprit.causes)


def test_a_right_step_is_acquitted_of_an_inaccurate_kernel():
    (culprit,) = diagnose(bent("", ""), 0).culprits
    assert culprit.causes[0].startswith(f"{ACQUITTED}ops.Tanh on cpu")
    assert check(bent("", ""), 0).excuses == ("inaccurate_kernel",)


def bent(reference: str, candidate: str, execution: str = "pynative") -> TwinCase:
    """A step of a network with a tanh, whose kernel loses digits."""
    names = [
        "_".join(filter(None, (f"tests.engine.parts.steps_{side}:bent", name)))
        for side, name in (("pt", reference), ("ms", candidate))
    ]
    twin = Twin("bent", *names, [normal(5, 6, scale=2.0)], phases=("train",), steps=3)
    return one_case(twin, execution)


def test_a_weight_that_was_to_stay_is_told():
    resting = replace(GIVEN, reference="tests.engine.parts.steps_pt:given_at_rest")
    (culprit,) = diagnose(wrong(resting, "given"), 0).culprits
    assert culprit.reference == "update"
    assert culprit.causes == [FIRST, "every weight moves where the reference's does not"]


def test_a_network_that_needs_the_steps_loss_scale_is_not_blamed_for_gradients():
    for candidate, stage in (("scale_not_divided", "update"), ("loss_in_half", "loss")):
        case = one_case(SCALED, candidate=f"tests.defects.precision_candidates:{candidate}")
        (culprit,) = diagnose(case, 0).culprits
        assert culprit.reference == stage


def test_a_layer_of_the_network_is_named_where_that_is_wrong():
    found = diagnose(wrong(CLASSIFIER, "classifier_of_another_epsilon"), 0)
    assert [layer.reference for layer in found.culprits] == ["bn"]
    assert found.culprits[0].causes[0] == "eps 1e-05 (reference) 0.0001 (candidate)"
    assert found.case.twin.steps == CLASSIFIER.steps


def test_a_right_step_has_no_culprit():
    assert diagnose(one_case(GIVEN), 0).culprits == []


def test_the_network_alone_is_that_of_the_step():
    case = one_case(GIVEN).network
    assert case.twin.steps is None
    assert case.twin.reference == "tests.engine.parts.steps_pt:given.network"
    assert case.sample_name == one_case(GIVEN).sample_name


def test_terms_that_together_make_up_the_error_are_told_together():
    """Decay left out and gradients doubled, in one: neither is a multiple of the other."""
    case = wrong(GIVEN, "given_scaled_without_decay")
    (culprit,) = diagnose(case, 0).culprits
    assert culprit.causes[1] == (
        "off by +0.01 times the weight and -0.1 times the gradient, "
        "as by another weight decay and another scale of the gradient"
    )


def test_a_missing_tensor_is_told_as_it_is():
    case = wrong(CLASSIFIER, "classifier")
    found = stages._StagedTraining(case, 0)
    found.wrong, found.problems = {"update[1]:bn.weight"}, ["update[1]:bn.weight: shape (5,)"]
    assert found.stages() == [("update", ["update[1]:bn.weight: shape (5,)"])]


def test_a_reference_that_is_no_part_is_said():
    case = replace(
        one_case(GIVEN), twin=replace(GIVEN, reference="tests.engine.parts.steps_pt:Given")
    )
    with pytest.raises(Exception, match="builds a Given, not a training step"):
        diagnose(case, 0)


def test_a_factor_that_may_be_a_count_is_not_called_by_another_name_alone():
    known = {"1 - momentum": 0.125, "1 + momentum": 1.875}
    assert stages._by_name(8.0, known) == " (a sum for a mean of 8, or 1 / (1 - momentum))"
    assert stages._by_name(0.125, known) == " (a mean for a sum of 8, or 1 - momentum)"
    assert stages._by_name(1.875, known) == " (1 + momentum)"


@pytest.mark.parametrize(
    ("candidate", "line", "weights"),
    [
        ("SmallerFirst", "self.of_judge(tuple(self.share * each", "judge.bias, judge.weight"),
        ("OtherSecond", "self.of_maker(gradients)", "maker.bias, maker.weight"),
    ],
)
def test_of_two_passes_in_a_step_the_wrong_one_is_blamed(candidate, line, weights):
    case = passes(candidate)
    assert not check(case, 0).passed
    (culprit,) = diagnose(case, 0).culprits
    assert line in culprit.statement
    assert culprit.causes[0].startswith(f"its optimisers get another gradient of {weights}")


def test_a_step_with_two_passes_is_equal_to_its_port():
    assert check(passes("Passes"), 0).passed
