"""Attributes are judged as outputs are where both sides write them alike; all else is told."""

import numpy as np
import pytest

from equivalence.judge import attributes
from equivalence.judge.attributes import KEPT, LAYOUT, ORIGINAL, PORT, ROUNDING
from equivalence.judge.expected import Expected
from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.judge.truth import Truth
from equivalence.judge.verdict import judge
from equivalence.written import PER_CALL

UNIT = UNIT_ROUNDOFF["float32"]
OUTPUT = np.linspace(1.0, 2.0, 6)
AUX = "attribute:moe.aux"
MAP = np.arange(1.0, 13.0).reshape(2, 2, 3)
SEEN = np.array([True, False, True])


def truth(**written):
    values = {"output.0": OUTPUT} | {f"attribute:{n}": np.asarray(v) for n, v in written.items()}
    return Truth({name: Expected.whole(each) for name, each in values.items()})


def trace(**written):
    return {"output.0": OUTPUT} | {f"attribute:{n}": np.asarray(v) for n, v in written.items()}


@pytest.mark.parametrize(
    ("theirs", "ours", "equal"),
    [
        (0.5, np.float32(0.5), True),
        (0.5, np.array([0.5], np.float32), True),
        (0.5, 0.25, False),
        (4, np.int32(4), True),
        (4, 4.0, True),
        (4, 4.5, False),
        (0.5, [0.5, 0.5], False),
        (MAP, MAP.reshape(4, 3), True),
        (MAP, MAP[:, ::-1], False),
        (SEEN, ~np.array([True, True, True]), False),
        (SEEN, [1.0, 0.0, 1.0], True),
    ],
)
def test_values_count_and_neither_width_nor_axes_of_one(theirs, ours, equal):
    judged = judge(truth(aux=theirs), trace(aux=ours), UNIT)
    assert len(judged.verdicts) == 2
    assert judged.equal == equal


@pytest.mark.parametrize(
    ("theirs", "ours", "why"),
    [
        ({"aux": 0.5}, {}, {"attribute:aux": ORIGINAL}),
        ({}, {"aux": 0.5}, {"attribute:aux": PORT}),
        ({"map": MAP}, {"map": MAP.swapaxes(0, 2)}, {"attribute:map": LAYOUT}),
        ({"map": MAP}, {"map": MAP[0]}, {"attribute:map": LAYOUT}),
        ({"seen": SEEN}, {"seen": ~SEEN}, {"attribute:seen": LAYOUT}),
        ({"seen": SEEN}, {"seen": [0.0, -1e9, 0.0]}, {"attribute:seen": LAYOUT}),
    ],
)
def test_what_does_not_compare_is_told_and_makes_nothing_red(theirs, ours, why):
    paired = attributes.pair(truth(**theirs), trace(**ours), UNIT)
    assert paired.apart == why
    assert judge(truth(**theirs), trace(**ours), UNIT).equal


def test_what_the_references_own_run_loses_is_told():
    expected = truth(index=3)
    expected["attribute:index"].own_error = np.inf
    assert attributes.pair(expected, trace(index=4), UNIT).apart == {"attribute:index": ROUNDING}
    assert judge(expected, trace(index=4), UNIT).equal


def test_attributes_alone_make_no_case_ill_posed():
    written = {f"a{number}": 1.0 for number in range(5)}
    expected = truth(**written)
    for name in written:
        expected[f"attribute:{name}"].spread = 1.0
    assert judge(expected, trace(**written), UNIT).equal


def test_what_another_run_gives_otherwise_is_carried_and_a_count_is_compared_by_what_it_adds():
    written = {"calls": 3, "calls" + PER_CALL: 1, "mean": 0.5, "steps": 7, "steps" + PER_CALL: 0}
    again = trace(**written | {"calls": 4, "mean": 0.6})
    kept, carried = attributes.settled(truth(**written), again, UNIT)
    assert kept == {"attribute:steps", "attribute:calls" + PER_CALL}
    assert carried == {"attribute:calls", "attribute:mean"}
    expected = truth(**written).among(kept)
    paired = attributes.pair(expected, trace(**written), UNIT, carried)
    assert paired.apart == {"attribute:mean": KEPT}
    wrong = trace(**written | {"calls" + PER_CALL: 2})
    assert not judge(expected, wrong, UNIT).equal


def test_those_of_the_original_are_told_first():
    told = attributes.told([("attribute:a", PORT), ("attribute:b", ORIGINAL)])
    assert told == [
        "2 attributes that a run writes are not compared: b (the original alone), "
        "a (the port alone)"
    ]
    assert attributes.told([]) == []
