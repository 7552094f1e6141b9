"""What is read off a source: all that it may import, and every doubt."""

import pytest

from equivalence.changed.identity import UnknownError
from equivalence.changed.reading import module_of, read, with_parents


@pytest.fixture
def source(tmp_path):
    """Reads a text as the source of the module pkg.net."""

    def of(text, module="pkg.net"):
        path = tmp_path / "net.py"
        path.write_text(text + "\n")
        return read(str(path), module)

    return of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import a.b", {"a", "a.b"}),
        ("from a import b", {"a", "a.b"}),
        ("from . import b", {"pkg.b"}),
        ("from .a import b", {"pkg.a", "pkg.a.b"}),
        ("def f():\n    import a", {"a"}),
        ("import a\nx = a.b.c", {"a", "a.b", "a.b.c"}),
        ("import a.b as z\nx = z.c", {"a", "a.b", "a.b.c"}),
        ("from a import b as z\nx = z.c", {"a", "a.b", "a.b.c"}),
        ("from .a import b\nx = b.c", {"pkg.a", "pkg.a.b", "pkg.a.b.c"}),
        ("pytest_plugins = ['a.b']", {"a", "a.b"}),
        ("pytest_plugins = 'a'", {"a"}),
    ],
)
def test_a_source_imports_all_that_it_names(source, text, found):
    assert {*source(text).imports} == {"pkg"} | found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("exec('x = 1')", "calls exec"),
        ("x = eval('1')", "calls eval"),
        ("x = __import__('late')", "calls __import__"),
        ("import subprocess", "uses subprocess"),
        ("import ctypes", "uses ctypes"),
        ("from importlib import import_module", "imports from importlib"),
        ("import importlib.util", "uses importlib.util"),
        ("import importlib\nx = importlib.machinery", "uses importlib.machinery"),
        ("import sys\nx = sys.modules['late']", "uses sys.modules"),
        ("import os\nos.system('true')", "uses os.system"),
        ("from torch.utils import cpp_extension", "uses torch.utils.cpp_extension"),
        ("import torch\nx = torch.hub.load('a/b')", "uses torch.hub"),
    ],
)
def test_where_it_cannot_be_known_what_a_source_depends_on_that_is_said(source, text, why):
    assert source(text).doubt.startswith(why)


@pytest.mark.parametrize(
    "text", ["import importlib\nx = importlib.import_module('a')", "f(x.eval())"]
)
def test_what_is_watched_is_no_doubt(source, text):
    assert source(text).doubt == ""


@pytest.mark.parametrize(
    ("text", "watched"),
    [
        ("x = importlib.import_module('a')", "import_module"),
        ("x = np.load('a')", "load"),
        ("x = open('a')", "open"),
        ("x = f('a')", ""),
    ],
)
def test_what_must_be_watched_is_said(source, text, watched):
    assert source(text).watched == watched


def test_texts_that_may_be_paths_are_kept(source):
    assert source("x = ['data/x.npy', 'plain', ' / ', '/', 'a/b\\nc']").paths == ("data/x.npy",)


@pytest.mark.parametrize("text", ["def f(:", "x = '\0'"])
def test_what_is_no_python_cannot_be_known(source, text):
    with pytest.raises(UnknownError, match="cannot be read"):
        source(text)


def test_a_file_is_the_module_of_the_packages_that_it_lies_in(tmp_path):
    inner = tmp_path / "pkg" / "inner"
    inner.mkdir(parents=True)
    for folder in (inner, inner.parent):
        (folder / "__init__.py").touch()
    assert module_of(str(inner / "net.py")) == "pkg.inner.net"
    assert module_of(str(inner / "__init__.py")) == "pkg.inner"
    assert module_of(str(tmp_path / "net.py")) == "net"
    assert [*with_parents("pkg.inner.net")] == ["pkg", "pkg.inner", "pkg.inner.net"]
