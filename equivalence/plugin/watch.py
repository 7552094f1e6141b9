"""Names the test in which a process dies or hangs, and the command that repeats it.

With workers of pytest-xdist the controller tells it; without, a guard that outlives the process.
"""

import contextlib
import hashlib
import os
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_timeout

from equivalence import files, processes
from equivalence.host import guard
from equivalence.plugin import devices, records

FOLDER = "watched"
"""Key of a worker's input: the folder with a file for each test that is running."""

WATCH = pytest.StashKey["TestWatch"]()
"""What watches this process."""

DIED = "it died, as by a signal or for lack of memory"


class TestWatch:
    """Keeps a file for the test that this process runs.

    guarded: whether a guard tells of the death of this process.
    """

    def __init__(self, config: pytest.Config):
        worker: Any = getattr(config, "workerinput", None)
        # Within the system's own temporary folder, since that of the reports may be full.
        self.made = None if worker else files.temporary()
        self.folder = Path(self.made.name if self.made else worker[FOLDER])
        workers = config.getoption("numprocesses", None)  # without xdist there is no such option
        self.guarded = not worker and not workers
        self.config = config
        self.guard: guard.Guard | None = None
        self.file, self.nodeid, self.more = self.folder, "", [""]
        self.over: str | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        node.workerinput[FOLDER] = str(self.folder)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if not records.is_comparison(item):
            return (yield)
        if self.guarded and self.guard is None:
            capture = self.config.pluginmanager.getplugin("capturemanager")
            with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
                self.guard = guard.Guard(self.folder)
        self.file, self.nodeid = self.file_of(item.nodeid), item.nodeid
        self._tell(f"repeat: {repeat(self.config, item.nodeid)}")
        leave, process = os._exit, os.getpid()

        def left(code: int) -> None:
            if os.getpid() == process:  # a child of this process may end
                self._tell(*self.more, why=f"it {self.over or f'called os._exit({code})'}")
                code = code or int(pytest.ExitCode.TESTS_FAILED)
                if self.guard is not None:
                    self.guard.end()  # once it has told
            leave(code)

        os._exit = left  # type: ignore[assignment]  # it does not return, since `leave` does not
        try:
            return (yield)
        finally:
            os._exit = leave
            with contextlib.suppress(OSError):
                self.file.unlink(missing_ok=True)

    @pytest.hookimpl(optionalhook=True)
    def pytest_timeout_set_timer(
        self, item: pytest.Item, settings: pytest_timeout.Settings
    ) -> bool | None:
        """Watch a comparison by its processor time; other tests are left to pytest-timeout."""
        return self.limit(item, settings) if records.is_comparison(item) else None

    def limit(self, item: pytest.Item, settings: pytest_timeout.Settings) -> bool | None:
        """End this process if a test goes beyond its timeout, as pytest-timeout does.

        A method other than `thread` is left to pytest-timeout.
        """
        if settings.method != "thread":
            return None
        limit, ended = processes.TimeLimit(settings.timeout), threading.Event()
        self.over = None

        def watch() -> None:
            while not (self.over or ended.wait(limit.look)):
                self.over = limit.over()
            if self.over:
                pytest_timeout.timeout_timer(item, settings)  # it does nothing under a debugger

        thread = threading.Thread(target=watch, name=f"timeout of {item.nodeid}", daemon=True)

        def cancel() -> None:
            ended.set()
            thread.join()

        item.cancel_timeout = cancel  # type: ignore[attr-defined]  # pytest-timeout calls it
        thread.start()
        return True

    def at(self, example: str) -> None:
        """Note the example of an operator that is about to run."""
        again = f"repeat: {repeat(self.config, self.nodeid)} --example {shlex.quote(example)}"
        self._tell(f"while it ran {example}", again)

    def file_of(self, nodeid: str) -> Path:
        """The file of a test."""
        return self.folder / hashlib.sha256(nodeid.encode()).hexdigest()[:16]

    def _tell(self, *more: str, why: str = DIED) -> None:
        self.more = [*more]
        with contextlib.suppress(OSError):
            self.file.write_text("\n".join([self.nodeid, why, *more]))

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Add to the report of a crash why, what the worker was running, and how to repeat it."""
        file = self.file_of(crashitem)
        report.longrepr = "\n".join([str(report.longrepr), *guard.told(file)[1:]])
        file.unlink(missing_ok=True)

    def pytest_unconfigure(self) -> None:
        if self.guard is not None:
            self.guard.end()
        if self.made is not None:
            self.made.cleanup()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[WATCH] = TestWatch(config)
    config.pluginmanager.register(config.stash[WATCH], "equivalence-watch")


def repeat(config: pytest.Config, nodeid: str) -> str:
    """The command that repeats a test."""
    command = f"pytest '{nodeid}' --seed {config.getoption('seed')}"
    return command + devices.repeat_options(config) + records.repeat_options(config)
