"""How the engine is laid out: one room for one idea, imports one way, files that can be read."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.engine.parts.imports import Import, all_imports, circles, imports, modules

ROOT = Path(__file__).parents[2]
PACKAGE = "equivalence"
FRAMEWORKS = ("torch", "torchvision", "mindspore")

LINES, FILES = 600, 16
"""The most lines of a file, and the most files of a room beside its docstring."""

LEVELS = (
    ("words",),
    (
        *("dtypes", "errors", "files", "seeds", "nesting", "processes", "progress"),
        *("torchvision_schemas", "option_values"),
    ),
    ("releases",),
    ("folders", "stream", "output", "islands"),
    ("declare", "findings", "held", "targets", "reach"),
    ("written", "typed_targets"),
    ("judge", "host"),
    ("kinds", "sample", "handed", "randomness", "checkpoints", "loaders"),
    ("structure", "stand_ins"),
    ("kinks",),
    ("sides",),
    ("truth",),
    ("record", "pipelines", "initials", "distributed", "convert"),
    ("comparison",),
    ("statements",),
    ("diagnosis", "further"),
    ("operators", "report", "bylayer", "alike"),
    ("trend", "dumps"),
    ("page",),
    ("coverage", "own", "changed"),
    ("timing",),
    ("evaluation", "generation", "quantised"),
    ("curves",),
    ("scripts",),
    ("ranks",),
    ("dry",),
    ("plugin", "commands"),
    ("__main__",),
)
"""Rooms, and modules beside them: each may import those of the levels above it in this list."""

STREAMS = ("equivalence.stream.torch_stream", "equivalence.stream.mindspore_stream")
"""Each has all that its framework shows of operators, and all that is private to it."""

HANDLERS = ("__torch_function__", "__torch_dispatch__", "__ms_dispatch__")

LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


def room_of(module: str) -> str:
    """The room of a module, or its own name where it is in none."""
    return module.split(".")[1]


def upward(found: list[Import]) -> list[str]:
    """The imports that do not point down."""
    return [
        f"{each.module}:{each.line} imports {each.target}"
        for each in found
        if room_of(each.module) != room_of(each.target)
        and LEVEL[room_of(each.target)] >= LEVEL[room_of(each.module)]
    ]


def eager(root: Path, package: str, framework: str) -> set[str]:
    """The modules that load a framework as soon as they are imported."""
    every = [each for each in all_imports(root, package) if not (each.late or each.typed)]
    loading = {each.module for each in every if package_of(each.target) == framework}
    arrows = [each for each in imports(root, package) if not (each.late or each.typed)]
    while fresh := {e.module for e in arrows if e.target in loading} - loading:
        loading |= fresh
    return loading


def needless(root: Path, package: str) -> list[str]:
    """Late imports of our own modules that load no framework which is not there already."""
    loading = [eager(root, package, framework) for framework in FRAMEWORKS]
    targets: dict[tuple[str, int], set[str]] = {}
    for each in imports(root, package):
        if each.late:
            targets.setdefault((each.module, each.line), set()).add(each.target)
    return [
        f"{module}:{line} imports {min(found)} late"
        for (module, line), found in targets.items()
        if all(module in eagerly or not found & eagerly for eagerly in loading)
    ]


def privates(module: str, file: Path) -> list[str]:
    """Modes of a framework, imports and attributes that it keeps private, and what is patched."""
    tree, names, found = ast.parse(file.read_text()), set(), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported = [(each.name, each.asname or package_of(each.name)) for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported = [
                (f"{node.module}.{each.name}", each.asname or each.name) for each in node.names
            ]
        else:
            continue
        ours = [(full, name) for full, name in imported if package_of(full) in FRAMEWORKS]
        names |= {name for _, name in ours}
        found += [(node, full) for full, _ in ours if re.search(r"\._(?!_)|Mode$", full)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in HANDLERS:
            found.append((node, node.name))
        if isinstance(node, ast.Attribute) and root_of(node) in names:
            told = ast.unparse(node)
            if re.search(r"\._(?!_)|Mode$", told) and not told.startswith("torch.ops."):
                found.append((node, told))
        targets = node.targets if isinstance(node, ast.Assign) else ()
        found += [(node, f"{ast.unparse(each)} = ...") for each in targets if patches(each, names)]
    return [f"{module}:{node.lineno} {told}" for node, told in found]


def package_of(module: str) -> str:
    """The package of a module."""
    return module.partition(".")[0]


def root_of(node: ast.expr) -> str | None:
    """The name that an attribute begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def patches(target: ast.expr, names: set[str]) -> bool:
    """Whether an assignment changes what a framework has, or how any class is called."""
    if not isinstance(target, ast.Attribute):
        return False
    return root_of(target) in names or target.attr == "__call__"


def shared_names(package: Path) -> list[str]:
    """The names of classes that stand for more than one thing, each with its files.

    A leading underscore makes no other name. In one room PyTorch's file and MindSpore's may share
    a name with each other, and with one file that both build on.
    """
    homes = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name.lstrip("_")].append(path)
    return [
        f"{name}: {', '.join(p.relative_to(package).as_posix() for p in paths)}"
        for name, paths in sorted(homes.items())
        if len({p.parent for p in paths}) > 1 or sum(not of_a_framework(p) for p in paths) > 1
    ]


def of_a_framework(path: Path) -> bool:
    """Whether a file has a partner in the other framework, by its name."""
    return bool({"torch", "mindspore"} & set(path.stem.split("_")))


def test_every_room_has_a_level():
    assert {room_of(module) for module in modules(ROOT, PACKAGE) if "." in module} == set(LEVEL)


def test_imports_point_one_way():
    assert upward(imports(ROOT, PACKAGE)) == []


