"""Ranks that fail, hang, or are left alone: told by rank, in its words, and none lives on."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from equivalence.distributed import launch
from equivalence.distributed.launch import Launcher, RanksRun
from equivalence.errors import SideError

HERE = "tests.engine.parts.launching"
SMALL = Launcher("numpy", "NUMBER", lambda ranks, *_: [HERE, str(ranks)])
LIMIT = 30.0

HUNG = r" hung: \d+ s of processor time in (?:[5-9]|1\d) s, .*; rank 1 stands at step 1"
"""With a limit of 5 s."""


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs two ranks of a behaviour under the small launcher; the logs are kept below tmp_path."""
    monkeypatch.setitem(launch.LAUNCHERS, "small", SMALL)
    monkeypatch.setattr(launch, "LOGS", tmp_path / "kept")
    folder = tmp_path / "run"
    folder.mkdir()

    def start(behaviour: str, limit: float = LIMIT) -> RanksRun:
        made = RanksRun("a case", "small", 2, folder, limit)
        made([HERE, "rank", behaviour])
        return made

    return start


def living(folder: Path) -> list[str]:
    """The processes that work in a folder."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if Path(os.readlink(link)) == folder:
                found.append((link.parent / "cmdline").read_text())
        except OSError:  # ended meanwhile, or another's
            continue
    return found


def refused(run, tmp_path, behaviour: str, **options) -> str:
    with pytest.raises(SideError) as failed:
        run(behaviour, **options)
    assert living(tmp_path / "run") == []
    text = str(failed.value)
    assert text.startswith("a case: rank 1 under small ")
    log = text.rpartition("its log: ")[2]
    assert "step 1 of 2" in (tmp_path / log).read_text()
    assert (tmp_path / log).name == "rank1.log"
    return text


def test_ranks_that_end_with_their_results_pass(run, tmp_path):
    made = run("right")
    assert [rank.has_reported for rank in made.ranks] == [True, True]
    assert living(tmp_path / "run") == []
    assert not (tmp_path / "kept").exists()


def test_a_rank_that_crashes_behind_its_result_is_refused_unless_the_status_is_asked_for(
    run, tmp_path
):
    with pytest.raises(SideError, match=r"the run under small ended with status 1"):
        run("crashes late")
    made = RanksRun("a case", "small", 2, tmp_path / "run", LIMIT)
    assert made.status_of([HERE, "rank", "right"]) == 0
    assert made.status_of([HERE, "rank", "crashes late"]) == 1


def test_what_a_rank_has_printed_before_it_raises_is_told(run, tmp_path):
    assert "; its last lines: about to read shard 4; " in refused(
        run, tmp_path, "prints and raises"
    )


def test_a_rank_that_raises_is_told_in_its_words_with_the_line(run, tmp_path):
    told = refused(run, tmp_path, "raises")
    assert "raised ValueError: a batch of nothing (" in told
    assert "launching.py:" in told
    assert "\nC++ call stack" not in told
    assert "; meanwhile rank 0 stands at step 2 of 2 (" in told


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("killed", "ended at step 1 of 2 without a result or a word, as one that is killed"),
        ("aborts", "died at step 1 of 2: Aborted"),
    ],
)
def test_a_rank_that_dies_is_named_while_the_other_waits_for_it(run, tmp_path, behaviour, words):
    assert words in refused(run, tmp_path, behaviour)  # had it been waited for: "did not end"


def test_the_last_lines_of_a_rank_that_dies_are_told(run, tmp_path):
    assert "; its last lines: about to map | 90 GB; meanwhile" in refused(run, tmp_path, "killed")


def test_the_stack_of_a_rank_that_dies_is_none_of_its_last_lines(run, tmp_path):
    assert "its last lines" not in refused(run, tmp_path, "aborts")


def test_a_rank_that_hangs_is_told_from_the_one_that_waits_and_its_child_is_ended(run, tmp_path):
    told = refused(run, tmp_path, "hangs", limit=5.0)
    assert re.search(HUNG, told)
    assert "in hangs)" in told


def test_a_rank_that_the_launcher_ends_is_not_blamed(run, tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "POLL", 1.0)  # both have ended when they are looked at
    assert "ended at step 1 of 2 without a result" in refused(run, tmp_path, "killed_with_other")


def test_a_result_that_is_missing_is_told(run, tmp_path):
    told = refused(run, tmp_path, "forgetful")
    assert "ended at step 1 of 2 without a result" in told


def test_logs_that_cannot_be_kept_hide_no_failure(run, tmp_path):
    (tmp_path / "kept").write_text("a file in the place of the folder")
    with pytest.raises(SideError, match=r"rank 1 .*a batch of nothing .*its log could not be kept"):
        run("raises")


def test_a_launcher_that_fails_is_told_in_its_words(run, monkeypatch):
    wrong = Launcher("numpy", "NUMBER", lambda *_: ["tests.engine.no_such_launcher"])
    monkeypatch.setitem(launch.LAUNCHERS, "small", wrong)
    with pytest.raises(SideError, match=r"left no result; the launcher's last words: .*No module"):
        run("right")


def test_a_launcher_that_is_not_installed_is_told(run, monkeypatch):
    absent = Launcher("no_such_framework", "NUMBER", SMALL.command)
    monkeypatch.setitem(launch.LAUNCHERS, "small", absent)
    with pytest.raises(SideError, match="a case: small is a part of no_such_framework, which is"):
        run("right")


WAITS = """
import sys
from pathlib import Path
from equivalence.distributed import launch
from equivalence.distributed.launch import RanksRun
from tests.engine.distributed.test_launch import HERE, SMALL
launch.LAUNCHERS["small"] = SMALL
RanksRun("a case", "small", 2, Path(sys.argv[1]), 60.0)([HERE, "rank", "hangs"])
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_when_the_process_that_waits_is_ended(tmp_path, ending):
    waiting = subprocess.Popen(
        [sys.executable, "-c", WAITS, str(tmp_path)],
        cwd=launch.ROOT,
        stderr=subprocess.DEVNULL,
    )
    _until(lambda: len(living(tmp_path)) == 5)  # guard, launcher, two ranks and a child
    waiting.send_signal(ending)
    waiting.wait()
    _until(lambda: not living(tmp_path))


def _until(true):
    deadline = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_reserved_port_is_given_to_nobody_else():
    with launch._reserve_port() as one, launch._reserve_port() as other:
        assert one != other
