"""The benchmark of step times: its arithmetic and table, with steps that only move a clock."""

import itertools
import json

import pytest

from benchmarks import step_times
from benchmarks.step_times import FEWEST, PATIENCE, REFERENCE, ROUNDS, WARM_UP, Row, Times


class Clock:
    """Stands still but for what steps take."""

    def __init__(self):
        self.now, self.order = 0.0, []

    def __call__(self):
        return self.now

    def side(self, name, building, *seconds):
        """A builder of a step that takes so long; the last time is that of all later steps."""
        waiting = list(seconds)

        def step():
            self.order.append(name)
            self.now += waiting.pop(0) if len(waiting) > 1 else waiting[0]

        def build():
            self.now += building
            return step

        return build


def test_sides_take_turns_and_the_first_rounds_are_left_out():
    clock = Clock()
    sides = {"a": clock.side("a", 5.0, 4.0, 3.0, 3.0, 0.125), "b": clock.side("b", 0.0, 0.125)}
    found = step_times.measured(sides, clock)
    assert found["a"].first == 5.0 + 4.0
    assert found["a"].steps == [0.125] * ROUNDS
    assert found["b"] == Times(0.125, [0.125] * ROUNDS)
    assert clock.order == ["a", "b"] * (1 + WARM_UP + ROUNDS)


def test_slow_steps_are_timed_a_few_times_only():
    clock = Clock()
    found = step_times.measured({"a": clock.side("a", 0.0, PATIENCE)}, clock)
    assert found["a"].steps == [PATIENCE] * FEWEST
    clock = Clock()
    found = step_times.measured({"a": clock.side("a", 0.0, PATIENCE / 20)}, clock)
    assert FEWEST < len(found["a"].steps) < ROUNDS


def test_the_spread_is_by_quartiles_so_that_one_long_step_moves_nothing():
    assert Times(0.0, [1.0, 2.0, 3.0, 4.0, 5.0]).quartiles == (2.0, 3.0, 4.0)
    assert Times(0.0, [1.0, 2.0, 3.0, 4.0, 5e3]).quartiles == (2.0, 3.0, 4.0)
    assert Times(0.0, [1.0, 2.0]).quartiles == (1.25, 1.5, 1.75)


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


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_has_median_quartiles_ratio_and_first_step():
    titles, rule, conv, step = map(cells, step_times.table(ROWS))
    assert set("".join(rule)) == {"-"}
    assert dict(zip(titles, conv, strict=True)) == {
        "step, ms: median (quartiles)": "conv",
        "PyTorch": "2 (1.5-2.5)",
        "MindSpore graph": "5 (4-6)",
        "MindSpore graph / PyTorch": "2.50",
        "first step of PyTorch, s": "0.5",
        "first step of MindSpore graph, s": "12.2",
        "rounds": "3",
    }
    assert step == ["a step", "1500 (1500-1500)", "-", "-", "2.0", "-", "5"]


def test_the_lines_of_the_table_are_equally_long():
    assert len({len(line) for line in step_times.table(ROWS)}) == 1


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


def test_the_machine_is_told_with_the_versions():
    told = step_times.machine("cpu")
    for word in ("mindspore 2.", "torch 2.", "; cpu; ", " cores, ", ", load ", "one thread"):
        assert word in told


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


def test_both_sides_of_a_small_step_are_run(monkeypatch):
    from dataclasses import replace

    from equivalence.declare.draws import normal
    from equivalence.host.isolation import isolated
    from tests.twins import declared

    monkeypatch.setattr(step_times, "ROUNDS", 1)
    (twin,) = (twin for twin in declared() if twin.name == "conv1x1")
    small = replace(twin, inputs=[normal(2, 3, 5, 4)], configs=[{"in_planes": 3, "out_planes": 2}])
    with isolated():
        ticks = itertools.count()
        builders = step_times.builders(step_times._cases(small, "cpu"))
        found = step_times.measured(builders, lambda: next(ticks))
    assert list(found) == [REFERENCE, "MindSpore pynative", "MindSpore graph"]
    # Each step, and the first with what comes before it, lies between two readings of the clock.
    assert {side: (times.first, times.steps) for side, times in found.items()} == {
        side: (1, [1]) for side in found
    }
