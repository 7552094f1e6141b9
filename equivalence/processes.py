"""Processes: which started which, how much processor time they took, and when they are to be ended.

On a busy machine everything takes long on the clock, so a limit in seconds counts processor time.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

WINDOW = 60.0
"""Seconds on the clock in which a process that computes takes some processor time; a shorter limit
is its own window."""

SHARE = 0.05
"""Share of one processor. Who takes less within the window waits for nothing but itself: 40 other
processes on two cores leave more."""

PATIENCE = 10
"""Limits on the clock after which a process is ended, whatever it does."""

LOOKS = 12
"""Looks at the processor time within a window."""


def descendants(ancestor: int) -> list[int]:
    """All processes below one, at this moment; none where the system has no /proc."""
    children: dict[int, list[int]] = {}
    for process, fields in _all():
        children.setdefault(int(fields[1]), []).append(process)
    return _below(ancestor, children)


def processor_time(process: int) -> float:
    """Seconds of processor time that a process and all below it have taken.

    Where the system has no /proc, the time on the clock.
    """
    children: dict[int, list[int]] = {}
    taken: dict[int, float] = {}
    for each, fields in _all():
        children.setdefault(int(fields[1]), []).append(each)
        taken[each] = sum(map(int, fields[11:15]))  # its own, and of children that have ended
    if not taken:
        return time.monotonic()
    family = [process, *_below(process, children)]
    return sum(taken.get(each, 0) for each in family) / os.sysconf("SC_CLK_TCK")


def _all() -> Iterator[tuple[int, list[str]]]:
    """(process, the fields of its /proc/PID/stat from the state on) of all processes."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            yield int(stat.parent.name), stat.read_text().rpartition(")")[2].split()


def _below(ancestor: int, children: dict[int, list[int]]) -> list[int]:
    processes = list(children.get(ancestor, ()))
    for process in processes:  # the list grows while it is read
        processes += children.get(process, ())
    return processes


class TimeLimit:
    """How long a process may take, with all that it starts; `over` is to be asked now and then.

    seconds: the limit. A process is ended that has taken so long on the clock and as much
        processor time; or that long on the clock, and next to no processor time of late; or ten
        times as long on the clock.
    process: its id; this process by default.
    processors: how many processors it may keep busy all the time.
    """

    def __init__(self, seconds: float, process: int | None = None, processors: int = 1):
        self.seconds, self.processors = seconds, processors
        self.process = os.getpid() if process is None else process
        self.window = min(WINDOW, seconds)
        self.look = self.window / LOOKS
        self.looked, self.clock = time.monotonic(), 0.0
        self.before: float | None = None  # known from the first look on: most end before it
        self.spent = 0.0
        self.marked = (0.0, 0.0)

    def over(self) -> str | None:
        """What the process did ("hung: ..."), if it is to be ended; None while it may go on."""
        passed = time.monotonic() - self.looked
        if passed < self.look:
            return None
        # Who looks may have been stopped or starved itself: what it has not seen counts once.
        self.clock += min(passed, 2 * self.look)
        self.looked += passed
        taken = processor_time(self.process)
        self.before = taken if self.before is None else self.before
        self.spent = max(self.spent, taken - self.before)
        if self.spent - self.marked[1] >= SHARE * self.window:
            self.marked = (self.clock, self.spent)
        if self.clock < self.seconds:
            return None
        took = f"{self.spent:.0f} s of processor time in {self.clock:.0f} s"
        quiet = self.clock - self.marked[0]
        if quiet >= self.window:
            recent = self.spent - self.marked[1]
            return f"hung: {took}, {recent:.1f} s of it in the last {quiet:.0f} s"
        allowed = self.seconds * self.processors
        if self.spent >= allowed:
            return f"took too long: {took}; the limit is {allowed:g} s of processor time"
        if self.clock >= PATIENCE * self.seconds:
            return f"took too long: {took}; the limit is {self.seconds:g} s"
        return None
