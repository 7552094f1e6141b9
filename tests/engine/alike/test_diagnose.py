"""The first layer that departs, forward and, from the end, backward; of either framework."""

from equivalence import compare, normal
from equivalence.alike.diagnose import BACKWARD, FORWARD

HERE = "tests.engine.parts.alike_pt:"
IMAGES = normal(4, 3, 9, 9)


def test_the_first_layer_in_the_run_is_named_and_all_have_their_errors():
    result = compare(HERE + "Net", HERE + "Short", IMAGES, phase="eval")
    (culprit,) = result.culprits
    assert (culprit.reference, culprit.causes) == ("drop", [FORWARD])
    (verdict,) = result.verdicts
    errors = {layer: values[0] for layer, _, values in verdict.data["layers"]}
    assert errors["bn"] < 8 < errors["fc"]


def test_where_outputs_are_right_it_is_the_last_whose_gradient_is_wrong():
    result = compare(HERE + "Net", HERE + "Backward", IMAGES, phase="eval")
    assert not result
    for culprit in result.culprits:
        assert culprit.causes == [BACKWARD]


def test_of_mindspore_the_gradient_is_looked_at_too():
    names = "tests.engine.parts.alike_ms:Net", "tests.engine.parts.alike_ms:Scaled"
    result = compare(*names, IMAGES, phase="eval", execution="pynative")
    (verdict,) = result.verdicts
    backward = {layer: values[1] for layer, _, values in verdict.data["layers"]}
    assert backward["fc"] < 8 < backward["bn"]
