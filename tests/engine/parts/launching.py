"""A small launcher, and a small program for ranks, without a framework.

As a launcher it starts every rank in a session of its own, waits for all, and ends with the first
status that is not zero. As a rank it does what the last argument says.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from equivalence.distributed.launch import Rank, say
from equivalence.distributed.rank import keep_own_files


def main(ranks: int, program: list[str]) -> int:
    """Start the ranks."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", *program],
            env={**os.environ, "NUMBER": str(number)},
            start_new_session=True,
        )
        for number in range(ranks)
    ]
    statuses = [rank.wait() for rank in started]
    print("launched", *statuses, flush=True)
    return next((1 for status in statuses if status), 0)


def rank(behaviour: str) -> None:
    """A rank; what is particular about the behaviour is particular to rank 1."""
    me = Rank(Path.cwd(), int(os.environ["NUMBER"]))
    with keep_own_files(me):
        say("step 1 of 2")
        if me.number == 1:
            BEHAVIOURS[behaviour]()
        elif behaviour in WAITING:
            say("step 2 of 2")
            time.sleep(600.0)
        if behaviour != "forgetful" or me.number == 0:
            with me.file("part").open("wb") as file:
                np.savez(file, number=np.array(me.number))
            me.file("part").replace(me.file("npz"))
    if behaviour == "crashes late" and me.number == 1:
        os._exit(3)


def raises():
    """Bad input, in words of two paragraphs."""
    raise ValueError("a batch of nothing\n\nC++ call stack")


def prints_and_raises():
    """Bad input, after a word."""
    print("about to read shard 4", flush=True)
    raises()


def hangs():
    """And has a child that has left its session."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    time.sleep(600.0)


def killed():
    """After a word."""
    print("about to map\n\n90 GB", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def killed_with_other():
    """What a launcher makes of one that is killed."""
    other = Rank(Path.cwd(), 0).file("pid")
    while not other.exists():
        time.sleep(0.01)
    os.kill(int(other.read_text()), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGKILL)


BEHAVIOURS = {
    "right": lambda: None,
    "prints and raises": prints_and_raises,
    "crashes late": lambda: None,
    "forgetful": lambda: None,
    "raises": raises,
    "hangs": hangs,
    "killed": killed,
    "killed_with_other": killed_with_other,
    "aborts": os.abort,
}
WAITING = ("raises", "hangs", "killed", "killed_with_other", "aborts")
"""Behaviours in which rank 0 waits for what never comes."""


if __name__ == "__main__":
    if sys.argv[1] == "rank":
        rank(sys.argv[2])
    else:
        sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
