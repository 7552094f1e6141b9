"""The parts of a network are spread over processes, and all of them find what one finds."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from equivalence.__main__ import main
from equivalence.bylayer import spread
from equivalence.bylayer.spread import ProcessGroup
from equivalence.distributed.launch import LAUNCHERS
from equivalence.errors import SideError

ROOT = Path(__file__).parents[3]
SIDES = [f"tests.engine.parts.{name}_blocks:" for name in ("torch", "mindspore")]
QUICK = ["--phase", "eval", "--execution", "pynative", "--by-layer", "--arguments", "depth=3"]


def of_two(monkeypatch, rank, *others):
    """This process is one of two; the other one gives what is named."""
    monkeypatch.setattr(spread, "_group", ProcessGroup(rank, 2, lambda own: [own, *others]))


def test_a_process_alone_compares_all_and_tells():
    assert spread.launched() == ""
    assert spread.leads()
    assert spread.spread([1, 2, 3], lambda part: part * part) == [1, 4, 9]


def test_each_process_compares_its_share_and_gets_all(monkeypatch):
    of_two(monkeypatch, 0, (["b", "d"], None))
    compared = []
    found = spread.spread("ABCDE", lambda part: compared.append(part) or part.lower())
    assert compared == ["A", "C", "E"]
    assert found == ["a", "b", "c", "d", "e"]


def test_what_one_process_raises_all_raise(monkeypatch):
    of_two(monkeypatch, 0, ([], SideError("the other one failed")))
    with pytest.raises(SideError, match="the other one failed"):
        spread.spread([1, 2], lambda part: part)


def test_a_launcher_without_by_layer_is_refused(monkeypatch, capsys):
    monkeypatch.setenv("MS_ROLE", "MS_WORKER")
    sides = [f"{each}Net" for each in SIDES]
    assert main(["compare", *sides, "--input", "integers(2, 5, high=11)"]) == 2
    assert "msrun starts several processes, and only" in capsys.readouterr().err


@pytest.mark.parametrize(
    "launcher",
    [
        pytest.param(each, marks=pytest.mark.nightly if each == "msrun" else ())
        for each in LAUNCHERS
    ],
)
def test_two_processes_find_the_culprit_that_one_finds(launcher, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    of_launcher = LAUNCHERS[launcher]
    sides = [f"{SIDES[0]}Net", f"{SIDES[1]}Stopped"]
    command = ["compare", *sides, "--input", "integers(2, 5, high=11)", *QUICK]
    run = subprocess.run(
        [
            *(sys.executable, "-m", *of_launcher.command(2, tmp_path, port)),
            *("equivalence", *command, "--json", str(tmp_path / "result.json")),
        ],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    logs = "".join(path.read_text() for path in sorted(tmp_path.glob("worker_*.log")))
    said = run.stdout + run.stderr + logs
    assert run.returncode != 0, said
    assert said.count("culprit: ") == 1, said
    assert "(1 of 2)" in said  # of four parts
    assert (tmp_path / "result.json").exists()
