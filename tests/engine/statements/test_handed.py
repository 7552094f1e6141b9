"""Numbers that a call hands to a function."""

import sys
from dataclasses import replace

import pytest

from equivalence.statements.calls import Code, HandedNumber, Statement, at_line
from equivalence.statements.handed import Handing, handed


def scaled(x, factor=2.0):
    return x * factor


def outer(x, share):
    return scaled(x, share)


def statement(text, given=(), held=(), caller=None):
    return Statement("a.py", 1, text, "", caller, given=given, held=held)


@pytest.mark.parametrize(
    ("mine", "theirs", "found"),
    [
        (statement("", (("eps", 1e-4),)), statement("", (("eps", 1e-6),)), [1e-6]),
        (statement("", (("eps", 1e-4),)), statement("", (), (("eps", 1e-6),)), [1e-6]),
        (statement("", (("eps", 1e-4),)), statement("x / (n + 1e-6) ** 2"), [1e-6, 2]),
        (statement("", (("eps", 1e-4),)), statement("x2 / 4.5e", (("other", 3.0),)), [3.0, 4.5]),
        # What is the same on both sides is right, and a text is no number.
        (statement("", (("n", 1),)), statement("7", (("n", 1.0),)), []),
        (statement("", (("mode", "same"),)), statement("7"), []),
        (statement("", (("mode", "same"),)), statement("", (("mode", "full"),)), ["full"]),
        (statement("", (("on", True),)), statement("", (("on", False),)), [False]),
        (statement("", (("on", True),)), None, []),
        (statement("", ()), statement("7"), []),
    ],
)
def test_what_may_be_handed_wrongly(mine, theirs, found):
    assert [each.want for each in handed(mine, theirs)] == found


def here(line, caller):
    first = scaled.__code__.co_firstlineno
    return replace(at_line(__file__, first + line), caller=at_line(__file__, caller))


def calls(x):
    return scaled(x, 3.0), outer(x, 3.0), scaled(x)


FIRST = calls.__code__.co_firstlineno + 1
WITHIN = outer.__code__.co_firstlineno + 1


class Everything(Code):
    """The code of this file is the network's."""

    def __init__(self):
        super().__init__({})

    def is_own(self, frame):
        return frame.f_code.co_filename == __file__


@pytest.mark.parametrize(
    ("caller", "got", "results", "origin"),
    [
        (FIRST, 3.0, (5.0, 3.0, 2.0), "return scaled(x, 3.0), outer(x, 3.0), scaled(x)"),
        (WITHIN, 3.0, (3.0, 5.0, 2.0), "return scaled(x, 3.0), outer(x, 3.0), scaled(x)"),
        (FIRST, 7.0, (3.0, 3.0, 2.0), None),
    ],
)
def test_one_call_gets_another_number(caller, got, results, origin):
    before = sys.gettrace()
    with Handing(Everything(), here(1, caller), HandedNumber("factor", got, 5.0)) as handing:
        assert calls(1.0) == results
    assert sys.gettrace() is before
    assert (handing.origin and handing.origin.text) == origin


def test_a_default_is_at_the_line_of_def():
    def by_default():
        return scaled(1.0)

    caller = by_default.__code__.co_firstlineno + 1
    with Handing(Everything(), here(1, caller), HandedNumber("factor", 2.0, 5.0)) as handing:
        assert by_default() == 5.0
    assert handing.origin.text == "def scaled(x, factor=2.0):"
