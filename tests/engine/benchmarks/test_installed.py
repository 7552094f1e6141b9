"""What users have: the steps can go wrong, and the oldest packages are the bounds of the wheel."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from benchmarks import installed
from benchmarks.installed import ROOT, STEPS, Step

NAMES = [step.name for step in STEPS]


@pytest.fixture
def wheel(tmp_path):
    """Makes a wheel that asks for some packages."""

    def make(*needs):
        path = tmp_path / "a-1.whl"
        with zipfile.ZipFile(path, "w") as archive:
            told = "\n".join(f"Requires-Dist: {need}" for need in needs)
            archive.writestr("a-1.dist-info/METADATA", f"Name: a\n{told}\n")
        return path

    return make


def test_the_oldest_packages_are_the_lower_bounds(wheel):
    needs = ("numpy<2,>=1.26", 'torch>=2.6; extra == "reference"', 'ruff; extra == "dev"')
    assert installed.oldest(wheel(*needs)) == ["numpy==1.26", "torch==2.6"]


def test_a_package_without_a_lower_bound_is_told(wheel):
    with pytest.raises(ValueError, match="no lower bound for scipy"):
        installed.oldest(wheel("numpy>=1.26", "scipy<2"))


def test_every_package_that_users_need_has_a_lower_bound():
    text = (ROOT / "pyproject.toml").read_text()
    for table in (r"dependencies = \[\n(.*?)\n\]", r"reference = \[(.*?)\]"):
        needs = re.findall(r'^ *"([^"]+)"|, "([^"]+)"', re.search(table, text, re.S)[1], re.M)
        assert needs
        assert [need for need in map("".join, needs) if ">=" not in need] == []


@pytest.mark.parametrize(
    ("code", "printed", "wrong"),
    [
        (1, "different", []),
        (0, "different", ["exit code 0, not 1"]),
        (1, "equal", ["does not say: different"]),
        (1, "different\nnanobind: leaked 2 types!", ["says: nanobind: leaked"]),
    ],
)
def test_a_step_is_held_by_its_code_and_its_words(code, printed, wrong):
    assert Step("a wrong port", ("equivalence",), ("different",), code=1).wrong(code, printed) == (
        wrong
    )


def test_what_the_oldest_packages_cannot_do_must_be_refused_there():
    step = Step("train", ("equivalence",), ("EQUAL",), refusal="install 'mindspore>=2.9'")
    assert step.beside("newest").wrong(0, "EQUAL") == []
    assert step.beside("oldest").wrong(2, "error: install 'mindspore>=2.9'") == []
    assert step.beside("oldest").wrong(0, "EQUAL") == [
        "exit code 0, not 2",
        "does not say: install 'mindspore>=2.9'",
    ]
    plain = Step("a right port", ("equivalence",), ("EQUAL",))
    assert plain.beside("oldest") is plain


def test_a_step_runs_where_the_user_is_and_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/of/the/clone")
    code = "import os; print(os.getcwd(), 'PYTHONPATH' in os.environ)"
    step = Step("where", (Path(sys.executable).name, "-c", code), (f"{tmp_path} False",))
    told = []
    assert installed.run(step, Path(sys.executable).parent, tmp_path, told.append) == []
    assert re.fullmatch(r"-> 0 in \d+\.\d s: as it must be", told[-1])


def test_a_step_that_hangs_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(installed, "LONGEST", 0.2)
    step = Step("hangs", (Path(sys.executable).name, "-c", "import time; time.sleep(60)"), ())
    found = installed.run(step, Path(sys.executable).parent, tmp_path, lambda _: None)
    assert found == ["took longer than 0.2 s"]


def test_a_step_that_goes_wrong_makes_the_run_red(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(installed, "install", lambda *_: None)
    monkeypatch.setattr(installed, "ROOT", tmp_path)
    answers = {"a right port": [], "a wrong port": ["exit code 0, not 1"]}
    monkeypatch.setattr(installed, "STEPS", [Step(name, (), ()) for name in answers])
    monkeypatch.setattr(installed, "run", lambda step, *_: answers[step.name])
    assert installed.main(["newest"]) == 1
    assert "1 of 2 steps went as they must\nwrong: a wrong port: exit code 0" in (
        capsys.readouterr().out
    )
    answers["a wrong port"].clear()
    assert installed.main(["oldest"]) == 0


def test_a_right_port_is_equal_and_a_wrong_one_red():
    assert len({*NAMES}) == len(NAMES)
    compared = [step for step in STEPS if "compare" in step.command]
    assert {step.code for step in compared} == {0, 1}
    assert all("equal in" in s.words[-1] for s in compared if s.code == 0)
    assert all("different in" in s.words[-1] for s in compared if s.code == 1)


@pytest.mark.parametrize("packages", ["latest", "torch>=2.9", "torch=2.9", "torch==2.9 numpy==1"])
def test_what_is_no_release_is_refused(packages, capsys):
    with pytest.raises(SystemExit, match="2"):
        installed.main([packages])
    told = f"{packages} is neither newest nor oldest, nor a release such as torch==2.9.1"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("packages", "constraints"),
    [("newest", "\n"), ("oldest", "torch==2.6\n"), ("torch==2.9.1", "torch==2.9.1\n")],
)
def test_a_release_is_a_constraint(wheel, tmp_path, monkeypatch, packages, constraints):
    got = []

    def run(command, **_):
        got.append(Path(command[command.index("--constraint") + 1]).read_text())
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(installed, "build", lambda _: wheel('torch>=2.6; extra == "reference"'))
    monkeypatch.setattr(installed.venv, "create", lambda *_, **__: None)
    monkeypatch.setattr(installed.subprocess, "run", run)
    installed.install(tmp_path, packages)
    assert got == [constraints]
