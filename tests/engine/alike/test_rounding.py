"""Noise of a MindSpore network, in its own precision."""

import mindspore as ms
import numpy as np
from mindspore import ops

from equivalence import normal
from equivalence.alike.rounding import Once, Rounding, rounding
from equivalence.sample import Sample

VALUES = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
ULP = np.spacing(np.abs(VALUES))


def test_each_result_is_moved_by_one_unit_in_the_last_place_up_or_down():
    with Rounding(0):
        doubled = ops.mul(ms.Tensor(VALUES), 2.0).asnumpy()
    moved = (doubled / 2.0 - VALUES) / ULP
    assert {*np.abs(moved).round(3).reshape(-1)} <= {1.0, 0.5, 0.0}
    assert (moved != 0.0).mean() > 0.9  # the others have few bits
    assert abs(moved.mean()) < 0.1


def test_what_has_few_bits_stays():
    with Rounding(0):
        whole = ops.mul(ms.Tensor([0.0, 1.0, -2.5, np.inf]), 2.0).asnumpy()
    assert whole.tolist() == [0.0, 2.0, -5.0, np.inf]


def test_results_of_the_backward_pass_are_moved_too():
    def gradient():
        return ms.grad(lambda x: (x * x * x).sum())(ms.Tensor(VALUES)).asnumpy()

    plain = gradient()
    with Rounding(0):
        assert (gradient() != plain).mean() > 0.5
    assert np.array_equal(gradient(), plain)


def test_runs_of_a_sample_have_coins_of_their_own():
    sample = Sample("name", 0, [(normal(2, 3), (2, 3))], "float32")
    ends = []
    for probe in (0, 0, 1):
        with rounding(sample, probe):
            ends.append(ops.mul(ms.Tensor(VALUES), 2.0).asnumpy())
    assert np.array_equal(ends[0], ends[1])
    assert not np.array_equal(ends[0], ends[2])


def test_inputs_and_weights_are_moved_by_one_unit_in_the_last_place():
    sample = Sample("name", 0, [(normal(8, 8), (8, 8))], "float32")
    once = Once(sample, 0, 2.0**-24)
    for plain, moved in (
        (sample.inputs()[0], once.inputs()[0]),
        (sample.weight("fc.weight", (8, 8)), once.weight("fc.weight", (8, 8))),
    ):
        assert moved.dtype == np.float32
        assert (np.abs(moved - plain) <= np.spacing(np.abs(plain))).all()
        assert (moved != plain).mean() > 0.9
