"""Long work says how far it is: a bar in a terminal, lines elsewhere."""

import io
from functools import partial
from types import SimpleNamespace

import pytest

from equivalence import progress
from equivalence.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """What is written to a terminal of 60 columns."""
    written = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stdout=written))
    monkeypatch.setattr(progress, "print", partial(print, file=written), raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    return written


def test_elsewhere_there_is_a_line_now_and_then(capsys):
    for every, told in ((0.0, ["1 of 3 units", "2 of 3 units, about 9 s left"]), (60.0, [])):
        work = Progress(3, "units", every)
        work.tell(1)
        work.clear()
        work.tell(2, ", about 9 s left")
        assert capsys.readouterr().out.splitlines() == told


def test_in_a_terminal_there_is_one_bar_that_is_drawn_anew(terminal):
    work = Progress(4, "units")
    work.tell(1, ", about 9 s left")
    work.tell(4, ", " + 99 * "x")
    work.clear()
    first, second, cleared = terminal.getvalue().split("\r\x1b[K")[1:]
    assert first == "######.................. 1 of 4 units, about 9 s left"
    assert second.startswith("######################## 4 of 4 units, xxx")
    assert len(second) == 59
    assert cleared == ""


def test_work_without_a_part_has_a_bar_too(terminal):
    Progress(0, "units").tell(0)
    assert "0 of 0 units" in terminal.getvalue()
