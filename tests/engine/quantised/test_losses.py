"""What each layer of a quantised network loses, in decibels."""

import math

import numpy as np
import pytest

from equivalence.errors import DeclarationError
from equivalence.quantised.losses import decibels, report
from equivalence.quantised.running import RunnableNetwork

PT, MS = "tests.engine.parts.quantised_pt:", "tests.engine.parts.quantised_ms:"
X = [np.random.default_rng(0).standard_normal((16, 32)).astype(np.float32)]


def reported(quantised, rename=None):
    """The report on a network beside the float one."""
    return report(
        RunnableNetwork(PT + "trained", {}), RunnableNetwork(quantised, {}), X, rename or {}
    )


def of(found, path):
    """The loss of one layer."""
    return next(each for each in found.layers if each.path == path)


@pytest.mark.parametrize("quantised", [PT + "weight_only", MS + "fake"])
def test_the_layer_of_few_bits_loses_most_by_itself(quantised):
    found = reported(quantised)
    assert found.worst[0].path == "second"
    assert 15 < of(found, "second").alone < 30 < 40 < of(found, "first").alone < 60
    head = of(found, "head")
    assert head.whole < 30 < 40 < head.alone  # it carries on what the second has lost
    assert abs(found.output - head.whole) < 1e-9
    assert found.rows[1] == 16
    assert not found.other


def test_both_frameworks_report_the_same():
    ours, theirs = reported(MS + "fake"), reported(PT + "weight_only")
    for path in ("first", "second", "head"):
        assert abs(of(ours, path).alone - of(theirs, path).alone) < 0.01
    assert ours.unpaired == ("act",)


def test_what_loses_nothing_is_exact():
    found = reported(PT + "trained")
    assert found.output == math.inf
    assert not found.worst
    assert of(reported(PT + "weight_only"), "act").alone == math.inf


def test_weights_that_are_others_are_told_and_rounded_ones_are_not():
    assert len(reported(PT + "other_weights").other) == 6
    assert not reported(PT + "half").other


def test_layers_are_paired_by_rename():
    assert not reported(PT + "Renamed").layers
    found = reported(PT + "Renamed", {"net.second": "second", "net.head": "head"})
    assert [each.path for each in found.layers] == ["second", "head"]
    assert found.unpaired == ("first", "act")


def test_other_shapes_are_refused():
    with pytest.raises(DeclarationError, match=r"gives \(16, 11\), and .*trained \(16, 10\)"):
        reported(PT + "wider")


def test_decibels():
    assert math.isnan(decibels(np.ones(3), np.ones(4)))
    assert decibels(np.zeros(3), np.ones(3)) == -math.inf
    assert decibels(np.ones(3), np.full(3, 1.01)) == pytest.approx(40.0)
