"""Starts the ranks of a run under a launcher, watches them, and leaves no process behind.

Every rank runs the same program. It reports by files in the run's folder, its working directory:

    rank0.pid      its process id, written first
    rank0.log      all that it writes to stdout and stderr
    rank0.failed   what ended it, in one line: "raised OSError: no file"
    rank0.npz      its result, either complete or not there

At the signal `ASKED`, and at SIGTERM, it writes its stack into its log.

Launchers put each rank into a session of its own, so that no process group has all of them. A
guard process therefore starts the launcher. It adopts every process whose parent ends first
(Linux: a "child subreaper"). It kills all of them as soon as the launcher ends, or as soon as its
own standard input ends, which happens when the waiting process is gone for any reason. Imports no
framework.
"""

import contextlib
import ctypes
import itertools
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from equivalence import files, processes
from equivalence.declare.data_parallel import LIMIT
from equivalence.errors import SideError, of_models
from equivalence.host import environment

POLL = 0.05
"""Seconds between two looks at the ranks; a launcher takes longer to end all ranks for one."""

ROOT = Path(__file__).parents[2]
"""The folder that this package is imported from, by the ranks, too."""

LOGS = Path("reports", "distributed")
"""The folder with the logs of runs that failed, in the working directory."""

MOMENT = 2.0
"""Seconds that ranks have to write their stack; later ones are reported without it."""

ASKED = signal.SIGUSR1
"""The signal at which a rank writes its stack into its log."""

LOG = "launcher.log"
"""The file, in the run's folder, with all that the launcher writes."""

SAID = "== "
"""Prefix of the lines of a log in which a rank says what it does next."""

DUMPED = (
    *("Fatal Python error: ", "Current thread ", "Thread 0x", "Stack (most recent"),
    "Traceback (most recent",
)
"""Prefixes of the first line of a stack that is dumped, or of a traceback."""

LAST = 3
"""So many of a rank's last lines are told."""

PR_SET_CHILD_SUBREAPER = 36
"""From Linux's prctl.h."""


@dataclass(frozen=True)
class Launcher:
    """How a launcher is called.

    package: the package that must be installed; "" for none.
    rank: the environment variable with the number of a rank; "" of the only one.
    command: (ranks, folder of its logs, port) -> its arguments, up to the program's module.
    """

    package: str
    rank: str
    command: Callable[[int, Path, int], list[str]]


def _torchrun(ranks: int, folder: Path, port: int) -> list[str]:
    rendezvous = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}"]
    local = ["--local-addr", "127.0.0.1", "--nproc-per-node", str(ranks)]
    return ["torch.distributed.run", *rendezvous, *local, "--log-dir", str(folder), "-m"]


def _msrun(ranks: int, folder: Path, port: int) -> list[str]:
    number = ["--worker_num", str(ranks), "--local_worker_num", str(ranks)]
    scheduler = ["--master_addr", "127.0.0.1", "--master_port", str(port)]
    # No rank has this number; for one that has, a process copies its log to the terminal.
    logs = ["--log_dir", str(folder), "--join", "True", "--tail_worker_log", str(ranks)]
    return ["mindspore.parallel.cluster.run", *number, *scheduler, *logs, "python", "-m"]


LAUNCHERS = {
    "torchrun": Launcher("torch", "RANK", _torchrun),
    "msrun": Launcher("mindspore", "RANK_ID", _msrun),
}
"""Name -> launcher."""

ALONE = "python"
"""Stands for a launcher of one process."""


def launcher_of(name: str) -> Launcher:
    """The launcher of a name: a key of LAUNCHERS, or ALONE."""
    return Launcher("", "", lambda *_: []) if name == ALONE else LAUNCHERS[name]


