"""Two networks of PyTorch: the first has the truth, the second is judged as a port is."""

import os
import subprocess
import sys

import pytest

from equivalence import DeclarationError, compare, normal
from tests.engine.parts import alike_pt

HERE = "tests.engine.parts.alike_pt:"
IMAGES = normal(4, 3, 9, 9)

ABSENT = """
import sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "mindspore":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
"""


def test_a_network_equals_itself_and_one_that_is_written_otherwise():
    assert compare(HERE + "Net", HERE + "Net", IMAGES)
    result = compare(HERE + "Net", HERE + "Renamed", IMAGES, rename={"stem": "conv"})
    assert result
    assert {each.case.execution for each in result.outcomes} == {"pynative"}
    assert "(train and eval, eager, CPU)" in str(compare(HERE + "Net", HERE + "Short", IMAGES))
    assert "tensors of 2 cases" in str(result)


@pytest.mark.usefixtures("undiagnosed")
@pytest.mark.parametrize("wrong", ["Short", "Backward", "other_rate"])
def test_a_mistake_is_red(wrong):
    assert not compare(HERE + "Net", HERE + wrong, IMAGES, phase="train")


@pytest.mark.usefixtures("undiagnosed")
def test_live_networks_are_compared_with_their_own_weights():
    one, two = alike_pt.Net(), alike_pt.Net()
    assert compare(one, two, IMAGES, weights="own", phase="eval")
    assert not compare(one, alike_pt.Short(), IMAGES, weights="own", phase="eval")


@pytest.mark.usefixtures("undiagnosed")
def test_a_constant_is_compared():
    result = compare(alike_pt.Buffered(), alike_pt.Buffered(), normal(2, 6))
    assert result
    changed = alike_pt.Buffered()
    changed.mask[0, 0] = 2.0
    result = compare(alike_pt.Buffered(), changed, normal(2, 6))
    assert not result
    assert "buffer:mask" in [tensor.name for tensor in result.tensors if not tensor.equal]


def test_by_layer_is_refused():
    with pytest.raises(DeclarationError, match="both networks are PyTorch's, and by_layer"):
        compare(HERE + "Net", HERE + "Net", IMAGES, by_layer=True)


SEVERAL = """
import shlex
import sys
from equivalence.__main__ import main

for line in sys.argv[1:]:
    print("ended with", main(shlex.split(line)))
    print("ended with", file=sys.stderr)
"""
"""Several commands in one process, which imports torch once."""


def test_mindspore_need_not_be_installed(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(ABSENT)
    candidates = (HERE + "Net", HERE + "Short", "tests.engine.parts.alike_ms:Net")
    more = "--input 'normal(4, 3, 9, 9)' --phase eval"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            SEVERAL,
            *(f"compare {HERE}Net {each} {more}" for each in candidates),
        ],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    equal, different, *codes = done.stdout.split("ended with ")
    assert equal.startswith("EQUAL. ")
    assert different.startswith("0\nDIFFERENT. ")
    assert codes == ["1\n", "2\n"]
    told = done.stderr.split("ended with\n")[2].splitlines()[-1]
    assert told.startswith("error: the candidate tests.engine.parts.alike_ms")
    assert told.endswith("pip install mindspore")
