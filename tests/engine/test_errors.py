"""Whose code a source file is, and what an error is likely to mean."""

import sys
from types import ModuleType

import pytest

from equivalence import errors


@pytest.fixture
def built(monkeypatch):
    """A framework that was built in a folder of its own."""
    module = ModuleType("sails")
    module.__file__ = "/opt/built/sails/__init__.py"
    monkeypatch.setitem(sys.modules, "sails", module)
    monkeypatch.setattr(errors, "FRAMEWORKS", frozenset({"sails"}))


@pytest.mark.parametrize(
    ("file", "own", "package"),
    [
        ("/opt/built/sails/nn/cell.py", False, "sails"),
        ("/opt/built/sails_port/net.py", True, ""),
        ("/opt/built/net.py", True, ""),
        ("/usr/lib/python3.11/site-packages/timm/models/vgg.py", False, "timm"),
        (errors.__file__, False, ""),
    ],
)
@pytest.mark.usefixtures("built")
def test_a_framework_need_not_be_installed_to_be_no_code_of_models(file, own, package):
    assert errors.of_models(file) is own
    assert errors.installed_in(file) == package


def test_a_framework_that_is_not_loaded_has_no_code(monkeypatch):
    monkeypatch.setattr(errors, "FRAMEWORKS", frozenset({"sails"}))
    assert errors.of_models("/opt/built/sails/nn/cell.py")


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("mat1 and mat2 must have the same dtype, but got Half and Float", "those of a .half()"),
        ("Input type (c10::Half) and bias type (float) should be the same", "those of a .half()"),
        ("mat1 and mat2 must have the same dtype, but got Long and Float", "an input of integers"),
        ("expected scalar type Float but found Double", ""),
    ],
)
def test_the_likely_cause_of_two_dtypes_is_told_by_which_they_are(message, told):
    assert told in errors.likely(message)
    assert bool(errors.likely(message)) == bool(told)
