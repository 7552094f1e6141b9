"""The benchmark of step times: what it times, and what it writes."""

import json

import pytest

from benchmarks import step_times
from equivalence.timing.steps import REFERENCE, Row, Times

ROWS = [
    Row(
        "conv",
        {
            REFERENCE: Times(0.5, [0.001, 0.002, 0.003]),
            "MindSpore graph": Times(12.25, [0.003, 0.005, 0.007]),
        },
    ),
    Row("a step", {REFERENCE: Times(2.0, [1.5] * 5)}),
]


def test_the_table_and_every_time_are_written(tmp_path):
    step_times.kept(ROWS, "this machine", tmp_path / "reports")
    text = (tmp_path / "reports/step_times.md").read_text().splitlines()
    assert text == ["this machine", "", *step_times.table(ROWS)]
    found = json.loads((tmp_path / "reports/step_times.json").read_text())
    assert found["machine"] == "this machine"
    assert [(e["step"], e["side"], e["first"]) for e in found["times"]] == [
        ("conv", "PyTorch", 0.5),
        ("conv", "MindSpore graph", 12.25),
        ("a step", "PyTorch", 2.0),
    ]
    assert found["times"][1]["seconds"] == [0.003, 0.005, 0.007]
    assert len(list((tmp_path / "reports").iterdir())) == 2


def test_a_step_is_a_case_for_each_execution_mode():
    for name, of_step in step_times.steps_of("cpu").items():
        assert [(case.execution, case.phase) for case in of_step] == [
            ("pynative", "train"),
            ("graph", "train"),
        ], name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no such step"], "no step is called so; there are: conv3x3"),
        (["--device", "tpu"], "invalid choice: 'tpu'"),
    ],
)
def test_a_mistake_in_the_command_is_one_sentence(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        step_times.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_device_that_is_absent_is_named(monkeypatch, capsys):
    monkeypatch.setattr(step_times.devices, "present", lambda _: False)
    with pytest.raises(SystemExit):
        step_times.main(["--device", "ascend"])
    assert "MindSpore finds no ascend device on this host" in capsys.readouterr().err
