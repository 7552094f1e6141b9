"""What a CI reads of a run: its exit code, and a report in JUnit's format."""

import json
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from equivalence.report import accepted
from tests.engine.plugin import test_options as test_plugin
from tests.engine.plugin.test_options import ROOT, TWINS, id_of, results, run, text_of

pytest_plugins = ["pytester"]

project, frameworks = test_plugin.project, test_plugin._frameworks
cpu_only = test_plugin.cpu_only

BROKEN = """
def pytest_sessionstart():
    raise RuntimeError("broken")
"""


pytestmark = pytest.mark.usefixtures("cpu_only")


@pytest.mark.parametrize(
    ("chosen", "code"),
    [
        (["-k", "right and cpu"], 0),
        (["-k", "different and cpu"], 0),
        (["-k", "wrong and cpu"], 1),
        (["-k", "misnamed and cpu"], 1),
        (["-k", "right and gpu"], 1),  # skipped, so that nothing is compared
        (["test_nothing_like_it.py"], 4),
        (["-m", "ascend"], 4),
        (["-k", "right", "--no-such-option"], 4),
        (["-k", "no_such_twin"], 5),
    ],
)
def test_the_exit_code_tells_how_it_went(project, chosen, code):
    assert run(project, *chosen).ret == code


def test_a_declaration_that_cannot_be_read_is_an_interrupted_run(project):
    project.makepyfile(test_twins=TWINS.replace('"torch.nn:Linear",', "", 1))
    assert run(project).ret == 2


def test_an_error_of_the_suite_itself_is_neither_equal_nor_different(project):
    project.makeconftest((ROOT / "conftest.py").read_text() + BROKEN)
    assert run(project, "-k", "right and cpu").ret == 3


def reported(project, *arguments):
    """The test cases of the report of a run, by the names of their twins."""
    run(project, "--junitxml=reports/junit.xml", *arguments)
    suite = ElementTree.parse(Path(project.path, "reports/junit.xml")).getroot()
    return {case.get("name"): case for case in suite.iter("testcase")}


def properties(case):
    return {each.get("name"): each.get("value") for each in case.iter("property")}


def test_the_report_names_the_case_how_far_it_is_off_and_the_culprit(project):
    cases = reported(project, "-k", "(right or wrong) and cpu")
    right, wrong = (cases[f"test_twin[{id_of(twin)}]"] for twin in ("right", "wrong"))
    assert {case.get("classname") for case in cases.values()} == {"test_twins"}
    assert right.find("failure") is None
    (failure,) = wrong.iter("failure")
    message = failure.get("message")
    assert message.startswith(
        "DIFFERENT. wrong (in_features=4, out_features=4, train, PyNative, CPU): "
    )
    assert message.endswith(
        "; port networks_ms.py:187 return ops.matmul(x, self.weight) + self.bias"
    )
    assert "repeat: pytest" in failure.text
    told = properties(right)
    assert (told["tensors"], told["budget"]) == ("4", "8")
    assert 0.0 <= float(told["roundings"]) <= 8.0
    assert float(properties(wrong)["roundings"]) > 8.0
    records = [r for r in results(project) if r["case"] == id_of("wrong")]
    worst = max(records, key=lambda record: max(record["error"], record["worst"]))
    assert properties(wrong)["worst tensor"] == worst["tensor"]


def test_the_report_says_in_one_line_why_nothing_can_be_compared(project):
    cases = reported(project, "-k", "misnamed and cpu")
    (failure,) = cases[f"test_twin[{id_of('misnamed')}]"].iter("failure")
    assert failure.get("message") == "weights do not pair up: 2 complaints"
    assert properties(cases[f"test_twin[{id_of('misnamed')}]"]) == {}


# What was accepted.


@pytest.fixture
def accepting(project):
    """Accepts the last results of the project, with errors that are so many times as large."""

    def accept(times):
        records = results(project)
        for record in records:
            record["error"] *= times
            record["worst"] *= times
        path = accepted.path_of("cpu", Path(project.path, "fixtures"))
        path.parent.mkdir(exist_ok=True)
        accepted.write(accepted.collect(records), path)

    return accept


def test_a_run_warns_of_what_has_grown_and_is_green_all_the_same(project, accepting, monkeypatch):
    chosen = ("-k", "right and cpu and pynative")
    run(project, *chosen)
    accepting(1.0)
    same = run(project, *chosen)
    assert "grown since" not in text_of(same)
    accepting(1e-6)
    monkeypatch.setattr(accepted, "FLOOR", 1e-3)
    grown = run(project, *chosen)
    assert grown.ret == 0
    grown.stdout.fnmatch_lines([f"grown since it was accepted: * of {id_of('right')}: * roundings"])


# Options that name nothing.


@pytest.mark.parametrize("option", ["candidate", "record-candidate", "results", "trend", "example"])
def test_an_empty_option_is_a_wrong_command(project, option):
    result = run(project, "-m", "cpu", f"--{option}=")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*error: argument --{option}: it is empty; name something, *"])


def test_an_example_without_an_operator_is_a_wrong_command(project):
    result = run(project, "-k", "right and cpu", "--example", "softmax(normal(2, 3), dim=1)")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --example is of an operator, and no operator is chosen:*"])


# Shards.


@pytest.mark.parametrize("shard", ["2", "2/", "/4", "2/4/6", "0/4", "a/b", "1 2"])
def test_a_shard_that_is_no_part_of_a_whole_is_one_sentence(shard):
    done = subprocess.run(
        ["make", "--dry-run", "nightly", f"SHARD={shard}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert f"SHARD={shard} is no part of a whole; write SHARD=2/4 for the second" in done.stderr


@pytest.mark.parametrize("durations", [None, {"pynative": 3.0, "graph": 1.0}])
@pytest.mark.parametrize("shards", [1, 2, 3, 5])
def test_shards_together_run_every_case_once(project, shards, durations):
    everything = collected(project)
    if durations:
        times = {each: durations["graph" if "graph" in each else "pynative"] for each in everything}
        Path(project.path, "durations.json").write_text(json.dumps(times))
    parts = [
        collected(project, f"--splits={shards}", f"--group={group + 1}", "--durations-path")
        for group in range(shards)
    ]
    assert [each for part in parts for each in part] == everything


def collected(project, *arguments):
    more = [*arguments, "durations.json"] if arguments else []
    result = run(project, "--collect-only", "-q", "-m", "cpu", *more)
    return [line for line in result.outlines if line.startswith("test_twins.py::")]
