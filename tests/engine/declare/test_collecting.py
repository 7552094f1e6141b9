"""Declarations are found by themselves, and none can be lost without a word."""

import importlib
import itertools
import shutil
import sys

import pytest

from equivalence.comparison import check
from equivalence.declare.declaration import LEVELS
from equivalence.declare.draws import normal
from equivalence.declare.initial import Initial
from equivalence.declare.pipeline import Pipeline
from equivalence.declare.twin import Twin
from equivalence.errors import DeclarationError
from equivalence.host.isolation import isolated
from tests import distributed, initials, pipelines, recipes, twins
from tests.collecting import collect
from tests.engine.parts.small import case
from tests.engine.plugin.test_options import ROOT, run, text_of
from tests.twins import operators

pytest_plugins = ["pytester"]

FOLDERS = (twins, operators, pipelines, initials, recipes, distributed)

HEAD = """
from equivalence.declare.draws import normal
from equivalence.declare.initial import Initial
from equivalence.declare.twin import Twin


def one(name):
    return Twin(name, "torch.nn:ReLU", "mindspore.nn:ReLU", [normal(2)])


"""
RIGHT = HEAD + "TWINS = (one('right'),)\n"
HELPER = HEAD + "DECLARES_NOTHING = True\n"

numbers = itertools.count()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Makes a package of files, beside others if `parent` is one, and imports it."""
    monkeypatch.syspath_prepend(tmp_path)
    imported = set(sys.modules)

    def make(files: dict[str, str], name: str = "", parent: str = "") -> str:
        parent = parent or f"declarations{next(numbers)}"
        package = f"{parent}.{name or 'found'}"
        folder = tmp_path / package.replace(".", "/")
        for file, text in {"__init__.py": "", **files}.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        importlib.invalidate_caches()
        importlib.import_module(package)
        return package

    yield make
    for module in set(sys.modules) - imported:
        if module.startswith("declarations"):
            del sys.modules[module]


def names(package, *options, **more):
    return [each.name for each in collect(package, Twin, *options, **more)]


def test_every_file_is_found_by_the_alphabet_after_the_longest(package):
    files = {f"{name}.py": RIGHT.replace("right", name) for name in ("b", "a", "d", "c")}
    found = package(files | {"helping.py": HELPER})
    assert names(found) == ["a", "b", "c", "d"]
    assert names(found, ("d", "b")) == ["d", "b", "a", "c"]


def test_what_a_file_imports_of_another_is_collected_there(package):
    other = RIGHT.replace("right", "other") + "from .a import TWINS as THEIRS\n"
    assert names(package({"a.py": RIGHT, "b.py": other})) == ["right", "other"]


def test_a_folder_that_collects_its_own_is_left_to_it(package):
    found = package({"a.py": RIGHT, "inner/__init__.py": "", "inner/b.py": "raise ValueError"})
    assert names(found, apart=("inner",)) == ["right"]


LOST = {
    "no_tuple": ("found = one('x')", "has no tuple TWINS; name in it what the file declares, or"),
    "nothing": ("", "has no tuple TWINS"),
    "other_tuple": ("OPERATORS = (one('x'),)", "has no tuple TWINS"),
    "empty": ("TWINS = ()", "TWINS is empty, so nothing would be compared"),
    "generator": ("TWINS = (one(n) for n in 'ab')", "TWINS is of the type generator; write a tu"),
    "list": ("TWINS = [one('x')]", "TWINS is of the type list; write a tuple"),
    "comma": ("TWINS = (one('x'))", "TWINS is of the type Twin; write TWINS = (Twin(...),)"),
    "stars": ("A = (one('x'),)\nTWINS = (A,)", "TWINS has a tuple in it, which is no Twin"),
    "maker": ("TWINS = (one,)", "TWINS has a function in it, which is no Twin"),
    "bound": ("X = one('x')\nTWINS = (one('y'),)", "X holds the twin 'x'; add it to TWINS"),
    "private": ("_x = one('x')\nTWINS = (one('y'),)", "_x holds the twin 'x'; add it to TWINS"),
    "in_a_tuple": (
        "A = (one('a'),)\nB = (one('b'),)\nTWINS = A",
        "B holds the twin 'b'; add it to TWINS",
    ),
    "in_a_dict": (
        "A = {'a': [one('a')]}\nTWINS = (one('b'),)",
        "A holds the twin 'a'; add it to TWINS",
    ),
    "in_a_generator": (
        "A = (one(n) for n in 'ab')\nTWINS = (one('c'),)",
        "A is of the type generator, which hides what it holds; write a tuple",
    ),
    "other_kind": (
        "X = Initial('x', 'm:f', 'm:g')\nTWINS = (one('y'),)",
        "X holds the initial 'x'; here only TWINS are collected",
    ),
    "thrown_away": (
        "one('x')\nTWINS = (one('y'),)",
        ":11: nothing keeps what this call returns; add it to the tuple",
    ),
    "twice_assigned": (
        "TWINS = (one('x'),)\nTWINS = (one('y'),)",
        "TWINS is assigned twice, and the first is lost",
    ),
    "twice_named": ("TWINS = (one('x'), one('x'))", "twin 'x' is declared twice in"),
    "named_elsewhere": ("TWINS = (one('right'),)", "twin 'right' is declared twice in"),
    "helper_that_declares": (
        "DECLARES_NOTHING = True\nTWINS = (one('x'),)",
        "has TWINS, and says DECLARES_NOTHING; take one out",
    ),
    "helper_that_holds": (
        "DECLARES_NOTHING = True\nX = one('x')",
        "X holds the twin 'x'; add it to TWINS",
    ),
    "no_import": ("import no_such", "cannot be imported: ModuleNotFoundError: No module named"),
    "no_python": ("TWINS = (", "cannot be imported: SyntaxError: "),
    "exit": ("raise SystemExit(0)", "cannot be imported: SystemExit: 0"),
    "skip": (
        "import pytest\npytest.skip('later', allow_module_level=True)",
        "cannot be imported: Skipped: later",
    ),
    "wrong_twin": ("TWINS = (one('two words'),)", "twin 'two words': is no identifier"),
}


@pytest.mark.parametrize("name", LOST)
def test_a_file_that_would_lose_a_declaration_is_an_error(package, name):
    body, complaint = LOST[name]
    found = package({"a.py": RIGHT, "wrong.py": HEAD + body + "\n"})
    with pytest.raises(DeclarationError) as refused:
        collect(found, Twin)
    (told,) = str(refused.value).splitlines()
    assert complaint in told
    assert "wrong" in told or "twin '" in told


def test_what_the_folder_itself_declares_is_an_error(package):
    with pytest.raises(DeclarationError, match=r"__init__.py: X holds the twin 'x'; add it to TW"):
        collect(package({"__init__.py": HEAD + "X = one('x')\n", "a.py": RIGHT}), Twin)


@pytest.mark.parametrize("file", ["inner/b.py", "inner/__init__.py", "inner/deep/b.py"])
def test_a_folder_that_nobody_collects_is_an_error(package, file):
    found = package({"a.py": RIGHT, file: RIGHT})
    with pytest.raises(DeclarationError, match="nothing collects the folder 'inner'; move the fil"):
        collect(found, Twin)


def test_a_file_that_is_first_and_absent_is_an_error(package):
    with pytest.raises(DeclarationError, match=r"LONGEST_FIRST names \['b'\], which is no file th"):
        collect(package({"a.py": RIGHT}), Twin, ("b", "a"))


def test_a_name_that_another_folder_has_taken_is_an_error(package):
    first = package({"a.py": RIGHT}, "first")
    parent = first.partition(".")[0]
    second = package({"a.py": RIGHT.replace("torch.nn:ReLU", "torch.nn:GELU")}, "second", parent)
    for _ in range(2):
        assert names(first) == ["right"]
        with pytest.raises(DeclarationError, match=r"twin 'right' of \w+.second has a name that"):
            collect(second, Twin)


def test_an_initial_may_bear_the_name_of_its_network(package):
    first = package({"a.py": RIGHT}, "first")
    initial = HEAD + "INITIALS = (Initial('right', 'm:f', 'm:g'),)\n"
    second = package({"a.py": initial}, "second", first.partition(".")[0])
    assert [*names(first), *(each.name for each in collect(second, Initial))] == ["right"] * 2


def test_parts_of_a_recipe_need_no_tuple_and_others_do():
    assert "small_network" not in {each.name for each in initials.declared()}
    assert vars(importlib.import_module("tests.recipes.training_run"))["SMALL"] is (
        recipes.declared()[0].initial
    )


# --- The declarations themselves -----------------------------------------------------------------


def every(folder):
    return folder.operators() if folder is operators else folder.declared()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.__name__)
def test_all_that_is_declared_is_collected_in_one_process(folder):
    found = every(folder)
    assert len({each.name for each in found}) == len(found) > 2
    assert all(getattr(each, "level", "gate") in LEVELS for each in found)


def test_folders_are_collected_beside_each_other():
    kinds = {type(each) for folder in FOLDERS for each in every(folder)}
    assert {Twin, Pipeline, Initial} < kinds
    assert len(kinds) == len(FOLDERS)


GELU = """
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin

