"""`equivalence time`, as it is typed."""

import json

import pytest

from equivalence.__main__ import main
from equivalence.timing import steps, waiting

SIDES = ["tests.engine.timing.nets_pt:Net", "tests.engine.timing.nets_ms:Net"]
INPUT = ["--input", "normal(2, 4)"]


def test_both_sides_and_their_layers_are_told_and_every_time_is_written(
    monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(steps, "ROUNDS", 2)
    path = tmp_path / "times.json"
    assert main(["time", *SIDES, *INPUT, "--phase", "train", "--json", str(path)]) == 0
    told = capsys.readouterr().out
    assert "| forward and backward, float32 | ms: median" in told
    assert all(f"| {side} " in told for side in ("PyTorch", "MindSpore pynative", "again (Linear)"))
    found = json.loads(path.read_text())
    assert [(e["side"], len(e["seconds"])) for e in found["steps"]] == [
        ("PyTorch", 2),
        ("MindSpore pynative", 2),
        ("MindSpore graph", 2),
    ]
    assert {e["path"] for e in found["layers"]} == {"first", "again"}
    compiling = {e["side"]: e["compiling"] > 0.0 for e in found["steps"]}
    assert compiling == {"PyTorch": False, "MindSpore pynative": False, "MindSpore graph": True}


def test_whether_a_step_waits_for_its_data_is_told(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(steps, "ROUNDS", 2)
    monkeypatch.setattr(waiting, "STEPS", 6)
    path = tmp_path / "times.json"
    loaders = [side.replace(":Net", ":loader") for side in SIDES]
    once = ["--phase", "train", "--execution", "pynative"]
    assert main(["time", *SIDES, *INPUT, *once, "--data", *loaders, "--json", str(path)]) == 0
    told = capsys.readouterr().out
    theirs = next(each for each in told.splitlines() if "PyTorch" in each and "of 6" in each)
    assert "at 6 of 6 steps" in theirs  # each row of it sleeps
    assert "a batch has 4 rows, and the inputs of the step 2: give --input as many" in told
    found = json.loads(path.read_text())["data"]
    assert found["PyTorch"]["empty"] == 6
    assert found["MindSpore pynative"]["rows"] == [4] * 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*SIDES], "there is no --input; write a draw"),
        ([SIDES[0] + "s", SIDES[1], *INPUT], "has no attribute 'Nets'; nearest: Net"),
        ([*SIDES, "--input", "normal(2, 5)"], "2x5 and 4x4"),
        ([*SIDES, *INPUT, "--json", "."], "--json . is a folder; name another file"),
        ([*SIDES, *INPUT, "--data", *SIDES], "it is Net, and no data set; give a DataLoader"),
    ],
)
def test_a_mistake_is_one_sentence(arguments, message, capsys):
    assert main(["time", *arguments]) == 2
    told = capsys.readouterr()
    assert not told.out
    (line,) = (each for each in told.err.splitlines() if each.startswith("error: "))
    assert message in line
