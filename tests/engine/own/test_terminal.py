"""A result in a terminal: colour only where one looks, and lines that end at a word."""

import io

import pytest

from equivalence.own.terminal import END, GREEN, RED, for_terminal, shows_colour


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("environ", "shown"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"CI": "true"}, False), ({"TERM": "dumb"}, False)],
)
def test_colour_is_for_terminals_alone_and_not_for_a_ci(environ, shown):
    assert shows_colour(Terminal(), environ) is shown
    assert not shows_colour(io.StringIO(), environ)


@pytest.mark.parametrize(
    ("first", "word", "paint"),
    [
        ("EQUAL. 4 tensors", "EQUAL", GREEN),
        ("DIFFERENT, in graph mode only. Net", "DIFFERENT", RED),
        ("NOT COMPARED. Net", "NOT COMPARED", RED),
    ],
)
def test_the_first_word_alone_is_coloured(first, word, paint):
    (line,) = for_terminal([first], colour=True, columns=80)
    assert line == f"{paint}{word}{END}{first.removeprefix(word)}"
    assert for_terminal([first], colour=False, columns=80) == [first]


def test_prose_ends_at_a_word_and_code_and_details_stay_as_they_are():
    code = "  port      a.py:1  " + "x" * 90
    lines = ["DIFFERENT. " + "word " * 20 + "end.", code, "details:", "t" * 100]
    shown = for_terminal(lines, colour=False, columns=50)
    assert " ".join(shown[:3]) == lines[0]
    assert all(len(line) <= 50 for line in shown[:3])
    assert shown[3:] == [code, "details:", "t" * 100]
