"""Hypothesis draws the same examples in every run; HYPOTHESIS_PROFILE=search looks further."""

import functools
import math
import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[2]

UNSEEDED = 5489
"""The seed of MindSpore's data where nobody has set one."""

COMMON = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("gate", derandomize=True, max_examples=50, **COMMON)
settings.register_profile("search", max_examples=5000, print_blob=True, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))


@pytest.fixture(autouse=True)
def _given_inputs_alone(monkeypatch):
    """After a green, further samples are tried for 5 s at least: here only with `thorough`.

    `own/test_session.py` holds that a comparison asks for them; `further/`, `own/test_command.py`
    and `benchmarks/test_hidden.py` what comes of them.
    """
    from equivalence.own.session import Session

    further = Session.further

    @functools.wraps(further)
    def asked(session, verdicts, seconds):
        return further(session, verdicts, seconds) if seconds == math.inf else (None, None)

    monkeypatch.setattr(Session, "further", asked)


@pytest.fixture
def undiagnosed(monkeypatch):
    """What differs is not diagnosed, which takes longest: for tests of the verdict alone."""
    from equivalence.own.session import CaseVerdict, Session

    monkeypatch.setattr(Session, "_diagnose", lambda _, outcome: CaseVerdict(outcome))


@pytest.fixture(autouse=True)
def _edits_are_seen(monkeypatch):
    """Python tells an edit from its bytecode by seconds and size: tests edit faster than that."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


@pytest.fixture(autouse=True)
def _modes_as_before():
    """After a test MindSpore's mode, and the seed of its data, are those of a new process."""
    yield
    ms = sys.modules.get("mindspore")
    if ms is not None and ms.get_context("mode") != ms.PYNATIVE_MODE:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    data = sys.modules.get("mindspore.dataset")
    if data is not None and data.config.get_seed() != UNSEEDED:
        data.config.set_seed(UNSEEDED)


@pytest.fixture
def project_of(pytester, monkeypatch):
    """Makes a project with this one's conftest.py and pytest.ini, of the modules it is given."""

    from equivalence.comparison import kept

    monkeypatch.setattr(kept, "_references", [])

    def make(**modules: str):
        configured = (ROOT / "pytest.ini").read_text()
        configured = configured.replace("pythonpath = .", f"pythonpath = {ROOT}")
        configured = re.sub("testpaths = .*", "testpaths = .", configured)
        pytester.makefile(".ini", pytest=configured)
        pytester.makeconftest((ROOT / "conftest.py").read_text())
        pytester.makepyfile(**modules)
        return pytester

    return make
