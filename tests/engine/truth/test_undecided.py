"""Elements of an update that rounding decides are found and left to it, and nothing else is."""

import json

import numpy as np
import pytest

from equivalence.comparison import check, kept, sides
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin
from equivalence.diagnosis.diagnose import diagnose
from equivalence.judge.outcome import Outcome
from equivalence.judge.truth import Undecided
from equivalence.pipelines.batches import BatchSample
from equivalence.report import text as report
from equivalence.sides.torch_training import TorchTraining
from equivalence.truth.undecided import Spread, find, take_ends, watch_gradients
from tests.engine.comparison.test_training import one_case

NAME = "update[1]:kernel"
SHAPE, NEAR = (4, 16), (1, 4)
SIGNS = Twin(
    "signs",
    reference="tests.engine.parts.steps_pt:signs",
    candidate="tests.engine.parts.steps_ms:signs",
    inputs=[normal(*SHAPE), normal(*SHAPE)],
    phases=("train",),
    steps=1,
)


class Differing(BatchSample):
    """Batches of two inputs, and of no labels."""

    differentiable, exact = (0, 1), ()


def batch(*near: tuple[int, int], apart: int = 1) -> BatchSample:
    """Gradients of the size of one, but for some that are zero within rounding.

    apart: how many numbers of float32 the two inputs are apart, of which these are differences.
    """
    rng = np.random.default_rng(0)
    plus = rng.uniform(1.0, 2.0, SHAPE).astype(np.float32)
    minus = plus * rng.choice([0.5, 2.0], SHAPE).astype(np.float32)
    for index in near:
        minus[index] = plus[index] + apart * np.spacing(plus[index])
    return Differing("signs", 0, [(plus, minus)], "float32")


@pytest.fixture
def judged(monkeypatch):
    """The outcome of a candidate where the elements at `near` are within rounding of zero."""

    def run(
        candidate: str, *near: tuple[int, int], reference: str = "signs", apart: int = 1
    ) -> Outcome:
        monkeypatch.setattr(sides, "draw", lambda *_: batch(*near, apart=apart))
        targets = {
            "reference": f"tests.engine.parts.steps_pt:{reference}",
            "candidate": f"tests.engine.parts.steps_ms:{candidate}",
        }
        case = one_case(SIGNS, **targets)
        kept.forget()
        try:
            return check.check(case, 0)
        finally:
            kept.forget()

    return run


def test_a_sign_that_rounding_decides_may_be_either(judged):
    for candidate in ("signs", "signs_but_for_rounding"):
        outcome = judged(candidate, NEAR)
        assert outcome.passed
        assert outcome.judgement.needed < 8
        assert outcome.undecided == 1
        assert outcome.excuses == (("undecided_updates",) if candidate != "signs" else ())


def test_any_other_sign_is_refused(judged):
    for candidate, near in (
        ("signs_but_for_rounding", ()),  # the same candidate where the gradient is not near zero
        ("signs_but_for_one", (NEAR,)),
    ):
        outcome = judged(candidate, *near)
        assert [verdict.name for verdict in outcome.judgement.differing] == [NAME]


def test_what_rounding_decides_stays_within_its_range(judged):
    outcome = judged("signs_too_long", NEAR)
    (verdict,) = outcome.judgement.differing
    assert verdict.name == NAME
    assert verdict.index == NEAR


def test_a_tensor_of_which_rounding_decides_most_is_undecidable(judged):
    outcome = judged("signs", *np.ndindex(3, 16))
    assert outcome.undecided == 0
    assert outcome.judgement.undecidable == (NAME,)


def test_a_gradient_that_cancels_is_one_that_rounding_decides(judged):
    """No perturbation moves the first element of the gradient; the reference's own run does."""
    for candidate in ("centred", "centred_but_for_rounding"):
        outcome = judged(candidate, reference="centred")
        assert outcome.passed
        assert outcome.undecided == 1
    (verdict,) = judged("centred_but_for_one", reference="centred").judgement.differing
    assert verdict.name == "update[1]:bias"
    assert verdict.index == (1,)


@pytest.mark.parametrize("apart", [1, 8])  # 8: no perturbed run happens to take the other sign
def test_what_rounding_decides_moves_what_a_later_optimiser_makes(judged, apart):
    def differing(candidate: str, *near: tuple[int, int]) -> list[str]:
        outcome = judged(candidate, *near, reference="players", apart=apart)
        return [verdict.name for verdict in outcome.judgement.differing]

    assert not differing("players", NEAR)
    assert not differing("players_but_for_rounding", NEAR)
    second = ["handed[1]:second", "update[1]:second"]
    assert differing("players_but_for_rounding") == [NAME, *second]
    assert differing("players_but_for_the_second", NEAR) == ["update[1]:second"]


def test_reports_tell_how_much_rounding_decides(judged):
    outcome = judged("signs_but_for_one", NEAR)
    assert "rounding decides 1 element of the updates" in report.failure(outcome, "repeat")
    records = [json.loads(line) for line in report.lines(outcome)]
    assert {record["undecided"] for record in records} == {1}
    told = "  rounding decides  1 element of the updates in 1 case"
    assert told in report.summary(records).splitlines()
    records = [json.loads(line) for line in report.lines(judged("signs"))]
    assert not any("undecided" in record for record in records)
    assert "rounding" not in report.summary(records).replace("roundings", "")


