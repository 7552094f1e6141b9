"""`equivalence trend`: what grew, of one file or of several."""

import subprocess
import sys
from pathlib import Path

import pytest

from equivalence.__main__ import main
from equivalence.trend.history import History, read, write
from tests.engine.parts.histories import history, result, run
from tests.engine.trend.test_growth import planted

ROOT = Path(__file__).parents[3]

TEN = history(**{"conv-cpu": planted(2.0, 3.0, 6), "relu-cpu": planted(3.0, 1.0, 1)})


@pytest.fixture
def told(capsys):
    """What the command prints; it must end with this code."""

    def tell(*arguments, code=0):
        assert main(["trend", *map(str, arguments)]) == code
        return capsys.readouterr()

    return tell


@pytest.fixture
def ten(tmp_path):
    write(tmp_path / "trend.sqlite", TEN)
    return tmp_path / "trend.sqlite"


def test_it_says_what_grew_and_in_which_run_it_began(told, ten):
    lines = told(ten).out.splitlines()
    assert lines[:2] == ["10 runs, 2026-11-01 02:17 to 2026-11-10 02:17", "1 case grew:"]
    assert lines[2].startswith("  conv-cpu: 2 -> 6.06 of 16 roundings (3.03 times), output.0, ")
    assert "since 2026-11-06 02:17, commit c6; the run before: 2026-11-05 02:17" in lines[2]
    assert len(lines) == 3


def test_the_folder_of_reports_is_the_default(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "reports cannot be" in told(code=2).err or "there is no" in told(code=2).err
    write(tmp_path / "reports" / "trend.sqlite", TEN)
    assert "1 case grew" in told().out


def test_a_case_is_shown_run_by_run(told, ten):
    lines = told(ten, "--case", "conv*").out.splitlines()
    assert lines[0] == "conv-cpu, seed 0"
    assert lines[6].split() == [
        *("2026-11-06", "02:17", "c6", "6.18", "of", "16", "equal", "1.5", "s", "output.0")
    ]
    assert len(lines) == 12
    assert lines[-1].startswith("  grew: 2 -> 6.06 of 16 roundings")
    assert len(told(ten, "--case", "*").out.splitlines()) == 23


def test_a_case_that_no_run_has_is_one_sentence_with_the_nearest(told, ten):
    assert told(ten, "--case", "conv_cpu", code=2).err == (
        "error: no case is called 'conv_cpu'; nearest: conv-cpu; '*' stands for anything\n"
    )


def test_files_and_folders_are_put_together_and_written_into_one(told, tmp_path):
    for name, runs in (("a", TEN.runs[:7]), ("b", TEN.runs[4:])):
        write(tmp_path / "shards" / name / "trend.sqlite", History(runs))
    assert "1 case grew" in told(tmp_path / "shards", "--write", tmp_path / "all.sqlite").out
    assert read(tmp_path / "all.sqlite") == TEN


def test_a_file_that_cannot_be_read_costs_no_other(told, ten, tmp_path):
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_text("rubbish " * 99)
    printed = told(damaged, ten)
    assert "10 runs" in printed.out
    assert printed.err.startswith(f"left out: {damaged} is damaged, or no file of a trend (")
    assert printed.err.count("\n") == 1
    assert told(damaged, code=2).err.startswith(f"error: {damaged} is damaged")


def test_another_file_is_not_written_over(told, ten, tmp_path):
    other = tmp_path / "README.md"
    other.write_text("not a history, but long enough to look like something " * 9)
    before = other.read_text()
    assert "error: " in told(ten, "--write", other, code=2).err
    assert other.read_text() == before


def test_a_folder_without_a_file_is_one_sentence(told, tmp_path):
    assert told(tmp_path, code=2).err == (
        f"error: {tmp_path} has no file trend.sqlite: run pytest, or name another\n"
    )


def test_what_the_latest_run_warned_of_is_told(told, tmp_path):
    warned = run(3, warnings=("grown since it was accepted: a of b: 0.1 -> 3 roundings",))
    write(tmp_path / "trend.sqlite", History(((warned, (result(),)),)))
    assert told(tmp_path).out.splitlines() == [
        "1 run, 2026-11-03 02:17 to 2026-11-03 02:17",
        "0 cases grew",
        "the run of 2026-11-03 02:17, commit c3 warned:",
        "  grown since it was accepted: a of b: 0.1 -> 3 roundings",
    ]


def test_it_needs_the_standard_library_alone(ten):
    command = [sys.executable, "-S", "-m", "equivalence", "trend", ten]  # -S: no site-packages
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 case grew" in done.stdout
