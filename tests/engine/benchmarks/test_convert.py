"""The benchmark of conversions: it measures processes, and what it measures is done."""

import subprocess
import sys

import pytest

from benchmarks import convert

BOTH = """
from benchmarks.convert import run
short, long = run(["-c", "pass"]), run(["-c", "x = bytearray(80 << 20); sum(range(3_000_000))"])
assert long.cpu > short.cpu > 0
assert long.memory - short.memory > 60 << 20
"""


def test_a_process_that_works_longer_costs_more():
    # In a small process: what the system tells of a child's memory begins with its parent's.
    subprocess.run([sys.executable, "-c", BOTH], cwd=convert.ROOT, check=True)


def test_a_command_that_fails_is_an_error():
    with pytest.raises(RuntimeError, match=r"raise SystemExit\(3\) failed"):
        convert.run(["-c", "raise SystemExit(3)"])


@pytest.mark.nightly
def test_a_way_is_measured_beside_its_plain_loop(capsys, monkeypatch):
    safely = convert.WAYS[-1]
    monkeypatch.setattr(convert, "WAYS", (safely,))
    assert convert.main(["--size", "0.01", "--runs", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("in.safetensors -> out.safetensors")
