"""Where MindSpore refuses gradients the outputs are judged, and the answer says what is not."""

import pytest

from equivalence import compare, normal


def of(candidate, **fields):
    fields = {"phase": "eval", "execution": "pynative", **fields}
    return compare("tests.engine.parts.complex_pt:Turned", candidate, normal(3, 4), **fields)


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_a_right_port_is_right_as_far_as_it_is_judged(execution):
    found = of("tests.engine.parts.complex_ms:Turned", execution=execution)
    assert not found  # the original gives gradients
    text = str(found)
    assert "the output is right; gradients: MindSpore refuses them, and none is compared" in text
    assert "Your port is right; MindSpore is not:" in text
    assert "complex type" in text
    assert "compare outputs alone (--forward)" in text
    assert [each.name for each in found.tensors if not each.equal] == ["gradients"]


def test_what_both_modes_refuse_is_told_once():
    text = str(of("tests.engine.parts.complex_ms:Turned", execution=("pynative", "graph")))
    assert text.count("MindSpore refuses a gradient (") == 1


def test_a_wrong_port_is_wrong_at_its_line():
    text = str(of("tests.engine.parts.complex_ms:Conjugated"))
    assert "The port is wrong in 1 place, and MindSpore in 1:" in text
    assert "ops.Complex()(x, x)" in text
    assert "MindSpore refuses them" in text


def test_without_gradients_it_is_equal_and_a_wrong_one_is_not():
    assert of("tests.engine.parts.complex_ms:Turned", backward=False)
    assert not of("tests.engine.parts.complex_ms:Conjugated", backward=False)
