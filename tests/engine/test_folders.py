"""Two repositories with modules of the same names lie side by side."""

import sys

import pytest

from equivalence import compare, folders, normal
from equivalence.__main__ import main
from equivalence.errors import DeclarationError

THEIRS = {
    "net.py": """
from torch import nn
from .blocks import Block


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        from models import blocks

        self.first, self.second = Block(), blocks.Block()

    def forward(self, x):
        return self.second(self.first(x) * 2.0)
""",
    "blocks.py": """
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        from models.functional import act  # where it runs, after the port was imported

        return act(self.fc(x))
""",
    "functional.py": "import torch\n\n\ndef act(x):\n    return torch.sigmoid(x)\n",
}
OURS = {
    "net.py": """
from mindspore import nn
from models.blocks import Block


class Net(nn.Cell):
    factor = 2.0

    def __init__(self):
        super().__init__()
        self.first, self.second = Block(), Block()

    def construct(self, x):
        return self.second(self.first(x) * self.factor)


class Wrong(Net):
    def construct(self, x):
        return self.second(self.first(x) * 2.5)
""",
    "blocks.py": """
from mindspore import nn
from .functional import act


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)

    def construct(self, x):
        return act(self.fc(x))
""",
    "functional.py": "from mindspore import ops\n\n\ndef act(x):\n    return ops.sigmoid(x)\n",
}


@pytest.fixture
def repositories(tmp_path, monkeypatch):
    for name, modules in (("theirs", THEIRS), ("ours", OURS)):
        package = tmp_path / name / "models"
        package.mkdir(parents=True)
        for module, text in {"__init__.py": "", **modules}.items():
            (package / module).write_text(text)
    monkeypatch.chdir(tmp_path)
    before = {*sys.modules}
    yield tmp_path
    assert not any(name.partition(".")[0] == "models" for name in {*sys.modules} - before)
    assert not {str(tmp_path / "theirs"), str(tmp_path / "ours")} & {*sys.path}


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.usefixtures("repositories")
def test_modules_of_the_same_names_are_compared(execution):
    options = {"phase": "eval", "execution": execution}
    theirs = "theirs//models.net:Net"
    assert compare(theirs, "ours//models.net:Net", normal(3, 4), **options)
    wrong = compare(theirs, "ours//models.net:Wrong", normal(3, 4), **options)
    assert not wrong
    told = str(wrong)
    assert "return self.second(self.first(x) * 2.5)" in told
    assert "(return self.second(self.first(x) * 2.0)): a constant factor of 1.25" in told


def command(*options):
    words = ["compare", "models.net:Net", "models.net:Net", "--input", "normal(3, 4)"]
    return main([*words, "--phase", "eval", "--execution", "pynative", *options])


@pytest.mark.usefixtures("repositories")
def test_the_command_names_the_folders(capsys):
    assert command("--torch-path", "theirs", "--mindspore-path", "ours") == 0
    assert "equal in 1 case" in capsys.readouterr().out


def test_one_side_may_lie_where_the_command_runs(repositories, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(repositories / "theirs"), *sys.path])
    assert command("--mindspore-path", "ours") == 0
    monkeypatch.undo()
    for name in [name for name in sys.modules if name.partition(".")[0] == "models"]:
        del sys.modules[name]


@pytest.mark.usefixtures("repositories")
def test_a_folder_that_is_not_there_is_told(capsys):
    assert command("--torch-path", "nowhere") == 2
    assert "--torch-path nowhere is no folder" in capsys.readouterr().err
    with pytest.raises(DeclarationError, match="nowhere is no folder"):
        compare("nowhere//models.net:Net", "ours//models.net:Net", normal(3, 4))


def test_a_target_tells_its_folder():
    assert folders.split("/a/b//models.net:Net") == ("/a/b", "models.net:Net")
    assert folders.split("models.net:Net") == ("", "models.net:Net")
    assert folders.joined("/a", "models.net:Net") == "/a//models.net:Net"
    assert folders.joined("", "models.net:Net") == "models.net:Net"
