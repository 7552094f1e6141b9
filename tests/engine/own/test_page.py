"""docs/own.md is true: its files, commands and calls are run, and print what it prints."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from equivalence.__main__ import main
from equivalence.commands import parser

PAGE = (Path(__file__).parents[3] / "docs" / "own.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.S | re.M)


def words(text):
    """A text without its figures, which depend on the processor, and without their columns."""
    return re.sub(r"-?\d(?:[\d.e+-]|,(?=\d{3}))*", "#", re.sub(r"[ ]+", " ", text)).splitlines()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the page."""
    for language, text in BLOCKS:
        if language == "python":
            name, _, source = text.partition("\n")
            (tmp_path / name.removeprefix("# ")).write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_the_first_verdict_is_what_the_page_prints(folder, capsys):
    assert {"ms_net.py", "torch_net.py"} <= {path.name for path in folder.iterdir()}
    ((_, command), (_, printed)) = [block for block in BLOCKS if block[0] in ("sh", "text")][:2]
    assert main(shlex.split(command)[1:]) == 1
    assert words(capsys.readouterr().out) == words(printed)


def test_the_readme_has_its_command_and_its_answer():
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    command, printed = (text for kind, text in BLOCKS[2:4])
    answer, _, _ = printed.partition("details:\n")
    (shown,) = re.findall(r"^```text\n(.*?)^```$", readme, re.S | re.M)
    assert command in readme
    assert shown == f"{answer}details:\n...\n"


def test_the_session_is_true():
    (session,) = [text for _, text in BLOCKS if text.startswith(">>>")]
    test = doctest.DocTestParser().get_doctest(session, {}, "own.md", None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_every_option_is_told():
    commands = next(each for each in parser()._actions if each.choices).choices
    options = {each for action in commands["compare"]._actions for each in action.option_strings}
    assert options - {"-h", "--help"} == set(re.findall(r"^\| `(--[a-z-]+)`", PAGE, re.M))
