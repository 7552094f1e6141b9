"""The settings of both sides are compared in every case; a difference is red unless declared."""

import json
from dataclasses import replace

import pytest

from equivalence.declare.twin import Twin, TwinCase, cases
from equivalence.diagnosis.diagnose import diagnose
from equivalence.errors import DeclarationError
from equivalence.host import environment
from equivalence.host.isolation import isolated
from equivalence.judge.settings import Difference, Settings, judge_settings
from equivalence.record import truths
from equivalence.report import text as report
from equivalence.runs import kept
from equivalence.structure.layers import Layer, compare_settings
from equivalence.twins import check as module
from tests.defects.twins import HIDDEN

TWINS = {twin.name: twin for twin in HIDDEN}


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def case(name: str, candidate: str | None = None, **fields) -> TwinCase:
    twin: Twin = TWINS[name]
    return next(cases(replace(twin, candidate=candidate or twin.candidate, **fields), "cpu"))


def wrong_norms():
    """The norms with another epsilon in a class of the model's own."""
    from ms_models.hidden import Norms

    return Norms(rms_eps=1e-6)


WRONG = f"{__name__}:wrong_norms"


def test_a_right_case_says_how_much_was_compared():
    outcome = module.check(case("norms_of_large_inputs"), 0)
    assert outcome.passed
    assert outcome.settings == Settings(layers=4, compared=17)
    assert json.loads(report.lines(outcome)[0])["settings"] == {"layers": 4, "compared": 17}
    lines = [json.loads(line) for line in report.lines(outcome)]
    assert "; 17 settings of 4 layers in 1 case" in report.summary(lines)


def test_a_setting_that_no_tensor_shows_is_red_and_named():
    wrong = case("norms_of_large_inputs", WRONG)
    outcome = module.check(wrong, 0)
    assert outcome.judgement.equal
    assert not outcome.passed
    told = report.failure(outcome, "pytest -k it")
    assert "all 11 tensors are within 16 roundings, but 1 setting differs" in told
    assert "culprit: rms (RMSNorm): eps 1e-05 (reference) 1e-06 (candidate)" in told
    assert "declare it: settings={'rms.eps': 'why'}" in told
    assert json.loads(report.lines(outcome)[0])["settings"]["differing"] == [
        "rms.eps: eps 1e-05 (reference) 1e-06 (candidate)"
    ]
    (culprit,) = diagnose(wrong, 0).culprits
    assert (culprit.reference, culprit.causes) == (
        "rms",
        ["eps 1e-05 (reference) 1e-06 (candidate)"],
    )


@pytest.mark.parametrize("path", ["rms.eps", "RMSNorm.eps", "*.eps"])
def test_a_declared_setting_passes_and_is_counted(path):
    outcome = module.check(case("norms_of_large_inputs", WRONG, settings={path: "harmless"}), 0)
    assert outcome.passed
    assert outcome.excuses == ("declared_setting",)
    assert [each.why for each in outcome.settings.declared] == ["harmless"]
    lines = [json.loads(line) for line in report.lines(outcome)]
    assert lines[0]["settings"]["declared"] == ["rms.eps: eps 1e-05 (reference) 1e-06 (candidate)"]
    assert "excused cases: declared_setting 1" in report.summary(lines)


@pytest.mark.parametrize(
    ("differing", "name"),
    [
        ([("a", "Conv1d", "padding"), ("b", "Linear", "bias")], "a.padding"),
        ([("a", "Conv1d", "padding"), ("b", "Conv1d", "stride")], "a.padding"),
        ([("a", "Conv1d", "padding"), ("b", "Conv1d", "padding")], "Conv1d.padding"),
        ([("", "", "weight_decay"), ("", "", "weight_decay")], "weight_decay"),  # of two groups
    ],
)
def test_the_name_to_declare_is_that_of_a_class_where_several_layers_differ_alike(differing, name):
    found = [Difference(what, "1", "0", layer=layer, kind=kind) for layer, kind, what in differing]
    settings = Settings(2, 4, tuple(found))
    assert settings.name_to_declare == name
    declared = judge_settings(settings, {settings.name_to_declare: "why"}, "case").declared
    assert found[0].path in [each.path for each in declared]


