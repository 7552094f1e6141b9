"""`equivalence evaluate`, as it is typed."""

import json
from pathlib import Path

import pytest

from equivalence.__main__ import main

PT, MS = "tests.engine.evaluation.nets_pt:", "tests.engine.evaluation.nets_ms:"


def run(network, data, *options, port=None):
    """The exit code of the command."""
    sides = [f"{PT}{network}", f"{MS}{port or network}", "--data", f"{PT}{data}"]
    return main(["evaluate", *sides, *options])


def test_a_right_port_is_equal_in_both_modes_and_written(capsys, tmp_path):
    path = tmp_path / "found.json"
    options = ["--metric", f"{PT}share_of_first", "--json", str(path)]
    assert run("Classes", "loader", *options) == 0
    told = capsys.readouterr().out
    assert told.count("EQUAL. Classes-eval-float32-") == 2
    assert "24 samples in 3 batches" in told
    assert all(f"| {name} " in told for name in ("top-1", "top-5", "loss", "first", "right"))
    found = json.loads(path.read_text())
    assert [each["equal"] for each in found] == [True, True]
    assert {metric["name"] for metric in found[0]["metrics"]} >= {"top-1", "loss", "right"}


def test_another_epsilon_differs_with_its_batches(capsys):
    options = ["--execution", "pynative", "--batches", "2"]
    assert run("Classes", "loader", *options, port="OtherEps") == 1
    told = capsys.readouterr().out
    assert told.startswith("DIFFERENT. Classes-eval-float32-pynative-cpu: 20 samples in 2 batches")
    assert "outputs differ by more than rounding in batch 1, 2;" in told
    assert "| differs: " in told


@pytest.mark.parametrize(
    ("network", "data", "metric"),
    [
        ("Pictures", "pictures", "mean IoU"),
        ("Text", "text", "perplexity"),
        ("Classes", "unlabelled", "same prediction"),
    ],
)
def test_pictures_texts_and_batches_without_labels_have_their_metrics(
    capsys, network, data, metric
):
    assert run(network, data, "--execution", "pynative") == 0
    assert f"| {metric} " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("data", "width", "metric", "row", "wrong"),
    [
        ("tokens", 7, "bleu", "| bleu", "Late"),
        ("speech", 5, "word_error_rate", "| word_error_rate", "Late"),
        ("boxes", 6, "mean_average_precision", "| mAP@50", "Scaled"),
    ],
)
def test_the_metrics_of_the_examples_tell_a_right_port_from_a_wrong_one(
    capsys, monkeypatch, data, width, metric, row, wrong
):
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "examples")
    options = ["--execution", "pynative", "--metric", f"metrics:{metric}"]
    options += ["--arguments", f"width={width}"]

    def told_of(port):
        code = run("Moved", data, *options, port=port)
        (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith(row))
        return code, line

    code, line = told_of("Moved")
    assert (code, "| equal" in line) == (0, True)
    assert not any(f"| {number} " in line for number in (0, 1))  # of neither all nor none
    code, line = told_of(wrong)
    assert (code, "| differs" in line) == (1, True)


@pytest.mark.parametrize(
    ("network", "data", "options", "message"),
    [
        ("Classes", "nothing", [], "the data has no batch"),
        ("Classes", "loaders", [], "has no attribute 'loaders'; nearest: loader"),
        ("Classes", "labels_of_another_shape", [], "labels have the shape (4, 2) and the output"),
        ("Pictures", "pictures", ["--output", "au"], "there are out, aux; nearest: aux"),
        ("Pictures", "pictures", ["--metric", f"{PT}a_text"], "--metric a_text gives str"),
        ("Pictures", "loader", [], "the reference raised"),
        (
            "Moved",
            "boxes_of_several_sizes",
            ["--metric", f"{PT}a_text", "--arguments", "width=6"],
            "labels of batches have several shapes, (2, 5) and (3, 5) for a sample",
        ),
    ],
)
def test_a_mistake_is_one_sentence(capsys, network, data, options, message):
    assert run(network, data, "--execution", "pynative", *options) == 2
    told = capsys.readouterr()
    assert not told.out
    (line,) = (each for each in told.err.splitlines() if each.startswith("error: "))
    assert message in line
