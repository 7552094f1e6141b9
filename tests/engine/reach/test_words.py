"""What people read of a decision that was not reached."""

import pytest

from equivalence.reach.decision import CANDIDATE, REFERENCE, SAMPLE, SIZE, Decision, Key, Reach
from equivalence.reach.words import KINDS, exactly, listing, named, short, told


@pytest.mark.parametrize(
    ("decision", "text"),
    [
        (
            Decision(Key(REFERENCE, "clamp high", "net.py", 31), 0, 8, 6.0, 3.1),
            "net.py:31 clamp high: no element is above 6 (largest 3.1)",
        ),
        (
            Decision(Key(REFERENCE, "clamp high", "net.py", 31), 8, 0, 6.0, 7.25),
            "net.py:31 clamp high: every element is above 6 (smallest 7.25)",
        ),
        (
            Decision(Key(REFERENCE, "clamp low", "net.py", 31), 0, 8, 0.0, 0.2),
            "net.py:31 clamp low: no element is below 0 (smallest 0.2)",
        ),
        (
            Decision(Key(REFERENCE, "kink", "net.py", 3, "body.*"), 8, 0, 0.0, 0.5),
            "net.py:3 kink of body.*: every element is above 0 (smallest 0.5)",
        ),
        (
            Decision(Key(REFERENCE, "kink", layer="0.act"), 0, 8, 0.0, -0.5),
            "0.act kink: no element is above 0 (largest -0.5)",
        ),
        (
            Decision(
                Key(CANDIDATE, "if", "port.py", 9, text="if self.device == 'Ascend'"),
                0,
                1,
                detail="lines 10-12 never ran",
            ),
            "port.py:9 if self.device == 'Ascend': never true (lines 10-12 never ran)",
        ),
        (
            Decision(
                Key(REFERENCE, "minimum", "net.py", 21, text="min(w, size)"), 1, 0, detail="4 and 6"
            ),
            "net.py:21 min(w, size): the first is always the smaller (4 and 6)",
        ),
        (
            Decision(Key(SAMPLE, SIZE), 0, 1, detail="2x6x8"),
            "inputs: no other size of an input (2x6x8)",
        ),
        (
            Decision(Key(SAMPLE, "masked row", layer="mask"), 0, 2),
            "input mask: no row is masked as a whole",
        ),
    ],
)
def test_a_decision_says_where_it_is_and_what_no_element_did(decision, text):
    assert told(decision) == text


def test_a_mask_is_named_by_its_input_in_all_texts():
    decision = Decision(Key(SAMPLE, "masked row", layer="1"), 0, 2)
    assert named(decision) == "masked row of input 1"
    assert told(decision) == "input 1: no row is masked as a whole"


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_words_for_a_side_that_was_not_taken(kind):
    assert ": " in told(Decision(Key(REFERENCE, kind, "net.py", 1), 0, 1, 0.5, 0.25))


def test_the_list_counts_first_and_tells_whose_code_the_ports_lines_are():
    reach = Reach.of(
        [
            Decision(Key(REFERENCE, "where", "net.py", 2), 1, 1),
            Decision(Key(CANDIDATE, "if", "port.py", 3, text="if x"), 0, 1),
        ],
        reference="its record is older",
    )
    assert listing(reach) == [
        "reached 1 of 2 decisions",
        "  candidate: port.py:3 if x: never true",
        "  reference: unknown: its record is older",
    ]


def test_a_verdict_says_how_many_were_not_reached_and_nothing_where_all_were():
    here = Decision(Key(REFERENCE, "where", "net.py", 2), 1, 1)
    there = Decision(Key(REFERENCE, "where", "net.py", 3), 0, 1)
    assert short(Reach.of([here])) == ""
    assert short(Reach.of([here, there])) == "1 of 2 decisions was not reached"
    assert short(Reach.of([here], candidate="why")) == "reach of the candidate unknown: why"


def test_a_number_that_was_tried_takes_the_place_of_the_epsilon_in_its_line():
    local = Decision(Key(REFERENCE, "epsilon", "net.py", 2), 1, 1)
    elsewhere = Decision(Key(REFERENCE, "epsilon", "net.py", 3), 1, 1)
    number = Key(REFERENCE, "number", "net.py", 2, text="add 1e-06")
    tried = Reach.of([Decision(number, 0, 1, detail="1e-05")])
    whole = exactly(Reach.of([local, elsewhere], candidate="why"), tried)
    assert [*whole.decisions] == [elsewhere.key, number]
    assert whole.unknown == {"candidate": "why"}
    assert listing(whole)[1] == (
        "  net.py:2 number add 1e-06: another value moves no tensor beyond the budget (1e-05)"
    )
