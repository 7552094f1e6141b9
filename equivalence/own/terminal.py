"""A result in a terminal: colour for its first word, and lines that end at a word. Nothing else."""

import os
import re
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import TextIO

from equivalence.report.answer import DETAILS

RED, GREEN, FAINT, END = "\x1b[1;31m", "\x1b[1;32m", "\x1b[2m", "\x1b[0m"

VERDICT = re.compile(r"[A-Z][A-Z ]+\b")
"""The first word of an answer: EQUAL, DIFFERENT, NOT COMPARED."""

NARROWEST = 40
"""Columns. A narrower terminal is taken for one of these."""


def shows_colour(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a stream is a terminal in which colour is wanted; see no-color.org. Not in a CI.

    >>> import io
    >>> shows_colour(io.StringIO(), {})
    False
    """
    unwanted = environ.get("NO_COLOR") or environ.get("CI") or environ.get("TERM") == "dumb"
    return stream.isatty() and not unwanted


def for_terminal(lines: Sequence[str], colour: bool, columns: int | None = None) -> list[str]:
    """The lines of a result as a terminal shows them.

    Prose of the answer ends at a word; code and tables stay as they are.

    colour: whether its first word has one.
    columns: the width; None: that of this terminal.

    >>> for_terminal(["EQUAL. 4 tensors of 1 case."], colour=True, columns=80)
    ['\\x1b[1;32mEQUAL\\x1b[0m. 4 tensors of 1 case.']
    """
    columns = max(columns or shutil.get_terminal_size().columns, NARROWEST)
    end = lines.index(DETAILS) if DETAILS in lines else len(lines)
    shown = [part for line in lines[:end] for part in _wrapped(line, columns)]
    if colour and shown and (verdict := VERDICT.match(shown[0])):
        paint = GREEN if verdict[0] == "EQUAL" else RED
        shown[0] = f"{paint}{verdict[0]}{END}{shown[0][verdict.end() :]}"
    rest = [
        f"{FAINT}{DETAILS}{END}" if colour and line == DETAILS else line for line in lines[end:]
    ]
    return [*shown, *rest]


def _wrapped(line: str, columns: int) -> list[str]:
    """A line of prose in several; one with code or a command as it is."""
    if re.match(r"  (port|original)  |repeat: ", line):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 2 * line.startswith(" "))
    return textwrap.wrap(
        line,
        columns,
        subsequent_indent=indent,
        drop_whitespace=True,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [line]
