"""Errors that were measured and accepted: what is kept, and what a later run is told."""

import json
from pathlib import Path

import pytest
import torch

from equivalence.__main__ import main
from equivalence.errors import CoverageError
from equivalence.report import accepted
from tests import gate


def line(case="c", error=1.0, worst=None, **more):
    common = {"twin": "t", "device": "cpu", "seed": 0, "unit": "roundings", "differs": None}
    common |= {"equal": True, "tensor": "output.0", "case": case, "error": error, "worst": worst}
    return {**common, **more}


def operator_line(case="e", error=1.0, **more):
    return line(case, error, torch="torch.exp", counterpart="ops.exp", **more)


@pytest.fixture
def results(tmp_path):
    def written(*records):
        path = tmp_path / "results.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    return written


# What is kept.


def test_operators_are_gathered_by_counterpart_and_twins_by_case_and_kind(results, tmp_path):
    path = results(
        operator_line("a", 1.0, worst=2.0),
        operator_line("a", 3.14159, tensor="gradient:input[0]"),
        operator_line("b", 0.5, worst=0.5),
        line("c", 1.0, worst=0.5),
        line("c", 2.0, tensor="output.1"),
        line("c", 0.25, tensor="gradient:conv1.weight"),
        line("c", 4.0, tensor="update[1]:conv1.weight"),
        line("d", 3.0, unit="levels", tensor="image"),
        line("e", 99.0, differs="known", declared=0.1, equal=False),
    )
    found = accepted.collect(accepted.results_of(path, "cpu"))
    figures = {"examples": 2, "tensors": 3, "worst": 3.14}
    assert found["operators"] == {"torch.exp": {"ops.exp": figures}}
    kinds = {"output": 2.0, "gradient": 0.25, "update": 4.0}
    assert found["twins"] == {"t": {"c": kinds, "d": {}, "e": {}}}
    assert found["versions"]["torch"] == torch.__version__.partition("+")[0]
    assert found["seed"] == 0
    told = "1 operators, 1 counterparts, 2 examples; 1 twins, 3 cases"
    assert accepted.summary(found) == told
    assert accepted.worst_of(found, "t") == 4.0
    assert accepted.worst_of(found, "u") is None
    accepted.write(found, tmp_path / "measured.json")
    assert accepted.read(tmp_path / "measured.json") == found
    assert sorted(p.name for p in tmp_path.iterdir()) == ["measured.json", "results.jsonl"]


def test_the_file_has_a_line_for_each_case_in_order(tmp_path):
    path = tmp_path / "measured.json"
    texts = []
    for records in ([line("b"), line("a")], [line("a"), line("b")]):
        accepted.write(accepted.collect(records), path)
        texts.append(path.read_text())
    assert texts[0] == texts[1]
    assert '   "a": {"output": 1.0},\n   "b": {"output": 1.0}\n' in texts[0]


def test_lines_of_other_devices_are_left_out(results):
    path = results(line("c"), line("d", device="ascend"))
    (found,) = accepted.results_of(path, "ascend")
    assert found["case"] == "d"
    with pytest.raises(CoverageError, match="has no comparison on gpu; make gate DEVICE=gpu"):
        accepted.results_of(path, "gpu")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (line("c", 99.0, equal=False), "is of a red run: output.0 of c differs"),
        (line("c", ill_posed="too few"), "is of a red run: c is ill-posed"),
        (line("c", differs="known", declared=0.1), "red run: the known difference of c is gone"),
        (line("c", 99.0, differs="known", equal=False), "output.0 of c differs"),
        (
            line("c", 99.0, differs="known", declared=0.1, unexpected=True, equal=False),
            "output.0 of c differs",
        ),
        (line("c", seed=7), r"is of several seeds, \[0, 7\]"),
    ],
)
def test_a_run_that_was_not_green_is_not_kept(results, record, message):
    with pytest.raises(CoverageError, match=message):
        accepted.results_of(results(line("b"), record), "cpu")


def test_results_that_are_damaged_are_refused(tmp_path):
    path = tmp_path / "results.jsonl"
    for text in ('{"case": "c"', "[]", "7", '{"case": "c"}'):
        path.write_text(text)
        with pytest.raises(CoverageError, match="is damaged"):
            accepted.results_of(path, "cpu")


