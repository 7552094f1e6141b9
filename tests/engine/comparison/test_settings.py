"""The settings of both sides are compared in every case; a difference is red unless declared."""

import json
from dataclasses import replace

import mindspore as ms
import pytest
import torch
from mindspore import nn as msnn
from torch import nn

from equivalence import normal
from equivalence.comparison import check as module
from equivalence.comparison import kept, settings
from equivalence.declare.twin import Twin, TwinCase, cases
from equivalence.diagnosis.diagnose import diagnose
from equivalence.errors import DeclarationError
from equivalence.host import environment
from equivalence.host.isolation import isolated
from equivalence.judge.settings import SettingDifference, Settings, Unread, judge_settings
from equivalence.record import truths
from equivalence.report import text as report
from equivalence.structure import mindspore_settings, mindspore_steps, torch_steps
from equivalence.structure.layers import Layer, compare_settings
from tests.defects.twins import HIDDEN
from tests.engine.parts.small import case as small_case

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
    assert "  settings  17 of 4 layers in 1 case" in report.summary(lines).splitlines()


def test_a_setting_that_no_tensor_shows_is_red_and_named():
    wrong = case("norms_of_large_inputs", WRONG)
    outcome = module.check(wrong, 0)
    assert outcome.judgement.equal
    assert not outcome.passed
    told = report.failure(outcome, "pytest -k it")
    assert "all 11 tensors are within 8 roundings, but 1 setting differs" in told
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
    assert "excused cases  declared_setting 1" in report.summary(lines)


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
    found = [
        SettingDifference(what, "1", "0", layer=layer, kind=kind) for layer, kind, what in differing
    ]
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
    found = Settings(1, 1, (SettingDifference("weight_decay", "1", "0"),))
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


# What cannot be read.


def reference_conv():
    return nn.Conv2d(3, 4, 3, padding=1)


def candidate_conv():
    return msnn.Conv2d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True)


CONV = Twin(
    "conv",
    reference=f"{__name__}:reference_conv",
    candidate=f"{__name__}:candidate_conv",
    inputs=[normal(2, 3, 8, 8)],
    phases=("eval",),
)
LOST = "padding (AttributeError: the padding has another name)"


@pytest.fixture
def renamed(monkeypatch):
    """A release of MindSpore in which the reader of paddings raises."""

    def pairs(*_):
        raise AttributeError("the padding has another name")

    monkeypatch.setattr(mindspore_settings, "_pairs", pairs)


def conv(**fields):
    return next(cases(replace(CONV, **fields), "cpu"))


@pytest.mark.usefixtures("renamed")
def test_a_setting_of_a_frameworks_layer_that_cannot_be_read_is_red_and_named():
    outcome = module.check(conv(), 0)
    assert outcome.judgement.equal
    assert not outcome.passed
    told = report.failure(outcome, "pytest -k it").partition("details:\n")[2].splitlines()
    assert told[0].endswith(f"within 8 roundings, but 1 setting could not be read: {LOST}")
    assert told[1] == "if that is meant, declare it: settings={'padding': 'why'}"
    lines = [json.loads(line) for line in report.lines(outcome)]
    assert lines[0]["settings"]["unread"] == [LOST]
    assert f"  1 setting could not be read: {LOST}\n" in report.summary(lines)


@pytest.mark.usefixtures("renamed")
def test_it_is_told_beside_settings_that_differ():
    outcome = module.check(conv(), 0)
    differs = SettingDifference("stride", "1", "2", kind="Conv2d")
    outcome.settings = replace(outcome.settings, differing=(differs,))
    told = report.failure(outcome, "pytest -k it").partition("details:\n")[2].splitlines()
    assert told[0].endswith("but 1 setting differs, which this sample does not show")
    assert told[2] == f"1 setting could not be read: {LOST}"


@pytest.mark.usefixtures("renamed")
@pytest.mark.parametrize("path", ["padding", "Conv2d.padding", "*.padding"])
def test_a_declared_one_passes_and_is_told(path):
    outcome = module.check(conv(settings={path: "compared by hand"}), 0)
    assert outcome.passed
    assert [(each.name, each.why) for each in outcome.settings.unread] == [
        ("padding", "compared by hand")
    ]


