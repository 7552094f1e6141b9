"""Inputs are moved to the other side of a decision by the gradient of the reference."""

import pytest

from equivalence.declare.draws import normal
from equivalence.further import descent
from equivalence.further.trial import Trials
from equivalence.further.variant import GivenInputs, Variant
from tests.engine.further.conftest import case_of


def moved(folder, name, draw, kind):
    case = case_of(name, name, draw)
    trials = Trials(case, 0, Variant("", (draw,)))
    given = GivenInputs(case, (draw,), tuple(trials.measurement.sample.inputs()), folder)
    reach = trials(Variant("", (draw,))).reach
    (decision,) = [each for each in reach.missed if each.key.kind == kind]
    variant = descent.descend(trials.measurement, given, decision)
    return variant and trials(variant).reach.decisions[decision.key].reached


@pytest.mark.parametrize(
    ("name", "draw", "kind"),
    [
        ("Clamped", normal(2, 8), "clamp high"),
        ("Guarded", normal(2, 6), "epsilon"),
        ("gated", normal(2, 4, scale=0.01), "comparison"),
    ],
)
def test_an_element_is_moved_to_the_side_that_none_took(tmp_path, name, draw, kind):
    assert moved(tmp_path, name, draw, kind)


def test_what_tells_no_distance_is_left(tmp_path):
    assert not moved(tmp_path, "gated", normal(2, 4, scale=0.01), "where")
