"""A cut of the gradient that the reference makes on purpose is told, where it is the difference."""

import pytest

from equivalence import kinds
from equivalence.declare.draws import normal
from equivalence.diagnosis.diagnose import diagnose
from equivalence.report.answer import AnsweredCase, answer
from tests.engine.parts.small import case

PT, MS = "tests.engine.parts.cuts_pt:", "tests.engine.parts.cuts_ms:"


def told(reference, candidate=None):
    found = diagnose(case(PT + reference, MS + (candidate or reference), normal(3, 6)), 0)
    assert found.culprits
    return [note for note in found.notes if "cuts the gradient" in note]


@pytest.mark.parametrize(
    ("reference", "line"),
    [
        ("Attended", "(return self.b(h), h.detach())"),
        ("Weighed", "(return self.b(h) * h.data.mean(1, keepdim=True))"),
        ("Gated", "(with torch.no_grad():)"),
    ],
)
def test_the_line_that_cuts_is_told(reference, line):
    (note,) = told(reference)
    assert line in note
    assert "cuts_pt.py:" in note


def test_of_two_cuts_in_one_line_the_one_that_is_not_made_is_told():
    (note,) = told("Quantised")
    assert ", cut 1 of 2 (loss = (q - h.detach()).pow(2)" in note


def test_the_answer_has_it_in_plain_words():
    case_ = case(PT + "Attended", MS + "Attended", normal(3, 6))
    outcome = kinds.check(case_, 0)
    found = answer([AnsweredCase(outcome, kinds.diagnose(case_, 0).mistakes)])
    (sentence,) = [each for each in found.after if "cuts the gradient" in each]
    assert sentence.startswith("The original cuts the gradient at cuts_pt.py:")
    assert ", and the port does not: beside an original without that cut it is right" in sentence
    assert "(return self.b(h), h.detach())" in sentence


def test_nothing_is_said_where_the_candidate_is_wrong_without_the_cut_too():
    assert told("Attended", "Elsewhere") == []


def test_what_cannot_be_undone_is_left():
    assert told("Moved") == []
