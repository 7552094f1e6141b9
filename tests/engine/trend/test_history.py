"""The file of a trend: what is added is read again; any other file is one sentence."""

import math
import os
import re
import sqlite3
import stat

import pytest

from equivalence.errors import HistoryError
from equivalence.trend import history as stored
from equivalence.trend.history import KEPT, NOTHING, add, read, write
from tests.engine.parts.histories import history, result, run


@pytest.fixture
def path(tmp_path):
    return tmp_path / "reports" / stored.NAME


def refused(call, *arguments):
    with pytest.raises(HistoryError) as error:
        call(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_is_added_is_read_again(path):
    full = run(
        1,
        versions={"mindspore": "2.9.0", "torch": "2.9.1"},
        devices="ascend, cpu",
        mode="float32",
        seed=7,
        warnings=("grown since it was accepted: a",),
    )
    every = (result("a"), result("b", math.inf, verdict="different"), result("c", None))
    add(path, full, every)
    add(path, run(2, commit=None), every[:1])
    found = read(path)
    assert found.runs == ((full, every), (run(2, commit=None), every[:1]))
    assert [each.name for each in path.parent.iterdir()] == [stored.NAME]


def test_a_run_without_a_key_gets_one_of_its_own(path):
    for day in (1, 1):
        add(path, run(day, key=""), [result()])
    assert len({run.key for run, _ in read(path).runs}) == 2


def test_the_latest_runs_of_each_case_and_seed_are_kept(path):
    for number in range(KEPT + 5):
        told = run(1, time=f"2026-11-01 00:{number:02}:00", key=f"{number:02}")
        add(path, told, [result("often"), *([result("once")] if not number else [])])
    add(path, run(2, seed=7), [result("often")])
    found = read(path).runs
    assert len(found) == KEPT + 2
    assert [each.name for each in found[0][1]] == ["once"]
    assert sum(each.name == "often" for run, each in found for each in each) == KEPT + 1


def test_files_are_put_together_and_a_run_of_both_counts_once(path):
    both = history(a=[1.0, 2.0, 3.0], b=[4.0])
    one, other = both._replace(runs=both.runs[:2]), both._replace(runs=both.runs[1:])
    assert other | one == both
    assert NOTHING | both == both
    write(path, one)
    write(path, other | read(path))
    assert read(path) == both
    assert [each.name for each in path.parent.iterdir()] == [stored.NAME]


def test_a_file_that_is_not_there_is_said_and_not_made(path):
    assert refused(read, path).startswith(f"there is no {path}: ")
    assert not path.exists()


@pytest.mark.parametrize("content", [b"rubbish " * 999, b"SQLite format 3\0" + b"\1" * 5000])
def test_what_is_no_database_is_refused_and_left_as_it_is(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    for call in ((read, path), (add, path, run(1), [result()])):
        assert refused(*call).startswith(f"{path} is damaged, or no file of a trend (")
    assert path.read_bytes() == content


def test_a_file_that_was_cut_off_or_overwritten_is_refused(path):
    for day in range(1, 20):
        add(path, run(day), [result(f"case{number}") for number in range(200)])
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:8192] + b"\xff" * (len(whole) - 8192)):
        path.write_bytes(content)
        assert str(path) in refused(read, path)


def test_another_database_is_refused_and_left_as_it_is(path):
    path.parent.mkdir()
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE run (key)")
    base.close()
    before = path.read_bytes()
    for call in ((read, path), (add, path, run(1), [result()])):
        assert refused(*call) == f"{path} is no file of a trend: name another"
    assert path.read_bytes() == before


def test_another_format_is_refused_with_what_to_do(path, monkeypatch):
    monkeypatch.setattr(stored, "FORMAT", 0)
    add(path, run(1), [result()])
    monkeypatch.undo()
    told = f"{path} has format 0, and this version reads 1: remove it, or name another"
    assert refused(read, path) == told
    assert refused(add, path, run(1), [result()]) == told


def test_rows_of_another_kind_are_refused(path):
    add(path, run(1), [result()])
    for versions in ("[1]", "none", '{"a"'):
        with sqlite3.connect(path) as base:
            base.execute("UPDATE run SET versions = ?", (versions,))
        base.close()
        assert "is damaged" in refused(read, path)


def test_a_locked_file_is_waited_for_and_then_said(path, monkeypatch):
    monkeypatch.setattr(stored, "PATIENCE", 0.1)
    add(path, run(1), [result()])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for call in ((read, path), (add, path, run(2), [result()])):
        assert refused(*call) == f"{path} is locked by another run: run again after it"
    other.close()
    add(path, run(2), [result()])
    assert len(read(path).runs) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said(path):
    path.parent.mkdir()
    path.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert re.search(r"cannot be used: .*; name another", refused(add, path, run(1), []))


def test_a_folder_in_the_place_of_the_file_is_said(path):
    path.mkdir(parents=True)
    for call in ((read, path), (add, path, run(1), []), (write, path, NOTHING)):
        assert "cannot be used: " in refused(*call)


def test_a_python_without_sqlite_is_said(path, monkeypatch):
    monkeypatch.setattr(stored, "sqlite3", None)
    for call in ((read, path), (add, path, run(1), []), (write, path, NOTHING)):
        assert refused(*call) == f"{path} cannot be used: this Python was built without SQLite"
