"""The page and the lines of failures that a run writes beside its results."""

import io
import json
import os
from pathlib import Path

import pytest

from equivalence import files
from equivalence.trend import growth, history
from equivalence.trend.history import History
from tests.engine.plugin.test_options import WRONG, id_of, project, run, text_of  # noqa: F401

pytest_plugins = ["pytester"]


def failures(project, file="reports/results.jsonl"):  # noqa: F811
    """Name of each failed case -> its line."""
    lines = map(json.loads, Path(project.path, file).read_text().splitlines())
    return {line["case"]: line for line in lines if "failure" in line}


def page(project):  # noqa: F811
    return Path(project.path, "reports", "index.html").read_text()


def test_a_run_writes_a_page_beside_its_results(project):  # noqa: F811
    text = text_of(run(project, "-k", "(right or different) and cpu", "--seed", "0"))
    assert "\nas a page: reports/index.html\n" in text
    assert failures(project) == {}
    made = page(project)
    assert f"<h1>Equivalence of {project.path.name}</h1>" in made
    assert "<b>2</b> equal" in made
    assert "<b>1</b> known difference" in made
    assert "pytest -p no:cacheprovider -k &#39;(right or different) and cpu&#39; --seed 0\n" in made
    assert "\nmindspore 2." in made


def test_a_failed_case_keeps_its_text_and_its_layers_once(project):  # noqa: F811
    run(project, "-k", "(right or wrong or misnamed) and cpu and pynative")
    found = failures(project)
    wrong, misnamed = found.pop(id_of("wrong")), found.pop(id_of("misnamed"))
    assert found == {}
    assert WRONG in wrong["failure"].splitlines()
    told = wrong["failure"].splitlines()
    assert told[0].startswith("DIFFERENT. wrong (")
    assert told[told.index("details:") - 1] == f"repeat: pytest '{wrong['test']}' --seed 0"
    diagnosis = wrong["diagnosis"]
    trees = {"reference": {"": "Linear"}, "candidate": {"": "TransposedWeight"}}
    assert diagnosis["trees"] == trees
    assert [layer[:2] for layer in diagnosis["layers"]] == [["", ""]]
    assert diagnosis["culprits"][0]["statement"] in WRONG
    assert misnamed["failure"].startswith("weights do not pair up: 2 complaints")
    assert "diagnosis" not in misnamed
    assert "<b>2</b> different" in page(project)


def test_a_run_without_a_case_writes_no_page(project):  # noqa: F811
    run(project, "test_arithmetic.py").assert_outcomes(passed=1)
    assert not Path(project.path, "reports").exists()


def test_a_page_that_cannot_be_written_costs_no_verdict(project):  # noqa: F811
    Path(project.path, "reports", "index.html").mkdir(parents=True)
    result = run(project, "-k", "right and cpu and pynative")
    result.assert_outcomes(passed=1, deselected=21)
    assert "no page: " in text_of(result)
    assert "index.html cannot be written: " in text_of(result)
    names = {path.name for path in Path(project.path, "reports").iterdir()}
    assert names == {"index.html", "results.jsonl", "trend.sqlite"}


CHOSEN = ("-k", "right and cpu and pynative")


def test_files_that_cannot_be_written_cost_no_verdict(project):  # noqa: F811
    Path(project.path, "reports").write_text("a file in the place of the folder")
    chosen = ("-k", "(right or wrong) and cpu and pynative", "--junitxml=reports/junit.xml")
    result = run(project, *chosen)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, failed=1, deselected=20)
    text = text_of(result)
    assert WRONG in text
    assert "no file of every layer: " in text
    assert "no file of results: " in text
    assert "no page: " in text
    assert "no trend is kept: " in text
    assert "not all files could be written: " in text
    assert "Traceback" not in text
    assert "INTERNALERROR" not in text


