"""Process settings: made before the frameworks come in, and the caller's own are kept."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from equivalence.host import environment

ROOT = Path(__file__).parents[3]


def test_what_the_caller_left_open_is_set(monkeypatch):
    for name in environment.SETTINGS:
        monkeypatch.delenv(name, raising=False)
    environment.prepare()
    assert {name: os.environ[name] for name in environment.SETTINGS} == environment.SETTINGS


@pytest.mark.parametrize("name", environment.SETTINGS)
def test_what_the_caller_has_set_is_kept(name, monkeypatch):
    monkeypatch.setenv(name, "mine")
    environment.prepare()
    assert os.environ[name] == "mine"


def test_this_very_process_is_prepared():
    assert set(environment.SETTINGS) <= set(os.environ)


CONFTEST = """
import importlib.util, sys
for name in ("numpy", "torch", "mindspore"):
    assert name not in sys.modules, name
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name in ("numpy", "torch", "mindspore"):
            import os
            from equivalence.host.environment import SETTINGS
            assert set(SETTINGS) <= set(os.environ), f"{name} before the settings"
            print("watched", name)
sys.meta_path.insert(0, Watch())
import conftest
import importlib
for name in conftest.pytest_plugins:
    for part in importlib.import_module(name).pytest_plugins:
        importlib.import_module(part)
"""


def test_the_settings_stand_before_any_framework_is_imported():
    bare = {k: v for k, v in os.environ.items() if k not in environment.SETTINGS}
    done = subprocess.run(
        [sys.executable, "-c", CONFTEST], cwd=ROOT, env=bare, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "watched numpy" in done.stdout


def test_the_plugin_itself_imports_no_framework():
    code = (
        "import conftest, importlib, sys; from equivalence.plugin import pytest_plugins; "
        "[importlib.import_module(name) for name in pytest_plugins]; "
        "print({'torch', 'mindspore'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_the_heap_is_frozen_only_when_modules_have_come_in(monkeypatch):
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(len(sys.modules)))
    monkeypatch.setattr(environment, "_frozen_modules", 0)
    environment.spare_collections()
    environment.spare_collections()
    assert len(frozen) == 1
    monkeypatch.setitem(sys.modules, "a_module_that_came_in", None)
    environment.spare_collections()
    assert len(frozen) == 2


def test_the_end_of_a_process_frees_what_was_frozen():
    """Or Triton, which torchvision imports, lists all that it has as leaked."""
    code = (
        "from equivalence.host import environment\n"
        "class Kept:\n"
        "    def __del__(self):\n"
        "        print('freed')\n"
        "kept = Kept()\n"
        "kept.itself = kept\n"
        "environment.spare_collections()\n"
        "del kept\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "freed\n"
