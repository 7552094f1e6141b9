"""The page of releases is what the releases told, and doubts what they told of another script."""

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks import releases
from equivalence.findings import scripts
from equivalence.findings.scripts import CRASHES, FAILED, GONE, THERE

SCRIPT = '"""{} differs."""\n\nAPI = "mindspore.ops.{}"\nSEVERITY = "silent"\nTORCH = ()\n'


@pytest.fixture
def found(tmp_path):
    """Two findings."""
    folder = tmp_path / "findings"
    for name in ("relu", "tanh"):
        path = folder / "kernel" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SCRIPT.format(name, name))
    return scripts.read_all(folder)


def kept(found, **states):
    """What two releases told: by name of a finding, its state in each."""
    return {
        release: {
            "versions": {"torch": "2.13.0"},
            "findings": {
                f.name: [releases.digest(f), states[f.name][at], f"got {at}"] for f in found
            },
        }
        for at, release in enumerate(("2.9.0", "2.10.0"))
    }


def row(text, start):
    (line,) = (line for line in text.splitlines() if line.startswith(start))
    return line


def test_a_finding_that_came_with_a_release_is_told(found):
    text = releases.page(kept(found, relu=(GONE, THERE), tanh=(CRASHES, THERE)), found)
    assert row(text, "| relu differs") == "| relu differs | `mindspore.ops.relu` | right | stands |"
    assert row(text, "| 2.9.0") == "| 2.9.0 | torch 2.13.0 | 1 | 1 | 0 |"
    assert row(text, "- `mindspore.ops.tanh`") == "- `mindspore.ops.tanh`: tanh differs."
    assert "- `mindspore.ops.relu`" not in text


def test_a_script_that_fails_tells_nothing_and_why(found):
    text = releases.page(kept(found, relu=(FAILED, THERE), tanh=(THERE, THERE)), found)
    assert row(text, "| relu differs").endswith("| ? | stands |")
    assert row(text, "- relu, 2.9.0") == "- relu, 2.9.0: got 0"


def test_what_was_told_of_another_script_is_not_told(found):
    told = kept(found, relu=(THERE, THERE), tanh=(THERE, THERE))
    found[0].path.write_text(SCRIPT.format("relu", "relu") + "print(1)\n")
    text = releases.page(told, found)
    assert row(text, "| relu differs").endswith("| ? | ? |")
    assert row(text, "| 2.10.0") == "| 2.10.0 | torch 2.13.0 | 1 | 0 | 1 |"


def test_what_a_script_declares_is_not_what_it_does(found):
    told = kept(found, relu=(THERE, THERE), tanh=(THERE, THERE))
    before = releases.page(told, found)
    path = found[0].path
    path.write_text(path.read_text() + '# more\nWHEN = "NaN"\n')
    assert releases.page(told, found) == before


def test_this_environment_is_asked_and_the_others_stay(found, monkeypatch, tmp_path):
    monkeypatch.setattr(scripts, "FOLDER", found[0].path.parents[1])
    monkeypatch.setattr(releases, "KEPT", tmp_path / "releases.json")
    releases.KEPT.write_text(json.dumps({"2.9.0": {}, "2.10.0": {}}))
    body = 'print("expected 1")\nprint("got 2")\n'
    for each, end in zip(found, (f"{body}raise SystemExit(1)", body), strict=True):
        each.path.write_text(f"{each.path.read_text()}{end}\n")
    counts = {"cases": 9, "red": 1, "not in it": 0}
    monkeypatch.setattr(releases, "gate", lambda _: counts)
    releases.main(["2.10.0", "--here", "--jobs", "2"])
    told = releases.load()
    assert [*told] == ["2.9.0", "2.10.0"]
    assert told["2.9.0"] == {}
    states = {name: state for name, (_, state, _) in told["2.10.0"]["findings"].items()}
    assert states == {"relu": THERE, "tanh": GONE}
    assert told["2.10.0"]["gate"] == counts


JUNIT = '<testsuites><testsuite tests="9" failures="1" errors="1" skipped="3"/></testsuites>'


def test_the_gate_of_a_release_is_counted_and_told(found, monkeypatch):
    def run(command, **_):
        Path(command[-1]).write_text(JUNIT)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(releases.subprocess, "run", run)
    told = kept(found, relu=(THERE, THERE), tanh=(THERE, THERE))
    told["2.9.0"]["gate"] = releases.gate(1)
    text = releases.page(told, found)
    assert "| 2.9.0 | 9 | 2 | 3 |" in text.splitlines()


def test_a_gate_that_was_broken_off_is_not_counted(monkeypatch):
    ended = subprocess.CompletedProcess([], 2)
    monkeypatch.setattr(releases.subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(SystemExit, match="did not run to its end: exit code 2"):
        releases.gate(1)


def test_a_release_whose_gate_is_red_fails(found, monkeypatch, tmp_path):
    told = kept(found, relu=(THERE, THERE), tanh=(THERE, THERE))
    told["2.9.0"]["gate"] = {"cases": 9, "red": 1, "not in it": 0}
    monkeypatch.setattr(scripts, "FOLDER", found[0].path.parents[1])
    monkeypatch.setattr(releases, "KEPT", tmp_path / "releases.json")
    monkeypatch.setattr(releases, "PAGE", tmp_path / "releases.md")
    monkeypatch.setattr(releases, "ROOT", tmp_path)
    monkeypatch.setattr(releases, "environment", lambda _: "python")
    monkeypatch.setattr(releases.subprocess, "run", lambda *_, **__: None)
    releases.KEPT.write_text(json.dumps(told))
    with pytest.raises(SystemExit, match=r"the gate is red in 2\.9\.0"):
        releases.main(["2.9.0"])
    told["2.9.0"]["gate"]["red"] = 0
    releases.KEPT.write_text(json.dumps(told))
    releases.main(["2.9.0"])


def test_the_page_is_current():
    found = scripts.read_all(scripts.FOLDER)
    assert releases.PAGE.read_text() == releases.page(releases.load(), found)
