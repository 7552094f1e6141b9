"""Findings as text: what a run writes, lists, what is shown of one, and what is posted."""

import os
import subprocess
import sys

import pytest

from equivalence.__main__ import main
from equivalence.findings import catalogue, scripts
from equivalence.findings.scripts import FOLDER
from tests.engine.parts.scripts import KILLED, TWO_LINES, empty, script

DECLARED = scripts.read_all(FOLDER)


def test_the_page_is_written_in_the_clone_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(catalogue, "INDEX", tmp_path / "docs" / "findings.md")
    assert main(["findings", "index"]) == 2
    assert "docs/ lies in the repository, not in the installed package" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of findings, in an empty directory to write the report to."""
    return empty(tmp_path, monkeypatch)


def test_a_run_of_all_is_written_and_a_stale_one_is_exit_code_1(folder, capsys):
    script(folder, "one", TWO_LINES + "sys.exit(1)")
    script(folder, "two", KILLED, "crash")
    assert main(["findings", "run", "--jobs", "2"]) == 0
    report = (folder.parent / "reports/findings.txt").read_text()
    out = capsys.readouterr().out
    assert "2 of 2 findings stand (kernel 1, crash 1)" in out
    assert "    two is wrong." in report
    rows = [line.split() for line in report.splitlines()]
    assert ["one", "kernel", "mindspore.ops.one", "there"] in [row[:4] for row in rows]
    assert ["two", "crash", "mindspore.ops.two", "crashes"] in [row[:4] for row in rows]
    assert "torch 2." in report
    assert os.listdir(folder.parent / "reports") == ["findings.txt"]

    script(folder, "three", TWO_LINES)
    assert main(["findings", "run", "--jobs", "2"]) == 1
    report = (folder.parent / "reports/findings.txt").read_text()
    assert "2 of 3 findings stand" in report
    assert "three: gone, remove it from findings/" in report


def test_a_failed_script_is_exit_code_1(folder, capsys):
    script(folder, "one", "import no_such_module")
    assert main(["findings", "run"]) == 1
    assert "one: failed, in another way than it says" in capsys.readouterr().out


def test_a_part_is_run_by_name_and_leaves_the_report(folder, capsys):
    script(folder, "one", TWO_LINES + "sys.exit(1)")
    script(folder, "two", "import no_such_module")
    assert main(["findings", "run", "one"]) == 0
    assert "two" not in capsys.readouterr().out
    assert not (folder.parent / "reports").exists()


def test_an_unknown_name_and_no_finding_at_all_are_one_sentence(folder, capsys):
    assert main(["findings", "run"]) == 2
    assert capsys.readouterr().err == f"error: {folder} has no findings\n"
    script(folder, "one", TWO_LINES + "sys.exit(1)")
    assert main(["findings", "run", "one", "tow"]) == 2
    assert capsys.readouterr().err.startswith("error: no finding is called tow; equiv")
    assert main(["findings", "show", "onne"]) == 2
    assert "is called onne; nearest: one; equivalence findings list" in capsys.readouterr().err


@pytest.mark.parametrize("jobs", ["0", "-1", "x"])
def test_a_number_of_jobs_that_makes_no_sense_is_a_mistake(capsys, jobs):
    with pytest.raises(SystemExit) as ended:
        main(["findings", "run", "--jobs", jobs])
    assert ended.value.code == 2
    assert "error: argument --jobs" in capsys.readouterr().err


def test_an_interruption_is_no_traceback(folder, monkeypatch, capsys):
    script(folder, "one", TWO_LINES + "sys.exit(1)")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(scripts.time, "sleep", interrupt)
    assert main(["findings", "run"]) == 130
    assert capsys.readouterr().err == "interrupted: reports/findings.txt was not written\n"
    assert not (folder.parent / "reports").exists()


def test_the_list_has_the_most_dangerous_first_and_can_be_searched(capsys):
    assert main(["findings", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    order = list(scripts.SEVERITIES)
    severities = [line.split()[0] for line in lines]
    assert severities == sorted(severities, key=order.index)
    assert len(lines) == len(DECLARED)
    assert main(["findings", "list", "torch.roll"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["raises", "roll_kernel:"]
    assert main(["findings", "list", "no such word"]) == 2


def test_a_finding_can_be_shown(capsys):
    assert main(["findings", "show", "interpolate_bicubic"]) == 0
    out = capsys.readouterr().out
    assert "silent: a wrong number, and nothing tells" in out
    assert "mode='bicubic'" in out
    assert "sys.exit(" in out


def test_the_page_that_lists_them_is_current():
    assert catalogue.INDEX.read_text() == catalogue.index(DECLARED)


def test_a_finding_is_a_text_to_post_and_its_script_runs_by_itself(folder, capsys):
    path = script(folder, "one", TWO_LINES + "sys.exit(1)")
    text = path.read_text().replace("is wrong.", "is wrong.\n\nOnly so.\n\nCause: a typo.", 1)
    path.write_text(text)
    assert main(["findings", "show", "one", "--report"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# ops.one: one is wrong\n\nOnly so.\n\n## Environment\n\nmindspore ")
    assert "## Expected, as PyTorch\n\n```text\n1\n```\n\n## Got\n\n```text\n2\n```" in out
    assert out.endswith("## Cause\n\na typo.\n\n")
    posted = out.partition("```python\n")[2].partition("```")[0]
    assert "SEVERITY" not in posted
    assert '"""' not in posted
    ran = subprocess.run([sys.executable, "-c", posted], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (1, "expected 1\ngot 2\n")


def test_what_does_not_stand_here_is_not_posted(folder, capsys):
    script(folder, "one", TWO_LINES)
    assert main(["findings", "show", "one", "--report"]) == 2
    told = capsys.readouterr().err
    assert told == "error: one does not stand here (got 2); nothing to report\n"
