"""Commands on a host without torch: one sentence with the cure, before anything is built."""

import os
import subprocess
import sys

import pytest

NETWORK = """
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        print("the port is built", flush=True)
        self.fc = nn.Dense(2, 2)
"""

ABSENT = """
import sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "torchvision"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
"""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["compare", "theirs:Net", "net:Net", "--input", "normal(2, 2)"],
            "the reference theirs:Net",
        ),
        (["time", "theirs:Net", "net:Net", "--input", "normal(2, 2)"], "the reference theirs:Net"),
        (["evaluate", "net:Net", "net:Net", "--data", "net:x"], "this"),
        (["convert", "weights.pth", "weights.ckpt"], "this"),
    ],
)
def test_a_command_tells_what_to_install(tmp_path, arguments, told):
    (tmp_path / "sitecustomize.py").write_text(ABSENT)
    (tmp_path / "net.py").write_text(NETWORK)
    (tmp_path / "theirs.py").write_text("from torch.nn import Identity as Net")
    (tmp_path / "weights.pth").write_bytes(b"PK\x03\x04")
    done = subprocess.run(
        [sys.executable, "-m", "equivalence", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert not done.stdout
    assert "the port is built" not in done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {told} needs torch")
    assert line.endswith("pip install 'mindspore-torch-equivalence[reference]'")
