"""Runs units of work in processes that may die, such as those of a framework that aborts."""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import resource
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from equivalence import files
from equivalence.host import memory
from equivalence.processes import TimeLimit

MEMORY = 2 << 30
"""Bytes: a process that has held more is replaced after its unit, since MindSpore keeps part of
what each compiled graph took."""

SHORT = 1 / 12
"""Of the host's memory: with less than this share free, it is short. The kernel kills, and not
always whom it should, when nothing is left."""

LOOK = 2.0
"""Seconds between looks at the processes and the memory, where no process says anything."""

PATIENCE = 7200.0
"""Seconds of processor time (see `TimeLimit`) without a word from a process before it is ended.
VGG19 with BatchNorm at 224 pixels, 1,534 of whose activations are near a kink, takes more than
1,800."""

Unit = tuple
Task = Callable[..., dict[str, Any]]
"""A function of a module: task(*unit, at), which tells `at` in words what it is about to do."""


DIED = "the process died (exit code {})"


class Lost(NamedTuple):
    """A unit whose process died or hung: what it was at, and what became of it."""

    at: str
    cause: str

    @property
    def killed(self) -> bool:
        """Whether somebody ended the process: the kernel, where memory ran out, or a person."""
        return self.cause == DIED.format(-signal.SIGKILL)


def run(task: Task, units: Sequence[Unit], jobs: int) -> Iterator[tuple[Unit, dict | Lost]]:
    """Every unit with what `task` gave for it, in the order in which `jobs` processes finish.

    Two units may need more memory than there is, where each alone does not. When memory becomes
    short, the one that began last starts again later, beside others than that one. Where the
    kernel is faster and kills a process, its unit is tried once more at the end, alone.
    """
    again = []
    for unit, answer in _side_by_side(task, units, jobs):
        if jobs > 1 and isinstance(answer, Lost) and answer.killed:
            again.append(unit)
        else:
            yield unit, answer
    yield from _side_by_side(task, again, 1)


def _side_by_side(
    task: Task, units: Sequence[Unit], jobs: int
) -> Iterator[tuple[Unit, dict | Lost]]:
    waiting, large, busy, idle = deque(units), deque(), [], []
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    with files.temporary() as folder:
        try:
            while waiting or large or busy:
                while len(busy) < jobs and (queue := _next(waiting, large, busy)):
                    worker = idle.pop() if idle else Worker(task, folder, _free(cores, busy, jobs))
                    busy.append(worker)
                    worker.begin(queue.popleft(), queue is large)
                multiprocessing.connection.wait([worker.pipe for worker in busy], LOOK)
                for worker in list(busy):
                    if (answer := worker.answer()) is not None:
                        busy.remove(worker)
                        if worker.spent:
                            worker.end()
                        else:
                            idle.append(worker)
                        yield worker.unit, answer
                if len(busy) > 1 and memory.is_short(SHORT):
                    large.append(_end_latest(busy))
        finally:
            for worker in busy + idle:
                worker.end()


def _next(waiting: deque[Unit], large: deque[Unit], busy: "Sequence[Worker]") -> deque[Unit] | None:
    """The queue of the unit to begin; None where only units that are too large are left."""
    if large and not any(worker.large for worker in busy):
        return large
    return waiting or None


def _end_latest(busy: "list[Worker]") -> Unit:
    """End the worker that began last, which has the least to lose, and return its unit.

    It is not to run beside one of the others again: they count as large, as it does.
    """
    latest = max(busy, key=lambda worker: worker.began)
    busy.remove(latest)
    latest.end()
    for worker in busy:
        worker.large = True
    return latest.unit


def _free(cores: Sequence[int], busy: "Sequence[Worker]", jobs: int) -> int | None:
    """A core that no other worker has; None where there are not enough for all."""
    taken = {worker.core for worker in busy}
    return next(core for core in cores if core not in taken) if jobs <= len(cores) else None


class Worker:
    """A process that does one unit after the other. Its temporary files go to `folder`.

    core: that it keeps to, if any. MindSpore's threads wait for work by asking for it again and
    again; on a core of the process's own they let its only busy thread go first. Two processes on
    two cores take four fifths of the time.
    """

    def __init__(self, task: Task, folder: str, core: int | None = None):
        # A fork would take along the frameworks' locks without the threads that hold them.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        arguments = (task, theirs, folder, core)
        self.process = context.Process(target=_work, args=arguments, daemon=True)
        self.process.start()
        theirs.close()
        self.spent, self.core = False, core

    def begin(self, unit: Unit, large: bool) -> None:
        """Hand over a unit; `large` are those that may not run beside each other."""
        self.unit, self.large, self.at = unit, large, "the start"
        self.began, self.limit = time.monotonic(), TimeLimit(PATIENCE, self.process.pid)
        with contextlib.suppress(OSError):  # it died meanwhile, as `answer` will find
            self.pipe.send(unit)

    def answer(self) -> dict | Lost | None:
        """What the task gave for the unit, or how it was lost; None while it is not finished."""
        try:
            while self.pipe.poll():
                message = self.pipe.recv()
                if isinstance(message, str):
                    self.at, self.limit = message, TimeLimit(PATIENCE, self.process.pid)
                    continue
                answer, peak = message
                self.spent = peak > MEMORY
                return answer
        except (EOFError, OSError):
            self.process.join()
            self.spent = True
            return Lost(self.at, DIED.format(self.process.exitcode))
        if why := self.limit.over():
            self.spent = True
            return Lost(self.at, f"the process {why}")
        return None

    def end(self) -> None:
        """End the process, whatever it is at."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _work(task: Task, pipe, folder: str, core: int | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers itself
    if core is not None:
        os.sched_setaffinity(0, {core})
    tempfile.tempdir = folder
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            answer = task(*pipe.recv(), at=pipe.send)
            pipe.send((answer, peak()))


def peak() -> int:
    """The most bytes of memory that this process has held.

    Where the kernel tells it; `getrusage` counts what the process was forked from, too.
    """
    held = memory.sizes(memory.PROCESS).get("VmHWM")
    return held or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