@dataclass(frozen=True)
class Rank:
    """One rank, as its files describe it.

    folder: the folder of the run.
    number: from 0 on.
    """

    folder: Path
    number: int

    def file(self, suffix: str) -> Path:
        """The path of its file with that suffix."""
        return self.folder / f"rank{self.number}.{suffix}"

    @property
    def ended(self) -> bool:
        """Whether its process has started and ended."""
        try:
            stat = Path("/proc", self.file("pid").read_text(), "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return self.file("pid").exists()
        return stat.rpartition(")")[2].split()[0] == "Z"

    @property
    def has_reported(self) -> bool:
        """Whether it left a result, or the reason why there is none."""
        return self.file("npz").exists() or self.file("failed").exists()

    @property
    def lines(self) -> list[str]:
        """The lines of its log that are not empty."""
        return _lines(self.file("log"))

    @property
    def progress(self) -> tuple[int, str]:
        """How many steps it has announced in its log, and the last of them."""
        steps = [line.removeprefix(SAID) for line in self.lines if line.startswith(SAID)]
        return len(steps), steps[-1] if steps else "start"

    @property
    def fatal(self) -> str:
        """The signal that killed it, if Python could report it (not SIGKILL); else empty."""
        reports = [line for line in self.lines if line.startswith("Fatal Python error: ")]
        return reports[-1].partition(": ")[2] if reports else ""

    @property
    def terminated(self) -> bool:
        """Whether a launcher ended it: it wrote its stack, but no fatal signal."""
        return bool(self.stack) and not self.fatal

    @property
    def reason(self) -> str:
        """Why it failed, in its own words where it left any."""
        if self.file("failed").exists():
            return f"{self.file('failed').read_text()}{self.last_lines}"
        if self.fatal:
            return f"died at {self.progress[1]}: {self.fatal}{self.last_lines}"
        return (
            f"ended at {self.progress[1]} without a result or a word, as one that is killed"
            f"{self.last_lines}"
        )

    @property
    def last_lines(self) -> str:
        """The last lines that its program wrote, as the end of a sentence; "" for none."""
        own = list(itertools.takewhile(lambda each: not each.startswith(DUMPED), self.lines))
        own = [line.strip() for line in own if not line.startswith(SAID)]
        return f"; its last lines: {' | '.join(own[-LAST:])}" if own else ""

    @property
    def stack(self) -> str:
        """The lines of the stack that it wrote last, innermost first; empty where there is none."""
        _, marker, stack = "\n".join(self.lines).rpartition("(most recent call first):")
        return stack if marker else ""

    def ask(self) -> None:
        """Ask for its stack; no effect on a process that has just started or has ended."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int(self.file("pid").read_text()), ASKED)

    @property
    def standing(self) -> str:
        """What it is doing, and at which line of the models' code, where its stack shows it."""
        frames = re.findall(r'^  File "(.+)", line (\d+) in (.+)', self.stack, re.MULTILINE)
        own = [frame for frame in frames if of_models(frame[0])] or frames
        line = " ({}:{} in {})".format(*own[0]) if own else ""
        return f"rank {self.number} stands at {self.progress[1]}{line}"


def standing(ranks: Sequence[Rank]) -> list[str]:
    """Where running ranks stand; each is asked for its stack, and MOMENT seconds are waited."""
    patience = time.monotonic() + MOMENT
    before, stacks = None, [""]
    while time.monotonic() < patience and not (all(stacks) and stacks == before):
        for rank in ranks:
            if not rank.stack:
                rank.ask()
        time.sleep(POLL)
        before, stacks = stacks, [rank.stack for rank in ranks]
    return [rank.standing for rank in ranks]


def _lines(log: Path) -> list[str]:
    with contextlib.suppress(FileNotFoundError):
        return [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return []


def say(words: str) -> None:
    """Write into a rank's log what it does next."""
    print(f"{SAID}{words}", flush=True)


@dataclass(frozen=True)
class RanksRun:
    """A run of all ranks of a case.

    name: the name of the case.
    launcher: a key of LAUNCHERS, or ALONE.
    size: number of ranks.
    folder: the folder of the ranks' files; the logs of a failure are copied to LOGS.
    limit: seconds that all ranks may take, of processor time each (`processes.TimeLimit`); beyond
        them, SideError.
    """

    name: str
    launcher: str
    size: int
    folder: Path
    limit: float = LIMIT

    @property
    def ranks(self) -> list[Rank]:
        """All ranks, in order."""
        return [Rank(self.folder, number) for number in range(self.size)]

    @property
    def _logs(self) -> Path:
        """The folder with the logs of a failure, kept until the next run of the case."""
        return LOGS / files.named(self.name)

    def __call__(self, program: Sequence[str]) -> None:
        """Run `program`, a module and its arguments, to the end.

        The program must write the files above, as `equivalence.distributed.rank` does. Raises
        SideError with the words of the rank that failed first or hangs, or else with those of the
        launcher.
        """
        if status := self.status_of(program):
            self._fail("the run", None, f"ended with status {status}; {self._last_words()}")

    def status_of(self, program: Sequence[str]) -> int:
        """Run `program` likewise, and give the launcher's status once all ranks left a result."""
        launcher = launcher_of(self.launcher)
        if launcher.package and not environment.installed(launcher.package):
            raise SideError(
                f"{self.name}: {self.launcher} is a part of {launcher.package}, which is not "
                "installed"
            )
        if sys.platform != "linux":
            raise SideError(f"{self.name}: ranks can be watched on Linux alone")
        shutil.rmtree(self._logs, ignore_errors=True)
        with _reserve_port() as port:
            launch_arguments = launcher.command(self.size, self.folder / self.launcher, port)
            command = [sys.executable, "-m", *launch_arguments, *program]
            with _run_guarded(command, self.folder) as guard:
                limit = processes.TimeLimit(self.limit, guard.pid, self.size)
                while True:
                    ended = guard.poll() is not None  # first: all files are written before the end
                    self._demand_none_failed()
                    if ended:
                        break
                    if why := limit.over():
                        self._give_up(why)
                    time.sleep(POLL)
        for rank in self.ranks:
            if not rank.file("npz").exists():
                self._fail(f"rank {rank.number}", rank, f"left no result; {self._last_words()}")
        return guard.returncode

    def _demand_none_failed(self) -> None:
        """Raise SideError for the rank that failed first.

        A rank that ended silently failed before any rank that reports: a rank that raises reports
        first; only then do others lose it, or does the launcher end them.
        """
        ended = [rank for rank in self.ranks if rank.ended]  # first, for the same reason
        silent = [rank for rank in ended if not rank.has_reported]
        silent.sort(key=lambda rank: rank.terminated)
        failed = [rank for rank in self.ranks if rank.file("failed").exists()]
        failed.sort(key=lambda rank: rank.file("failed").stat().st_mtime_ns)
        for rank in [*silent, *failed]:
            running = [other for other in self.ranks if not other.has_reported and not other.ended]
            meanwhile = "".join(f"; meanwhile {where}" for where in standing(running))
            self._fail(f"rank {rank.number}", rank, f"{rank.reason}{meanwhile}")

    def _give_up(self, why: str) -> NoReturn:
        """Raise SideError for the ranks that are farthest behind. why: what all of them did."""
        waiting = [rank for rank in self.ranks if not rank.has_reported] or self.ranks
        behind = min(rank.progress for rank in waiting)
        hanging = [rank for rank in waiting if rank.progress == behind]
        who = " and ".join(f"rank {rank.number}" for rank in hanging)
        where = "; ".join(standing(hanging))
        self._fail(who, hanging[0], f"{why}; {where}")

    def _last_words(self) -> str:
        lines = _lines(self.folder / LOG)
        return (
            f"the launcher's last words: {lines[-1].strip()}" if lines else "the launcher is mute"
        )

    def _fail(self, who: str, rank: Rank | None, reason: str) -> NoReturn:
        """Copy all logs to the folder of failures, and raise SideError with reason and log."""
        file = rank.file("log") if rank and rank.lines else self.folder / LOG
        try:
            self._logs.mkdir(parents=True)
            for log in (*self.folder.glob("*.log"), *self.folder.glob(f"{self.launcher}/**/*.log")):
                shutil.copy(log, self._logs)
            where = f"its log: {self._logs / file.name}"
        except OSError as error:
            where = f"its log could not be kept: {error}"
        raise SideError(f"{self.name}: {who} under {self.launcher} {reason}; {where}")


@contextlib.contextmanager
def _reserve_port() -> Iterator[int]:
    """A free port of this host, reserved until the end of the context.

    The port is bound, but not listened on. A server that asks for it by number with SO_REUSEADDR
    gets it all the same, while the kernel gives it to nobody else.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


@contextlib.contextmanager
def _run_guarded(command: Sequence[str], folder: Path) -> Iterator[subprocess.Popen]:
    """Run `command` under a guard, in `folder`; no process of it is left at the end."""
    own = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
        "GLOO_SOCKET_IFNAME": "lo",
    }
    with (folder / LOG).open("w") as log:
        guard = subprocess.Popen(
            [sys.executable, "-m", __name__, *command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**environment.SETTINGS, **os.environ, **own},
            start_new_session=True,  # an interrupt at the terminal is for the process that waits
        )
    try:
        yield guard
    finally:
        if guard.stdin is not None:
            guard.stdin.close()
        guard.wait()


def _guard(command: Sequence[str]) -> int:
    """Run a command until it ends or standard input does, then kill all that it started."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    launcher = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    while launcher.poll() is None:
        if select.select([sys.stdin], [], [], POLL)[0]:  # nothing is ever written to it
            break
    status = launcher.returncode
    while True:
        for process in processes.descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:  # there are none left
            break
        time.sleep(POLL)
    return status if status is None or status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(_guard(sys.argv[1:]))
