"""A port that pads in its own code, where the original's convolution pads: the tensors decide."""

import json

import pytest
import torch
from mindspore import nn as msnn
from mindspore import ops
from torch import nn

from equivalence import normal
from equivalence.comparison import check as module
from equivalence.comparison import kept
from equivalence.diagnosis import diagnose
from equivalence.host.isolation import isolated
from equivalence.judge.settings import SettingDifference, Settings
from equivalence.report import text as report
from equivalence.report.answer import AnsweredCase, answer
from equivalence.structure.settings import begins_elsewhere
from tests.engine.parts.small import case


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


class Padding(nn.Module):
    """A convolution that pads, in `mode`."""

    def __init__(self, mode: str = "zeros", **_):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1, padding_mode=mode)

    def forward(self, x):
        return self.conv(x)


class Unused(Padding):
    def forward(self, x):
        self.conv(x)
        return 2 * x


class Padded(msnn.Cell):
    """The same, which pads by itself. how: zeros, reflect, none, or at_the_end: one row too far."""

    def __init__(self, mode: str = "zeros", how: str = ""):
        super().__init__()
        self.how = how or mode
        self.conv = msnn.Conv2d(3, 4, 3, pad_mode="valid", has_bias=True)

    def construct(self, x):
        if self.how == "reflect":
            x = ops.pad(x, (1, 1, 1, 1), mode="reflect")
        elif self.how == "zeros":
            x = ops.pad(x, (1, 1, 1, 1))
        elif self.how == "at_the_end":
            x = ops.pad(x, (0, 2, 0, 2))
        return self.conv(x)


class UnusedHere(Padded):
    def construct(self, x):
        return 2 * x


class AtTheEnd(msnn.Cell):
    """Pads what no window reads."""

    def __init__(self):
        super().__init__()
        self.conv = msnn.Conv2d(3, 4, 2, 2, pad_mode="pad", padding=(0, 1, 0, 1), has_bias=True)

    def construct(self, x):
        return self.conv(x)


class Strided(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 2, 2)

    def forward(self, x):
        return self.conv(x)


def checked(reference: str, candidate: str, **fields):
    sides = (f"{__name__}:{name}" for name in (reference, candidate))
    return module.check(case(*sides, normal(2, 3, 8, 8), **fields), 0)


@pytest.mark.parametrize("mode", ["zeros", "reflect"])
def test_a_port_that_pads_by_itself_is_equal_and_that_is_counted(mode):
    outcome = checked("Padding", "Padded", config={"mode": mode})
    assert outcome.passed
    assert outcome.excuses == ("padded_elsewhere",)
    names = [each.path for each in outcome.settings.elsewhere]
    assert names == ["conv.padding_mode", "conv.padding"][mode == "zeros" :]
    lines = [json.loads(line) for line in report.lines(outcome)]
    assert "excused cases  padded_elsewhere 1" in report.summary(lines)


@pytest.mark.parametrize(
    ("mode", "how"),
    [("zeros", "none"), ("zeros", "at_the_end"), ("zeros", "reflect"), ("reflect", "zeros")],
)
def test_a_padding_that_is_missing_or_another_is_red_and_told_as_a_setting(mode, how):
    outcome = checked("Padding", "Padded", config={"mode": mode, "how": how})
    assert not outcome.passed
    assert not outcome.settings.elsewhere
    assert "conv.padding" in [each.path for each in outcome.settings.differing]


def test_a_convolution_that_nothing_uses_shows_no_padding():
    outcome = checked("Unused", "UnusedHere", config={"mode": "zeros"})
    assert outcome.judgement.equal
    assert not outcome.passed
    assert [each.path for each in outcome.settings.differing] == ["conv.padding"]


def test_a_padding_at_the_end_that_no_window_reads_stays_red():
    outcome = checked("Strided", "AtTheEnd")
    assert outcome.judgement.equal
    assert not outcome.passed
    assert [each.path for each in outcome.settings.differing] == ["conv.padding"]


def test_a_compiled_graph_that_differs_is_asked_in_pynative_mode(monkeypatch):
    from equivalence.comparison import compare

    run = compare._run

    def spoilt(*args):
        trace, reach = run(*args)
        return trace | {"output.0": trace["output.0"] + 1}, reach

    monkeypatch.setattr(compare, "_run", spoilt)
    outcome = checked("Padding", "Padded", config={"mode": "zeros"}, execution="graph")
    assert not outcome.passed
    assert [each.path for each in outcome.settings.elsewhere] == ["conv.padding"]
    wrong = checked("Padding", "Padded", config={"how": "none"}, execution="graph")
    assert not wrong.settings.elsewhere


class Clipped(Padding):
    def forward(self, x):
        return torch.tanh(self.conv(x))


class ClippedTwice(Padded):
    def construct(self, x):
        return ops.tanh(super().construct(x)) * 2


def test_beside_a_mistake_no_argument_is_to_pad_a_second_time():
    sides = (f"{__name__}:{name}" for name in ("Clipped", "ClippedTwice"))
    wrong = case(*sides, normal(2, 3, 8, 8), config={"mode": "reflect"}, execution="pynative")
    mistakes = diagnose.tell(wrong, 0, every=False).mistakes
    assert mistakes.padded == ("conv",)
    (found,) = mistakes.found
    assert found.port.endswith("ops.tanh(super().construct(x)) * 2")
    told = answer([AnsweredCase(module.check(wrong, 0), mistakes)])
    assert told.heading == "the statement to mend:"
    assert told.after[-1] == (
        "The port pads in its own code before conv (Conv2d): whether that is right shows once all "
        "else is mended."
    )


def test_a_convolution_whose_input_nobody_pads_is_told_as_ever():
    sides = (f"{__name__}:{name}" for name in ("Clipped", "ClippedTwice"))
    config = {"mode": "reflect", "how": "none"}
    wrong = case(*sides, normal(2, 3, 8, 8), config=config, execution="pynative")
    assert not diagnose.tell(wrong, 0, every=False).mistakes.padded


CONV = {"kind": "Conv2d", "padding": ((1, 1), (0, 0))}
VALID = {"kind": "Conv2d", "padding": ((0, 0), (0, 0))}


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (CONV, VALID, True),
        (VALID, CONV, True),
        (CONV, CONV, False),
        (CONV, {**VALID, "padding": ((2, 2), (0, 0))}, False),  # both pad
        ({**CONV, "padding": ((0, 1), (1, 1))}, VALID, False),  # at the end alone
        (CONV, {**VALID, "padding": "same"}, False),  # by the size of the input
        ({**CONV, "kind": "MaxPool2d"}, {**VALID, "kind": "MaxPool2d"}, False),
        ({**CONV, "kind": "ConvTranspose2d"}, {**VALID, "kind": "ConvTranspose2d"}, False),
    ],
)
def test_only_windows_that_begin_elsewhere_are_shown_by_any_sample(one, other, shown):
    assert begins_elsewhere(one, other) == shown


def test_of_other_layers_and_other_settings_nothing_is_taken_away():
    paddings = [SettingDifference("padding", "1", "0", layer=layer, shown=True) for layer in "ab"]
    compared = Settings(2, 4, (*paddings, SettingDifference("stride", "1", "2", layer="a")))
    left = compared.shown_right({"a"})
    assert [each.path for each in left.differing] == ["b.padding", "a.stride"]
    assert [each.path for each in left.elsewhere] == ["a.padding"]
