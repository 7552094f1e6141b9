"""The page and the lines of failures that a run writes beside its results."""

import json
from pathlib import Path

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
    assert wrong["failure"].splitlines()[-1] == f"repeat: pytest '{wrong['test']}' --seed 0"
    diagnosis = wrong["diagnosis"]
    trees = {"reference": {"": "Linear"}, "candidate": {"": "TransposedWeight"}}
    assert diagnosis["trees"] == trees
    assert [layer[:2] for layer in diagnosis["layers"]] == [["", ""]]
    assert diagnosis["culprits"][0]["statement"] in WRONG
    assert misnamed["failure"].startswith("weights do not pair up: 2 complaints")
    assert "diagnosis" not in misnamed
    assert "<b>2</b> different" in page(project)


def test_a_case_that_ends_its_process_is_on_the_page(project):  # noqa: F811
    arguments = ("-p", "no:cacheprovider", "-k", "(right or aborting) and cpu and pynative", "-n1")
    project.runpytest_subprocess(*arguments).assert_outcomes(passed=1, failed=1)
    (line,) = failures(project).values()
    assert line["case"] == id_of("aborting")
    assert "crashed while running" in line["failure"]
    assert "<b>1</b> different" in page(project)


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
