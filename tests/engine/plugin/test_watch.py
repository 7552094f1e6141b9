"""A process that dies or hangs names its test, why, and how to repeat it; nothing else is told."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from equivalence.plugin.watch import DIED

pytest_plugins = ["pytester"]

TESTS = """
import ctypes
import os
import signal
import threading
import time

import pytest

WAYS = {
    "pass": lambda: None,
    "fail": lambda: pytest.fail("as any test does"),
    "exit": lambda: os._exit(0),
    "leave": lambda: ctypes.CDLL(None)._exit(0),
    "segfault": lambda: ctypes.string_at(0),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "hang": lambda: time.sleep(600),
    "spin": lambda: [None for _ in iter(int, 1)],
    "starve": lambda: starve(),
    "fork": lambda: os.fork() or os._exit(0),
}


def starve():
    "As on a busy machine: six seconds, a third of them of processor time."
    until = time.monotonic() + 6.0
    while time.monotonic() < until:
        time.sleep(0.02)
        begun = time.process_time()
        while time.process_time() < begun + 0.01:
            pass


@pytest.fixture
def compare():
    "Compares nothing, so that no framework is loaded."


@pytest.mark.timeout(3)
@pytest.mark.parametrize("way", WAYS)
def test_twin(way, compare):
    WAYS[way]()


def test_of_something_else():
    os._exit(3)


@pytest.mark.timeout(3)
def test_of_a_thread():
    print("THREADS", *(thread.name for thread in threading.enumerate()))
"""

DEATHS = {
    "exit": (r"it called os\._exit\(0\)", 1),
    "leave": (DIED, 0),  # which no process can change; a run with workers is red
    "segfault": (DIED, -signal.SIGSEGV),
    "kill": (DIED, -signal.SIGKILL),
    "hang": (r"it hung: 0 s of processor time in [34] s, 0\.\d s of it in the last \d s", 1),
    "spin": (r"it took too long: \d s of processor .* the limit is 3 s of processor time", 1),
}
"""How a test ends its process -> a pattern of what is told, and the exit code without workers."""


@pytest.fixture
def project(project_of, monkeypatch, tmp_path):
    """Tests that end in every way; temporary files go to a folder of its own."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return project_of(test_dying=TESTS)


def run(project, *arguments):
    """Exit code, and all that the run and its guard have written, once both have ended."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def named(*ways):
    return [f"test_dying.py::test_twin[{way}]" for way in ways]


def lines_from(text, first):
    """Three lines of a text, from one that begins so."""
    lines = text.splitlines()
    return lines[next(n for n, line in enumerate(lines) if line.startswith(first)) :][:3]


def repeat(way):
    return f"repeat: pytest 'test_dying.py::test_twin[{way}]' --seed 7"


@pytest.mark.parametrize("way", DEATHS)
def test_without_workers_a_guard_names_the_test(project, way):
    why, expected = DEATHS[way]
    code, _, told = run(project, "-p", "no:xdist", "--seed", "7", *named("pass", way))
    assert code == expected
    first, cause, again = lines_from(told, "the run ended")
    assert first == f"the run ended within test_dying.py::test_twin[{way}]"
    assert re.fullmatch(why, cause)
    assert again == repeat(way)


def test_with_workers_the_failures_name_their_tests(project, tmp_path):
    chosen = named(*DEATHS, "pass")
    code, told, errors = run(project, "-n2", "--seed", "7", *chosen)
    assert code == pytest.ExitCode.TESTS_FAILED
    assert f"{len(DEATHS)} failed, 1 passed" in told
    assert "the run ended" not in errors
    for way, (why, _) in DEATHS.items():
        crash = f"crashed while running 'test_dying.py::test_twin[{way}]'"
        assert re.search(f"{re.escape(crash)}\n{why}\n{re.escape(repeat(way))}\n", told)
    assert not [*(tmp_path / "temporary").glob("equivalence-*")]


def test_a_test_that_is_slow_since_the_machine_is_busy_goes_on(project):
    _, told, _ = run(project, "-n1", "--durations=1", *named("starve"))
    assert "1 passed" in told
    assert re.search(r"^([6-9]|1\d)\.\d+s call ", told, re.MULTILINE)  # twice its timeout


def test_nothing_is_told_of_tests_that_end_by_themselves(project, tmp_path):
    left = tmp_path / "temporary" / "equivalence-999999999-of_a_run_that_was_killed"
    left.mkdir()
    code, told, errors = run(project, "-p", "no:xdist", *named("pass", "fail", "fork"))
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 2 passed" in told
    assert "the run ended" not in told + errors
    assert not [*left.parent.iterdir()]


def test_other_tests_are_none_of_its_business(project):
    code, _, told = run(project, "-p", "no:xdist", "test_dying.py::test_of_something_else")
    assert code == 3
    assert "the run ended" not in told


def test_the_timeout_of_other_tests_is_pytest_timeouts_own(project):
    """As in any project: the hook of this repository's conftest.py is not there."""
    project.makeconftest('pytest_plugins = ["equivalence.plugin"]')
    chosen = ("-s", "-p", "no:xdist", "test_dying.py::test_of_a_thread")
    assert "pytest_timeout test_dying.py::test_of_a_thread" in run(project, *chosen)[1]


def test_tests_of_the_engine_may_be_slow_on_a_busy_machine():
    assert any(thread.name.startswith("timeout of tests/") for thread in threading.enumerate())


def test_no_process_outlives_a_run_that_is_killed(project):
    """Not even a worker in a test that hangs."""
    chosen = "test_dying.py::test_twin[hang]"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n1", chosen]
    ran = subprocess.Popen(command, cwd=project.path, stdout=subprocess.DEVNULL)
    while not (children := _children(ran.pid)):
        time.sleep(0.1)
    time.sleep(2.0)
    ran.kill()
    ran.wait()
    deadline = time.monotonic() + 30.0
    while any(map(_runs, children)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [*filter(_runs, children)]


def _children(process):
    """The processes that a process has started."""
    told = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [*map(int, re.findall(r"\d+", told))]


def _runs(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2][:3]