def test_the_update_is_blamed_without_what_rounding_decides(monkeypatch):
    monkeypatch.setattr(sides, "draw", lambda *_: batch(NEAR))
    candidate = "tests.engine.parts.steps_ms:signs_but_for_rounding"
    found = diagnose(one_case(SIGNS, candidate=candidate), 0)
    assert not found.culprits
    candidate = "tests.engine.parts.steps_ms:signs_but_for_one"
    (culprit,) = diagnose(one_case(SIGNS, candidate=candidate), 0).culprits
    assert culprit.reference == "update"


# The parts.


def test_gradients_are_seen_and_shifted_before_the_optimiser_uses_them():
    network, sample = TorchTraining(SIGNS.reference, {}, 1), batch()
    with watch_gradients(network) as seen:
        plain = network.run(sample, "train", "float64")[NAME]
    plus, minus = (values.astype(np.float64) for values in sample.inputs())
    np.testing.assert_array_equal(seen["kernel"], plus - minus)
    np.testing.assert_allclose(plain, -0.1 * np.sign(plus - minus))
    shift = np.zeros(SHAPE)
    shift[NEAR] = -10.0 * (plus - minus)[NEAR]
    with watch_gradients(network, {"kernel": shift}):
        shifted = network.run(sample, "train", "float64")[NAME]
    assert np.argwhere(shifted != plain).tolist() == [list(NEAR)]
    assert shifted[NEAR] == pytest.approx(-plain[NEAR])


def test_undecided_elements_take_either_end_and_others_stay():
    network, sample = TorchTraining(SIGNS.reference, {}, 1), batch()
    plain = network.run(sample, "train", "float64")[NAME]
    at = np.arange(0, plain.size, 2)
    low, high = np.full(at.size, -3.0), np.full(at.size, 5.0)
    elements = {NAME: Undecided(at, low, high, plain.reshape(-1)[at], SHAPE)}
    with take_ends(network, elements, "seed"):
        taken = network.run(sample, "train", "float64")[NAME].reshape(-1)
    np.testing.assert_allclose(taken[1::2], plain.reshape(-1)[1::2])
    assert sorted({round(value, 9) for value in taken[at]}) == [-3.0, 5.0]


def test_a_run_that_overflows_moves_nothing():
    spread = Spread({"scalar": np.zeros(())})
    assert not spread.widen({"scalar": np.array(np.inf)})
    assert not spread.widen({"scalar": np.array(np.nan)})
    assert spread.widen({"scalar": np.array(1.0)}, times=4.0)
    assert not spread.widen({"scalar": np.array(4.0)})
    assert spread.of("scalar") == 4.0


def test_a_spread_is_that_of_the_row_and_nothing_for_what_no_run_moves():
    spread = Spread({"kernel": np.zeros((2, 4)), "scalar": np.zeros(())})
    spread.widen({"kernel": np.array([[4.0, 0.0, 0.0, 0.0], [1.0] * 4]), "scalar": np.array(3.0)})
    spread.widen({"kernel": np.array([[0.0, 0.0, 0.0, -2.0], [1.0] * 4]), "scalar": np.array(1.0)})
    row, whole = np.sqrt(20.0 / 4.0), np.sqrt(24.0 / 8.0)
    np.testing.assert_allclose(spread.of("kernel"), [[4.0, 0.0, 0.0, row], [whole] * 4])
    assert spread.of("scalar") == 3.0


def test_only_elements_that_jump_are_undecided():
    truth = np.array([1.0, -1.0, 1.0, 1.0, 1.0])
    little, slope, jump = np.full(5, 1e-3), np.full(5, 1e-3), np.array([0.0, 2.0, 0.0, 0.0, 0.0])
    assert find(truth, [truth - slope, truth + slope], little)[0] is None
    found, _ = find(truth, [truth - slope, truth + slope + jump], little)
    np.testing.assert_array_equal(found.at, [1])
    assert (found.low[0], found.high[0]) == (-1.001, 1.001)
    # In proportion to a gradient that rounding moves as much, and all of the tensor.
    assert find(truth, [truth - 2.0 * jump, truth + 2.0 * jump], 2.0 * jump)[0] is None
    assert find(truth, [truth - 2.0, truth + 2.0], little)[0] is None


def test_a_steep_element_is_undecided_or_moves_with_rounding():
    truth, little = np.ones(4), np.full(4, 1e-6)
    found, moved = find(truth, [truth, truth - [0.0, 0.0, 0.015, 0.016]], little)
    np.testing.assert_array_equal(found.at, [3])
    np.testing.assert_allclose(moved - truth, [0.0, 0.0, 0.015 / 64.0, 0.0])
    # Where most elements are steep, only those that may jump are undecided, and no more moves.
    found, moved = find(truth, [truth, truth - [2.0, 0.1, 0.1, 0.1]], little)
    np.testing.assert_array_equal(found.at, [0])
    np.testing.assert_array_equal(moved, truth)
    found, moved = find(truth, [truth, truth - 2.0], little)
    assert found is None
    np.testing.assert_array_equal(moved, truth)


def test_the_truth_takes_the_place_of_what_is_within_its_range():
    low, truth = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
    undecided = Undecided(np.array([0, 1]), low, -low, truth, (1, 3))
    recorded = np.array([[-1.0, -3.0, 7.0]], np.float32)
    made = undecided.replace(recorded)
    assert made.dtype == np.float32
    np.testing.assert_array_equal(made, [[1.0, -1.0, 7.0]])
    np.testing.assert_array_equal(recorded, [[-1.0, -3.0, 7.0]])
    assert np.isnan(undecided.replace(np.full((1, 3), np.nan, np.float32))).all()
    wrong = np.zeros(3, np.float32)
    assert undecided.replace(wrong) is wrong
