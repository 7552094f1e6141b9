"""The verdict on each stage of a step, on runs that are written down."""

import numpy as np
import pytest

from equivalence import dtypes
from equivalence.scripts.judging import EVALUATED, TRAINED, Expectation, label
from equivalence.scripts.steps import (
    KeptTensor,
    ScriptNetwork,
    Step,
    StepCall,
    StepInput,
    TrainingRun,
)
from equivalence.structure.slots import UNSAVED, Slot

WEIGHTS = np.linspace(-1.0, 1.0, 12, dtype="float32").reshape(3, 4)


def stored(name, values):
    return {name: KeptTensor.of(name, np.asarray(values))}


def run(change=None):
    """A run of one step, whose step is changed."""
    step = Step(number=1)
    call = StepCall(0, [StepInput(WEIGHTS.copy())], "train.py:3")
    call.outputs = stored("0", WEIGHTS + 1)
    step.calls, step.losses = [call], [np.float32(2.5)]
    step.targets = [StepCall(-1, [StepInput(np.array([1, 2, 3]))], "train.py:4")]
    step.gradients = stored("0:fc.weight", WEIGHTS * 2)
    step.reached = stored("0:fc.weight", WEIGHTS)
    step.settings = {"lr": {"0:fc.weight": 0.1}, "momentum": {"0:fc.weight": 0.9}}
    step.weights = stored("0:fc.weight", WEIGHTS * 3)
    step.averages = stored("average 1 of 0:fc.weight", WEIGHTS * 4)
    step.lines = {"loss": "train.py:5", "update": "train.py:6", "optimizer": "train.py:1"}
    if change:
        change(step)
    return TrainingRun([ScriptNetwork("Net", {}, {}, [])], [step])


def departures(change):
    expectation = Expectation(run())
    return expectation.judge(run(change)).departures


def test_the_same_run_is_equal_and_its_tensors_are_counted():
    verdict = Expectation(run()).judge(run())
    assert verdict.departures == []
    assert (verdict.compared, verdict.worst) == (8, 0.0)


def other(values):
    return KeptTensor(values.values + 1e-3, values.shape)


def still(step):
    """A step whose network is in evaluation mode."""
    step.calls[0].training = False


@pytest.mark.parametrize("asking", ["plain", "candidate", "neither"])
def test_the_mode_of_a_network_counts_where_anything_in_either_side_asks_for_it(asking):
    runs = {"plain": run(), "candidate": run(still)}
    for side, each in runs.items():
        each.networks[0].reads_mode = side == asking
    verdict = Expectation(runs["plain"]).judge(runs["candidate"])
    told = "Net is in evaluation mode, and in training mode in the original; nothing in it asks"
    assert [each.stage for each in verdict.departures] == ["forward"] * (asking != "neither")
    assert [note[: len(told)] for note in verdict.notes] == [told] * (asking == "neither")


CHANGES = {
    "data": lambda s: setattr(s.calls[0], "inputs", [StepInput(WEIGHTS + 1e-3)]),
    "forward": lambda s: s.calls[0].outputs.update({"0": other(s.calls[0].outputs["0"])}),
    "loss": lambda s: setattr(s, "losses", [np.float32(2.6)]),
    "gradients": lambda s: s.gradients.update({"0:fc.weight": other(s.gradients["0:fc.weight"])}),
    "clipping": lambda s: s.reached.update({"0:fc.weight": other(s.reached["0:fc.weight"])}),
    "schedule": lambda s: s.settings.update({"lr": {"0:fc.weight": 0.2}}),
    "settings": lambda s: s.settings.update({"momentum": {"0:fc.weight": 0.8}}),
    "update": lambda s: s.weights.update({"0:fc.weight": other(s.weights["0:fc.weight"])}),
    "averages": lambda s: s.averages.update(
        {"average 1 of 0:fc.weight": other(s.averages["average 1 of 0:fc.weight"])}
    ),
}
LINES = {"data": 3, "forward": 3, "loss": 4, "gradients": 5, "schedule": 1, "settings": 1}


@pytest.mark.parametrize("stage", CHANGES)
def test_what_differs_is_named_by_its_stage_and_line(stage):
    (found,) = departures(CHANGES[stage])
    assert (found.step, found.stage) == (1, stage)
    assert found.line == f"train.py:{LINES.get(stage, 6)}"


