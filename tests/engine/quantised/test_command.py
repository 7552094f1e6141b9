"""`equivalence quantised`: the report, its exit code and bad input."""

import json

import pytest

from equivalence.__main__ import main

PT = "tests.engine.parts.quantised_pt:"
INPUT = ("--input", "normal(16, 32)")


def test_a_report_is_no_verdict(capsys, tmp_path):
    file = tmp_path / "r.json"
    sides = [PT + "trained", PT + "weight_only"]
    assert main(["quantised", *sides, *INPUT, "--json", str(file)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith(f"NO VERDICT. {PT}weight_only beside {PT}trained: the output has a")
    assert "by themselves, these lose most: second" in told[2]
    assert told[-1].startswith("head ")
    found = json.loads(file.read_text())
    assert [each["path"] for each in found["layers"]] == ["first", "act", "second", "head"]
    assert found["layers"][1]["exact"]


def test_the_same_network_and_other_weights_are_told(capsys):
    main(["quantised", PT + "trained", PT + "trained", *INPUT])
    assert "the output is the same to the bit" in capsys.readouterr().out
    assert main(["quantised", PT + "trained", PT + "other_weights", *INPUT]) == 0
    assert "6 weights of the same name and shape are others" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([PT + "trained", PT + "weight_only"], "there is no --input; give what both networks take"),
        ([PT + "trained", PT + "nothing", *INPUT], "has no attribute 'nothing'"),
        ([PT + "trained", PT + "half", "--input", "normal(2, 31)"], "cannot be multiplied"),
    ],
)
def test_what_is_wrong_is_one_sentence(capsys, arguments, told):
    assert main(["quantised", *arguments]) == 2
    assert told in capsys.readouterr().err.splitlines()[-1]