class Dropping(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Dropout(0.25))


class DroppingCell(msnn.SequentialCell):
    def __init__(self):
        super().__init__(msnn.Dropout(p=0.5))
        if RENAMED:
            dropout = self[0]
            dropout.share = vars(dropout).pop("p")


RENAMED: list[bool] = []


def test_an_attribute_that_a_release_renames_turns_no_wrong_port_green(monkeypatch):
    fields = {"reference": f"{__name__}:Dropping", "candidate": f"{__name__}:DroppingCell"}
    (found,) = module.check(conv(**fields), 0).settings.differing
    assert str(found) == "p 0.25 (reference) 0.5 (candidate)"
    monkeypatch.setattr(f"{__name__}.RENAMED", [True])
    outcome = module.check(conv(**fields), 0)
    assert outcome.judgement.equal
    assert not outcome.passed
    told = "0.p (AttributeError: Dropout holds no p)"
    assert [str(each) for each in outcome.settings.wrong] == [told]


def test_one_that_can_be_read_is_not_to_be_declared():
    with pytest.raises(DeclarationError, match="remove it"):
        module.check(conv(settings={"padding": "compared by hand"}), 0)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.eps = 2.0

    def forward(self, x):
        return x * self.eps


class ScaledCell(msnn.Cell):
    @property
    def eps(self):
        raise RuntimeError("ask another one")

    def construct(self, x):
        return x * 2.0


def test_a_property_of_the_models_own_that_raises_is_named_and_not_red():
    sides = {"reference": f"{__name__}:Scaled", "candidate": f"{__name__}:ScaledCell"}
    outcome = module.check(conv(**sides), 0)
    assert outcome.passed
    lines = [json.loads(line) for line in report.lines(outcome)]
    lost = "1 setting could not be read: eps (RuntimeError: ask another one)"
    assert lost in report.summary(lines)


class Trained(nn.Module):
    def __init__(self, schedule):
        super().__init__()
        self.net = nn.Linear(2, 2)
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.5)
        self.schedule = schedule(self.optimizer)


def one_cycle(optimizer):
    return torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.4, total_steps=20)


def of_a_table(optimizer):
    return torch.optim.lr_scheduler.LambdaLR(optimizer, [1.0, 0.5].__getitem__)


def rates(schedule, calls):
    """What is told of the learning rate after a run that has moved the schedule so often."""
    ran, step = Trained(schedule), Trained(schedule)
    for _ in range(min(calls, 1)):
        ran.optimizer.step()
        ran.schedule.step()
    moved = torch_steps.progress(ran, calls)
    return torch_steps.layers(step, step.net, moved)[0].settings["lr"]["weight"]


def test_a_schedule_that_ends_by_raising_is_told_up_to_there():
    told = rates(one_cycle, 1)
    assert (len(told), round(told.max(), 3)) == (21, 0.4)
    assert [*rates(of_a_table, 1)] == [0.5, 0.25]


def test_a_schedule_that_cannot_be_told_is_unread():
    assert "no run has shown" in rates(one_cycle, 0).raised
    assert "once per call" in rates(one_cycle, 2).raised
    assert rates(of_a_table, 5) == Unread("IndexError: list index out of range", own=True)


class Stepped(msnn.learning_rate_schedule.LearningRateSchedule):
    def construct(self, step):
        return 0.1 if step < 5 else 0.01


class Constant(msnn.learning_rate_schedule.LearningRateSchedule):
    def construct(self, _):
        return ms.Tensor(0.1)


def test_a_schedule_of_the_ports_own_that_takes_one_step_at_a_time_is_unread_and_not_red():
    for schedule in (Stepped(), Constant()):
        found = mindspore_steps._rate(schedule)
        assert isinstance(found, Unread)
        assert found.own


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


class Tabled(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.arange(8.0)

    def forward(self, x):
        return x * self.table[:4]


def test_a_reference_from_a_record_has_its_tables_where_torch_is_there():
    one = small_case(f"{__name__}:Tabled", "mindspore.nn:ReLU", normal(2, 4))
    known = kept.reference(one, 0)
    recorded = replace(known, layers=None, tables=None)
    settings._of_reference(one, recorded)
    assert [*known.tables.values] == [*recorded.tables.values] == ["table"]
