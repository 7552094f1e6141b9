"""Metrics by hand; decisions that rounding takes, and those that it does not."""

import numpy as np
import pytest

from equivalence.errors import DeclarationError
from equivalence.evaluation import metrics
from equivalence.evaluation.metrics import class_axis
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF

U = UNIT_ROUNDOFF["float32"]
TRUTH = np.array([[3.0, 1.0, 2.0], [0.0, 1.0, 3.0], [5.0, 5.0 - 4 * U, 0.0]])
LABELS = np.array([0, 1, 1])


def measured(candidate=TRUTH, truth=TRUTH, labels=LABELS):
    """Name -> metric of one batch, beside a reference whose own run is the truth."""
    noisy = [truth * (1 + U), truth * (1 - U)]
    rows = metrics.rows(truth, truth, candidate, noisy, labels, 0, U)
    return {metric.name: metric for metric in metrics.measure([rows])}


def changed(row, *logits):
    other = TRUTH.copy()
    other[row] = logits
    return other


def test_a_right_candidate_has_the_values_by_hand():
    found = measured()
    assert all(metric.equal for metric in found.values())
    assert found["top-1"].truth == found["top-1"].candidate == 1 / 3
    by_hand = [np.log(np.exp(x).sum()) - x[label] for x, label in zip(TRUTH, LABELS, strict=True)]
    assert found["loss"].truth == pytest.approx(np.mean(by_hand))
    assert found["top-1"].undecided == found["same prediction"].undecided == [2]


def test_a_decision_that_rounding_takes_is_told_and_decides_nothing():
    found = measured(changed(2, 5.0 - 4 * U, 5.0, 0.0))
    assert found["top-1"].candidate == 2 / 3
    assert all(metric.equal for metric in found.values())


def test_another_decision_is_wrong_by_its_sample():
    found = measured(changed(1, 0.0, 3.0, 1.0))
    assert found["top-1"].wrong == found["same prediction"].wrong == [1]
    assert not found["top-1"].equal


def test_equal_counts_of_other_samples_are_not_equal():
    other = TRUTH.copy()
    other[:2] = [[0.0, 1.0, 3.0], [0.0, 3.0, 1.0]]
    found = measured(other)
    assert found["top-1"].candidate == found["top-1"].truth == 1 / 3
    assert found["top-1"].wrong == found["same prediction"].wrong == [0, 1]
    assert not found["top-1"].equal


def test_a_loss_beyond_the_budget_differs():
    error = measured(TRUTH * [1.0 + 4 * BUDGET * U, 1.0, 1.0])["loss"].error
    assert error > BUDGET
    assert 0 < measured(TRUTH * (1.0 + U))["loss"].error <= 1.0


def test_a_loss_that_is_nan_on_one_side_differs():
    assert not measured(changed(0, np.nan, 1.0, 2.0))["loss"].equal


def test_rows_without_a_class_are_left_out():
    found = measured(changed(1, 9.0, 1.0, 1.0), labels=np.array([0, -100, 1]))
    assert found["top-1"].equal
    assert found["top-1"].truth == 1 / 2


def test_without_labels_only_predictions_are_compared():
    assert [*measured(labels=None)] == ["same prediction"]


def test_pictures_have_a_mean_iou_and_texts_a_perplexity():
    truth = np.moveaxis(TRUTH[None], -1, 1)  # 1,K,3
    noisy = [truth * (1 + U)] * 2
    text = metrics.measure([metrics.rows(*[truth] * 3, noisy, LABELS[None], 0, U)])
    assert "perplexity" in {metric.name for metric in text}
    picture, labels = truth[..., None], LABELS[None, :, None]
    noisy = [picture * (1 + U)] * 2
    found = metrics.measure([metrics.rows(*[picture] * 3, noisy, labels, 0, U)])
    (iou,) = (metric for metric in found if metric.name == "mean IoU")
    # Predicted 0, 2, 0 for the labels 0, 1, 1: of class 0 one of two, none of classes 1 and 2.
    assert iou.truth == pytest.approx((1 / 2 + 0 + 0) / 3)
    wrong = picture.copy()
    wrong[0, :, 1] = [[9.0], [0.0], [0.0]]
    found = metrics.measure([metrics.rows(picture, picture, wrong, noisy, labels, 0, U)])
    assert not {metric.name: metric.equal for metric in found}["mean IoU"]


@pytest.mark.parametrize(
    ("outputs", "labels", "message"),
    [((4,), None, "metrics take logits"), ((4, 5), (4, 2), "labels have the shape")],
)
def test_labels_that_fit_no_axis_are_an_error(outputs, labels, message):
    with pytest.raises(DeclarationError, match=message):
        class_axis(outputs, labels)


def own(function, candidate):
    noisy = [TRUTH * (1 + U), TRUTH * (1 - U)]
    found = metrics.of_function("own", function, (TRUTH, TRUTH, candidate), noisy, LABELS, U)
    return {metric.name: metric for metric in found}


def test_a_function_of_ones_own_has_the_span_that_rounding_leaves():
    def right(outputs, labels):
        return {"right": (outputs.argmax(1) == labels).mean()}

    found = own(right, changed(2, 5.0 - 4 * U, 5.0, 0.0))["right"]
    assert found.span == (1 / 3, 2 / 3)
    assert found.equal
    assert not own(right, changed(1, 0.0, 3.0, 1.0) + changed(2, 0.0, 5.0, 0.0))["right"].equal


def test_a_mean_of_ones_own_is_held_to_the_budget():
    def mean(outputs, _labels):
        return outputs.mean()

    assert own(mean, TRUTH * (1 + 0.5 * BUDGET * U))["own"].equal
    assert not own(mean, TRUTH * (1 + 40 * BUDGET * U))["own"].equal
    assert not own(mean, TRUTH * np.nan)["own"].equal


def test_a_function_that_gives_no_number_is_an_error():
    with pytest.raises(DeclarationError, match="gives str; let it return a number"):
        own(lambda *_: "high", TRUTH)
