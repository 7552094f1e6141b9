"""Units of work in processes: one that dies, hangs or grows takes no other unit with it."""

import os
import signal
import tempfile
import time

from benchmarks import workers


def marks(folder):
    return [name for name in os.listdir(folder) if name.startswith("mark")]


def holders(folder):
    """The processes that hold memory now: those that began to, and live."""
    return [name for name in os.listdir(folder) if os.path.exists(f"/proc/{name}")]


def task(action, argument, at):
    at(f"{action} {argument}")
    if action == "die":
        os.abort()
    if action == "hang":
        time.sleep(3600)
    if action == "need all" and os.path.exists(f"{argument}.used"):
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "use":
        open(f"{argument}.used", "w").close()
        time.sleep(2)
        os.remove(f"{argument}.used")
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "hold":
        open(f"{argument}/{os.getpid()}", "w").close()
        until = time.monotonic() + 30.0
        while len(marks(argument)) < 3 and time.monotonic() < until:
            time.sleep(0.05)
    if action == "mark":
        open(f"{argument}/mark {os.getpid()}", "w").close()
    if action == "rest":
        time.sleep(0.5)
    if action == "grow":
        bytearray(argument)
    place = {"folder": tempfile.gettempdir(), "cores": os.sched_getaffinity(0)}
    return {"pid": os.getpid(), "argument": argument, **place}


def answers(units, jobs=1):
    return [answer for _, answer in workers.run(task, units, jobs)]


def test_a_process_that_dies_loses_its_unit_alone():
    before, died, after = answers([("give", 1), ("die", 2), ("give", 3)])
    assert (before["argument"], after["argument"]) == (1, 3)
    assert died == workers.Lost("die 2", "the process died (exit code -6)")


def test_a_unit_that_needs_all_memory_is_tried_again_alone(tmp_path):
    memory = str(tmp_path / "memory")
    units = [("use", memory), ("need all", memory), ("give", 3)]
    (tmp_path / "memory.used").touch()  # before the second begins, whichever starts first
    assert [each["argument"] for each in answers(units, jobs=2)] == [3, memory, memory]


def test_a_unit_for_which_memory_is_short_starts_again_beside_others(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "LOOK", 0.05)
    monkeypatch.setattr(workers, "MEMORY", 0)  # a process for each unit
    monkeypatch.setattr(workers.memory, "is_short", lambda _: len(holders(tmp_path)) > 1)
    folder = str(tmp_path)
    units = [("hold", folder), ("hold", folder), *[("mark", folder)] * 4]
    done = [unit[0] for unit, _ in workers.run(task, units, jobs=2)]
    assert done[:2] == ["mark", "mark"]  # beside the first
    assert sorted(done) == ["hold"] * 2 + ["mark"] * 4
    assert len(os.listdir(tmp_path)) == 3 + 4  # one was ended, and began once more


def test_a_unit_is_not_ended_for_the_memory_of_other_programs(monkeypatch):
    monkeypatch.setattr(workers.memory, "is_short", lambda _: True)
    assert [each["argument"] for each in answers([("rest", 1), ("rest", 2)], jobs=2)] == [1, 2]


def test_a_unit_that_is_killed_alone_is_lost():
    killed = workers.Lost("kill 1", "the process died (exit code -9)")
    assert answers([("kill", 1)], jobs=2) == answers([("kill", 1)]) == [killed]


def test_a_process_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr(workers, "LOOK", 0.2)  # what it has not seen counts once
    monkeypatch.setattr(workers, "PATIENCE", 3.0)
    hung, after = answers([("hang", 1), ("give", 2)])
    assert hung.at == "hang 1"
    assert hung.cause.startswith("the process hung: ")
    assert after["argument"] == 2


def test_a_process_is_kept_until_it_has_held_too_much(monkeypatch):
    monkeypatch.setattr(workers, "MEMORY", 512 << 20)
    units = [("give", 1), ("grow", 1 << 30), ("give", 2)]
    pids = [answer["pid"] for answer in answers(units)]
    assert pids[0] == pids[1] != pids[2]


def test_a_process_does_not_inherit_the_peak_of_the_one_that_started_it(monkeypatch):
    grown = bytearray(256 << 20)
    grown[::4096] = b"x" * len(grown[::4096])
    monkeypatch.setattr(workers, "MEMORY", workers.peak() - (64 << 20))
    first, second = answers([("give", 1), ("give", 2)])
    assert first["pid"] == second["pid"]


def test_units_go_to_as_many_processes_as_there_are_jobs():
    pids = {answer["pid"] for answer in answers([("rest", i) for i in range(6)], jobs=2)}
    assert len(pids) == 2
    assert os.getpid() not in pids


def test_what_a_process_leaves_behind_is_removed():
    first, _ = answers([("give", 1), ("die", 2)])
    assert first["folder"] != tempfile.gettempdir()
    assert not os.path.exists(first["folder"])


def test_each_process_has_a_core_of_its_own_where_there_are_enough():
    cores = os.sched_getaffinity(0)
    units = [("rest", 1), ("rest", 2), ("die", 3), ("rest", 4)]
    jobs = min(2, len(cores))
    found = [each["cores"] for each in answers(units, jobs) if isinstance(each, dict)]
    assert set.union(*found) == set(sorted(cores)[:jobs])
    assert {len(each) for each in found} == {1}
    assert answers(units[:1], len(cores) + 1)[0]["cores"] == cores
