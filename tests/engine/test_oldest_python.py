"""The oldest Python that the package allows has what is used: ruff's target tells syntax alone."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("equivalence", "tests", "examples", "benchmarks", "audits", "findings")
MODELS = ("ms_models", "pt_reference", "conftest.py")
OLDEST = (3, 10)

NEWER = {
    *("ExceptionGroup", "BaseExceptionGroup", "tomllib", "asyncio.TaskGroup", "asyncio.timeout"),
    *("contextlib.chdir", "datetime.UTC", "hashlib.file_digest", "inspect.getmembers_static"),
    *("enum.StrEnum", "enum.ReprEnum", "enum.verify", "enum.member", "enum.nonmember"),
    *("itertools.batched", "math.cbrt", "math.exp2", "math.sumprod", "operator.call"),
    *("re.NOFLAG", "sys.exception", "sys.monitoring", "collections.abc.Buffer"),
    *(f"typing.{name}" for name in ("Self", "Never", "LiteralString", "Required", "NotRequired")),
    *(f"typing.{name}" for name in ("Unpack", "TypeVarTuple", "assert_never", "assert_type")),
    *(f"typing.{name}" for name in ("reveal_type", "dataclass_transform", "override")),
    *(f"warnings.catch_warnings({name})" for name in ("action", "category", "lineno", "append")),
    *("glob.glob(include_hidden)", "glob.iglob(include_hidden)", "shutil.rmtree(onexc)"),
    *("dataclasses.dataclass(weakref_slot)", "tempfile.NamedTemporaryFile(delete_on_close)"),
    *("tempfile.TemporaryDirectory(delete)",),
}
"""Names of modules and of what they hold, with a parameter in brackets, that are newer."""


def newer(source: str) -> list[str]:
    """What a source uses that the oldest Python lacks; SyntaxError for what it cannot read."""
    tree = ast.parse(source, feature_version=OLDEST)
    names: dict[str, str] = {}
    used = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.asname or each.name: each.name for each in node.names}
            used += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            told = {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
            names |= told
            used += [node.module, *told.values()]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            used.append(_full(node, names))
        elif isinstance(node, ast.Call):
            used += [f"{_full(node.func, names)}({each.arg})" for each in node.keywords]
    return sorted(NEWER.intersection(used))


def _full(node: ast.expr, names: dict[str, str]) -> str:
    """The dotted name of an expression, from its module on."""
    first, dot, rest = ast.unparse(node).partition(".")
    return names.get(first, first) + dot + rest


def test_it_is_the_oldest_that_the_package_allows():
    allowed = re.search(r'requires-python = ">=([\d.]+)', (ROOT / "pyproject.toml").read_text())[1]
    assert tuple(map(int, allowed.split("."))) == OLDEST


@pytest.mark.parametrize("folder", [*FOLDERS, *MODELS])
def test_nothing_newer_is_used(folder):
    files = [ROOT / folder] if folder.endswith(".py") else [*(ROOT / folder).rglob("*.py")]
    assert files
    found = {str(file.relative_to(ROOT)): newer(file.read_text()) for file in files}
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (
            "import warnings as w\nw.catch_warnings(action='error')",
            "warnings.catch_warnings(action)",
        ),
        (
            "from warnings import catch_warnings as c\nc(action='error')",
            "warnings.catch_warnings(action)",
        ),
        ("import tomllib", "tomllib"),
        ("from tomllib import loads", "tomllib"),
        ("from typing import Self", "typing.Self"),
        ("import datetime\ndatetime.UTC", "datetime.UTC"),
        ("raise ExceptionGroup('', [])", "ExceptionGroup"),
    ],
)
def test_what_is_newer_is_seen(source, name):
    assert newer(source) == [name]


def test_newer_syntax_is_seen():
    with pytest.raises(SyntaxError):
        newer("try:\n    pass\nexcept* OSError:\n    pass")


def test_what_is_not_newer_is_not_told():
    assert (
        newer("import warnings, glob\nwarnings.catch_warnings(record=True)\nglob.glob('*')") == []
    )
