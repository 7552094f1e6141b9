"""What a further sample says: a right port is never red by it, a wrong one is."""

import numpy as np
import pytest

from equivalence.declare.draws import file, normal
from equivalence.further import evidence
from tests.engine.further.conftest import case_of


def judged(reference, candidate, draw, at_ties=False):
    return evidence.judged(case_of(reference, candidate, draw), 0, at_ties)


def test_a_right_port_is_green_and_a_wrong_one_red():
    assert judged("squeezed", "squeezed", normal(1, 4)).outcome.passed
    assert judged("squeezed", "squeezed_all", normal(1, 4)).red


def test_a_candidate_that_raises_alone_is_wrong():
    found = judged("squeezed", "halved", normal(2, 5))
    assert found.red
    assert ": the candidate raised " in found.outcome.error


def test_where_the_reference_raises_there_is_no_evidence():
    found = judged("halved", "halved", normal(2, 5))
    assert (found.outcome, found.reason) == (None, "the original raises RuntimeError")


def test_where_the_reference_gives_nan_a_difference_is_no_evidence():
    draw = normal(2, 4, scale=1e3)
    found = judged("rooted", "squeezed_all", draw)
    assert (found.outcome, found.reason) == (None, evidence.NOT_FINITE)


@pytest.fixture
def at_bound(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.array([[0.5, 0.25, 0.5, 1.0]], np.float32))
    return file(path)


def test_gradients_alone_are_no_evidence_at_ties(at_bound):
    found = judged("absolute", "absolute_by_maximum", at_bound, at_ties=True)
    assert found.outcome is None or found.outcome.passed
    assert not found.red


def test_a_gradient_that_is_nan_in_the_port_alone_is_evidence_at_ties(at_bound):
    found = judged("rooted_above", "rooted_above_with_nan", at_bound, at_ties=True)
    assert found.red
    assert "not finite" in found.outcome.judgement.differing[0].problem
    assert not judged("rooted_above", "rooted_above", at_bound, at_ties=True).red


def test_outputs_are_evidence_at_ties(at_bound):
    assert judged("gated", "gated_at", at_bound, at_ties=True).red


def test_where_rounding_decides_what_the_reference_itself_gives_there_is_no_evidence():
    found = judged("chosen", "chosen", normal(6, 8, scale=1e3))
    assert (found.outcome, found.reason) == (None, evidence.ILL_POSED)


def test_what_the_reference_gives_rightly_is_evidence_beside_what_it_does_not():
    assert judged("chosen", "chosen_of_half", normal(6, 8, scale=1e3)).red
