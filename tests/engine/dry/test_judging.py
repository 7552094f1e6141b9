from dataclasses import replace

import numpy as np
import pytest

from equivalence.dry.beats import Beat, Beats, Share
from equivalence.dry.judging import judge
from equivalence.scripts.judging import Expectation
from equivalence.scripts.steps import Step, TrainingRun

BEAT = Beat(
    passes=1,
    scale=8.0,
    losses=[0.5],
    settings={"lr": 0.1},
    weights=("0:w",),
    clips={"w": Share(0.25, 0.0)},
    decays={"average 1 of w": Share(0.9, 0.0)},
)


def found(*changed, ended=(True, True), count=3):
    theirs = [BEAT] * count
    ours = [*theirs[: count - len(changed)], *(replace(BEAT, **each) for each in changed)]
    sides = (Beats(each, end) for each, end in zip((theirs, ours), ended, strict=True))
    return judge(*sides, Expectation(TrainingRun()), TrainingRun())


def test_the_same_departs_nowhere():
    assert found() == ([], 3, {})


@pytest.mark.parametrize(
    ("changed", "stage", "told"),
    [
        ({"passes": 2}, "gradients", "are 2, and 1 in the original"),
        ({"scale": 16.0}, "scale", "is 16, and 8 in the original"),
        ({"losses": [0.6]}, "loss", "is 0.6, and 0.5 in the original"),
        ({"settings": {"lr": 0.2}}, "schedule", "is 0.2, and 0.1 in the original"),
        ({"clips": {"w": Share(0.5, 0.0)}}, "clipping", "0.5 times what the passes give"),
        ({"clips": {"w": Share(0.25, 0.5)}}, "clipping", "0.25 times what the passes give"),
        ({"decays": {"average 1 of w": Share(0.8, 0.0)}}, "averages", "keeps 0.8 of itself"),
        ({"weights": ("0:v",)}, "data", "updates the weights of another optimiser"),
    ],
)
def test_each_stage_is_told_at_its_step(changed, stage, told):
    (first, *_), *_ = found(changed)
    assert (first.step, first.stage) == (3, stage)
    assert told in first.told
    assert first.told.endswith("(dry run)")


def test_roundings_depart_nowhere():
    changed = {
        "settings": {"lr": 0.1 + 1e-9},
        "losses": [0.5 + 1e-7],
        "clips": {"w": Share(0.25 + 1e-8, 1e-8)},
        "decays": {"average 1 of w": Share(0.9 + 1e-8, 1e-8)},
    }
    assert found(changed) == ([], 3, {})


@pytest.mark.parametrize(("decay", "departures"), [(0.0, 0), (0.1, 1)])
def test_of_one_that_does_not_decay_adamw_is_adam(decay, departures):
    one, two = (
        replace(BEAT, settings={"lr": 0.1, "weight_decay": decay, "algorithm": each})
        for each in ("Adam", "AdamW")
    )
    sides = (Beats([each]) for each in (one, two))
    verdict = judge(*sides, Expectation(TrainingRun()), TrainingRun())
    assert [each.name for each in verdict.departures] == ["algorithm"] * departures


def test_losses_of_other_targets_are_not_compared():
    assert found({"losses": [0.6], "given": 7}) == ([], 3, {})


def test_a_script_that_ends_early_departs_and_one_that_was_stopped_does_not():
    theirs, ours = Beats([BEAT] * 3, True), Beats([BEAT] * 2, True)
    (first,), count, _ = judge(theirs, ours, Expectation(TrainingRun()), TrainingRun())
    assert (first.step, first.name, count) == (3, "steps", 2)
    stopped = judge(theirs, replace(ours, ended=False), Expectation(TrainingRun()), TrainingRun())
    assert stopped == ([], 2, {})


@pytest.mark.parametrize(("step", "departures"), [(1, 0), (2, 1)])
def test_a_loss_that_agrees_with_passes_and_not_without_is_told_and_not_compared(step, departures):
    expectation = Expectation(TrainingRun(steps=[Step(1, losses=[np.array(0.5)])]))
    before = [BEAT] * (step - 1)
    sides = (Beats([*before, replace(BEAT, losses=[loss]), BEAT]) for loss in (0.5, 0.6))
    verdict = judge(*sides, expectation, TrainingRun())
    assert len(verdict.departures) == departures
    assert verdict.unlike == ({} if departures else {"loss": 1})
