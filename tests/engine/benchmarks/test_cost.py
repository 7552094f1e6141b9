import pytest

from benchmarks import cost
from equivalence.declare.draws import normal
from tests.engine.parts.small import MS, case

LINEAR = {"in_features": 6, "out_features": 6}


def of(candidate):
    return cost.of(case("torch.nn:Linear", MS + candidate, normal(5, 6), config=LINEAR))


def test_a_comparison_is_measured_beside_the_bare_steps_of_both_sides():
    measured = of("Affine")
    assert measured.verdict == "equal"
    assert 0.0 < measured.steps < measured.seconds
    assert measured.weights == 8 * (6 * 6 + 6)
    assert measured.memory >= 0


def test_a_network_that_differs_says_so():
    assert of("TransposedWeight").verdict == "differs"


def test_the_table_has_the_ratio():
    row = cost.table([cost.Cost("net", 2.0, 5.0, 4 * cost.MIB, 9 * cost.MIB, "equal")])[-1]
    assert row == "| net | 2.00 | 5.0 | 2.5 | 4 | 9 | equal |"


def test_an_unknown_network_is_refused(capsys):
    with pytest.raises(SystemExit):
        cost.main(["no_such_network"])
    assert "the catalogue has no network 'no_such_network'" in capsys.readouterr().err