def test_elements_far_below_the_peak_that_alone_are_off_are_told_as_these():
    def updated(small):
        return lambda s: s.weights.update(stored("0:fc.weight", np.float32([[1e3, small]])))

    (found,) = Expectation(run(updated(1e-3))).judge(run(updated(1.1e-3))).departures
    assert found.told == "is off by 0.1 of the size of its elements below peak/256"


@pytest.mark.parametrize(
    ("change", "stage", "told"),
    [
        (lambda s: s.calls.append(s.calls[0]), "forward", "is called 2 times, and 1 time"),
        (lambda s: setattr(s.calls[0], "training", False), "forward", "is in evaluation mode"),
        (lambda s: s.losses.append(np.float32(1)), "loss", "is 2, and 1 in the original"),
        (lambda s: s.reached.update(stored("0:fc.bias", WEIGHTS)), "clipping", "is updated by"),
        (lambda s: setattr(s, "reached", stored("0:x", WEIGHTS)), "data", "updates x and others"),
    ],
)
def test_what_a_step_does_otherwise_is_named(change, stage, told):
    found = [each for each in departures(change) if told in each.told]
    assert [each.stage for each in found] == [stage]


def again(step):
    """A step without a call, as where the results of an earlier step are used."""
    step.calls, step.targets = [], []


def test_a_call_of_results_that_the_original_has_from_earlier_is_told_and_not_refused():
    verdict = Expectation(run(again)).judge(run())
    assert verdict.departures == []
    assert verdict.notes == [
        "Net is called in steps in which the original does not call it, but may use what an "
        "earlier call gave"
    ]


def evaluated(step):
    """A step that calls its network in evaluation alone, as a teacher."""
    again(step)
    step.evaluated = {0}


def test_a_teacher_that_the_original_evaluates_has_the_other_mode_in_training_alone():
    assert Expectation(run(evaluated)).judge(run(still)).departures == []
    assert Expectation(run(evaluated)).judge(run(still)).notes == []
    verdict = Expectation(run(evaluated)).judge(run())
    assert [each.told for each in verdict.departures] == [TRAINED]
    assert verdict.notes == []


def test_a_network_that_the_original_trains_besides_may_be_called_again():
    plain, ours = run(), run()
    for each, change in ((plain, evaluated), (ours, lambda _: None)):
        each.steps += run(change).steps
        each.steps[1].number = 2
    verdict = Expectation(plain).judge(ours)
    assert verdict.departures == []
    assert len(verdict.notes) == 1


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (lambda _: None, "it was in training mode up to step 1"),
        (lambda s: [still(s), s.evaluated.add(0)], "it was evaluated before"),
    ],
)
def test_a_network_that_an_evaluation_leaves_in_evaluation_is_told_with_the_step(before, told):
    plain, ours = run(), run(before)
    for each, change in ((plain, lambda _: None), (ours, still)):
        each.steps += run(change).steps
        each.steps[1].number = 2
    found = [each for each in Expectation(plain).judge(ours).departures if each.step == 2]
    assert [each.told for each in found] == [f"{EVALUATED}; {told}"]


def test_what_such_a_call_changes_is_refused_with_the_calls():
    plain = run(lambda s: [again(s), s.weights.update(stored("0:norm.mean", WEIGHTS))])
    plain.networks[0] = ScriptNetwork("Net", {"norm.mean": Slot((3, 4), "buffer")}, {}, [])
    ours = run(lambda s: s.weights.update(stored("0:norm.mean", WEIGHTS * 2)))
    (found,) = Expectation(plain).judge(ours).departures
    assert (found.stage, found.name) == ("update", "norm.mean")
    assert found.told.endswith("is called 1 time in this step, and 0 times in the original")


def test_a_weight_that_the_optimiser_does_not_get_is_named():
    expectation = Expectation(run(lambda s: s.reached.update(stored("0:fc.bias", WEIGHTS))))
    (found,) = expectation.judge(run()).departures
    assert found.name == "fc.bias"
    assert "gets no gradient by the optimiser" in found.told