def test_a_declared_setting_does_not_excuse_another():
    outcome = module.check(
        case("activations_above_zero", f"{__name__}:wrong_twice", settings={"dropout.p": "idle"}), 0
    )
    assert not outcome.passed
    assert [each.path for each in outcome.settings.differing] == ["leaky.negative_slope"]


def wrong_twice():
    from ms_models.hidden import Activations

    return Activations(slope=0.2, p=0.5)


def test_a_declared_setting_does_not_excuse_a_tensor():
    settings = {"weight_decay": "why"}
    found = Settings(1, 1, (Difference("weight_decay", "1", "0"),))
    known = judge_settings(found, settings, "case")
    outcome = module.check(case("norms_of_large_inputs"), 0)
    wrong = replace(outcome.judgement.verdicts[0], error=17.0)
    outcome.judgement = replace(outcome.judgement, verdicts=(wrong,))
    outcome.settings = known
    assert not outcome.passed


@pytest.mark.parametrize("path", ["rms.eps", "layer.normalized_shape", "nothing.eps"])
def test_a_declared_setting_that_does_not_differ_is_an_error(path):
    with pytest.raises(DeclarationError, match="remove it"):
        module.check(case("norms_of_large_inputs", settings={path: "once"}), 0)


def test_a_reason_is_demanded():
    with pytest.raises(DeclarationError, match="settings has"):
        case("norms_of_large_inputs", settings={"rms.eps": " "})


def test_schedules_are_compared_beyond_the_steps_that_run():
    outcome = module.check(case("dropping", f"{__name__}:dropping_late"), 0)
    assert outcome.judgement.equal
    assert [str(each) for each in outcome.settings.differing] == [
        "lr 0.01 (reference) 0.1 (candidate) in step 5000 (the first is 0)"
    ]


def dropping_late(milestone, **arguments):
    from ms_models.hidden import dropping

    return dropping(milestone=milestone + 1, **arguments)


def forget_layers(case):
    """Leave the reference without layers, as one from a record."""
    for reference in kept.looks(case, 0):
        reference.layers = None


def test_without_torch_nothing_is_compared(monkeypatch):
    right = case("norms_of_large_inputs", WRONG)
    module.check(right, 0)
    forget_layers(right)
    monkeypatch.setattr(environment, "installed", lambda _: False)
    assert module.check(right, 0).settings is None


def test_from_a_record_they_are_compared_where_torch_is_unless_records_are_required(monkeypatch):
    right = case("norms_of_large_inputs")
    module.check(right, 0)
    forget_layers(right)
    monkeypatch.setattr(truths, "required", lambda: True)
    assert module.check(right, 0).settings is None
    monkeypatch.undo()
    assert module.check(right, 0).settings.compared == 17


def test_from_a_record_a_schedule_is_compared_in_later_steps():
    late = case("dropping", "tests.defects.mutants:milestone_one_step_late")
    module.check(late, 0)
    forget_layers(late)
    found = module.check(late, 0).settings.differing
    assert [str(each) for each in found] == [
        "lr 0.01 (reference) 0.1 (candidate) in step 5000 (the first is 0)"
    ]


# Which layers are compared.


def layer(path, kind, *weights, **settings):
    return Layer.of(path, {"kind": kind, **settings}, frozenset(weights))


def test_layers_of_the_same_path_and_other_weights_are_not_compared():
    theirs = [layer("a", "Linear", "a.weight", bias=True), layer("b", "ReLU")]
    ours = [layer("a", "ReLU"), layer("b", "Linear", "a.weight", bias=True)]
    assert compare_settings(theirs, ours, {}).differing == ()


def test_kinds_are_compared_among_equally_many_siblings_alone():
    theirs = [layer("", "Sequential"), layer("0", "ReLU"), layer("1", "MaxPool2d")]
    ours = [layer("", "Sequential"), layer("0", "ReLU6"), layer("1", "MaxPool2d")]
    assert [each.path for each in compare_settings(theirs, ours, {}).differing] == ["0.kind"]
    assert compare_settings(theirs, [*ours, layer("2", "ReLU")], {}).differing == ()
