"""The workflow files: that what they call is there, and that a red run leaves its reports.

`make lint` holds them against the published schemas.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from equivalence.host.devices import DEVICES

ROOT = Path(__file__).parents[2]
GITHUB = sorted(ROOT.glob(".github/workflows/*.yml"))
GITLAB = ROOT / ".gitlab-ci.yml"
MAKEFILE = (ROOT / "Makefile").read_text()

WITHOUT_REPORTS = ("make docs", "make package")
"""What tests nothing."""


def read(path):
    return YAML(typ="safe").load(path.read_text())


def github_jobs():
    for path in GITHUB:
        for name, job in read(path)["jobs"].items():
            yield pytest.param(job, id=f"{path.stem}-{name}")


def gitlab_jobs():
    """Every job that runs, with what it extends."""
    found = read(GITLAB)
    for name, job in found.items():
        whole = {**found.get(job.get("extends"), {}), **job} if isinstance(job, dict) else {}
        if "script" in whole and not name.startswith("."):
            yield pytest.param(whole, id=name)


def matrix(job):
    """The values of each key of a job's matrix, in either format."""
    found = job.get("strategy", {}).get("matrix", {})
    parallel = job.get("parallel", {})
    rows = found.get("include", [found]) if found else []
    rows += parallel["matrix"] if isinstance(parallel, dict) and parallel else []
    values = {}
    for row in rows:
        for key, value in row.items():
            values.setdefault(key, []).extend(value if isinstance(value, list) else [value])
    return values


def commands(job):
    """What a job calls, for every value of its matrix."""
    lines = [step["run"] for step in job.get("steps", []) if "run" in step]
    if "script" in job:
        lines += job.get("before_script", read(GITLAB)["default"]["before_script"])
        lines += job["script"]
    for line in (line for text in lines for line in text.splitlines()):
        variants = [line]
        for key, values in matrix(job).items():
            spelled = r"\$\{\{ matrix\." + key + r" \}\}|\$" + key + r"\b"
            variants = [re.sub(spelled, str(v), each) for each in variants for v in values]
        yield from dict.fromkeys(variants)


JOBS = [*github_jobs(), *gitlab_jobs()]


def target_names():
    return set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def variable_names():
    return set(re.findall(r"^([A-Z]+) \?=", MAKEFILE, re.MULTILINE))


@pytest.mark.parametrize("job", JOBS)
def test_every_target_and_variable_that_a_job_gives_make_is_in_the_makefile(job):
    called = [shlex.split(line)[1:] for line in commands(job) if line.startswith("make ")]
    for words in called:
        targets = [word for word in words if "=" not in word]
        assert len(targets) == 1, words
        assert set(targets) <= target_names()
        assert {word.partition("=")[0] for word in words if "=" in word} <= variable_names()
    given = {name for name in {**job.get("env", {}), **job.get("variables", {})} if name != "SEED"}
    assert given <= variable_names() | {"PIP_EXTRA_INDEX_URL", "BROWSER_TESTS"}


@pytest.mark.parametrize("job", JOBS)
def test_no_job_leaves_out_what_was_green_before(job):
    assert not [line for line in commands(job) if re.search(r"--changed|make changed", line)]


def test_only_one_target_leaves_out_what_was_green_before():
    rules = re.findall(r"^([a-z-]+):.*\n((?:\t.*\n)*)", MAKEFILE, re.MULTILINE)
    assert [target for target, recipe in rules if "--changed" in recipe] == ["changed"]
    assert not re.search(
        r"--changed", "".join(re.findall(r"^\w+ [?:]?= .*", MAKEFILE, re.MULTILINE))
    )


def test_the_jobs_of_a_merge_are_those_of_make_test():
    (wanted,) = re.findall(r"^test: ([a-z ]+?) *##", MAKEFILE, re.MULTILINE)
    for job in (read(ROOT / ".github/workflows/merge.yml")["jobs"]["test"], read(GITLAB)["test"]):
        ran = [line for line in commands(job) if line != "make install"]
        ran = [line for line in ran if line.startswith("make ")]
        assert ran == [f"make {target}" for target in wanted.split()]


def test_what_users_install_is_tested_with_every_python_and_both_ends_of_the_ranges():
    pythons = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    github = read(ROOT / ".github/workflows/installed.yml")
    assert {"pull_request", "schedule"} <= {*github["on"]}
    github, gitlab = github["jobs"]["installed"], read(GITLAB)["installed"]
    for job, key in ((github, "python"), (gitlab, "VERSION")):
        assert matrix(job)[key] == pythons
        ran = [line for line in commands(job) if line.startswith("make ")]
        assert ran == [f"make installed PACKAGES={each}" for each in ("newest", "oldest")]
    (setup,) = (each for each in github["steps"] if "setup-python" in each.get("uses", ""))
    assert setup["with"]["python-version"] == "${{ matrix.python }}"
    assert gitlab["image"] == "python:$VERSION"
    assert "rules" not in gitlab, "it runs for merge requests and every night"


