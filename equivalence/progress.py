"""Says how far long work is: in a terminal by a bar that is drawn anew, elsewhere by lines."""

import shutil
import sys
import time

WIDTH = 24
"""Characters of a bar."""

EVERY = 30.0
"""Seconds between two lines, where there is no terminal."""

ANEW = 1.0
"""Seconds between two bars, for those who ask whether one is due."""

_BEGIN = "\r\x1b[K"
"""Goes to the beginning of a terminal's line, and clears it."""


class Progress:
    """How far some work is, on stdout.

    total: how many parts it has.
    thing: what they are called.
    every: seconds between two lines.

    >>> work = Progress(3, "units", every=0.0)
    >>> work.tell(1, ", about 2 min left")
    1 of 3 units, about 2 min left
    """

    def __init__(self, total: int, thing: str, every: float = EVERY):
        self.total, self.thing, self.every = total, thing, every
        self.told = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether it is time to tell: for those to whom it costs something to know it."""
        wait = min(ANEW, self.every) if sys.stdout.isatty() else self.every
        return time.monotonic() - self.told >= wait

    def tell(self, done: int, more: str = "") -> None:
        """Say that so many parts are done, and what else there is to be told."""
        text = f"{done} of {self.total} {self.thing}{more}"
        if sys.stdout.isatty():
            full = WIDTH * done // max(self.total, 1)
            bar = f"{'#' * full}{'.' * (WIDTH - full)} {text}"
            self.told = time.monotonic()
            print(f"{_BEGIN}{bar[: shutil.get_terminal_size().columns - 1]}", end="", flush=True)
        elif self.due:
            self.told = time.monotonic()
            print(text, flush=True)

    def clear(self) -> None:
        """Take the bar away, so that a line can be printed."""
        if sys.stdout.isatty():
            print(_BEGIN, end="", flush=True)
