"""The cores of the processor, dealt out to processes that work side by side.

MindSpore's threads wait for work by asking for it again and again. On a core of another process
they take its time; on those of their own they let their only busy thread go first.
"""

import contextlib
import os
from collections.abc import Collection, Iterator

_given_up: frozenset[int] = frozenset()
"""The cores that this process had before it was to keep to some of them."""


def shares(processes: int) -> list[list[int]]:
    """Equal shares of the cores of this process, one for each of the processes.

    Empty where there are not enough for all, or where the system does not bind processes to cores.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    size = len(cores) // processes
    return [cores[size * i : size * (i + 1)] for i in range(processes)] if size else []


def keep_to(cores: Collection[int]) -> None:
    """Let this thread, and those that it starts from now on, run on these cores alone."""
    global _given_up
    _given_up = _given_up or frozenset(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores)


@contextlib.contextmanager
def on_all() -> Iterator[None]:
    """A context in which a process is started that is to have all cores again."""
    if not _given_up:
        yield
        return
    kept = os.sched_getaffinity(0)
    os.sched_setaffinity(0, _given_up)
    try:
        yield
    finally:
        os.sched_setaffinity(0, kept)
