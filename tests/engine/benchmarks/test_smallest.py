"""One weight of the candidate is scaled, and the smallest change that each rule sees is told."""

import math

import numpy as np

from benchmarks import smallest
from equivalence.declare.draws import normal
from tests.defects import rivals
from tests.engine.parts.small import case, sample


def test_one_weight_alone_is_another():
    drawn = sample(normal(2, 3))
    scaled = smallest.Scaled(drawn, "weight", 1e-3)
    assert np.array_equal(scaled.inputs()[0], drawn.inputs()[0])
    assert np.array_equal(scaled.weight("bias", (4,)), drawn.weight("bias", (4,)))
    ratio = scaled.weight("weight", (4, 3)) / drawn.weight("weight", (4, 3))
    assert np.allclose(ratio, 1.001, rtol=1e-6)


def test_each_rule_tells_the_smallest_that_it_sees():
    config = {"in_features": 3, "out_features": 4}
    affine = case(
        "torch.nn:Linear", "tests.engine.parts.networks_ms:Affine", normal(5, 3), config=config
    )
    found = dict(smallest.smallest(affine))
    assert set(found) == {"weight", "bias"}
    for rules in found.values():
        assert smallest.RIGHT < rules[rivals.OURS] <= 1e-5
        assert rules["cosine >= 0.99"] == smallest.UNSEEN


def test_a_cell_has_a_number_or_a_word():
    assert [smallest.told(by) for by in (3e-5, math.inf, 0.0)] == ["3e-05", "none", "right"]
