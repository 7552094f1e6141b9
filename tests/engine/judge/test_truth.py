"""The truth of a whole case."""

import pytest

from equivalence.judge.truth import Flip, Truth


@pytest.mark.parametrize(("operator", "jumps"), [("relu", False), ("round", True)])
def test_an_output_jumps_at_a_step_alone(operator, jumps):
    truth = Truth()
    assert not truth.jumps("output.0")
    truth.near = (Flip("", 0, operator, (0,), 0.0, 0, 1, 0),)
    assert truth.jumps("output.0") is jumps
    assert truth.jumps("gradient:weight")
    assert truth.copy().jumps("output.0") is jumps


def test_after_the_first_update_of_a_training_all_but_outputs_jumps():
    assert not Truth().jumps("output.0", steps=2)
    assert Truth().jumps("loss[2]", steps=2)
