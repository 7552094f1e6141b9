"""`equivalence generate`: what is printed, the exit codes and the document."""

import json

from equivalence.__main__ import main

PT, MS = "tests.engine.parts.generating_pt:", "tests.engine.parts.generating_ms:"


def generate(capsys, candidate, *more, net="Lm"):
    """The exit code, and what is printed."""
    arguments = [f"net=network({PT}{net}, {MS}{net})"]
    inputs = ["--input", "integers(3, 4, high=40)"]
    sides = [PT + "greedy", MS + candidate]
    code = main(["generate", *sides, "--arguments", *arguments, *inputs, *more])
    return code, capsys.readouterr()


def test_a_right_one_is_equal(capsys, tmp_path):
    code, told = generate(capsys, "greedy", "--json", str(tmp_path / "r.json"))
    assert code == 0
    first, second = told.out.splitlines()
    assert first.startswith("EQUAL. ")
    assert first.endswith("3 rows, 6 calls of the network; all tokens are the same")
    assert second.startswith("logits of 6 of 6 calls compared: off by at most")
    (found,) = json.loads((tmp_path / "r.json").read_text())
    assert found["equal"]
    assert len(found["roundings"]) == len(found["log_probabilities"]) == 6


def test_rounding_that_decides_is_told(capsys):
    code, told = generate(capsys, "greedy", "--seed", "1", net="TiedLm")
    assert code == 0
    assert told.out.startswith("EQUAL BUT FOR ROUNDING. ")
    assert "roundings apart: rounding decides" in told.out


def test_a_wrong_one_is_different(capsys):
    code, told = generate(capsys, "second_best")
    assert code == 1
    assert told.out.startswith("DIFFERENT. ")
    assert "rounding does not decide" in told.out


def test_what_is_missing_is_told(capsys):
    assert main(["generate", PT + "greedy", MS + "greedy"]) == 2
    assert "there is no --input; give the tokens to begin with" in capsys.readouterr().err
