"""Top-k counts: ties, few classes, and samples that rounding decides."""

import mindspore as ms
import numpy as np
import pytest
import torch

from equivalence.evaluation.ranking import top_k
from equivalence.judge.precision import UNIT_ROUNDOFF
from ms_models import inference as ms_inference
from pt_reference import inference as pt_inference

U = UNIT_ROUNDOFF["float32"]
LOGITS = np.array([[3.0, 1.0, 2.0, 0.0], [0.0, 1.0, 3.0, 2.0], [9.0, 8.0, 7.0, 6.0]])
LABELS = np.array([0, 1, 3])
RANKS = np.array([0, 2, 3])


def verdict(ranks=RANKS, k=1, logits=LOGITS, moved=None):
    return top_k(logits, [logits * (1 + U)] if moved is None else moved, LABELS, ranks, k, U)


@pytest.mark.parametrize(("k", "count"), [(1, 1), (2, 1), (3, 2), (4, 3), (9, 3)])
def test_the_counts_of_a_right_candidate_agree(k, count):
    found = verdict(k=k)
    assert found.equal
    assert (found.truth, found.candidate, found.undecided) == (count, count, ())


def test_equal_counts_of_other_samples_differ():
    found = verdict(np.array([2, 2, 0]))
    assert (found.truth, found.candidate) == (1, 1)
    assert not found.equal
    assert found.wrong == (0, 2)
    assert str(found) == "top-1: 1 of the candidate, 1 of the truth; otherwise in samples 0, 2"


@pytest.mark.parametrize(("ranks", "candidate"), [([0, 2, 3], 1), ([1, 2, 3], 0)])
def test_a_sample_that_rounding_decides_is_told_and_no_failure(ranks, candidate):
    close = LOGITS.copy()
    close[0] = [2.0 + 4 * U, 1.0, 2.0, 0.0]
    found = verdict(np.array(ranks), logits=close)
    assert found.equal
    assert found.candidate == candidate
    assert found.undecided == (0,)
    assert str(found).endswith("rounding decides samples 0")
    assert verdict(np.array(ranks), logits=close, k=2).undecided == ()


def test_only_the_place_in_question_is_undecided():
    close = LOGITS.copy()
    close[0] = [3.0, 1.0, 1.0 + U, 0.0]  # a tie behind the label
    assert verdict(logits=close).undecided == ()
    assert verdict(np.array([1, 2, 3]), logits=close).wrong == (0,)


def test_the_perturbed_runs_tell_how_far_logits_move():
    moved = LOGITS.copy()
    moved[0, 2] += 0.1
    assert verdict(np.array([1, 2, 3])).wrong == (0,)
    found = verdict(np.array([1, 2, 3]), moved=[LOGITS, moved])
    assert found.undecided == (0,)
    assert found.equal


def test_nothing_to_compare_is_an_error():
    with pytest.raises(ValueError, match="nothing to compare"):
        verdict(moved=[])
    with pytest.raises(ValueError, match="2 samples of the candidate, 3 of the truth"):
        verdict(RANKS[:2])


# --- Both sides' evaluation ----------------------------------------------------------------------


class Cell(ms.nn.Cell):
    """Its inputs are the logits."""

    def construct(self, x):
        return x + 0.0


def sides():
    return [
        (ms_inference.evaluate, Cell()),
        (pt_inference.evaluate, torch.nn.Identity()),
    ]


def batch(*logits, labels):
    return np.array(logits, np.float32), np.array(labels, np.int64)


@pytest.mark.parametrize("side", [0, 1], ids=["mindspore", "pytorch"])
class TestEvaluate:
    def test_ties_go_to_the_smaller_index(self, side):
        evaluate, network = sides()[side]
        tied = batch([1, 2, 2, 2], [1, 2, 2, 2], [1, 2, 2, 2], labels=[1, 2, 3])
        found = evaluate(network, [tied])
        assert found.ranks.tolist() == [0, 1, 2]
        assert [found.top(k) for k in (1, 2, 5)] == [1, 2, 3]

    def test_a_nan_is_no_right_answer(self, side):
        evaluate, network = sides()[side]
        nan = float("nan")
        found = evaluate(network, [batch([nan, 0, 1], [nan, 0, 1], labels=[0, 2])])
        assert found.ranks.tolist() == [3, 1]
        assert np.isnan(found.losses).all()

    def test_every_sample_counts_once_in_the_mean(self, side):
        evaluate, network = sides()[side]
        first, last = batch(*[[0, 0]] * 3, labels=[0, 0, 0]), batch([50, 0], labels=[1])
        found = evaluate(network, [first, last])
        assert found.losses.shape == (4,)
        assert found.loss == pytest.approx((3 * np.log(2) + 50) / 4, rel=1e-6)

    @pytest.mark.parametrize("label", [-1, 3])
    def test_a_label_that_is_no_class_is_an_error(self, side, label):
        evaluate, network = sides()[side]
        with pytest.raises(ValueError, match=f"labels are {label} to {label}, classes 3"):
            evaluate(network, [batch([1, 2, 3], labels=[label])])

    def test_no_samples_are_an_error(self, side):
        evaluate, network = sides()[side]
        with pytest.raises(ValueError, match="no samples to evaluate"):
            evaluate(network, [])

    @pytest.mark.parametrize("training", [True, False])
    def test_the_phase_is_that_of_evaluation_and_then_put_back(self, side, training):
        evaluate, _ = sides()[side]
        network = [ms.nn.Dropout(p=0.5), torch.nn.Dropout(0.5)][side]
        network.set_train(training) if side == 0 else network.train(training)
        ramp = batch(range(64), labels=[63])
        assert evaluate(network, [ramp]).ranks.tolist() == [0]
        assert network.training == training
        with pytest.raises(ValueError, match="classes"):
            evaluate(network, [batch([1, 2], labels=[7])])
        assert network.training == training
