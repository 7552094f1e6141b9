"""Says in which test a process died: a second process tells it, which outlives the first.

The first keeps a file for the test that it runs, in a folder of its own:

    tests/test_twins.py::test_twin[relu-cpu]      the test
    it died                                       why this process ended, as far as it knows
    repeat: pytest ...                            what else is to be told

A file that is still there when the first process is gone is of the test in which it died. Needs the
standard library alone, so that it starts in a moment.
"""

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

POLL = 1.0
"""Seconds between two looks at the first process, whose children may hold its end of the pipe."""

PATIENCE = 5.0
"""Seconds that the second process may take to end."""


class Guard:
    """Watches this process. Its folder goes with it.

    folder: where this process keeps the file of the test that it runs.
    """

    def __init__(self, folder: Path):
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(folder)],
            stdin=subprocess.PIPE,
            start_new_session=True,  # an interrupt at the terminal is for the first process
        )

    def end(self) -> None:
        """End it; there is nothing to be told."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def told(file: Path) -> list[str]:
    """The lines of the file of a test; none where it is not there."""
    try:
        return file.read_text().splitlines()
    except OSError:
        return []


def main(folder: Path, watched: int) -> None:
    """Wait for the end of a process, and tell in which test it died, if in any."""
    while os.getppid() == watched and not select.select([sys.stdin], [], [], POLL)[0]:
        pass
    for file in folder.glob("*"):
        if lines := told(file):
            first = f"the run ended within {lines[0]}"
            print("", first, *lines[1:], sep="\n", file=sys.stderr, flush=True)
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), os.getppid())