def test_a_run_of_a_part_is_not_kept():
    found = accepted.collect([operator_line(), line("c")])
    pair = ("torch.exp", "ops.exp")
    accepted.demand_all(found, [pair], ["c"])
    for counterparts, cases, missing in (
        ([pair, ("torch.exp", "mint.exp")], ["c"], "torch.exp by mint.exp"),
        ([pair], ["c", "d"], "d"),
    ):
        with pytest.raises(CoverageError, match=f"1 comparisons .* first of them {missing};"):
            accepted.demand_all(found, counterparts, cases)


WHOLE = {"versions": {}, "seed": 0, "operators": {}, "twins": {}}
OTHERS = [
    *("", "[]", "{}", "7", "null"),
    *(
        json.dumps(WHOLE | part)
        for part in (
            {"versions": 1},
            {"seed": None},
            {"twins": []},
            {"twins": {"relu": ["relu-cpu"]}},
            {"twins": {"relu": {"relu-cpu": 0.5}}},
            {"twins": {"relu": {"relu-cpu": {"output": "0.5"}}}},
            {"operators": {"torch.exp": {"ops.exp": 0.5}}},
            {"operators": {"torch.exp": {"ops.exp": {"examples": 1}}}},
            {"operators": {"torch.exp": {"ops.exp": {"examples": 1, "tensors": 2, "worst": []}}}},
        )
    ),
]


def test_figures_that_have_their_form_are_read(tmp_path):
    (tmp_path / "measured.json").write_text(json.dumps(WHOLE))
    assert accepted.read(tmp_path / "measured.json") == WHOLE


@pytest.mark.parametrize("text", OTHERS)
def test_figures_that_are_damaged_are_refused(tmp_path, text):
    (tmp_path / "measured.json").write_text(text)
    with pytest.raises(CoverageError, match="is damaged"):
        accepted.read(tmp_path / "measured.json")


def test_figures_or_results_that_are_missing_are_refused(tmp_path):
    with pytest.raises(CoverageError, match="cannot be read: No such file"):
        accepted.read(tmp_path / "measured.json")
    with pytest.raises(CoverageError, match="cannot be read: No such file"):
        accepted.results_of(tmp_path / "results.jsonl", "cpu")


@pytest.fixture
def accepting(tmp_path, monkeypatch):
    """The command, for a gate of one operator and the case c, that keeps its file in a folder."""
    monkeypatch.setattr(accepted, "path_of", lambda device: tmp_path / f"measured-{device}.json")
    monkeypatch.setattr(
        "equivalence.coverage.command.counterparts", lambda: [("torch.exp", "ops.exp")]
    )
    monkeypatch.setattr("equivalence.coverage.command.gate", lambda device: [f"c-{device}"])
    return lambda path, *more: main(["accept", str(path), *more])


def test_the_command_keeps_the_figures_and_says_what_is_new_and_gone(results, accepting, capsys):
    assert accepting(results(operator_line(), line("c-cpu"))) == 0
    assert "1 operators" in capsys.readouterr().out
    assert accepting(results(operator_line(), line("c-cpu"), line("d"), line("e"))) == 0
    assert capsys.readouterr().out.startswith("2 cases are new, 0 are gone\n")
    path = results(operator_line(), line("c-cpu"))
    assert accepting(path) == 0
    assert capsys.readouterr().out.startswith("0 cases are new, 2 are gone\n")
    kept = accepted.read(path.parent / "measured-cpu.json")
    assert kept["twins"] == {"t": {"c-cpu": {"output": 1.0}}}


def test_the_command_keeps_what_was_accepted_when_it_refuses(results, accepting, capsys):
    path = results(operator_line(), line("c-cpu"))
    accepting(path)
    before = (path.parent / "measured-cpu.json").read_text()
    capsys.readouterr()
    for records in ([line("c-cpu")], [operator_line(), line("c-cpu", equal=False)]):
        assert accepting(results(*records)) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert (path.parent / "measured-cpu.json").read_text() == before


def test_the_command_replaces_what_is_damaged(results, accepting, capsys):
    path = results(operator_line(), line("c-cpu"))
    (path.parent / "measured-cpu.json").write_text('{"twins": [')
    assert accepting(path) == 0
    assert "what was accepted before is replaced: " in capsys.readouterr().out
    assert accepted.read(path.parent / "measured-cpu.json")["seed"] == 0


