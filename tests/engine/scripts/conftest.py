"""A folder with the two scripts of a pair, and what becomes of them."""

import linecache
import sys

import pytest

from equivalence.scripts.compare import trainings
from equivalence.scripts.running import ScriptTraining
from tests.engine.scripts.mistakes import PAIRS, names

STEPS = 3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for file in [file for file in linecache.cache if file.startswith(str(tmp_path))]:
        del linecache.cache[file]  # alone: other files there were never written
    for name in [name for name, module in sys.modules.items() if _inside(module, tmp_path)]:
        del sys.modules[name]


def _inside(module, folder):
    return str(getattr(module, "__file__", None) or "").startswith(str(folder))


@pytest.fixture
def compared(folder):
    """Compares a pair, whose port may be edited: (old, new); returns the result."""

    def run(pair, *edits, steps=STEPS, reference=(), rename=None, **options):
        for side, changes in (("torch", reference), ("mindspore", edits)):
            text = (PAIRS / f"{pair}_{side}.py").read_text()
            for old, new in changes:
                assert old in text
                text = text.replace(old, new)
            (folder / f"{pair}_{side}.py").write_text(text)
        sides = zip(("reference", "candidate"), names(pair), strict=True)
        both = [ScriptTraining(role, name, steps=steps) for role, name in sides]
        return trainings(*both, steps, rename or {}, **options)

    return run
