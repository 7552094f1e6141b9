"""Small scripts of findings, written by a test."""

from equivalence.findings import scripts

SCRIPT = '''"""{name} is wrong."""

import os
import sys
import time

API = "mindspore.ops.{name}"
SEVERITY = "silent"
TORCH = ("torch.{name}",)

{body}
'''
TWO_LINES = 'print("expected 1")\nprint("got 2")\n'
KILLED = TWO_LINES + "sys.stdout.flush()\nos.kill(os.getpid(), 11)\n"


def empty(tmp_path, monkeypatch):
    """An empty folder of findings, in an empty directory to write the report to."""
    found = tmp_path / "findings"
    found.mkdir()
    monkeypatch.setattr(scripts, "FOLDER", found)
    monkeypatch.chdir(tmp_path)
    return found


def script(folder, name, body, kind="kernel"):
    """A script of this body in the folder of its kind; its path."""
    path = folder / kind / f"{name}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(SCRIPT.format(name=name, body=body))
    return path
