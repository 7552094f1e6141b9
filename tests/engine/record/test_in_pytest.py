"""`--record` and `--candidate` inside pytest: two workers, parts, a framework that is missing."""

import json
from dataclasses import replace
from pathlib import Path

import mindspore as ms
import pytest

from equivalence.comparison import kept as references
from equivalence.declare.twin import cases
from equivalence.host import devices
from equivalence.record import store, truths
from equivalence.report.text import comparisons
from tests.engine.parts.recording import kept as keep
from tests.engine.plugin import test_options

pytest_plugins = ["pytester"]

_frameworks = test_options._frameworks

WITHOUT_TORCH = ("-p", "tests.engine.parts.without_torch")
WITHOUT = ("-p", "tests.engine.parts.without_mindspore")

TWINS = """
import pytest
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, cases, grid


def twin(name, candidate, **fields):
    return Twin(
        name,
        "torch.nn:Linear",
        f"tests.engine.parts.networks_ms:{candidate}",
        [normal(30, 40)],
        configs=grid(in_features=40, out_features=[24, 25]),
        executions=("pynative",),
        **fields,
    )


TWINS = [twin("right", "Affine"), twin("wrong", "StaleWeight", phases=("eval",))]
CASES = [
    pytest.param(case, id=case.name, marks=[pytest.mark.cpu, pytest.mark.gate])
    for twin in TWINS
    for case in cases(twin, "cpu")
]


@pytest.mark.parametrize("case", CASES)
def test_twin(case, compare):
    compare(case)
"""

LIVE = """
import pytest


@pytest.mark.cpu
def test_something_else():
    import torch
"""


@pytest.fixture
def project(project_of):
    """A right twin of four samples, and a wrong one of two."""
    return project_of(test_twins=TWINS, test_live=LIVE)


def run(project, *arguments):
    """A run in this process; in processes of its own with workers, or without a framework."""
    command = ("-p", "no:cacheprovider", "-p", "no:randomly", *arguments)
    if {"-n2", *WITHOUT_TORCH, *WITHOUT} & {*arguments}:
        return project.runpytest_subprocess(*command)
    references.forget()
    return project.runpytest_inprocess(*command, no_reraise_ctrlc=True)


def kept(project):
    """The samples on record, by twin."""
    found = store.manifest(Path(project.path, truths.FOLDER))
    return {twin: entry["samples"] for twin, entry in found.items()}


def origins(project):
    lines = Path(project.path, "reports/results.jsonl").read_text().splitlines()
    return {(each["twin"], each.get("record")) for each in comparisons(map(json.loads, lines))}


def test_two_workers_record_and_a_process_without_torch_reads_it(project):
    missing = run(project, "test_twins.py", "-k", "right", "--record=require")
    missing.assert_outcomes(failed=4, deselected=2)
    missing.stdout.fnmatch_lines(["right-*: there is no record of it with seed 0; run pytest *"])
    assert "Traceback" not in missing.stdout.str()

    result = run(project, "test_twins.py", "-n2", "--record=write")
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(["recorded 6 samples; fixtures/truth has 0.? MB"])
    assert {twin: len(samples) for twin, samples in kept(project).items()} == {
        "right": 4,
        "wrong": 2,
    }
    assert not [*Path(project.path, "reports").glob("recording*")]
    folder = Path(project.path, truths.FOLDER)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    result = run(project, *WITHOUT_TORCH, "--record=require", "-m", "cpu")
    result.assert_outcomes(passed=4, failed=2, skipped=1)
    result.stdout.fnmatch_lines(
        ["no diagnosis: it needs torch; repeat it where torch is installed"]
    )
    result.stdout.fnmatch_lines(["  records * 6 cases against recorded truth"])
    result.stdout.fnmatch_lines(["SKIPPED*: torch is not installed"])
    assert origins(project) == {("right", "used"), ("wrong", "used")}

    # Of a part, and broken off.
    result = run(project, "-k", "right and features24", "--record=write")
    result.stdout.fnmatch_lines(["recorded 2 samples; *"])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    project.makepyfile(test_zz="def test_zz():\n    raise KeyboardInterrupt")
    result = run(project, "--record=write", "--seed=1", "-k", "right or zz")
    result.stdout.fnmatch_lines(["the run was broken off: what it recorded is dropped"])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not [*Path(project.path, "reports").glob("recording*")]


def test_records_are_used_where_they_are_unless_they_are_ignored(project):
    run(project, "test_twins.py", "-k", "right and train", "--record=write")
    for option, found in (
        ((), {("right", "used"), ("right", None)}),
        (("--record=ignore",), {("right", None)}),
        (("--seed=1",), {("right", None)}),
    ):
        result = run(project, "test_twins.py", "-k", "right", *option)
        result.assert_outcomes(passed=4, deselected=2)
        assert origins(project) == found


