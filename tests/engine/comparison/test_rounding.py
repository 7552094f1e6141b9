"""What rounding explains, in ordinary work, and what it does not: right ports beside wrong ones."""

import json

import pytest

from equivalence.comparison import kept
from equivalence.comparison.check import check
from equivalence.declare.draws import binary, integers, normal
from equivalence.host.isolation import isolated
from equivalence.judge.precision import BUDGET
from equivalence.record import codec
from equivalence.report import text as report
from tests.engine.parts.small import case

PT, MS = "tests.engine.parts.rounded_pt:", "tests.engine.parts.rounded_ms:"
IMAGES, LABELS = normal(4, 3, 12, 10), integers(4, high=5)


@pytest.fixture(autouse=True)
def isolation(monkeypatch):
    monkeypatch.setattr(kept, "_references", [])
    with isolated():
        yield


def judged(reference, *inputs, candidate=None, seed=0, **fields):
    if "steps" in fields:
        fields["phases"] = ("train",)
    return check(case(PT + reference, MS + (candidate or reference), *inputs, **fields), seed)


def demand_equal(outcome):
    assert outcome.passed, [(v.name, v.needed, v.problem) for v in outcome.judgement.verdicts]
    assert outcome.excuses == ()
    assert outcome.judgement.needed < BUDGET


@pytest.mark.parametrize(
    ("optimizer", "wrong"),
    [
        ("sgd", "residual_with_less_momentum"),
        pytest.param("adamw", "residual_at_another_rate", marks=pytest.mark.nightly),
    ],
)
def test_ten_steps_of_training_are_judged_by_what_can_be_judged(optimizer, wrong):
    reference = f"residual_by_{optimizer}"
    outcome = judged(reference, IMAGES, LABELS, steps=10)
    demand_equal(outcome)
    wrong = judged(reference, IMAGES, LABELS, steps=10, candidate=wrong)
    assert wrong.judgement.differing


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_a_network_under_autocast_declares_nothing(phase):
    demand_equal(judged("Autocast", IMAGES, phase=phase))
    assert judged("Autocast", IMAGES, phase=phase, candidate="autocast_scaled").judgement.differing


def test_a_candidate_that_computes_in_more_bits_is_right():
    demand_equal(judged("Autocast", IMAGES, candidate="Autocast"))
    demand_equal(judged("Autocast", IMAGES, candidate="InFull", rename={"net": "net"}))


def test_a_packed_bias_of_which_a_third_has_no_gradient_is_judged_by_the_rest():
    inputs = normal(4, 6, 8), integers(4, high=8)
    outcome = judged("attention_by_adamw", *inputs, steps=3)
    assert outcome.passed, outcome.judgement
    wrong = judged("attention_by_adamw", *inputs, steps=3, candidate="attention_of_another_epsilon")
    assert wrong.judgement.differing


@pytest.mark.parametrize("steps", [1, 3])
def test_a_parameter_without_dimensions_is_trained(steps):
    inputs = normal(4, 8), integers(4, high=8)
    assert judged("tempered_by_adamw", *inputs, steps=steps).passed
    wrong = judged("tempered_by_adamw", *inputs, steps=steps, candidate="tempered_at_another_rate")
    assert "update[1]:network.temperature" in [v.name for v in wrong.judgement.differing]


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_of_an_original_without_gradients_the_outputs_are_compared(execution):
    outcome = judged("Sampled", normal(4, 8), execution=execution)
    assert outcome.passed
    assert [verdict.name for verdict in outcome.judgement.verdicts] == ["output.0"]
    told = report.summary(map(json.loads, report.lines(outcome)))
    assert "  no gradient  1 case, since the reference gives none" in told
    wrong = judged(
        "Sampled", normal(4, 8), candidate="sampled_at_another_rate", execution=execution
    )
    assert [verdict.name for verdict in wrong.judgement.differing] == ["output.0"]
    assert report.FORWARD_ONLY in report.failure(wrong, "")


def test_a_port_that_stops_gradients_which_the_original_gives_differs():
    assert judged("Listening", normal(4, 8), candidate="Deaf").judgement.differing