TWINS = (
    Twin(
        "relu_as_gelu",
        reference="torch.nn:ReLU",
        candidate="mindspore.nn:GELU",
        inputs=[normal(3, 4)],
        phases=("train",),
        executions=("pynative",),
    ),
)
"""


@pytest.fixture(scope="module")
def _frameworks():
    """Loads here what a case needs: a run forgets the modules that were imported in it."""
    with isolated():
        check.check(case("torch.nn:ReLU", "mindspore.nn:ReLU", normal(3, 4)), seed=0)


@pytest.fixture
def copied(project_of, _frameworks):
    """A project with a copy of the twins' folder, and of the tests that compare them."""
    suite = (ROOT / "tests/test_twins.py").read_text()
    project = project_of(test_copied=suite.replace("tests.twins", "copied_twins"))
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "tests/twins", project.path / "copied_twins", ignore=ignored)
    project.syspathinsert()
    return project


def test_a_new_file_with_a_wrong_twin_is_red(copied):
    (copied.path / "copied_twins/novel.py").write_text(GELU)
    result = run(copied, "-k", "relu_as_gelu", "-m", "cpu")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert result.parseoutcomes()["failed"] == 1
    assert "relu_as_gelu-train-float32-pynative-cpu: 2 of 2 tensors differ" in text_of(result)


def test_a_new_file_without_its_tuple_breaks_the_run_off(copied):
    (copied.path / "copied_twins/novel.py").write_text(GELU.replace("TWINS", "TWIN"))
    result = run(copied, "-m", "cpu")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "novel.py: has no tuple TWINS; name in it what the file declares" in text_of(result)
