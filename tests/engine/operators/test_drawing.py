"""The backend of Hypothesis that draws independently: what it needs, and when."""

import subprocess
import sys
from pathlib import Path

from hypothesis.internal.conjecture import providers

from equivalence.operators import drawing

ROOT = Path(__file__).parents[3]


def test_the_backend_overrides_what_hypothesis_has():
    assert callable(providers.HypothesisProvider._maybe_draw_constant)
    assert drawing.backend() in providers.AVAILABLE_PROVIDERS


def test_a_release_of_hypothesis_that_has_it_elsewhere_fails_what_draws_alone():
    code = (
        "import importlib\n"
        "import hypothesis.internal.conjecture.providers as providers\n"
        "del providers.HypothesisProvider\n"
        "from equivalence.plugin import pytest_plugins\n"
        "for name in pytest_plugins:\n"
        "    importlib.import_module(name)\n"
        "from equivalence.operators import drawing\n"
        "try:\n"
        "    drawing.backend()\n"
        "except AttributeError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "HypothesisProvider" in done.stdout
