import pytest

from benchmarks import catalogue, cost
from equivalence.declare.draws import normal
from tests.engine.parts.small import MS, case

LINEAR = {"in_features": 6, "out_features": 6}


def of(candidate, phase="train"):
    made = case("torch.nn:Linear", MS + candidate, normal(5, 6), config=LINEAR, phase=phase)
    return cost.of(made)


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_a_comparison_is_measured_beside_the_bare_steps_of_both_sides(phase):
    measured = of("Affine", phase)
    assert measured.verdict == "equal"
    assert 0.0 < measured.reference < measured.steps < measured.seconds
    assert measured.recorded > 0.0
    weights, activations = 6 * 6 + 6, 5 * 6
    assert measured.one_run == 8 * (weights + activations)
    assert measured.memory >= 0


def test_a_network_that_differs_says_so():
    assert of("TransposedWeight").verdict == "differs"


def test_all_of_the_time_is_told_by_what_took_it():
    measured = of("Affine")
    assert {"reference: truth in float64", "candidate: run", "draw"} < {*measured.spent}
    assert all(seconds >= 0.0 for seconds in measured.spent.values())
    assert sum(measured.spent.values()) == pytest.approx(measured.seconds)


def test_what_is_timed_is_there():
    for owner, name, _ in cost.places():
        assert callable(getattr(owner, name)), name


def test_the_tables_have_the_ratios():
    spent = {"draw": 1.0, "judge": 4.0}
    measured = cost.Cost("net", 2.0, 0.5, 5.0, 2.2, 4 * cost.MIB, 9 * cost.MIB, "equal", spent)
    row = cost.table([measured])[-1]
    assert row == "| net | 2.00 | 5.0 | 2.5 | 2.2 | 1.1 | 4 | 9 | 2.2 | equal |"
    assert cost.shares(measured)[2:] == ["| judge | 4.00 | 2.00 |", "| draw | 1.00 | 0.50 |"]


def test_sizes_of_users_are_those_of_networks_of_the_catalogue():
    names = {twin.name for twin in catalogue.declared()}
    assert {make().name for make in cost.SIZED.values()} <= names
    assert not names & {*cost.SIZED}


def test_an_unknown_network_is_refused(capsys):
    with pytest.raises(SystemExit):
        cost.main(["no_such_network"])
    assert "the catalogue has no network 'no_such_network'" in capsys.readouterr().err
