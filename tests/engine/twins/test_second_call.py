"""A candidate that keeps state between its calls is red, and is said to keep it."""

import pytest

from equivalence.declare.draws import normal
from equivalence.diagnosis import causes
from equivalence.diagnosis.diagnose import diagnose
from equivalence.host.isolation import isolated
from equivalence.runs import kept
from equivalence.twins import second_call
from equivalence.twins.check import check
from tests.engine.parts.small import case

REFERENCE = "pt_reference.random_layers:Residual"
WRONG = "tests.defects.random_candidates:"
HERE = "tests.engine.twins.test_second_call:"


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def residual(candidate: str, **options):
    return case(
        REFERENCE, candidate, normal(4, 3, 8), phase="eval", random_layers=("DropPath",), **options
    )


@pytest.mark.parametrize("name", ["CachedWeight", "Counting", "GrowingCache", "FirstScale"])
def test_state_between_calls_is_seen_and_said(name, monkeypatch):
    outcome = check(residual(WRONG + name), 0)
    assert not outcome.passed
    assert outcome.note == second_call.KEEPS.format("the candidate")
    monkeypatch.setattr(second_call, "prepare", lambda *_: None)
    assert check(residual(WRONG + name), 0).passed


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_state_beside_an_inaccurate_kernel_is_said_too(phase):
    squashed = "tests.engine.parts.kernels_pt:Squashed", normal(4, 6, scale=3.0)
    late = case(squashed[0], "tests.engine.parts.kernels_ms:Late", squashed[1], phase=phase)
    outcome = check(late, 0)
    assert not outcome.passed
    assert outcome.note == second_call.KEEPS.format("the candidate")
    (culprit,) = diagnose(late, 0).culprits
    assert culprit.statement.endswith("  y = y / self.calls")
    assert culprit.causes[0] == causes.KEPT
    wrong = case(squashed[0], "tests.engine.parts.kernels_ms:Mixed", squashed[1], phase=phase)
    assert check(wrong, 0).note != outcome.note


def test_a_graph_that_keeps_state_is_said_to():
    padded = HERE + "reference_padded", HERE + "padded", normal(2, 4)
    assert check(case(*padded), 0).passed
    outcome = check(case(*padded, execution="graph"), 0)
    assert not outcome.passed
    graph = "the candidate, or the graph that MindSpore compiles of it,"
    assert outcome.note == second_call.KEEPS.format(graph)


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_a_candidate_without_state_passes(execution):
    outcome = check(residual("ms_models.random_layers:Residual", execution=execution), 0)
    assert outcome.passed
    assert outcome.note is None


def test_what_is_wrong_in_every_call_keeps_no_state():
    outcome = check(residual("ms_models.random_layers:Residual", config={"p": 0.2}), 0)
    assert outcome.passed
    outcome = check(residual(HERE + "doubled"), 0)
    assert not outcome.passed
    assert outcome.note is None


def doubled():
    """Wrong whatever was called before."""
    from tests.engine.parts.doubled import Doubled

    return Doubled()


def reference_padded():
    """N,C -> N,C+2."""
    from torch.nn import functional

    return lambda x: functional.pad(2 * x, (0, 2))


def padded():
    """The same; its gradient in a graph is right in the first call only."""
    from tests.engine.parts.doubled import Padded

    return Padded()
