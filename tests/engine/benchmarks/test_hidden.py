"""The catalogue of ports that hide from one sample: all are listed."""

import importlib
import inspect

import pytest

from benchmarks.hidden import HIDDEN

FILES = sorted({each.file for each in HIDDEN})


@pytest.mark.parametrize("file", FILES)
def test_every_network_and_every_port_is_listed(file):
    theirs, ours = (importlib.import_module(f"benchmarks.hidden.{s}.{file}") for s in ("pt", "ms"))
    listed = [each for each in HIDDEN if each.file == file]
    assert {each.name for each in listed} == defined(theirs)
    assert {name for each in listed for name in (each.name, *each.wrong)} == defined(ours)


def defined(module):
    """The functions and classes of a module, but for those of its own use."""
    found = [*inspect.getmembers(module, inspect.isfunction)]
    found += inspect.getmembers(module, inspect.isclass)
    own = [name for name, each in found if each.__module__ == module.__name__]
    return {name for name in own if not name.startswith("_")}
