"""The conventions that need no framework, and what is told where a setting cannot be read."""

import functools
import math
import warnings

import pytest

from equivalence.judge.settings import Unread
from equivalence.structure.settings import (
    ALL,
    OWN,
    add_epsilon,
    arguments,
    by_rule,
    folded,
    in_modes,
    library_class,
    of_windows,
    own_values,
    reading,
    reversed_pairs,
)


def rule(kind, kernel, stride, dilation=1):
    told = {"kind": kind, "kernel_size": (kernel,), "stride": (stride,), "dilation": (dilation,)}
    return by_rule(told)


@pytest.mark.parametrize(
    ("arguments", "sides"),
    [
        (("Conv1d", 3, 1), ((1, 1),)),
        (("Conv1d", 2, 1), ((0, 1),)),
        (("Conv1d", 3, 1, 2), ((2, 2),)),
        (("Conv1d", 1, 1), ((0, 0),)),
        (("Conv1d", 1, 2), ((0, 0),)),  # a window of one never reaches beyond the end
        (("Conv1d", 3, 2), "same"),
        (("Conv1d", 2, 2), "same"),
        (("MaxPool1d", 3, 2), "same"),
        (("MaxPool1d", 3, 3), "same"),
        (("MaxPool1d", 2, 1), ((0, 1),)),
        (("ConvTranspose1d", 3, 1), ((1, 1),)),
        (("ConvTranspose1d", 1, 2), "same"),
        (("ConvTranspose1d", 2, 1), "same"),
    ],
)
def test_padding_by_rule_is_a_number_where_it_is_the_same_for_every_size(arguments, sides):
    assert rule(*arguments) == (sides, False)


def test_a_pooling_by_two_reaches_beyond_the_end_as_ceil_mode_does():
    assert rule("MaxPool1d", 2, 2) == (((0, 0),), True)


def test_windows_are_told_for_every_axis():
    told = {"kind": "MaxPool2d", "kernel_size": 3, "stride": None, "padding": 1, "dilation": 1}
    of_windows(told)
    assert told == {
        "kind": "MaxPool2d",
        "kernel_size": (3, 3),
        "stride": (3, 3),
        "padding": ((1, 1), (1, 1)),
        "dilation": (1, 1),
        "padding_value": -math.inf,
    }


def test_an_attribute_that_cannot_be_converted_is_unread():
    told = {"kind": "Conv2d", "kernel_size": (3, 3), "stride": (1, 1), "padding": object()}
    of_windows(told)
    assert told["padding"].raised.startswith("TypeError: 'object' object cannot be interpreted")
    assert told["stride"] == (1, 1)
    before = dict(told)
    of_windows(told)  # what is unread stays so
    assert told == before


def test_whether_zeros_count_is_of_no_effect_without_padding():
    told = {"kind": "AvgPool1d", "kernel_size": 2, "padding": 0, "count_include_pad": True}
    of_windows(told)
    assert "count_include_pad" not in told
    assert "padding_value" not in told


def test_pairs_of_the_last_axis_come_first_in_a_padding_layer():
    assert reversed_pairs((1, 2, 3, 4)) == ((3, 4), (1, 2))


LOST = Unread("KeyError: 'x'")
PAD = {"kind": "ConstantPad2d", "padding": ((1, 0), (1, 0)), "value": 0.0}
POOL = {"kind": "MaxPool2d", "padding": ((0, 0), (0, 0)), "stride": (2, 2)}


def test_a_constant_padding_is_folded_into_the_layer_behind_it():
    assert folded([PAD, POOL]) == {
        "kind": "MaxPool2d",
        "padding": ((1, 0), (1, 0)),
        "stride": (2, 2),
        "padding_value": 0.0,
    }


def test_a_number_far_below_all_stands_for_minus_infinity_in_a_max_pooling():
    assert folded([{**PAD, "value": -6e4}, POOL])["padding_value"] == -math.inf
    assert folded([{**PAD, "value": -100.0}, POOL])["padding_value"] == -100.0


def test_folded_zeros_count_in_an_average():
    assert folded([PAD, {**POOL, "kind": "AvgPool2d"}])["count_include_pad"] is True


@pytest.mark.parametrize(
    "parts",
    [
        [PAD],
        [POOL, PAD],
        [PAD, POOL, POOL],
        [PAD, {**POOL, "padding": ((1, 1), (1, 1))}],
        [PAD, {**POOL, "padding": "same"}],
        [PAD, {**POOL, "kind": "BatchNorm2d"}],
        [{**PAD, "kind": "ReflectionPad2d"}, POOL],
        [{**PAD, "padding": ((1, 1),)}, POOL],
    ],
)
def test_anything_else_is_not_folded(parts):
    assert folded(parts) is None


