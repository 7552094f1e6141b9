import numpy as np

from equivalence.dry.beats import OVERFLOWS, SIZES
from equivalence.dry.recorder import DryRecorder, _in_order, _pattern
from equivalence.scripts.steps import Step, TrainingRun


def test_a_pattern_is_known_by_its_name_and_has_norm_one():
    one, two = _pattern("0:w", (3, 4)), _pattern("0:w", (3, 4))
    assert np.array_equal(one, two)
    assert np.isclose(np.linalg.norm(one), 1.0)
    assert not np.array_equal(one, _pattern("0:v", (3, 4)))


def passes(scale, count, multiplied=True):
    recorder = DryRecorder(None, 10, TrainingRun(steps=[Step(number=1, scale=scale)]))
    recorder._settled = True
    if scale:
        recorder.scaled(scale, multiplied)
    return [recorder.passes() for _ in range(count)]


def test_passes_grow_and_shrink_by_the_scale_and_overflow_where_there_is_one():
    found = passes(8.0, OVERFLOWS[0])
    assert found[:3] == [8.0 * each for each in SIZES[:3]]
    assert np.isinf(found[-1])
    assert np.isfinite(found[:-1]).all()


def test_passes_whose_cotangent_is_scaled_get_the_scale_by_that():
    assert passes(8.0, 3, multiplied=False) == [*SIZES[:3]]


def test_passes_without_a_scale_do_not_overflow():
    assert np.isfinite(passes(None, OVERFLOWS[0])).all()


def test_answers_pair_up_in_their_order_and_what_one_side_alone_gives_has_none():
    logits, labels, keys = (np.zeros(shape) for shape in ((8, 33), (8,), (8, 16)))
    assert [each is not None for each in _in_order([logits, labels], [logits, keys, labels])] == [
        True,
        False,
        True,
    ]
    assert _in_order([logits, keys, labels], [logits, labels])[1] is labels
    assert _in_order([], [logits]) == [None]
