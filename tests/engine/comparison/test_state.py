"""What a training step keeps beside its network is compared by name, after the last step."""

from dataclasses import replace

import pytest

from equivalence.comparison.check import check
from equivalence.declare.difference import Difference
from equivalence.declare.draws import integers, normal, uniform
from equivalence.declare.twin import Twin, cases
from equivalence.diagnosis.diagnose import diagnose
from equivalence.errors import EquivalenceError
from tests.engine.parts.state_ms import AVERAGING
from tests.twins.optim import KEPT

PT, MS = "tests.engine.parts.state_pt:", "tests.engine.parts.state_ms:"
TRAINED = {"phases": ("train",), "executions": ("pynative",)}
TEACHER = Twin(
    "teacher",
    reference=PT + "Averaging",
    candidate=MS + "Averaging",
    inputs=[normal(4, 3, 7, 6), integers(4, high=5)],
    rename=AVERAGING,
    steps=3,
    **TRAINED,
)
SWA = Twin(
    "swa",
    reference=PT + "Swa",
    candidate=MS + "Swa",
    inputs=[normal(3, 2, 3, 3), normal(3)],
    rename={"average": "average.module", "n_averaged": "average.n_averaged"},
    steps=3,
    **TRAINED,
)
OVERFLOWING = Twin(
    "overflowing",
    reference=PT + "Overflowing",
    candidate=MS + "overflowing",
    inputs=[uniform(3, 2, 3, 3, low=-3.0, high=3.0), normal(3)],
    steps=2,
    **TRAINED,
)
AVERAGE, SCALER, SEVERAL = (replace(twin, executions=("pynative",)) for twin in KEPT)


def checked(twin, **changes):
    return check(next(iter(cases(replace(twin, **changes), "cpu"))), 0)


def problems(outcome):
    return {v.name: v.problem for v in outcome.judgement.differing}


@pytest.mark.parametrize("twin", [TEACHER, SWA], ids=lambda twin: twin.name)
def test_copies_of_the_network_start_from_its_weights(twin):
    outcome = checked(twin)
    assert outcome.passed
    assert outcome.judgement.needed < 8
    state = [v.name for v in outcome.judgement.verdicts if v.name.startswith("state:")]
    assert len(state) == {"teacher": 7, "swa": 3}[twin.name]
    assert "state:teacher.bn.num_batches_tracked" not in state


def test_the_scale_of_a_loss_is_compared_where_gradients_overflow():
    outcome = checked(OVERFLOWING)
    assert outcome.judgement.equal
    found = {v.name: v for v in outcome.judgement.verdicts}
    assert found["state:scaler.scale"].want < 2.0**127  # halved, in float64, too
    assert found["state:scaler.growth_tracker"].equal


def test_what_the_candidate_alone_keeps_is_its_own_affair():
    outcome = checked(SEVERAL)  # it keeps `zeros` and `calls`
    assert outcome.passed
    names = [v.name for v in outcome.judgement.verdicts if v.name.startswith("state:")]
    assert names == [f"state:accumulated.{n}" for n in (
        "conv.weight", "norm.weight", "norm.bias", "fc.weight", "fc.bias"
    )]  # fmt: skip


def test_a_state_that_the_candidate_lacks_is_said_with_what_it_keeps():
    outcome = checked(SWA, rename={})
    assert problems(outcome)["state:average.module.kernel"] == (
        "the candidate does not have it: its step keeps average.kernel, average.bias, n_averaged; "
        "`rename` says which of them it is"
    )


def test_a_difference_of_the_state_can_be_declared():
    missing = "the candidate does not have it"
    known = Difference("it has another name", {"state:average.*": missing})
    assert checked(SWA, rename={}, differs=known).passed


def test_a_rename_that_finds_nothing_is_an_error():
    with pytest.raises(EquivalenceError, match="rename 'averag' matches no candidate name; near"):
        checked(SWA, rename={"averag": "average.module"})


def test_the_diagnosis_names_what_is_kept():
    twin = replace(AVERAGE, candidate="tests.defects.state_candidates:averaged_before_the_update")
    found = diagnose(next(iter(cases(twin, "cpu"))), 0)
    (culprit,) = found.culprits
    assert culprit.reference == "state"
    assert culprit.causes[0].startswith("wrong after the last step, with right updates: average.")
