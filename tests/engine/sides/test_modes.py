"""The mode of every layer is what the root of its own network makes of it, on both sides."""

import pytest

from equivalence.comparison import kept
from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.diagnosis.diagnose import diagnose
from equivalence.errors import WeightError
from equivalence.host.isolation import isolated
from tests.engine.parts.small import case

PT, MS = "tests.engine.parts.modes_pt:", "tests.engine.parts.modes_ms:"
IMAGES, ROWS = normal(4, 3, 6, 5), normal(5, 4)
STILL = "by its mode, always evaluation (reference) the network's (candidate)"
FORGOTTEN = f"batch_statistics never (reference) in training (candidate) {STILL}"


@pytest.fixture(autouse=True)
def isolation(monkeypatch):
    monkeypatch.setattr(kept, "_references", [])
    with isolated():
        yield


def judged(reference, candidate, *inputs, **fields):
    return check(case(PT + reference, MS + candidate, *(inputs or (IMAGES,)), **fields), 0)


def told(outcome):
    return [str(each) for each in outcome.settings.differing]


RIGHT = [
    ("Free", "Free"),
    ("Held", "Held"),
    ("Held", "held_by_norms"),
    ("HeldInside", "HeldInsideAndAsked"),
    ("HeldWhenBuilt", "HeldWhenBuilt"),
    ("HeldWhenCalled", "HeldWhenCalled"),
    ("HeldWhenCalled", "held_trainable"),
]


@pytest.mark.parametrize("phase", ["train", "eval"])
@pytest.mark.parametrize(("reference", "candidate"), RIGHT)
def test_however_a_part_is_held_in_evaluation_the_port_is_equal(reference, candidate, phase):
    outcome = judged(reference, candidate, phase=phase)
    assert outcome.passed, (outcome.judgement, told(outcome))


@pytest.mark.parametrize("candidate", ["Held", "held_by_norms"])
def test_a_compiled_graph_holds_it_too(candidate):
    assert judged("Held", candidate, execution="graph").passed


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.parametrize(
    ("reference", "candidate"), [("Held", "forgotten"), ("HeldWhenCalled", "HeldWhenBuilt")]
)
def test_a_port_that_forgets_to_hold_is_told_its_modes(reference, candidate, execution):
    outcome = judged(reference, candidate, execution=execution)
    assert not outcome.judgement.equal
    assert told(outcome) == [FORGOTTEN] * 2
    assert [each.layer for each in outcome.settings.differing] == ["backbone.1", "backbone.4"]


def test_the_layers_whose_modes_differ_are_the_culprits():
    outcome = judged("Held", "forgotten")
    found = diagnose(outcome.case, 0)
    assert [each.reference for each in found.culprits] == ["backbone.1", "backbone.4"]


def test_mindspore_asks_the_root_alone():
    outcome = judged("HeldInside", "HeldInside")
    assert not outcome.judgement.equal
    assert told(outcome) == [FORGOTTEN] * 2


@pytest.mark.parametrize("candidate", ["held_trainable", "trainable_held_by_norms"])
def test_a_port_that_holds_what_trains_is_red(candidate):
    outcome = judged("Free", candidate)
    assert not outcome.judgement.equal
    assert "batch_statistics in training (reference) never (candidate)" in told(outcome)[0]


def test_in_evaluation_the_modes_of_training_are_compared_too():
    outcome = judged("Held", "forgotten", phase="eval")
    assert outcome.judgement.equal
    assert not outcome.passed
    assert told(outcome) == [FORGOTTEN] * 2


def test_a_dropout_that_is_held_never_drops():
    pinned = {"random_layers": "eval"}
    assert judged("StillDropout", "StillDropout", ROWS).passed
    assert judged("StillDropout", "StillDropout", ROWS, **pinned).passed
    wrong = judged("StillDropout", "Dropping", ROWS, **pinned)
    assert told(wrong) == [f"drops never (reference) in training (candidate) {STILL}"]


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.parametrize("candidate", ["held_step", "held_by_step"])
def test_a_training_step_holds_its_backbone(candidate, execution):
    fields = {"phases": ("train",), "steps": 2, "execution": execution}
    assert judged("held_step", candidate, **fields).passed
    wrong = judged("held_step", "forgotten_step", **fields)
    assert wrong.judgement.differing
    assert told(wrong) == [FORGOTTEN] * 2


def test_a_frozen_weight_has_the_name_that_its_pair_gives_it():
    assert judged("Scaled", "Scaled", ROWS).passed
    with pytest.raises(WeightError, match=r"w is a parameter \(4,\), its partner w a buffer"):
        judged("Scaled", "scaled_and_trained", ROWS)
