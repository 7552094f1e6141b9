"""Limits: what hangs or takes too much processor time is ended; what is slow alone goes on."""

import subprocess
import sys
import time

import pytest

from equivalence import processes
from equivalence.processes import TimeLimit

SPIN = "while True: pass"
SLEEP = "import time; time.sleep(600)"
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', {!r}])"


class Machine:
    """A clock, and a process that gets a share of a processor."""

    def __init__(self, monkeypatch):
        self.clock = self.spent = 1000.0
        monkeypatch.setattr(processes.time, "monotonic", lambda: self.clock)
        monkeypatch.setattr(processes, "processor_time", lambda _: self.spent)

    def told(self, limit: TimeLimit, share: float, seconds: float) -> str | None:
        """What is told within so many seconds; None where nothing is."""
        until = self.clock + seconds
        while self.clock < until:
            self.clock, self.spent = self.clock + 1.0, self.spent + share
            if why := limit.over():
                return why
        return None


@pytest.fixture
def machine(monkeypatch):
    return Machine(monkeypatch)


def test_a_slow_process_goes_on_until_it_has_taken_the_limit(machine):
    limit = TimeLimit(300.0)
    assert machine.told(limit, 0.2, 1490.0) is None
    told = machine.told(limit, 0.2, 60.0)
    assert told.startswith("took too long: 300 s of processor time in 15")
    assert told.endswith("; the limit is 300 s of processor time")


def test_no_process_is_ended_before_the_limit_on_the_clock(machine):
    assert machine.told(TimeLimit(300.0), 8.0, 295.0) is None


def test_a_process_that_takes_no_processor_time_has_hung(machine):
    assert machine.told(TimeLimit(300.0), 0.01, 295.0) is None
    told = machine.told(TimeLimit(300.0), 0.01, 310.0)
    assert told == "hung: 3 s of processor time in 300 s, 2.9 s of it in the last 300 s"


def test_a_process_that_stops_computing_later_has_a_minute(machine):
    limit = TimeLimit(300.0)
    assert machine.told(limit, 0.5, 400.0) is None
    assert machine.told(limit, 0.0, 50.0) is None
    assert machine.told(limit, 0.0, 20.0).endswith(" s of it in the last 60 s")


def test_a_process_that_takes_little_forever_is_ended(machine):
    told = machine.told(TimeLimit(300.0), 0.08, 3100.0)
    assert told == "took too long: 240 s of processor time in 3000 s; the limit is 300 s"


def test_several_processors_may_be_busy_all_the_time(machine):
    limit = TimeLimit(300.0, processors=2)
    assert machine.told(limit, 0.8, 700.0) is None
    assert machine.told(limit, 0.8, 60.0).endswith("the limit is 600 s of processor time")


def test_time_in_which_nobody_could_look_does_not_count(machine):
    limit = TimeLimit(60.0)
    assert machine.told(limit, 1.0, 40.0) is None
    machine.clock += 3600.0  # all were stopped
    assert machine.told(limit, 1.0, 6.0) is None
    assert machine.told(limit, 1.0, 20.0) is not None


@pytest.fixture
def start():
    """Starts Python processes, which are ended."""
    started = []

    def one(code: str) -> subprocess.Popen:
        started.append(subprocess.Popen([sys.executable, "-c", code]))
        return started[-1]

    yield one
    for process in started:
        for each in (*map(str, processes.descendants(process.pid)), str(process.pid)):
            subprocess.run(["kill", "-9", each], check=False)
        process.wait()


def ended(limit: TimeLimit) -> str:
    """What is told, once something is."""
    until = time.monotonic() + 60.0
    while time.monotonic() < until:
        if why := limit.over():
            return why
        time.sleep(0.02)
    raise AssertionError("nothing was told")


@pytest.mark.parametrize(("code", "words"), [(SPIN, "took too long: "), (SLEEP, "hung: ")])
def test_the_time_of_a_child_is_that_of_the_process(start, code, words):
    parent = start(PARENT.format(code))
    assert ended(TimeLimit(2.0, parent.pid)).startswith(words)
    assert len(processes.descendants(parent.pid)) == 1


def test_what_a_child_took_that_has_ended_counts_on(start):
    burn = "import time\nwhile time.process_time() < 0.5: pass"
    parent = start(PARENT.format(burn) + "; import time; time.sleep(600)")
    until = time.monotonic() + 60.0
    while processes.processor_time(parent.pid) < 0.5 or processes.descendants(parent.pid):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_without_proc_the_clock_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "Path", lambda _: tmp_path)
    assert processes.descendants(1) == []
    assert abs(processes.processor_time(1) - time.monotonic()) < 1.0
