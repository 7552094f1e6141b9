"""Two networks of MindSpore: the same to the bit, within rounding, or different."""

import pytest

from equivalence import DeclarationError, compare, normal
from equivalence.__main__ import main

HERE = "tests.engine.parts.alike_ms:"
IMAGES, TOKENS, ROWS = normal(4, 3, 9, 9), normal(2, 6, 16), normal(2, 32)
EAGER = {"execution": "pynative", "phase": "train"}


def test_a_network_beside_itself_is_the_same_to_the_bit_in_either_mode():
    result = compare(HERE + "Net", HERE + "Net", IMAGES)
    assert result
    assert str(result).startswith("THE SAME TO THE BIT. 40 tensors of 4 cases")
    assert {each.case.execution for each in result.outcomes} == {"pynative", "graph"}


@pytest.mark.parametrize(
    ("one", "other", "inputs"),
    [("Attention", "Early", TOKENS), ("Early", "Attention", TOKENS), ("Net", "Rewritten", IMAGES)],
)
def test_the_same_in_another_way_is_within_rounding(one, other, inputs):
    result = compare(HERE + one, HERE + other, inputs, **EAGER)
    assert result
    assert max(tensor.needed for tensor in result.tensors) < 2.0
    exact = one == "Net"
    assert str(result).startswith(f"THE SAME {'TO THE BIT' if exact else 'WITHIN ROUNDING'}. ")
    assert ("10 of 10 tensors are equal to the bit" in str(result)) == exact


@pytest.mark.parametrize(
    ("one", "other", "inputs", "path"),
    [
        ("Net", "Scaled", IMAGES, "drop"),
        ("Attention", "other_axis", TOKENS, "norm"),
        ("exact_gelu", "tanh_gelu", ROWS, "1"),
    ],
)
def test_a_mistake_is_red_at_the_first_layer_that_departs(one, other, inputs, path):
    result = compare(HERE + one, HERE + other, inputs, **EAGER)
    assert not result
    assert [each.reference for each in result.culprits] == [path]
    assert result.tensors[0].needed > 30.0


def test_what_stands_for_what_and_that_there_is_no_truth_is_said_in_the_answer():
    answer = str(compare(HERE + "Net", HERE + "Scaled", IMAGES, **EAGER)).split("details:")[0]
    assert f"{HERE}Net, stands for the original, and the second, {HERE}Scaled," in answer
    assert "Without the original nothing has a float64 truth" in answer


@pytest.mark.usefixtures("undiagnosed")
def test_another_setting_is_red_and_named():
    result = compare(HERE + "exact_gelu", HERE + "tanh_gelu", ROWS, **EAGER)
    assert result.settings[0].layer == "1"
    assert "approximate" in str(result.settings[0])


def test_a_first_network_that_draws_or_keeps_a_state_is_refused():
    with pytest.raises(DeclarationError, match=r"two runs of .*Draws differ in output.0"):
        compare(HERE + "Draws", HERE + "Draws", ROWS, **EAGER)


@pytest.mark.usefixtures("undiagnosed")
def test_what_the_second_keeps_of_its_first_call_shows():
    assert not compare(HERE + "Counts", HERE + "counts", ROWS, **EAGER)


@pytest.mark.parametrize("field", [{"by_layer": True}, {"reach": 0.5}, {"dtype": "bfloat16"}])
def test_what_needs_an_original_is_refused(field):
    with pytest.raises(DeclarationError, match=r"both networks are MindSpore's, and .* leave it"):
        compare(HERE + "Net", HERE + "Net", IMAGES, **{**EAGER, **field})


def test_exchanged_sides_are_told():
    with pytest.raises(DeclarationError, match=r"exchange .*alike_ms:Net and .*alike_pt:Net"):
        compare(HERE + "Net", "tests.engine.parts.alike_pt:Net", IMAGES)


ONCE = ("--execution", "pynative", "--phase", "eval", "--input", "normal(4, 3, 9, 9)")
ORIGINAL = ("--reference", "tests.engine.parts.alike_pt:Net")


@pytest.mark.usefixtures("undiagnosed")
@pytest.mark.parametrize(
    ("one", "other", "code", "told"),
    [
        ("Net", "Rewritten", 0, "are both equal to"),
        ("Net", "Scaled", 1, "Net is equal to tests.engine.parts.alike_pt:Net, and "),
        ("Scaled", "Scaled", 1, "Neither is equal to"),
    ],
)
def test_an_original_judges_both(capsys, one, other, code, told):
    assert main(["compare", HERE + one, HERE + other, *ORIGINAL, *ONCE]) == code
    lines = capsys.readouterr().out.splitlines()
    assert told in lines[0]
    assert f"{HERE}{one} beside tests.engine.parts.alike_pt:Net:" in lines


def test_what_is_for_one_network_is_refused_beside_an_original(capsys):
    arguments = [HERE + "Net", HERE + "Net", *ORIGINAL, *ONCE, "--settings"]
    assert main(["compare", *arguments]) == 2
    assert "leave out it or --reference" in capsys.readouterr().err
