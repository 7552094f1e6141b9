"""Decisions and how they add up; and that JSON keeps them."""

import json
import math

import pytest

from equivalence.reach.decision import (
    CANDIDATE,
    REFERENCE,
    SAMPLE,
    SIZE,
    Decision,
    Key,
    Reach,
    decode,
    encode,
    total,
)

HIGH = Key(REFERENCE, "clamp high", "net.py", 31)


def test_a_decision_is_reached_where_both_sides_were_taken():
    assert Decision(HIGH, 1, 7).reached
    assert not Decision(HIGH, 0, 8).reached
    assert not Decision(HIGH, 8, 0).reached


def test_of_a_loop_over_many_layers_all_calls_count_as_one_decision():
    reach = Reach.of(Decision(HIGH, 0, 4, 6.0, number) for number in (1.0, 3.0, 2.0))
    assert [*reach.decisions] == [HIGH]
    assert (reach.decisions[HIGH].no, reach.decisions[HIGH].nearest) == (12, 3.0)


def test_once_it_is_reached_nothing_is_near_any_more():
    both = Decision(HIGH, 0, 4, 6.0, 3.0, "lines 3-4 never ran") + Decision(HIGH, 4, 0, 6.0, 7.0)
    assert (both.reached, both.nearest, both.detail) == (True, None, "")


@pytest.mark.parametrize("nearest", [math.nan, None])
def test_what_is_no_number_is_not_near(nearest):
    both = Decision(HIGH, 0, 1, 6.0, nearest) + Decision(HIGH, 0, 1, 6.0, -9.0)
    assert both.nearest == -9.0


def test_another_size_is_reached_by_a_case_of_another_size():
    key = Key(SAMPLE, SIZE)
    small, large = (Decision(key, 0, 1, detail=each) for each in ("2x8", "2x9"))
    assert not (small + small).reached
    assert (small + large).reached


def test_the_share_counts_reached_decisions_and_is_1_where_there_is_none():
    reach = Reach.of([Decision(HIGH, 1, 1), Decision(HIGH._replace(line=32), 0, 1)])
    assert (reach.reached, len(reach.missed), reach.share) == (1, 1, 0.5)
    assert Reach().share == 1.0


def test_what_is_missed_is_in_the_order_of_the_code_the_reference_first():
    keys = [
        Key(SAMPLE, SIZE),
        Key(CANDIDATE, "if", "port.py", 3),
        HIGH,
        HIGH._replace(line=4),
    ]
    missed = Reach.of(Decision(key, 0, 1) for key in keys).missed
    assert [each.key for each in missed] == [keys[3], keys[2], keys[1], keys[0]]


def test_a_side_is_unknown_only_where_no_case_knows_it():
    compiled = Reach.of([], candidate="graph mode compiles it")
    seen = Reach.of([Decision(HIGH, 0, 1)])
    assert total([compiled, compiled]).unknown == {"candidate": "graph mode compiles it"}
    assert total([compiled, None, seen]).unknown == {}
    assert total([None, None]) is None


def test_json_keeps_all_of_it():
    reach = Reach.of(
        [Decision(HIGH, 0, 8, 6.0, 3.1), Decision(Key(SAMPLE, SIZE), 0, 1, detail="2x3")],
        candidate="graph mode compiles it",
    )
    assert decode(json.loads(json.dumps(encode(reach)))) == reach


def test_json_has_no_infinity():
    told = encode(Reach.of([Decision(HIGH, 0, 8, math.inf, -math.inf)]))
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_damaged_json_is_refused():
    with pytest.raises((KeyError, TypeError, ValueError)):
        decode({"decisions": [["reference"]]})
