"""`equivalence train`: what it prints, its exit codes, and what a user can correct."""

import importlib
import json

import pytest

from equivalence import DeclarationError, train
from equivalence.__main__ import main
from tests.engine.scripts.mistakes import PAIRS


@pytest.fixture
def model(folder):
    for side in ("torch", "mindspore"):
        name = f"model_{side}.py"
        (folder / name).write_text((PAIRS / name).read_text())
    return ["train", "model_torch.py", "model_mindspore.py", "--steps", "2"]


def test_a_right_port_is_equal_and_all_of_it_is_written(model, folder, capsys):
    assert main([*model, "--json", "found.json"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("EQUAL. model_mindspore.py trains as model_torch.py does in 2 steps")
    assert "loss is" in told.err  # what the scripts print
    assert json.loads((folder / "found.json").read_text())["equal"] is True


def test_arguments_go_to_each_script(model, capsys):
    assert main([*model, "--torch-args", "--lr 0.1", "--mindspore-args", "--lr 0.2"]) == 1
    assert "schedule: lr is 0.2, and 0.1 in the original" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--torch-args=--wrong"], "ends by SystemExit(2) after 0 steps"),
        (["--json", "."], "--json . is a folder"),
        (["--steps", "0"], "0 is not a positive number"),
    ],
)
def test_what_a_user_can_correct_is_one_sentence(model, words, told, capsys):
    try:
        code = main([*model, *words])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert told in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_script_that_is_not_there(capsys):
    assert main(["train", "a.py", "b.py"]) == 2
    assert "the reference 'a.py' is neither a script nor MODULE:FUNCTION" in capsys.readouterr().err


def test_a_script_that_trains_nothing(folder, model, capsys):
    (folder / "model_mindspore.py").write_text("print('nothing')\n")
    assert main(model) == 2
    assert "ends without an update by an optimiser" in capsys.readouterr().err


@pytest.mark.usefixtures("model")
def test_from_python_a_result_is_true_or_false_and_prints_what_the_command_prints(folder):
    result = train(folder / "model_torch.py", "model_mindspore.py", steps=2, execution="pynative")
    assert result
    assert str(result).startswith("EQUAL. model_mindspore.py trains as ")
    wrong = train("model_torch.py", "model_mindspore.py", steps=1, mindspore_args="--lr 0.2")
    assert not wrong
    assert wrong.verdict.departures[0].stage == "schedule"


def test_functions_that_train_are_taken_themselves(folder):
    for side in ("torch", "mindspore"):
        (folder / f"cell_{side}.py").write_text((PAIRS / f"cell_{side}.py").read_text())
    theirs = importlib.import_module("cell_torch").train
    ours = importlib.import_module("cell_mindspore").train
    result = train(theirs, ours, steps=2)
    assert result, str(result)
    assert len(result.ours.steps) == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [({"steps": 0}, "must be at least 1"), ({"execution": "graph"}, "write 'pynative'")],
)
def test_a_wrong_option_from_python_is_a_sentence(options, told):
    with pytest.raises(DeclarationError, match=told):
        train("a.py", "b.py", **options)