def test_a_port_must_detach_what_the_original_detaches():
    assert judged("Silent", normal(4, 8), candidate="Deaf").passed
    assert judged("Silent", normal(4, 8), candidate="Sampled").judgement.differing


def test_an_original_may_give_gradients_for_some_sizes():
    sizes = [{"N": 3}, {"N": 6}, {"N": 4}]
    outcome = judged("SampledAtTimes", normal("N", 8), candidate="Sampled", sizes=sizes)
    assert outcome.passed, outcome.judgement
    names = [verdict.name for verdict in outcome.judgement.verdicts]
    assert sum("gradient:layer.weight" in name for name in names) == 1
    wrong = judged("SampledAtTimes", normal("N", 8), candidate="Deaf", sizes=sizes)
    assert wrong.judgement.differing


def test_a_record_tells_that_there_are_no_gradients():
    known = kept.reference(case(PT + "Sampled", MS + "Sampled", normal(4, 8)), 0)
    read = codec.decode(*codec.encode(known), known.sample)
    assert known.expected.forward_only
    assert read.expected.forward_only
    assert read.expected.pulled_back == {}


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_a_network_may_differentiate_within_its_forward_pass(phase):
    outcome = judged("Physics", normal(5, 2), phase=phase)
    demand_equal(outcome)
    assert "gradient:first.weight" in [verdict.name for verdict in outcome.judgement.verdicts]
    wrong = judged("Physics", normal(5, 2), phase=phase, candidate="physics_of_another_viscosity")
    assert wrong.judgement.differing


@pytest.mark.parametrize("seed", range(10))
def test_a_cross_entropy_of_twenty_thousand_classes(seed):
    demand_equal(judged("Vocabulary", normal(8, 16), integers(8, high=20_000), seed=seed))


def test_a_slight_smoothing_of_twenty_thousand_classes_is_seen():
    inputs = normal(8, 16), integers(8, high=20_000)
    assert judged("Vocabulary", *inputs, candidate="vocabulary_smoothed").judgement.differing


def test_log_probabilities_of_many_classes_in_half_are_refused():
    demand_equal(judged("LogProbabilities", normal(4, 16)))
    wrong = judged("LogProbabilities", normal(4, 16), candidate="log_probabilities_in_half")
    assert "output.0" in [v.name for v in wrong.judgement.differing]


@pytest.mark.parametrize("seed", range(4))
def test_a_hinge_loss_whose_terms_cancel(seed):
    demand_equal(judged("Hinge", normal(9, 6), normal(9, 6), seed=seed))


def test_another_margin_is_seen():
    inputs = normal(9, 6), normal(9, 6)
    assert judged("Hinge", *inputs, candidate="hinge_of_another_margin").judgement.differing


def test_angles_of_two_thousand_positions_in_half():
    """Tables in float32 are rounded as float32, however the network computes."""
    inputs = normal(1, 2000, 8)
    demand_equal(judged("Rotary", inputs, dtype="float16"))
    wrong = judged("Rotary", inputs, dtype="float16", candidate="rotary_of_another_base")
    assert wrong.judgement.differing


def test_what_stands_beside_the_lowest_number_is_judged():
    demand_equal(judged("Masked", normal(4, 6)))
    assert judged("Masked", normal(4, 6), candidate="masked_and_shifted").judgement.differing


@pytest.mark.parametrize("seed", range(3))
def test_a_mask_of_zeros_and_ones_is_exact(seed):
    inputs = normal(2, 4, 8), binary(2, 4)
    demand_equal(judged("Pooled", *inputs, phase="eval", seed=seed))
    wrong = judged("Pooled", *inputs, phase="eval", seed=seed, candidate="pooled_and_scaled")
    assert "output.0" in [each.name for each in wrong.judgement.differing]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("phase", ["train", "eval"])
def test_zeros_of_a_fourier_transform_by_tables(phase, seed):
    demand_equal(judged("Spectrum", normal(3, 16), phase=phase, seed=seed))


def test_what_is_added_to_them_is_seen():
    wrong = judged("Spectrum", normal(3, 16), candidate="spectrum_with_an_offset")
    assert [verdict.name for verdict in wrong.judgement.differing] == ["output.1"]
