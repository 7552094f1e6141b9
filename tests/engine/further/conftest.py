"""Each test has a process as it was."""

import pytest

from equivalence.comparison import kept
from equivalence.declare.twin import Twin, cases
from equivalence.host.isolation import isolated

PT, MS = "tests.engine.parts.further_pt:", "tests.engine.parts.further_ms:"


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def case_of(reference, candidate, *inputs, **fields):
    """A case in evaluation and PyNative mode."""
    fields = {"phases": ("eval",), "executions": ("pynative",), **fields}
    twin = Twin("net", PT + reference, MS + candidate, list(inputs), **fields)
    return next(cases(twin, "cpu"))
