"""The face of the package: every public name is there, says what it is, and shows it by example."""

import ast
import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import equivalence
from equivalence.host.isolation import isolated

ROOT = Path(__file__).parents[2]


def modules_with_examples():
    """The names of the package's modules that have a doctest in their source."""
    files = sorted((ROOT / "equivalence").rglob("*.py"))
    paths = [file.relative_to(ROOT) for file in files if ">>> " in file.read_text("utf-8")]
    return [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths]


def homes():
    """The modules that define the public names."""
    return {getattr(equivalence, name).__module__ for name in equivalence.__all__}


def test_the_public_names_are_sorted_and_all_there():
    assert equivalence.__all__ == sorted(set(equivalence.__all__))
    assert set(equivalence.__all__) <= set(dir(equivalence))
    everything = {}
    exec("from equivalence import *", everything)
    assert sorted(everything.keys() - {"__builtins__"}) == equivalence.__all__


def test_type_checkers_see_every_name_where_it_is():
    stub = ast.parse((ROOT / "equivalence" / "__init__.pyi").read_text())
    seen = {
        name.asname: (each.module, name.name)
        for each in ast.walk(stub)
        if isinstance(each, ast.ImportFrom)
        for name in each.names
    }
    assert seen == {name: (home, name) for name, home in equivalence._HOMES.items()}


@pytest.mark.parametrize("name", equivalence.__all__)
def test_every_public_name_is_explained_by_an_example(name):
    value = getattr(equivalence, name)
    assert value.__name__ == name
    (own,) = doctest.DocTestFinder(recurse=False).find(value, name)
    assert any(name in example.source for example in own.examples)


@pytest.mark.parametrize("module", sorted({*modules_with_examples(), *homes()}))
def test_every_example_is_true(module):
    with isolated():
        outcome = doctest.testmod(importlib.import_module(module))
    assert outcome.failed == 0
    assert outcome.attempted > 0


def test_importing_the_package_loads_neither_numpy_nor_a_framework():
    code = "import sys, equivalence; print(*{'numpy', 'torch', 'mindspore'} & sys.modules.keys())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_an_unknown_name_is_refused_by_name():
    with pytest.raises(AttributeError, match=r"'equivalence' has no attribute 'Twim'"):
        equivalence.Twim  # noqa: B018
    with pytest.raises(ImportError, match="'Twim'"):
        from equivalence import Twim  # noqa: F401
