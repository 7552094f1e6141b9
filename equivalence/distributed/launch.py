"""Starts the ranks of a distributed run under a launcher, watches them, and leaves none behind.

Every rank runs the same program and tells how it fares by files in the folder of the run, its
working directory:

    rank0.pid      its process id, from the beginning on
    rank0.log      all that it writes to stdout and stderr
    rank0.failed   the exception that ended it, in one line
    rank0.npz      its result, complete or not there

At the signal `ASKED`, and at SIGTERM, it writes its stack into its log.

Launchers put each rank into a session of its own, so no process group has all of them. A guard
stands between: it starts the launcher, adopts every process whose parent ends first (Linux: a
"child subreaper"), and kills all of them as soon as the launcher ends, or its own standard input
does. That is when the process that waits is gone, by whatever end. Imports no framework.
"""

import contextlib
import ctypes
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

from equivalence.errors import SideError, of_models
from equivalence.host import environment

LIMIT = 120.0

POLL = 0.05
"""Seconds between two looks at the ranks: less than a launcher takes to end all for one."""

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "reports" / "distributed"

MOMENT = 2.0
"""Seconds that ranks have to tell where they stand."""

ASKED = signal.SIGUSR1
"""The signal at which a rank writes its stack into its log."""

LOG = "launcher.log"

SAID = "== "
"""What the lines begin with by which a rank tells what it is about."""

PR_SET_CHILD_SUBREAPER = 36
"""Of Linux's prctl.h."""


@dataclass(frozen=True)
class Launcher:
    """How a launcher is called, and what it tells a rank.

    package: what must be installed. rank: the environment variable with the number of a rank.
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
    # A number beyond the last rank's: otherwise each log is copied to the terminal by a process.
    logs = ["--log_dir", str(folder), "--join", "True", "--tail_worker_log", str(ranks)]
    return ["mindspore.parallel.cluster.run", *number, *scheduler, *logs, "python", "-m"]


LAUNCHERS = {
    "torchrun": Launcher("torch", "RANK", _torchrun),
    "msrun": Launcher("mindspore", "RANK_ID", _msrun),
}


@dataclass(frozen=True)
class Rank:
    """One rank, as its files tell."""

    folder: Path
    number: int

    def file(self, suffix: str) -> Path:
        """Its file of that suffix."""
        return self.folder / f"rank{self.number}.{suffix}"

    @property
    def ended(self) -> bool:
        """Whether its process was there and is no more."""
        try:
            stat = Path("/proc", self.file("pid").read_text(), "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return self.file("pid").exists()
        return stat.rpartition(")")[2].split()[0] == "Z"

    @property
    def told(self) -> bool:
        """Whether it left a result or the reason why there is none."""
        return self.file("npz").exists() or self.file("failed").exists()

    @property
    def lines(self) -> list[str]:
        """Its log, without empty lines."""
        return _lines(self.file("log"))

    @property
    def progress(self) -> tuple[int, str]:
        """How many words it has said, and the last of them."""
        said = [line.removeprefix(SAID) for line in self.lines if line.startswith(SAID)]
        return len(said), said[-1] if said else "start"

    @property
    def fatal(self) -> str:
        """The signal that it died of, as far as Python tells: not of one that kills."""
        told = [line for line in self.lines if line.startswith("Fatal Python error: ")]
        return told[-1].partition(": ")[2] if told else ""

    @property
    def terminated(self) -> bool:
        """Whether it ended at a launcher's wish, and wrote its stack down at that."""
        return bool(self.stack) and not self.fatal

    @property
    def reason(self) -> str:
        """Why it failed, in its own words where it left some."""
        if self.file("failed").exists():
            return f"raised {self.file('failed').read_text()}"
        if self.fatal:
            return f"died at {self.progress[1]}: {self.fatal}"
        return f"ended at {self.progress[1]} without a result or a word, as one that is killed"

    @property
    def stack(self) -> str:
        """The lines of the stack that it was last asked for, the innermost first."""
        _, found, stack = "\n".join(self.lines).rpartition("(most recent call first):")
        return stack if found else ""

    def ask(self) -> None:
        """Let it write its stack; one that has only just been started hears nothing yet."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int(self.file("pid").read_text()), ASKED)

    @property
    def standing(self) -> str:
        """What it is about, and at which line of the models' code, where it could tell."""
        frames = re.findall(r'^  File "(.+)", line (\d+) in (.+)', self.stack, re.MULTILINE)
        own = [each for each in frames if of_models(each[0])] or frames
        place = " ({}:{} in {})".format(*own[0]) if own else ""
        return f"rank {self.number} stands at {self.progress[1]}{place}"


def standing(ranks: Sequence[Rank]) -> list[str]:
    """Where ranks stand that still run; each is asked for its stack and given a moment."""
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
    """Of a rank: tell in its log what comes next."""
    print(f"{SAID}{words}", flush=True)