def test_the_command_keeps_another_file_for_another_device(results, accepting):
    record = {"device": "ascend"}
    path = results(operator_line(**record), line("c-ascend", **record))
    assert accepting(path, "--device", "ascend") == 0
    assert [p.name for p in path.parent.glob("measured*")] == ["measured-ascend.json"]


def test_the_gate_has_cases_of_every_kind_on_the_cpu_and_of_twins_elsewhere():
    cpu, ascend = (set(gate.cases(device)) for device in ("cpu", "ascend"))
    assert all(name.endswith("cpu") for name in cpu)
    assert {name.replace("ascend", "cpu") for name in ascend} < cpu
    for begin in ("bottleneck-", "imagenet_recipe-"):
        assert any(name.startswith(begin) for name in ascend)


def test_what_is_committed_was_accepted_of_the_seed_that_the_gate_runs():
    committed = accepted.read(accepted.path_of("cpu"))
    assert committed["seed"] == 0
    assert len(committed["twins"]) > 100
    assert len(committed["operators"]) > 100


# What a later run is told.


def news(now, before=(), **more):
    return accepted.compare(now, accepted.collect(before), **more)


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        (0.5, 5.0, True),
        (0.5, 4.9, False),
        (0.0, 1.01, True),
        (0.01, 0.99, False),
        (0.01, 1.0, False),
        (5.0, 0.5, False),
    ],
)
def test_an_error_is_told_that_grew_tenfold_and_beyond_a_rounding(was, now, told):
    assert bool(news([line("c", now)], [line("c", was)])) is told
    assert bool(news([operator_line("c", now)], [operator_line("c", was)])) is told


def test_it_is_told_with_its_case_and_tensor_and_both_figures():
    before = [line("c", 0.25, tensor="gradient:a"), line("c", 0.5), line("d", 0.5)]
    now = [
        line("c", 0.1, tensor="gradient:a"),
        line("c", 1.0, worst=4.25, tensor="gradient:b"),
        line("c", 0.75),
        line("d", 0.5),
    ]
    (told,) = news(now, before)
    assert told == "grown since it was accepted: gradient:b of c: 0.25 -> 4.25 roundings"


def test_of_an_operator_the_example_is_told():
    before = [operator_line("exp(normal(2)) ops.exp", 0.25)]
    (told,) = news([operator_line("exp(normal(3)) ops.exp", 2.5)], before)
    assert told.endswith("output.0 of exp(normal(3)) ops.exp: 0.25 -> 2.5 roundings")


def test_the_most_grown_come_first_and_the_rest_is_counted():
    before = [line(f"c{i}", 0.1) for i in range(accepted.MAX_GROWN + 2)]
    now = [line(f"c{i}", 2.0 + i) for i in range(accepted.MAX_GROWN + 2)]
    *told, rest = news(now, before)
    assert ["of c4" in told[0], "of c3" in told[1], "of c2" in told[2]] == [True] * 3
    assert rest == "... and 2 more errors that grew"


def test_more_examples_of_an_operator_or_another_seed_are_not_compared():
    before = [operator_line("a", 0.1)]
    assert news([operator_line("a", 9.0)], before)
    assert not news([operator_line("a", 9.0), operator_line("b", 9.0)], before)
    assert not news([operator_line("a", 9.0, seed=7)], before)


def test_cases_that_were_never_accepted_are_counted():
    told = news([line("c", 9.0), line("d", 9.0), line("e")], [line("e")])
    assert told == ["2 cases are not among the accepted results (`make accept` adds them)"]


def test_a_known_difference_grows_in_peace():
    known = {"differs": "known", "declared": 0.1, "equal": False}
    assert not news([line("c", 9e9, **known)], [line("c", 20.0, **known)])


def test_each_device_is_compared_with_its_own(tmp_path):
    for device in ("cpu", "ascend"):
        error = {"cpu": 0.1, "ascend": 4.0}[device]
        collected = accepted.collect([line("c", error, device=device)])
        accepted.write(collected, accepted.path_of(device, tmp_path))
    now = [line("c", 5.0, device=device) for device in ("cpu", "gpu", "ascend")]
    (told,) = accepted.news(now, tmp_path)
    assert "0.1 -> 5 roundings" in told


def test_accepted_results_that_are_damaged_are_told_and_fail_nothing(tmp_path):
    Path(tmp_path, "measured-cpu.json").write_text("{")
    (told,) = accepted.news([line("c")], tmp_path)
    assert "is damaged" in told
