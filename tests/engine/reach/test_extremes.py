"""The choices of `min` and `max` in a network's code."""

import builtins

from equivalence.reach.decision import REFERENCE, Reach
from equivalence.reach.extremes import Extremes
from equivalence.reach.words import told


def window(size):
    return min(7, size) + max(size, 3, 4) + max([size])


def watched(*sizes):
    noted = Extremes(REFERENCE, lambda _: "net.py")
    noted.shadow(globals())
    try:
        assert [window(size) for size in sizes] == [
            builtins.min(7, size) + builtins.max(size, 4) + size for size in sizes
        ]
    finally:
        noted.close()
    assert "min" not in globals()
    assert "max" not in globals()
    return Reach.of(noted.decisions)


def test_a_window_that_is_never_larger_than_its_map_is_told():
    line = window.__code__.co_firstlineno + 1
    assert [told(each) for each in watched(9, 12).missed] == [
        f"net.py:{line} min(7, size): the first is always the smaller (7 and 9)"
    ]
    assert watched(9, 5).missed == []


def test_equal_numbers_are_no_choice():
    assert [told(each).partition(": ")[2] for each in watched(7).missed] == [
        "the first is never the smaller (7 and 7)"
    ]


def test_names_that_a_module_has_stay():
    names = {"min": 3}
    noted = Extremes(REFERENCE, lambda _: "net.py")
    noted.shadow(names)
    assert names["min"] == 3
    noted.close()
    assert names == {"min": 3}