@dataclass(frozen=True)
class Run:
    """A run of all ranks of a case. Its folder is that of the files; a failure's logs are kept.

    limit: seconds from the start of the launcher to the end of all ranks.
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
    def _kept(self) -> Path:
        """Where the logs of a failure are kept until the next run of the case."""
        return LOGS / re.sub(r"[^\w.+=-]+", "_", self.name)

    def __call__(self, program: Sequence[str]) -> None:
        """Run `program`, a module and its arguments, to the end.

        The program must tell of itself as above; `equivalence.distributed.rank` does. Raises
        SideError with
        the words of the rank that failed first or that hangs, or else of the launcher.
        """
        launcher = LAUNCHERS[self.launcher]
        if not environment.installed(launcher.package):
            raise SideError(
                f"{self.name}: {self.launcher} is a part of {launcher.package}, which is not "
                "installed"
            )
        if sys.platform != "linux":
            raise SideError(f"{self.name}: ranks can be watched on Linux alone")
        shutil.rmtree(self._kept, ignore_errors=True)
        deadline = time.monotonic() + self.limit
        with _reserved() as port:
            started = launcher.command(self.size, self.folder / self.launcher, port)
            command = [sys.executable, "-m", *started, *program]
            with _guarded(command, self.folder) as guard:
                while True:
                    ended = guard.poll() is not None  # asked first: what is told comes before
                    self._demand_none_failed()
                    if ended:
                        break
                    if time.monotonic() > deadline:
                        self._give_up()
                    time.sleep(POLL)
        for rank in self.ranks:
            if not rank.file("npz").exists():
                self._fail(f"rank {rank.number}", rank, f"left no result; {self._last_words()}")
        if guard.returncode:
            self._fail(
                "the run", None, f"ended with status {guard.returncode}; {self._last_words()}"
            )

    def _demand_none_failed(self) -> None:
        """Blame the rank that failed first.

        One that ended without a word did so before others told of it: a rank that raises tells
        first, and only then do others lose it, or are they ended by the launcher.
        """
        ended = [rank for rank in self.ranks if rank.ended]  # asked first, as above
        silent = [rank for rank in ended if not rank.told]
        silent.sort(key=lambda rank: rank.terminated)
        told = [rank for rank in self.ranks if rank.file("failed").exists()]
        told.sort(key=lambda rank: rank.file("failed").stat().st_mtime_ns)
        for rank in [*silent, *told]:
            running = [other for other in self.ranks if not other.told and not other.ended]
            meanwhile = "".join(f"; meanwhile {where}" for where in standing(running))
            self._fail(f"rank {rank.number}", rank, f"{rank.reason}{meanwhile}")

    def _give_up(self) -> NoReturn:
        """Blame the ranks that are the farthest behind."""
        waiting = [rank for rank in self.ranks if not rank.told] or self.ranks
        behind = min(rank.progress for rank in waiting)
        hanging = [rank for rank in waiting if rank.progress == behind]
        who = " and ".join(f"rank {rank.number}" for rank in hanging)
        where = "; ".join(standing(hanging))
        self._fail(who, hanging[0], f"did not end within {self.limit:g} s: {where}")

    def _last_words(self) -> str:
        said = _lines(self.folder / LOG)
        return f"the launcher's last words: {said[-1].strip()}" if said else "the launcher is mute"

    def _fail(self, who: str, rank: Rank | None, reason: str) -> NoReturn:
        """Raise with the reason and the place of the log, after all logs are put there."""
        file = rank.file("log") if rank and rank.lines else self.folder / LOG
        self._kept.mkdir(parents=True)
        for log in (*self.folder.glob("*.log"), *self.folder.glob(f"{self.launcher}/**/*.log")):
            shutil.copy(log, self._kept)
        place = os.path.relpath(self._kept / file.name, ROOT)
        raise SideError(f"{self.name}: {who} under {self.launcher} {reason}; its log: {place}")


@contextlib.contextmanager
def _reserved() -> Iterator[int]:
    """A free port of this host that is given to nobody else until the end.

    It is bound, and not listened on: who asks for it by number and says SO_REUSEADDR, as servers
    do, gets it all the same, while the kernel hands it out to none.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@contextlib.contextmanager
def _guarded(command: Sequence[str], folder: Path) -> Iterator[subprocess.Popen]:
    """A guard over `command`, in `folder`; at the end no process of it is left."""
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
        guard.stdin.close()
        guard.wait()


def _guard(command: Sequence[str]) -> int:
    """Run a command until it ends or standard input does, and kill what it started."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    launcher = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    while launcher.poll() is None:
        if select.select([sys.stdin], [], [], POLL)[0]:  # nothing is ever written to it
            break
    status = launcher.returncode
    while True:
        for process in _descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:  # there are none left
            break
        time.sleep(POLL)
    return status if status is None or status >= 0 else 128 - status


def _descendants(ancestor: int) -> list[int]:
    """All processes below one, as they are now."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    found = list(children.get(ancestor, ()))
    for process in found:  # which grows
        found += children.get(process, ())
    return found


if __name__ == "__main__":
    sys.exit(_guard(sys.argv[1:]))
