"""docs/questions.md is true: each answer has a command, and all run on the files that it shows."""

import json
import re
import shlex
from pathlib import Path

import pytest

from equivalence.__main__ import main

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "questions.md").read_text()
COMMANDS = re.findall(r"^(equivalence .*)$", PAGE, re.M)

EQUAL = ("torch_losses:focal", "torch_losses:predicted", "findings", "--version")
"""Words of the commands that end with 0; the networks of own.md differ."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of both pages, and two repositories with a module `net`."""
    for text in (DOCS / "own.md").read_text(), PAGE:
        for name, source in re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", text, re.S | re.M):
            (tmp_path / name).write_text(source)
    for repository, name in (("original", "torch_net.py"), ("port", "ms_net.py")):
        (tmp_path / repository).mkdir()
        (tmp_path / repository / "net.py").write_text((tmp_path / name).read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(folder, command, capsys):
    words = shlex.split(command)[1:]
    if words == ["--version"]:
        with pytest.raises(SystemExit, match="0"):
            main(words)
        return
    right = any(word in EQUAL for word in words)
    assert main(words) == (0 if right else 1)
    printed = capsys.readouterr().out
    if "torch_inference:Inference" in words:
        assert "no gradient is compared" in printed
    if "--json" in words:
        tensors = json.loads((folder / "figures.json").read_text())["cases"][0]["tensors"]
        assert all(each["relative"] < 1e-5 for each in tensors if each["equal"])


def test_every_answer_has_a_command():
    answers = re.split(r"^## ", PAGE, flags=re.M)[1:]
    assert len(answers) > 7
    assert not [each.splitlines()[0] for each in answers if "```sh" not in each]