def test_there_is_no_circle_of_imports():
    arrows: dict[str, set[str]] = {module: set() for module in modules(ROOT, PACKAGE)}
    for each in imports(ROOT, PACKAGE):
        arrows[each.module].add(each.target)
    assert circles(arrows) == []


def test_our_own_modules_are_imported_late_only_where_they_load_another_framework():
    assert needless(ROOT, PACKAGE) == []


def test_no_file_is_too_long_to_read():
    long = {file: len(file.read_text().splitlines()) for file in modules(ROOT, PACKAGE).values()}
    assert {str(file): lines for file, lines in long.items() if lines > LINES} == {}


def test_the_name_of_a_class_stands_for_one_thing():
    assert shared_names(ROOT / PACKAGE) == []


def test_no_room_is_crowded_and_each_says_what_it_is_for():
    for folder in sorted((ROOT / PACKAGE).iterdir()):
        if folder.name.startswith("__") or not folder.is_dir():
            continue
        files = [file for file in folder.glob("*.py") if file.name != "__init__.py"]
        assert 0 < len(files) <= FILES, folder.name
        told = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
        unnamed = [file.stem for file in files if not re.search(rf"\b{file.stem}\b", told)]
        assert len(told.splitlines()) <= FILES + 4, folder.name
        assert unnamed == [], f"{folder.name}/__init__.py does not say what these are for"


def test_only_the_streams_have_modes_and_what_a_framework_keeps_private():
    files = {m: f for m, f in modules(ROOT, PACKAGE).items() if m not in STREAMS}
    private = [told for module, file in files.items() for told in privates(module, file)]
    assert private == []


# What these tests would see.


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Makes a package of three files, in a room each, and takes them for levels 0, 1, 2."""
    monkeypatch.setattr("tests.engine.test_structure.LEVEL", {"low": 0, "mid": 1, "top": 2})

    def make(low="", mid="", top=""):
        for name, text in (("low", low), ("mid", mid), ("top", top)):
            file = tmp_path / "p" / name / "file.py"
            file.parent.mkdir(parents=True)
            file.write_text(text)
        return tmp_path

    return make


def test_an_import_that_points_up_is_seen_wherever_it_hides(small):
    root = small(low="def f():\n    from p.mid import file\n", top="from p.mid.file import x\n")
    assert upward(imports(root, "p")) == ["p.low.file:2 imports p.mid.file"]


def test_a_circle_is_seen(small):
    root = small(
        low="import p.top.file\n", mid="import p.low.file\n", top="from p.mid import file\n"
    )
    arrows: dict[str, set[str]] = {}
    for each in imports(root, "p"):
        arrows.setdefault(each.module, set()).add(each.target)
    assert circles(arrows) == [["p.low.file", "p.mid.file", "p.top.file"]]


def test_a_late_import_is_needless_where_it_loads_no_framework(small):
    late = "def f():\n    import p.low.file\n"
    assert needless(small(low="import numpy\n", top=late), "p") == [
        "p.top.file:2 imports p.low.file late"
    ]


def test_a_late_import_that_loads_a_framework_through_another_is_right(small):
    late = "def f():\n    import p.mid.file\n"
    assert needless(small(low="import torch\n", mid="import p.low.file\n", top=late), "p") == []


@pytest.mark.parametrize(
    ("mid", "top"),
    [
        ("if TYPE_CHECKING:\n    import p.low.file\n", ""),
        ("import p.low.file\n", "import torch\n"),
    ],
)
def test_a_late_import_is_needless_of_types_and_where_the_framework_is_there(small, mid, top):
    late = f"{top}def f():\n    import p.mid.file\n"
    found = needless(small(low="import torch\n", mid=mid, top=late), "p")
    assert [told.partition(" ")[2] for told in found] == ["imports p.mid.file late"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("from torch.overrides import TorchFunctionMode", "torch.overrides.TorchFunctionMode"),
        ("from torch.utils import _python_dispatch as d", "torch.utils._python_dispatch"),
        ("import mindspore as ms\nms.MsDispatchMode", "ms.MsDispatchMode"),
        ("import torch\ntorch._C._get()", "torch._C._get"),
        ("from mindspore.common.api import _pynative_executor", "api._pynative_executor"),
        ("from torch import nn\nnn.Module.train = print", "nn.Module.train = ..."),
        ("import mindspore as ms\nms.Tensor.x = 1", "ms.Tensor.x = ..."),
        ("def f(each):\n    each.__call__ = print", "each.__call__ = ..."),
        ("class A:\n    def __torch_dispatch__(self): ...", "__torch_dispatch__"),
    ],
)
def test_what_belongs_in_a_stream_is_seen(tmp_path, text, told):
    file = tmp_path / "file.py"
    file.write_text(text)
    assert told in privates("p.low", file)[0]


def test_what_anyone_may_call_is_not_taken_for_private(tmp_path):
    file = tmp_path / "file.py"
    file.write_text("import torch\ntorch.ops.aten._log_softmax\nself.x = torch.ones(2)\n")
    assert privates("p.low", file) == []


def test_a_name_that_two_things_share_is_seen(tmp_path):
    for room, files in {"one": ("torch_run", "mindspore_run", "run"), "two": ("other",)}.items():
        (tmp_path / room).mkdir()
        for file in files:
            (tmp_path / room / f"{file}.py").write_text("class Run:\n    pass\n")
    shared = "Run: one/mindspore_run.py, one/run.py, one/torch_run.py, two/other.py"
    assert shared_names(tmp_path) == [shared]
    (tmp_path / "two" / "other.py").write_text("class Other:\n    pass\n")
    assert shared_names(tmp_path) == []
    (tmp_path / "one" / "again.py").write_text("class _Run:\n    pass\n")
    assert len(shared_names(tmp_path)) == 1
