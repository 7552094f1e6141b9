"""Which sides of a network's own branches ran, by what Python tells of its instructions."""

import builtins
import importlib
import sys
import textwrap

import pytest

from equivalence.reach import branches
from equivalence.reach.branches import TRACED, Branches, Extremes, Own
from equivalence.reach.decision import CANDIDATE, REFERENCE, Reach
from equivalence.reach.words import told

CODE = """
def statements(flag, other):
    if not flag:
        a = 1
    elif other:
        a = 2
    else:
        a = 3
    return a

def joined(flag, other):
    if flag and not other:
        return 1
    return 2

def inline(flag):
    return 1 if flag else 2

def oneline(flag):
    if flag: return 1
    return 2

def loops(count, stop):
    for i in range(count):
        if i == stop:
            break
    while count > 3:
        count -= 1

def guarded(x):
    if x > 9:
        raise ValueError("too large")
    return x

def caught(raises):
    try:
        if raises:
            raise KeyError
    except KeyError:
        return 1
    return 2

def scripted(torch):
    if torch.jit.is_scripting():
        return 1
    return 2

def nested(flag):
    if flag:
        if flag == 3:
            return 1
    return [inline(each) for each in (flag, not flag)]
"""


@pytest.fixture
def code(tmp_path, monkeypatch):
    (tmp_path / "reached_code.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("reached_code")
    del sys.modules["reached_code"]


def lines(*calls):
    """What is told of some calls that are watched together."""
    seen = Branches(Own(), CANDIDATE)
    with seen:
        for call, *arguments in calls:
            call(*arguments)
    return [told(each) for each in Reach.of(seen.decisions).missed]


@pytest.mark.parametrize("columns", [True, False])
def test_sides_that_never_ran_are_told_with_their_lines(code, monkeypatch, columns):
    monkeypatch.setattr(branches, "COLUMNS", columns and branches.COLUMNS)
    call = code.statements
    assert lines((call, False, True)) == [
        "reached_code.py:3 if not flag: always true (lines 5-8 never ran)"
    ]
    assert lines((call, True, True)) == [
        "reached_code.py:3 if not flag: never true (line 4 never ran)",
        "reached_code.py:5 if other: always true (line 8 never ran)",
    ]
    assert lines((call, True, True), (call, True, False), (call, False, False)) == []


def test_a_condition_of_several_is_one_decision(code):
    assert lines((code.joined, True, False)) == [
        "reached_code.py:12 if flag and (not other): always true"
    ]
    assert lines((code.joined, False, False), (code.joined, True, False)) == []


@pytest.mark.skipif(not branches.COLUMNS, reason="Python 3.10 tells no columns")
@pytest.mark.parametrize("name", ["inline", "oneline"])
def test_conditions_within_a_line_are_seen(code, name):
    call = getattr(code, name)
    assert lines((call, True))[0].endswith("if flag: always true")
    assert lines((call, False))[0].endswith("if flag: never true")
    assert lines((call, True), (call, False)) == []


def test_loops_that_never_run_or_never_end_are_told(code):
    assert lines((code.loops, 0, 9)) == [
        "reached_code.py:24 for i in range(count): its body never ran (lines 25-26 never ran)",
        "reached_code.py:27 while count > 3: its body never ran (line 28 never ran)",
    ]
    assert lines((code.loops, 5, 2)) == [
        "reached_code.py:24 for i in range(count): it never ended by itself"
    ]
    assert lines((code.loops, 5, 2), (code.loops, 2, 9)) == []


def test_a_condition_that_only_raises_decides_no_result(code):
    assert lines((code.guarded, 3)) == []


def test_a_condition_that_no_run_as_written_can_change_is_none(code):
    class Torch:
        class jit:  # noqa: N801
            is_scripting = staticmethod(bool)

    assert lines((code.scripted, Torch)) == []


def test_a_handler_counts_once_its_block_is_entered(code):
    assert lines((code.caught, False)) == [
        "reached_code.py:39 except KeyError: nothing was raised (line 40 never ran)",
    ]
    assert lines((code.caught, True)) == []


def test_functions_that_were_not_entered_and_conditions_in_lines_that_never_ran_count_nothing(code):
    assert lines((code.nested, 0)) == [
        "reached_code.py:49 if flag: never true (lines 50-51 never ran)"
    ]


def test_where_a_debugger_traces_nothing_is_seen_and_that_is_told(code):
    seen = Branches(Own(), CANDIDATE)

    def debugger(*_):
        return None

    before = sys.gettrace()
    sys.settrace(debugger)
    try:
        with seen:
            code.inline(True)
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(before)
    assert (seen.unknown, seen.decisions) == (TRACED, [])


def test_after_an_error_nothing_is_traced_any_more(code):
    def fail():
        with Branches(Own(), CANDIDATE):
            code.guarded(10)

    with pytest.raises(ValueError, match="too large"):
        fail()
    assert sys.gettrace() is None


def test_the_packages_of_a_networks_classes_are_its_own_code_and_others_are_not():
    file = "/venv/lib/python3.11/site-packages/timm/models/vgg.py"
    assert not Own()(file)
    assert Own({"timm"})(file)
    assert not Own({"timm"})("/venv/lib/python3.11/site-packages/numpy/core.py")
    assert not Own()(branches.__file__)
    assert Own()("/home/me/net.py")
    assert branches.packages([int, textwrap.TextWrapper]) == {"builtins", "textwrap"}


# The choices of `min` and `max` in a network's code.


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