class Root:
    pass


class Layer(Root):
    def __init__(self, size, rate=0.5, bias=True, weight=None, table=None, weight_init="ones"):
        self.size, self.rate, self.bias, self.weight = size, rate, bias, weight
        self.table, self.weight_init = table, weight_init


class Derived(Layer):
    def __init__(self):
        super().__init__([1, 2], bias=object(), weight=object(), table=object())


class Hostile(Layer):
    @property
    def rate(self):
        raise self.error

    eps = rate

    @rate.setter
    def rate(self, value):
        pass


def test_a_step_shows_what_its_functions_were_made_with():
    def clip_norm(limit):
        return lambda gradients: gradients * limit

    class Step:
        def __init__(self):
            self.clip, self.other = clip_norm(2.0), functools.partial(pow, exp=3)
            self.every, self._hidden, self.training, self.array = 4, 5, True, object()

    assert own_values(Step(), {"training": True}) == {"every": 4, "clip.limit": 2.0, "other.exp": 3}


def test_plain_arguments_of_the_constructor_are_told():
    assert arguments(Derived(), Layer) == {
        "size": (1, 2),
        "rate": 0.5,
        "bias": True,
        "weight": "given",
    }


@pytest.mark.parametrize("error", [RuntimeError("a\nb"), AttributeError("a")])
def test_an_argument_that_raises_is_unread(error):
    layer = Hostile(1)
    layer.error = error
    assert arguments(layer, Hostile)["rate"] == Unread(f"{type(error).__name__}: a")
    config = {"kind": "N"}
    add_epsilon(layer, config)
    assert config["eps"] == Unread(f"{type(error).__name__}: a")


def test_an_attribute_that_a_class_does_not_keep_is_left_out():
    layer, config = Layer(1), {"kind": "N"}
    del layer.rate
    add_epsilon(layer, config)
    assert ("rate" in arguments(layer, Layer), config) == (False, {"kind": "N"})


def test_where_the_reader_of_a_class_raises_nothing_else_of_the_layer_is_told():
    config = {"kind": "N", OWN: True, "half": "converted"}
    with reading(config):
        config.clear()
        raise KeyError("axes")
    assert config == {"kind": "N", OWN: True, ALL: Unread("KeyError: 'axes'")}


def test_what_could_not_be_read_is_not_folded():
    for one, two in (({**PAD, "padding": LOST}, POOL), ({**PAD, "value": LOST}, POOL)):
        assert folded([one, two]) is None
    assert folded([PAD, {**POOL, "padding": LOST}]) is None


class Deprecated:
    def __init__(self, rate):
        self._rate = rate

    @property
    def rate(self):
        warnings.warn("read config.rate", FutureWarning, stacklevel=2)
        return self._rate


def test_what_a_property_warns_of_is_not_told_to_the_user():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert arguments(Deprecated(3), Deprecated) == {"rate": 3}


def test_a_class_is_looked_up_among_the_librarys_own():
    assert library_class(Derived(), __name__, (Root,)) is Derived
    assert library_class(Derived(), "elsewhere", (Root,)) is Derived
    Outside = type("Outside", (Layer,), {"__module__": "model"})  # noqa: N806
    assert library_class(Outside(1), __name__, (Root,)) is Layer


@pytest.mark.parametrize(
    ("train", "evaluation", "value"),
    [
        ((True,), (False,), "in training"),
        ((False,), (False,), "never"),
        ((True,), (True,), "always"),
        ((True, False), (False,), ("in training", "never")),
        ((False,), (), "never"),
        ((), (False,), None),  # nobody knows what it does in training
    ],
)
def test_what_a_layer_does_in_training_is_told_by_its_modes(train, evaluation, value):
    norm = {"kind": "BatchNorm2d", "batch_statistics": "in training"}
    dropout = {"kind": "Dropout", "p": 0.5}
    assert in_modes(norm, (train, evaluation)).get("batch_statistics") == value
    assert in_modes(dropout, (train, evaluation)).get("drops") == value


@pytest.mark.parametrize(
    "config",
    [
        {"kind": "BatchNorm2d", "batch_statistics": "never"},
        {"kind": "Dropout", "p": 0.0},
        {"kind": "ReLU"},
    ],
)
def test_a_layer_that_is_the_same_in_both_modes_has_none(config):
    assert in_modes(config, ((False,), (False,))) == config