def test_what_another_device_needs_is_recorded_without_it(project):
    """With the unit roundoff of its compute mode; nothing is compared there."""
    elsewhere = TWINS.replace('"cpu"', '"ascend"').replace("mark.cpu", "mark.ascend")
    project.makepyfile(test_ascend=elsewhere)
    refused = run(project, "test_ascend.py", "-m", "ascend")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    result = run(project, "test_ascend.py", "-m", "ascend", "-k", "right", "--record=write")
    result.assert_outcomes(passed=4, deselected=2)
    result.stdout.fnmatch_lines(
        ["No tensor was compared: 0 tensors of 4 cases of 1 twin", "  records  4 cases recorded"]
    )
    assert {key.rpartition(" ")[2] for key in kept(project)["right"]} == {"u=2^-11"}
    result = run(project, "test_twins.py", "-k", "right", "--record=use")
    assert origins(project) == {("right", None)}


def results(project):
    """The lines of results, without where the candidates ran."""
    lines = Path(project.path, "reports/results.jsonl").read_text().splitlines()
    found = comparisons(map(json.loads, lines))
    left = ("made_with", "settings")  # a recorded run has no settings
    return sorted(json.dumps({k: v for k, v in d.items() if k not in left}) for d in found)


def test_two_workers_keep_runs_and_a_process_without_mindspore_judges_them(project):
    result = run(project, "test_twins.py", "-n2", "--record-candidate=kept")
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(["recorded 6 runs; kept has 0.? MB"])
    assert not [*Path(project.path, "reports").glob("recording*")]
    plain = results(project)
    folder = Path(project.path, "kept")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    result = run(project, *WITHOUT, "-m", "cpu", "--candidate=kept")
    result.assert_outcomes(passed=4, failed=2, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "repeat: pytest 'test_twins.py::test_twin*' --seed 0 --candidate kept",
            f"no diagnosis: the candidate ran elsewhere, with MindSpore {ms.__version__}; repeat "
            "it where MindSpore, torch and the device are",
            f"  run elsewhere  6 cases, with MindSpore {ms.__version__}",
        ]
    )
    result.stdout.fnmatch_lines(["SKIPPED*: mindspore is not installed"])
    assert results(project) == plain
    assert "Traceback" not in result.stdout.str()

    result = run(project, "-k", "right", "--candidate=kept", "--seed=1")
    result.assert_outcomes(failed=4, deselected=3)
    result.stdout.fnmatch_lines(["right-*: */kept has no run of it with seed 1: run `make rec*"])

    # Of a part.
    result = run(project, "-k", "right and features24", "--record-candidate=kept")
    result.stdout.fnmatch_lines(["recorded 2 runs; *"])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_runs_on_a_device_are_judged_where_it_is_not(project, monkeypatch):
    """Kept here by an Ascend that is the CPU."""
    found = {}
    exec(TWINS.partition("CASES")[0], found)
    here = replace(devices.DEVICES["ascend"], target="CPU", choose=None)
    with monkeypatch.context() as patch:
        patch.setitem(devices.DEVICES, "ascend", here)
        every = [case for twin in found["TWINS"] for case in cases(twin, "ascend")]
        assert keep(Path(project.path, "kept"), *every) == 6
    project.makepyfile(
        test_ascend=TWINS.replace('"cpu"', '"ascend"').replace("mark.cpu", "mark.ascend")
    )
    result = run(project, *WITHOUT, "test_ascend.py", "-m", "ascend", "--candidate=kept")
    result.assert_outcomes(passed=4, failed=2)
    told = {json.loads(line)["device"] for line in results(project)}
    assert told == {"ascend"}


REFUSED = {
    "not there": (("--candidate=nowhere",), "*/nowhere/manifest.json is not there: name the f*"),
    "truth": (("--candidate=truth",), "*manifest.json has format 1, and this version reads 'ca*"),
    "truth to keep in": (("--record-candidate=truth",), "*/truth holds something else than r*"),
    "other files": (("--record-candidate=.",), "* holds something else than recorded runs: name*"),
    "a file": (("--record-candidate=pytest.ini",), "*pytest.ini cannot be used: File exists*"),
    "both": (("--record-candidate=a", "--candidate=b"), "*choose --record-candidate, which ke*"),
}


@pytest.mark.parametrize(("options", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_folder_that_is_not_one_of_runs_is_refused_before_anything_runs(
    project, options, sentence
):
    folder = Path(project.path, "truth")
    folder.mkdir()
    (folder / "manifest.json").write_text('{"format": 1, "twins": {}}')
    result = run(project, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {sentence}"])
    assert Path(project.path, "conftest.py").exists()