def test_a_disk_that_fills_up_costs_no_verdict(project, monkeypatch):  # noqa: F811
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(28, "No space left on device")

        writelines = write

    as_ever = Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda self, *a, **b: Full() if ".part" in self.name else as_ever(self, *a, **b),
    )
    result = run(project, *CHOSEN)
    assert result.ret == pytest.ExitCode.OK
    text = text_of(result)
    for name in ("results.jsonl", "index.html"):
        assert f"{name} cannot be written: [Errno 28] No space left on device" in text
    assert "EQUAL. 4 tensors of 1 case of 1 twin; " in text


def test_a_case_with_a_very_long_name_is_diagnosed_all_the_same(project, monkeypatch):  # noqa: F811
    monkeypatch.setattr(files, "LONGEST", 20)
    text = text_of(run(project, "-k", "wrong and cpu"))
    assert "every layer: reports/diagnosis/wrong-in_features4-o-" in text
    assert len([*Path(project.path, "reports", "diagnosis").iterdir()]) == 1


def test_what_killed_runs_have_left_is_cleared(project):  # noqa: F811
    reports, gone, here = Path(project.path, "reports"), 999_999_999, os.getpid()
    for process in (gone, here):
        Path(reports, "diagnosis").mkdir(parents=True, exist_ok=True)
        Path(reports, f"results.jsonl.{process}.part").write_text("")
        Path(reports, "diagnosis", f"case.txt.{process}.part").write_text("")
        Path(reports, f"recording-{process}", "truth").mkdir(parents=True)
    Path(reports, "mine.part").write_text("of someone else")
    run(project, *CHOSEN)
    names = {str(path.relative_to(reports)) for path in reports.rglob("*")}
    assert names == {
        *("index.html", "results.jsonl", "trend.sqlite", "mine.part"),
        *("diagnosis", f"diagnosis/case.txt.{here}.part"),
    }


# The trend.


def test_each_run_is_kept_and_says_what_grew_in_it(project, monkeypatch):  # noqa: F811
    monkeypatch.setattr(growth, "FLOOR", 0.0)
    path = Path(project.path, "reports", "trend.sqlite")
    for number in range(4):
        result = run(project, *CHOSEN, "--seed", "3")
        assert "grew in this run" not in text_of(result)
        # What was kept is made smaller, as if the errors had grown before the last run.
        shrunk = 1e-3 if number == 2 else 1.0
        found = history.read(path)
        history.write(
            path,
            History(
                tuple(
                    (each, tuple(one._replace(error=one.error * shrunk) for one in results))
                    for each, results in found.runs
                )
            ),
        )
        assert len(found.runs) == number + 1
        if number == 2:
            break
    grown = run(project, *CHOSEN, "--seed", "3")
    assert grown.ret == 0
    told = f"grew in this run: {id_of('right')}: "
    (line,) = [line for line in grown.outlines if line.startswith(told)]
    assert "(1,000 times)" in line
    kept, results = history.read(path).runs[-1]
    assert (kept.devices, kept.mode, kept.seed) == ("cpu", None, 3)
    assert {*kept.versions} == {"mindspore", "torch"}
    assert [(one.name, one.verdict, one.tensors) for one in results] == [
        (id_of("right"), "equal", 4)
    ]
    assert results[0].seconds > 0
    assert "Errors that have grown (1)" in page(project)


def test_a_trend_goes_where_it_is_told_to_and_what_is_none_is_a_sentence(project):  # noqa: F811
    run(project, *CHOSEN, "--trend=kept/mine.sqlite")
    assert len(history.read(Path(project.path, "kept", "mine.sqlite")).runs) == 1
    Path(project.path, "kept", "mine.sqlite").write_text("rubbish " * 99)
    result = run(project, *CHOSEN, "--trend=kept/mine.sqlite")
    assert result.ret == 0
    assert "no trend is kept: " in text_of(result)
    assert "mine.sqlite is damaged, or no file of a trend (" in text_of(result)