def github_shards(device):
    """(mode, "part/of") of each job that the matrix of GitHub makes for a device."""
    rows = read(ROOT / ".github/workflows/nightly.yml")["jobs"]["twins"]["strategy"]["matrix"]
    for row in rows["include"]:
        if row["device"] == device:
            assert row["shard"].startswith(f"{row['part']}/")
            yield row.get("mode", DEVICES[device].modes[0]), row["shard"]


def gitlab_shards(device):
    job = read(GITLAB)[f"twins-{device}"]
    assert job["variables"]["DEVICE"] == device
    assert job.get("tags", []) == ([] if device == "cpu" else [device])
    for row in job["parallel"]["matrix"]:
        for mode in row.get("MODE", DEVICES[device].modes[:1]):
            yield from ((mode, shard) for shard in row["SHARD"])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shards", [github_shards, gitlab_shards])
def test_every_night_runs_every_shard_in_every_mode_of_every_device(shards, device):
    found = list(shards(device))
    assert [*dict.fromkeys(mode for mode, _ in found)] == list(DEVICES[device].modes)
    for mode in DEVICES[device].modes:
        parts = [shard for each, shard in found if each == mode]
        assert len(parts) > 1
        assert parts == [f"{part + 1}/{len(parts)}" for part in range(len(parts))]


@pytest.mark.parametrize("job", [*github_jobs()])
def test_a_job_on_github_ends_and_keeps_its_reports_when_it_fails(job):
    assert job["timeout-minutes"] <= 180
    uploads = [s for s in job["steps"] if s.get("uses", "").startswith("actions/upload-artifact@")]
    made = [line for line in commands(job) if line.startswith("make ")]
    if not {*made} <= {"make install", *WITHOUT_REPORTS}:
        (upload,) = uploads
        assert upload["if"].startswith("always()")
        assert upload["with"]["path"] == "reports/"
        assert "${{ matrix." in upload["with"]["name"], "two jobs cannot write one artefact"


@pytest.mark.parametrize("job", [*github_jobs()])
def test_only_a_job_that_publishes_may_write_and_it_runs_nothing_of_the_repository(job):
    if "permissions" in job:
        assert job["environment"]
        assert not [*commands(job)]
        assert not [step for step in job["steps"] if "checkout" in step["uses"]]


@pytest.mark.parametrize("path", GITHUB, ids=lambda path: path.stem)
def test_a_workflow_may_only_read(path):
    found = read(path)
    assert found["permissions"] == {"contents": "read"}
    checkouts = [
        step
        for job in found["jobs"].values()
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("job", [*gitlab_jobs()])
def test_a_job_on_gitlab_keeps_its_reports_when_it_fails(job):
    if any(line.startswith("make ") and line != "make install" for line in commands(job)):
        assert job["artifacts"]["when"] == "always"
        assert job["artifacts"]["paths"] == ["reports/"]
        assert job["artifacts"]["reports"]["junit"] == "reports/junit-*.xml"


def recipe(target):
    """What make would run."""
    environment = {name: v for name, v in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", "--dry-run", target, "SHARD=1/2"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.replace("\\\n", " ")


def test_what_make_gives_pytest_are_options_that_it_has(pytestconfig):
    known = {
        name
        for group in [*pytestconfig._parser._groups, pytestconfig._parser._anonymous]
        for option in group.options
        for name in option.names()
    }
    for target in ("engine", "gate", "nightly", "defects", "record", "record-candidate"):
        calls = [line for line in recipe(target).splitlines() if " -m pytest " in line]
        assert calls
        for call in calls:
            words = shlex.split(call.partition(" -m pytest ")[2])
            options = {word.partition("=")[0] for word in words if word.startswith("-")}
            assert options
            assert options <= known, call
    assert "--splits" in known


def test_a_schema_refuses_a_workflow_with_a_mistake(tmp_path):
    """So that the line of `make lint` can fail."""
    job = {"runs-on": "ubuntu-24.04", "timeout-minutes": 5, "steps": [{"run": "make lint"}]}
    right = {"on": "push", "jobs": {"lint": job}}
    wrong = {"on": "push", "jobs": {"lint": {**job, "stpes": []}}}
    path = tmp_path / "workflow.yml"
    for workflow, code in ((right, 0), (wrong, 1)):
        path.write_text(json.dumps(workflow))
        checker = Path(sys.executable).with_name("check-jsonschema")
        command = [checker, "--builtin-schema", "vendor.github-workflows", path]
        assert subprocess.run(command, capture_output=True, check=False).returncode == code
