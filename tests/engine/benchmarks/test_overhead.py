"""The benchmark of the suite's own share: what it times is there, and nothing counts twice."""

import time
from types import SimpleNamespace

from benchmarks import overhead


def test_what_is_timed_is_there():
    places = list(overhead.places())
    assert len({label for _, _, label in places}) > 8
    for owner, name, _ in places:
        assert callable(getattr(owner, name)), name


def test_the_time_of_a_call_within_another_is_its_own(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def inner():
        now[0] += 2.0
        return "given back"

    def outer():
        now[0] += 1.0
        return owner.inner()

    owner, clock = SimpleNamespace(inner=inner, outer=outer), overhead.Clock()
    clock.wrap(owner, "inner", "within")
    clock.wrap(owner, "outer", "around")
    assert owner.outer() == owner.outer() == "given back"
    assert clock.spent == {"within": 4.0, "around": 2.0}
