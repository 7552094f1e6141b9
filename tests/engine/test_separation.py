"""Who may import whom: neither side's models know the other framework, the judge knows none."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRAMEWORKS = {"torch", "torchvision", "mindspore"}

# Rooms of the engine that see arrays, names and declarations only.
PURE = ("declare", "judge", "record", "report", "page", "pipelines", "plugin")

# Rooms whose functions import the framework that they need, but for these modules.
LAZY = (
    *("host", "initials", "distributed", "checkpoints", "convert"),
    *("coverage", "comparison", "operators", "own"),
)
EAGER = tuple(
    f"distributed/{name}.py" for name in ("rank_torch", "rank_mindspore", "torch_meeting")
)

BESIDE = (
    *("kinds", "sample", "nesting", "seeds", "targets", "errors", "words", "files"),
    *(
        "commands",
        "dtypes",
        "folders",
        "held",
        "islands",
        "option_values",
        "output",
        "processes",
        "progress",
    ),
    *("releases", "handed", "typed_targets", "written", "__main__"),
)
"""Modules of the engine that are in no room, and import no framework either."""

TORCH = (
    *("sides/torch_*.py", "kinks/*.py", "truth/*.py", "distributed/rank_torch.py"),
    *("bylayer/torch_parts.py", "dumps/torch_*.py", "stream/torch_*.py", "loaders/torch_*.py"),
    "curves/torch_*.py",
)
MINDSPORE = (
    *("sides/mindspore_*.py", "sides/rehearsal.py", "distributed/rank_mindspore.py"),
    *("bylayer/mindspore_parts.py", "dumps/mindspore_*.py", "stand_ins/*.py"),
    *("stream/mindspore_*.py", "loaders/mindspore_*.py"),
)


SUITES = [
    f"tests.test_{suite}" for suite in ("twins", "pipelines", "initial", "recipes", "distributed")
]


def imported(tree):
    """The top-level packages that a file imports anywhere, in functions too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "__import__":
            found |= {arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)}
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            names = {arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)}
            found |= {name.partition(".")[0] for name in names}
    return found


def offenders(files, banned):
    """The files that import something banned, with what they import."""
    found = {path.name: imported(ast.parse(path.read_text())) & banned for path in files}
    return {name: packages for name, packages in found.items() if packages}


def python_files(folder):
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files, f"{folder} has no Python files"
    return files


def loaded_by(modules):
    """The frameworks in `sys.modules` after importing the modules in a new process."""
    code = f"import sys, {', '.join(modules)}; print(*({FRAMEWORKS!r} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "source",
    [
        "import torch",
        "import torch.nn as nn",
        "from torch import nn",
        "def f():\n    from torch.nn import functional",
        "import numpy, torch",
        "__import__('torch')",
        "import importlib\nimportlib.import_module('torch.nn')",
    ],
)
def test_an_import_is_found_in_every_form(source):
    assert "torch" in imported(ast.parse(source))


def test_a_word_in_a_text_is_no_import():
    assert imported(ast.parse('"import torch"\nfrom . import torch_like')) == set()


def test_ms_models_never_imports_torch():
    assert offenders(python_files("ms_models"), {"torch", "torchvision", "pt_reference"}) == {}


def test_pt_reference_never_imports_mindspore():
    assert offenders(python_files("pt_reference"), {"mindspore", "ms_models"}) == {}


def test_declarations_import_neither():
    banned = FRAMEWORKS | {"ms_models", "pt_reference"}
    for declarations in ("twins", "pipelines", "initials", "recipes", "distributed"):
        assert offenders(python_files(f"tests/{declarations}"), banned) == {}


@pytest.mark.parametrize("room", PURE)
def test_what_judges_and_declares_imports_neither(room):
    assert offenders(python_files(f"equivalence/{room}"), FRAMEWORKS) == {}


def test_what_is_beside_the_rooms_imports_neither():
    engine = ROOT / "equivalence"
    files = {file.stem: file for file in engine.glob("*.py")}
    assert {*files} == {*BESIDE, "__init__", "torchvision_schemas"}
    assert offenders([files[name] for name in BESIDE], FRAMEWORKS) == {}


def test_the_engine_knows_no_twin():
    banned = {"ms_models", "pt_reference", "tests"}
    assert offenders(python_files("equivalence"), banned) == {}


def test_each_side_imports_its_own_framework_alone():
    engine = ROOT / "equivalence"
    torch_side = [file for pattern in TORCH for file in engine.glob(pattern)]
    assert offenders(torch_side, {"mindspore"}) == {}
    mindspore_side = [file for pattern in MINDSPORE for file in engine.glob(pattern)]
    assert offenders(mindspore_side, {"torch", "torchvision"}) == {}


def test_importing_what_judges_and_declares_loads_no_framework():
    files = [file for room in (*PURE, *LAZY) for file in python_files(f"equivalence/{room}")]
    eager = [ROOT / "equivalence" / name for name in EAGER]
    parts = [f.relative_to(ROOT).with_suffix("").parts for f in files if f not in eager]
    rooms = [".".join(each).removesuffix(".__init__") for each in parts]
    beside = [f"equivalence.{name}" for name in BESIDE]
    assert loaded_by([*rooms, *beside, "equivalence.truth.known", *SUITES]) == set()


def test_importing_ms_models_loads_mindspore_alone():
    modules = [
        f"ms_models.{path.stem}" for path in python_files("ms_models") if path.stem[0] != "_"
    ]
    assert loaded_by(modules) == {"mindspore"}


def test_importing_pt_reference_loads_torch_alone():
    modules = [f"pt_reference.{p.stem}" for p in python_files("pt_reference") if p.stem[0] != "_"]
    assert loaded_by(["equivalence.sides.torch_network", *modules]) == {"torch", "torchvision"}
