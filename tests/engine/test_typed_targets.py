"""Targets as people write them: a file for a module, and what is wrong with one."""

import pytest

from equivalence.errors import DeclarationError
from equivalence.typed_targets import demand_target, target_of


def test_a_file_stands_for_its_module_where_it_is_there(tmp_path, monkeypatch):
    (tmp_path / "models").mkdir()
    (tmp_path / "models/nets.py").touch()
    monkeypatch.chdir(tmp_path / "models")
    assert target_of("nets.py:Net") == target_of("./nets.py:Net") == "nets:Net"
    assert target_of("../models/nets.py:Net.part") == "../models//nets:Net.part"
    monkeypatch.chdir(tmp_path)
    assert target_of("./models/nets.py:Net") == "models//nets:Net"
    assert target_of(f"{tmp_path}/models/nets.py:Net") == f"{tmp_path}/models//nets:Net"
    (tmp_path / "models/__init__.py").touch()
    assert target_of("models/nets.py:Net") == "models.nets:Net"
    assert target_of(f"{tmp_path}/models/nets.py:Net") == "models.nets:Net"


@pytest.mark.parametrize("text", ["nets:Net", "nets.py:Net", "run.csv", "net.mindir", "nets.py"])
def test_all_else_stands_for_itself(text):
    assert target_of(text) == text


FILE = """
import torch
from torch import nn

class Block(nn.Module):
    pass

class Settings:
    pass

class Net(Block):
    pass

def made():
    pass
"""


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nets.py", "TORCH 'nets.py' names no class or function; write nets.py:Net, or another"),
        ("nets.py:", "names no class or function; write nets.py:Net, or another of it: Block"),
        ("losses.py", "names no class or function; write losses.py:dice"),
        ("broken.py", "names no class or function; write broken.py:Net"),
        ("nest.py:Net", "TORCH 'nest.py:Net': there is no file nest.py; nearest: nets.py"),
        ("no/nest.py:Net", "there is no file no/nest.py"),
        ("nest.py", "is not MODULE:ATTRIBUTE; write nest:Net"),
        ("nets", "is not MODULE:ATTRIBUTE; write nets:Net"),
        ("nets:", "names no class or function; write nets:Net"),
    ],
)
def test_what_is_no_target_is_told_with_what_is_probably_meant(
    target, words, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets.py").write_text(FILE)
    (tmp_path / "losses.py").write_text("def dice(): pass\n")
    (tmp_path / "broken.py").write_text("def dice(:\n")
    with pytest.raises(DeclarationError) as caught:
        demand_target(target, "TORCH")
    assert words in str(caught.value)


@pytest.mark.parametrize("target", ["nets:Net", "models.nets:Net.part", "models//nets:Net"])
def test_a_target_is_none_of_that(target):
    demand_target(target, "TORCH")
    demand_target("net.mindir", "MINDSPORE")
