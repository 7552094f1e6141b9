"""The tutorial: its files and edits fit together, and its quick commands print what it says.

The others take minutes; `make nightly` types them all.
"""

import contextlib
import importlib
import io
import shlex
import sys

import pytest

from equivalence.__main__ import main
from tests import tutorial
from tests.tutorial import PAGE, Step, edit, follow, steps, typed, unseen

QUICK = r"--settings$|^equivalence data|^python pictures.py|^equivalence convert|save_weights"


@pytest.fixture
def in_process(tmp_path, monkeypatch):
    """Commands of this package run in this process, each with the modules as they are now."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def run(folder, command):
        program, *words = shlex.split(command)
        if program != "equivalence":
            return typed(folder, command)
        importlib.invalidate_caches()
        before, told = {*sys.modules}, io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            main(words)
        for name in {*sys.modules} - before:
            if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
                del sys.modules[name]
        return told.getvalue()

    monkeypatch.setattr(tutorial, "typed", run)


@pytest.mark.usefixtures("in_process")
def test_files_and_edits_fit_together_and_quick_commands_print_what_the_page_says(tmp_path):
    assert follow(tmp_path, PAGE.read_text(), QUICK) == []


def test_most_commands_of_the_page_are_told_with_what_they_print():
    commands = [each for each in steps(PAGE.read_text()) if each.kind == "command"]
    assert len(commands) > 10
    assert sum(bool(each.then) for each in commands) > 9


def test_steps_are_read():
    text = (
        "```python\n# a.py\nx = 1\n```\n```diff\n- x = 1\n+ x = 2\n```\n```sh\npython a.py\n```\n"
    )
    assert list(steps(text + "```text\n2\n```\n```sh\npytest\n```\n")) == [
        Step("file", "a.py", "x = 1\n"),
        Step("edit", "x = 1", "x = 2"),
        Step("command", "python a.py", "2\n"),
        Step("command", "pytest", ""),
    ]


@pytest.mark.parametrize(
    "block", ["```diff\n- x\n```\n", "```text\nout\n```\n", "```json\n{}\n```\n"]
)
def test_a_block_that_is_no_step_is_refused(block):
    with pytest.raises(ValueError, match=r"a diff of other|that is no step"):
        list(steps(block))


@pytest.mark.parametrize("old", ["y = 1", "x = 1", "z = 1"])
def test_a_line_that_does_not_stand_once_is_refused(tmp_path, old):
    (tmp_path / "a.py").write_text("x = 1\nx = 1\nz = 1\n")
    (tmp_path / "b.py").write_text("z = 1\n")
    with pytest.raises(ValueError, match="not once"):
        edit(tmp_path, old, "")


def test_a_line_that_is_not_printed_or_in_another_order_is_seen():
    printed = "EQUAL. 4 tensors\nnet.py:30 is off by 2.1 %"
    assert unseen("EQUAL. 5 tensors\nnet.py:30 is off by 3.45 %", printed) == []
    assert unseen("net.py:31 is off by 2.1 %", printed) == ["net.py:31 is off by 2.1 %"]
    assert unseen("DIFFERENT. 4 tensors", printed) == ["DIFFERENT. 4 tensors"]
    assert unseen("net.py:30\nEQUAL", printed) == ["EQUAL"]


def test_what_is_not_seen_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(tutorial, "typed", lambda *_: "other")
    assert follow(tmp_path, "```sh\npython a.py\n```\n```text\nthis\n```\n") == [
        "python a.py: this\nother"
    ]


def test_scripts_run_in_the_folder(tmp_path):
    (tmp_path / "a.py").write_text("import b\nprint(b.x)\n")
    (tmp_path / "b.py").write_text("x = 3\n")
    assert typed(tmp_path, "python a.py").strip() == "3"
