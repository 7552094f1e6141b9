"""Lines that say how far a long run is, and how long the rest takes."""

import time

import pytest

from equivalence.words import left

EVERY = 60.0
"""Seconds between two lines."""


class Progress:
    """Counts the tests that have ended, on the controller of pytest-xdist."""

    def __init__(self, config: pytest.Config):
        self.config, self.done = config, 0

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session, self.begun = session, time.monotonic()
        self.told = self.begun

    def pytest_runtest_logfinish(self) -> None:
        self.done += 1
        now, total = time.monotonic(), self.session.testscollected
        reporter = self.config.pluginmanager.getplugin("terminalreporter")
        if now - self.told >= EVERY and reporter is not None:
            self.told = now
            rest = left(now - self.begun, self.done, total)
            # With workers there is a line of dots, which pytest does not know to be begun.
            begin = "" if reporter.currentfspath else "\n"
            reporter.write_line(f"{begin}{self.done} of {total} tests{rest}")
