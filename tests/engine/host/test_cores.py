"""Processes side by side have cores of their own; what they start may have all."""

import os
import subprocess
import sys

import pytest

from equivalence.host import cores

TELL = "import os; print(sorted(os.sched_getaffinity(0)))"


@pytest.fixture
def every(monkeypatch):
    """The cores of this process, which has them again after the test."""
    monkeypatch.setattr(cores, "_given_up", frozenset())
    every = sorted(os.sched_getaffinity(0))
    yield every
    os.sched_setaffinity(0, every)


def of_a_child():
    return subprocess.check_output([sys.executable, "-c", TELL], text=True).strip()


@pytest.mark.parametrize(
    ("has", "processes", "shares"),
    [
        ([0, 1], 2, [[0], [1]]),
        ([0, 1], 1, [[0, 1]]),
        ([2, 3, 5, 7, 9], 2, [[2, 3], [5, 7]]),
        ([0, 1], 3, []),
    ],
)
def test_cores_are_dealt_out_in_equal_shares(monkeypatch, has, processes, shares):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(has))
    assert cores.shares(processes) == shares


def test_nothing_is_dealt_out_where_the_system_does_not_bind(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    assert cores.shares(1) == []


def test_a_process_keeps_to_its_cores_and_so_does_what_it_starts(every):
    cores.keep_to(every[:1])
    assert os.sched_getaffinity(0) == {every[0]}
    assert of_a_child() == str(every[:1])


def test_a_process_is_started_on_all_cores(every):
    cores.keep_to(every[:1])
    with cores.on_all():
        assert of_a_child() == str(every)
    assert os.sched_getaffinity(0) == {every[0]}


def test_a_process_that_has_given_up_none_starts_others_as_it_is(every):
    with cores.on_all():
        assert of_a_child() == str(every)
