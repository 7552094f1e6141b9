"""Training steps: each with a batch of its own, judged by updates, and made anew for every run."""

from dataclasses import replace

import numpy as np
import pytest

from equivalence.comparison import kept, sides
from equivalence.comparison.check import check
from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin, TwinCase, cases
from equivalence.errors import DeclarationError, EquivalenceError
from equivalence.sample import Perturbed
from equivalence.sides.feed import Feed
from equivalence.structure import weights

STEPS = 4
GIVEN = Twin(
    "given",
    reference="tests.engine.parts.steps_pt:given",
    candidate="tests.engine.parts.steps_ms:given",
    inputs=[normal(3, 2, 3, 3), normal(3)],
    phases=("train",),
    steps=STEPS,
)
CLASSIFIER = Twin(
    "classifier",
    reference="tests.engine.parts.steps_pt:classifier",
    candidate="tests.engine.parts.steps_ms:classifier",
    # MindSpore's optimizers leave gamma and beta out of the decay unless they are in groups.
    configs=[{"weight_decay": 0.0}],
    inputs=[normal(4, 3, 7, 6), integers(4, high=5)],
    phases=("train",),
    steps=STEPS,
)


def one_case(twin: Twin, execution: str = "pynative", **changes) -> TwinCase:
    changed = replace(twin, executions=(execution,), **changes)
    return next(iter(cases(changed, "cpu")))


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.parametrize("twin", [GIVEN, CLASSIFIER], ids=lambda twin: twin.name)
def test_right_steps_pass(twin, execution):
    outcome = check(one_case(twin, execution), 0)
    assert outcome.passed
    assert outcome.judgement.needed < 8


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_a_rate_that_the_step_itself_sets_is_told_and_not_compared(execution):
    twin = replace(
        GIVEN,
        reference="tests.engine.parts.steps_pt:given_at_rates_of_a_loop",
        candidate="tests.engine.parts.steps_ms:given_at_rates_of_a_loop",
    )
    outcome = check(one_case(twin, execution), 0)
    assert outcome.passed
    told = "optimizer.lr (the step sets the rate itself)"
    assert [str(each) for each in outcome.settings.unread] == [told]
    wrong = "tests.engine.parts.steps_ms:given_at_higher_rates"
    assert check(one_case(twin, execution, candidate=wrong), 0).judgement.differing


def test_the_settings_of_a_base_class_are_not_those_of_an_own_update():
    own = "tests.engine.parts.steps_ms:given_by_an_own_optimizer"
    outcome = check(one_case(GIVEN, candidate=own), 0)
    assert outcome.passed
    assert not outcome.settings.differing
    why = "the optimizer's update is of the model's own"
    assert {each.raised for each in outcome.settings.unread} == {why}
    wrong = check(one_case(GIVEN, candidate=f"{own}_of_less_decay"), 0)
    assert wrong.judgement.differing


def test_losses_of_all_steps_and_updates_of_the_first_and_of_all_are_compared():
    names = [v.name for v in check(one_case(CLASSIFIER), 0).judgement.verdicts]
    assert [name for name in names if name.startswith("loss")] == [
        f"loss[{step}]" for step in range(1, STEPS + 1)
    ]
    for step in (1, STEPS):
        assert f"update[{step}]:bn.weight" in names
    assert "update[2]:bn.weight" not in names
    assert "buffer:bn.running_var" in names


@pytest.mark.parametrize(
    ("candidate", "wrong"),
    [
        ("given_without_decay", "update[1]:kernel"),
        ("given_scaled", "update[1]:bias"),
        ("given_at_a_constant_rate", f"update[{STEPS}]:kernel"),
        ("given_with_other_momentum", f"update[{STEPS}]:bias"),
        ("given_with_doubled_loss", "loss[1]"),
    ],
)
def test_a_wrong_step_is_refused(candidate, wrong):
    outcome = check(one_case(GIVEN, candidate=f"tests.engine.parts.steps_ms:{candidate}"), 0)
    assert not outcome.passed
    assert wrong in [verdict.name for verdict in outcome.judgement.differing]


def test_a_mistake_of_later_steps_leaves_the_first_right():
    case = one_case(GIVEN, candidate="tests.engine.parts.steps_ms:given_at_a_constant_rate")
    differing = [verdict.name for verdict in check(case, 0).judgement.differing]
    assert not [name for name in differing if name.startswith(("update[1]", "loss[1]"))]


def test_every_step_has_a_batch_of_its_own_and_the_first_is_that_of_a_single_pass():
    sample = sides.draw(one_case(GIVEN), 0)
    batches = [sample.inputs(step) for step in (1, 2, 3)]
    assert not np.array_equal(batches[0][0], batches[1][0])
    assert not np.array_equal(batches[1][0], batches[2][0])
    for values, again in zip(sample.inputs(), batches[0], strict=True):
        assert np.array_equal(values, again)


def test_a_perturbation_moves_batches_and_weights_but_not_where_updates_are_counted_from():
    sample = sides.draw(one_case(GIVEN), 0)
    perturbed = Perturbed(sample, 0, 2.0**-10)
    for step in (1, 2):
        assert not np.array_equal(perturbed.inputs(step)[0], sample.inputs(step)[0])
        assert np.allclose(perturbed.inputs(step)[0], sample.inputs(step)[0], rtol=2.0**-9)
    assert not np.array_equal(perturbed.weight("bias", (3,)), sample.weight("bias", (3,)))
    assert np.array_equal(perturbed.initial("bias", (3,)), sample.weight("bias", (3,)))


def test_an_update_is_measured_by_the_rounding_of_its_weight_too():
    """A rate of 1e-9 moves nothing that a float32 weight could hold: zeros would pass."""
    case = one_case(replace(GIVEN, configs=[{"learning_rate": 1e-9}]))
    outcome = check(case, 0)
    assert not outcome.passed
    assert "zeros would pass" in outcome.judgement.ill_posed


@pytest.mark.parametrize("side", ["reference", "candidate"])
def test_runs_do_not_reach_each_other(side):
    case = one_case(CLASSIFIER)
    known = kept.reference(case, 0)
    if side == "reference":
        network = sides.build_reference(case)
        traces = [network.run(known.sample, "train", "float64") for _ in range(2)]
    else:
        network = sides.build_candidate(case)
        partners = weights.pair(known.slots, network.slots(), {})
        traces = [network.run(Feed(known.sample, partners, "train")) for _ in range(2)]
    assert traces[0].keys() == traces[1].keys()
    # MindSpore's cross entropy does not add up in the same order each time.
    for name in traces[0]:
        if not name.startswith("loss"):
            assert np.array_equal(traces[0][name], traces[1][name])


@pytest.mark.parametrize("side", ["reference", "candidate"])
def test_what_is_no_step_is_named(side):
    library = "steps_pt" if side == "reference" else "steps_ms"
    case = one_case(GIVEN, **{side: f"tests.engine.parts.{library}:not_a_step"})
    with pytest.raises(DeclarationError, match="builds a Given, not a training step"):
        check(case, 0)


def test_a_step_that_raises_is_told_with_its_side():
    case = one_case(replace(GIVEN, inputs=[normal(3, 2, 3, 4), normal(3)]))
    with pytest.raises(EquivalenceError, match="the reference raised RuntimeError"):
        check(case, 0)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"phases": ("train", "eval")}, r"phases must be \('train',\)"),
        ({"dtypes": ("float16",)}, r"dtypes must be \('float32',\)"),
    ],
)
def test_a_training_that_cannot_be_is_refused_when_declared(changes, complaint):
    with pytest.raises(DeclarationError, match=complaint):
        replace(GIVEN, **changes)