def test_a_scale_that_differs_is_named():
    expectation = Expectation(run(lambda s: setattr(s, "scale", 1024.0)))
    (found,) = expectation.judge(run(lambda s: setattr(s, "scale", 512.0))).departures
    assert (found.stage, found.told) == ("scale", "is 512, and 1024 in the original")


def test_noise_widens_what_is_allowed_and_may_decide_a_tensor():
    expectation = Expectation(run())
    expectation.widen(run(CHANGES["update"]))
    assert expectation.judge(run(CHANGES["update"])).departures == []
    far = Expectation(run())
    far.widen(run(lambda s: s.weights.update(stored("0:fc.weight", -WEIGHTS))))
    assert far.judge(run()).undecidable == 1


def test_what_the_reference_draws_is_compared_where_the_port_has_drawn_the_same():
    drawn = StepInput(WEIGHTS, drawn=True)
    expectation = Expectation(run(lambda s: setattr(s.calls[0], "inputs", [drawn])))

    def replayed(step):
        CHANGES["data"](step)
        step.replayed = True

    verdict = expectation.judge(run(CHANGES["data"]))
    assert verdict.departures == []
    assert [*verdict.unseen] == ["inputs that the original draws"]
    (found,) = expectation.judge(run(replayed)).departures
    assert (found.stage, found.name) == ("data", "input 0")


def test_what_is_not_seen_is_named_and_no_departure():
    def unseen(step):
        step.gradients, step.reached, step.calls[0].outputs = {}, {}, {}

    verdict = Expectation(run()).judge(run(unseen))
    assert verdict.departures == []
    assert [*verdict.unseen] == [
        "outputs",
        "gradients after the backward pass",
        "gradients that the optimiser gets",
    ]


def test_weights_that_are_missing_after_a_step_are_red():
    (found,) = departures(lambda s: setattr(s, "weights", {}))
    assert (found.stage, found.told) == ("update", "is missing")


def test_a_candidate_that_makes_fewer_steps_is_red():
    plain = run()
    plain.steps.append(plain.steps[0])
    (found,) = Expectation(plain).judge(run()).departures
    assert (found.step, found.name) == (2, "steps")


def test_integers_must_be_equal_whatever_their_width():
    def narrow(step):
        step.targets[0].inputs = [StepInput(np.array([1, 2, 3], "int32"))]

    assert departures(narrow) == []
    (found,) = departures(
        lambda s: setattr(s.targets[0], "inputs", [StepInput(np.array([1, 2, 4]))])
    )
    assert found.told == "differs in 1 of 3 integers: row 2 is 4 for 3"


def test_names_have_their_network_where_there_are_several():
    one, two = run(), run()
    two.networks.append(ScriptNetwork("Other", {}, {}, []))
    assert label(one, "0:fc.weight") == "fc.weight"
    assert label(two, "1:fc.weight") == "Other.fc.weight"
    assert label(two, "average 1 of 0:fc.weight") == "average 1 of Net.fc.weight"


def test_outputs_that_one_side_alone_names_pair_up_by_order():
    expectation = Expectation(run(lambda s: setattr(s.calls[0], "outputs", stored("y", WEIGHTS))))

    def by_number(values):
        return lambda s: setattr(s.calls[0], "outputs", stored("0", values))

    assert expectation.judge(run(by_number(WEIGHTS))).departures == []
    (found,) = expectation.judge(run(by_number(WEIGHTS + 1))).departures
    assert found.name == "output y"
    named = expectation.judge(run(lambda s: setattr(s.calls[0], "outputs", stored("z", WEIGHTS))))
    assert [each.told for each in named.departures] == ["is missing"]


def test_a_constant_that_one_side_alone_keeps_is_named_and_not_compared():
    plain = run(lambda s: s.weights.update(stored("0:scale", WEIGHTS)))
    plain.networks[0] = ScriptNetwork("Net", {"scale": Slot((3, 4), UNSAVED)}, {}, [])
    verdict = Expectation(plain).judge(run())
    assert verdict.departures == []
    assert [*verdict.unseen] == ["the constant scale"]


