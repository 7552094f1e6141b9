"""What is told of further samples."""

from equivalence.further.tried import Further, added
from equivalence.reach.decision import REFERENCE, Decision, Key, Reach

KEY = Key(REFERENCE, "clamp high", "net.py", 3)
BEFORE, AFTER = Reach.of([Decision(KEY, no=4)]), Reach.of([Decision(KEY, yes=1, no=3)])


def test_the_samples_and_what_they_reached_are_counted():
    lines = Further(2, AFTER).lines(BEFORE, "--thorough")
    assert lines == ["2 further samples were tried, which reached 1 more decision."]


def test_what_is_no_evidence_is_counted_with_the_reason():
    lines = Further(dropped={"the original gives NaN or infinity": 2}).lines(BEFORE, "")
    assert lines == ["2 further samples are no evidence: the original gives NaN or infinity (2)."]


def test_that_the_time_ran_out_is_told_with_how_to_try_all():
    (line,) = Further(ended=True).lines(BEFORE, "--thorough")
    assert line == "The time for further samples ran out; --thorough tries all."


def test_what_was_reached_counts_together():
    assert added(BEFORE, Further(1, AFTER)).reached == 1
    assert added(BEFORE, None).reached == 0
    assert added(None, Further(1, AFTER)) is None
