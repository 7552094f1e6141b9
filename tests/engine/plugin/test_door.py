"""The entry point: what it loads, what it leaves alone, and what it costs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from equivalence.host.environment import SETTINGS
from equivalence.plugin import door

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]
TWINS = "from equivalence import Twin\nTWINS = ()\n"
SEEN = """
import os, sys
def pytest_report_header(config):
    loaded = config.pluginmanager.has_plugin("equivalence.plugin")
    return f"loaded {loaded} threads {os.environ.get('OMP_NUM_THREADS')} seen {sorted(SEEN)}"
SEEN = {"numpy", "torch", "mindspore"} & {*sys.modules}
"""


def write(pytester, files):
    for name, text in files.items():
        path = Path(pytester.path, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def project(pytester, monkeypatch):
    """Runs pytest in a project of files, through the entry point alone; returns its header."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    # The entry point stands for itself: this clone need not be installed anew.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(files, *arguments, conftest=""):
        write(pytester, files)
        pytester.makeconftest(conftest + SEEN)
        command = ("-p", "equivalence.plugin.door", "--collect-only", *arguments)
        return pytester.runpytest_subprocess(*command)

    return run


LOADED, LEFT = "loaded True threads 1 seen *", "loaded False threads None seen []"


@pytest.fixture
def loads(pytester):
    """Whether a project of files has the plugin, once pytest has read the command line."""

    def load(files, *arguments):
        write(pytester, files)
        config = pytester.parseconfig("-p", door.__name__, *arguments)
        return config.pluginmanager.has_plugin("equivalence.plugin")

    return load


@pytest.mark.parametrize(
    ("files", "arguments", "loaded"),
    [
        ({}, [], False),
        ({"twins_a.py": TWINS}, [], True),
        ({"deep/er/twins_a.py": TWINS}, [], True),
        ({"deep/twins_a.py": TWINS}, ["deep"], True),
        ({"deep/twins_a.py": TWINS, "test_b.py": ""}, ["test_b.py"], False),
        ({"twins_a.py": TWINS, "cand/a": ""}, ["--candidate", "cand"], True),
        ({"twins_a.py": TWINS, "cand/a": ""}, ["-k", "a", "cand"], False),
        ({"pairs.py": TWINS}, [], False),
        ({"pairs.py": TWINS}, ["pairs.py"], True),
        ({"pairs.py": TWINS}, ["pairs.py::test_twin[a]"], True),
        ({"pairs.py": TWINS}, ["-o", "twins=pairs.py"], True),
        ({"pytest.ini": "[pytest]\ntwins = sub/*.py", "sub/pairs.py": TWINS}, [], True),
        ({"pytest.ini": "[pytest]\ntestpaths = sub", "sub/twins_a.py": TWINS}, [], True),
        (
            {"pytest.ini": "[pytest]\ntestpaths = sub", "sub/a.py": "", "twins_a.py": TWINS},
            [],
            False,
        ),
        ({"venv/pyvenv.cfg": "", "venv/twins_a.py": TWINS}, [], False),
        ({"build/twins_a.py": TWINS, ".hidden/twins_a.py": TWINS}, [], False),
        ({"twins_svt.py": "class SVT: pass\n"}, [], False),  # a stranger's
        ({"test_mine.py": TWINS}, ["test_mine.py"], False),
    ],
)
def test_the_plugin_is_loaded_where_there_are_declarations(loads, files, arguments, loaded):
    assert loads(files, *arguments) == loaded


def test_nothing_is_left_of_it_in_a_project_of_something_else(project):
    result = project({"test_a.py": "def test_a(): pass"})
    result.stdout.fnmatch_lines([LEFT])
    result = project({"test_a.py": "def test_a(): pass"}, "--seed", "3")
    assert result.ret == 4


def test_a_conftest_that_names_the_plugin_does_not_load_it_twice(project):
    named = 'pytest_plugins = ["equivalence.plugin"]\n'
    for files in ({"twins_a.py": TWINS}, {"test_a.py": "def test_a(): pass"}):
        result = project(files, conftest=named)
        result.stdout.fnmatch_lines(["loaded True *"])
        assert result.stderr.str() == ""


def test_the_process_is_prepared_before_a_conftest_imports_a_framework(project):
    watching = """
import os
assert os.environ["OMP_NUM_THREADS"] == "1"
import numpy
"""
    result = project({"twins_a.py": TWINS}, conftest=watching)
    result.stdout.fnmatch_lines([LOADED])


def test_another_plugin_with_an_option_of_ours_is_one_sentence(project):
    other = "def pytest_addoption(parser): parser.addoption('--seed')\n"
    result = project({"twins_a.py": TWINS, "other.py": other}, "-p", "other")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: another plugin has an option of the plugin equivalence:*"])
    assert "--seed" in result.stderr.str()
    assert "Traceback" not in result.stderr.str()


def test_a_pattern_that_matches_nothing_is_one_sentence(project):
    result = project({"pytest.ini": "[pytest]\ntwins = pairs/*.py", "twins_a.py": TWINS})
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: *pytest.ini: twins = pairs/[*].py, and there is no such*"])


def test_the_entry_point_has_the_name_of_the_module():
    # An older interpreter has no reader of TOML.
    line = f'"{door.__name__}" = "{door.__name__}"'
    assert line in (ROOT / "pyproject.toml").read_text().splitlines()


def test_importing_the_entry_point_imports_little():
    code = "import sys; before = {*sys.modules}; import equivalence.plugin.door as d\n"
    code += "new = {m.split('.')[0] for m in {*sys.modules} - before}\n"
    code += "print(*sorted(new - sys.stdlib_module_names))"
    bare = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", f"import pytest\n{code}"], env=bare, capture_output=True, text=True
    )
    assert done.stdout.split() == ["equivalence"], done.stderr