@pytest.mark.parametrize(
    ("batch", "told"),
    [
        (WEIGHTS[[2, 0, 1]], "it has the samples of the original's step 1 in another order"),
        (WEIGHTS + 5, "it is the original's of step 2"),
        (WEIGHTS + 1, ""),
    ],
)
def test_another_batch_is_known_by_its_samples(batch, told):
    plain, second = run(), run().steps[0]
    second.number, second.calls[0].inputs = 2, [StepInput(WEIGHTS + 5)]
    plain.steps.append(second)
    candidate = run(lambda s: setattr(s.calls[0], "inputs", [StepInput(batch)]))
    first = Expectation(plain).judge(candidate).departures[0]
    assert first.stage == "data"
    assert first.told.partition("; ")[2] == told


def in_bfloat16(step, change=0.0):
    """Weights as a script in bfloat16 has them, or a port's that round otherwise."""
    step.weights = stored("0:fc.weight", dtypes.rounded(WEIGHTS * 3 * (1 + change), "bfloat16"))


@pytest.mark.parametrize(("change", "equal"), [(2.0**-9, True), (0.2, False)])
def test_a_weight_in_bfloat16_is_judged_by_its_own_roundings(change, equal):
    plain = run(in_bfloat16)
    ours = run(lambda step: in_bfloat16(step, change))
    found = Expectation(plain).judge(ours).departures
    assert bool(found) is not equal
    assert Expectation(run()).judge(ours).departures  # in float32 neither is right


def test_a_step_that_one_side_skips_for_an_overflow_is_told():
    def skipped(step):
        step.calls.append(step.calls[0])
        step.overflows = 1

    first = departures(skipped)[0]
    assert first.told.endswith(
        "; the port skips an update whose gradients overflow, and the original does not"
    )


def test_a_number_that_is_nan_on_one_side_is_numeric():
    broken = np.where(WEIGHTS > 0.9, np.nan, WEIGHTS)
    (found,) = departures(lambda s: s.calls[0].outputs.update(stored("0", broken)))
    assert (found.undefined, found.is_numeric) == (1, True)
    assert found.told == "has 1 element that is NaN or infinite on one side"
    assert not departures(CHANGES["schedule"])[0].is_numeric


def test_a_batch_of_another_size_is_named_and_another_layout_is_told():
    (first, *_) = departures(lambda s: setattr(s.calls[0], "inputs", [StepInput(WEIGHTS[:2])]))
    assert (first.stage, first.name) == ("data", "input 0")
    assert first.told == "has 2 samples, and 3 in the original"
    verdict = Expectation(run()).judge(
        run(lambda s: setattr(s.calls[0], "inputs", [StepInput(WEIGHTS.T)]))
    )
    assert verdict.departures == []
    assert "it is not handed over, nor compared" in verdict.notes[0]


def test_a_batch_that_is_normalised_once_more_is_told_so():
    pictures = np.linspace(0.0, 1.0, 96, dtype="float32").reshape(2, 3, 4, 4)

    def given(values):
        return lambda s: setattr(s.calls[0], "inputs", [StepInput(values)])

    plain = run(given(pictures))
    (found,) = Expectation(plain).judge(run(given((pictures - 0.5) / 0.25))).departures
    assert found.told.endswith(
        "normalised once more, by mean 0.5 0.5 0.5, standard deviation 0.25 0.25 0.25"
    )
    (found,) = Expectation(plain).judge(run(given(pictures**2))).departures
    assert "normalised" not in found.told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda x: x / 1024, "; it is 1/1024 of the original's"),
        (lambda x: x * 1024, "; it is 1024 times the original's"),
        (lambda x: -x, "; it is -1 times the original's"),
        (lambda x: x * 0.3, "; it is 0.3 times the original's"),
        (lambda x: np.clip(x, -0.5, 0.5), ""),
        (lambda x: x * np.float32(0.0), ""),
    ],
)
@pytest.mark.parametrize("stage", ["gradients", "reached"])
def test_a_multiple_of_a_gradient_is_told(stage, change, told):
    kept = getattr(run().steps[0], stage)["0:fc.weight"].values
    (found,) = departures(lambda s: getattr(s, stage).update(stored("0:fc.weight", change(kept))))
    assert found.told.partition(" of its size")[2] == told


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_no_multiple_is_told_of_what_is_not_finite(value):
    values = WEIGHTS.copy()
    values[0, 0] = value
    (found,) = departures(lambda s: s.reached.update(stored("0:fc.weight", values)))
    assert found.told == "has 1 element that is NaN or infinite on one side"
