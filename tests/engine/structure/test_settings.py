"""What is told of two configurations, and the conventions that need no framework."""

import functools
import math
import warnings

import numpy as np
import pytest

from equivalence.structure import settings as configuration
from equivalence.structure.settings import (
    OWN,
    arguments,
    by_rule,
    folded,
    library_class,
    of_windows,
    own_values,
    reversed_pairs,
)


def differences(reference, candidate):
    return [str(each) for each in configuration.differences(reference, candidate)]


def test_a_setting_that_differs_is_told_with_both_values_the_reference_first():
    assert differences({"kind": "N", "eps": 1e-5}, {"kind": "N", "eps": 1e-4}) == [
        "eps 1e-05 (reference) 0.0001 (candidate)"
    ]


def test_settings_are_told_in_the_order_of_the_reference():
    reference = {"kind": "C", "stride": (2, 2), "bias": True, "groups": 1}
    candidate = {"kind": "C", "groups": 1, "bias": False, "stride": (1, 1)}
    assert differences(reference, candidate) == [
        "stride (2, 2) (reference) (1, 1) (candidate)",
        "bias True (reference) False (candidate)",
    ]


def test_a_kind_that_differs_is_told_alone():
    assert differences({"kind": "MaxPool2d", "stride": 1}, {"kind": "AvgPool2d", "stride": 2}) == [
        "kind MaxPool2d (reference) AvgPool2d (candidate)"
    ]


@pytest.mark.parametrize(
    ("one", "two", "differ"),
    [
        ((7, 7), 7, False),
        (0.5, (0.5, 0.5, 0.5), False),
        ((7, 7), 8, True),
        ((7, 8), 7, True),
        ((7,), 7, True),
        ((True, True), True, True),
    ],
)
def test_a_number_stands_for_a_pair_or_a_triple_of_it(one, two, differ):
    found = differences({"kind": "B", "window": one}, {"kind": "B", "window": two})
    assert bool(found) == differ


def test_what_only_one_side_knows_is_not_told():
    assert differences({"kind": "C", "a": 1}, {"kind": "C", "b": 2}) == []


@pytest.mark.parametrize("side", [0, 1])
def test_frozen_weights_are_told_though_only_one_side_has_some(side):
    both = [{"kind": "C"}, {"kind": "C"}]
    both[side]["frozen"] = ("weight", "bias")
    shown = ["none", "none"]
    shown[side] = "weight, bias"
    assert differences(*both) == [f"frozen {shown[0]} (reference) {shown[1]} (candidate)"]
    both[1 - side]["frozen"] = ("weight", "bias")
    assert differences(*both) == []


@pytest.mark.parametrize(
    ("one", "two"), [(0.1, 1 - 0.9), (1e-5, 1 - (1 - 1e-5)), (1 / 3, 1 - (1 - 1 / 3)), (2, 2.0)]
)
def test_float_noise_of_a_conversion_does_not_show(one, two):
    assert differences({"kind": "N", "p": round(two, 15)}, {"kind": "N", "p": one}) == []


@pytest.mark.parametrize(
    ("one", "two"),
    [(1e-5, 1.0001e-5), (0.0, 1e-12), (0, 1), (True, False), (-math.inf, 0.0), (1.0, None)],
)
def test_numbers_that_differ_are_told(one, two):
    assert len(differences({"kind": "N", "p": one}, {"kind": "N", "p": two})) == 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (((1, 1), (0, 2)), "((1, 1), (0, 2))"),
        ((3,), "(3,)"),
        (-math.inf, "-inf"),
        (0.30000000000000004, "0.3"),
        (None, "None"),
        ("same", "same"),
    ],
)
def test_values_are_shown_plainly(value, shown):
    told = differences({"kind": "C", "x": value}, {"kind": "C", "x": "other"})
    assert told == [f"x {shown} (reference) other (candidate)"]


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


def test_an_attribute_that_cannot_be_converted_is_left_out():
    told = {"kind": "Conv2d", "kernel_size": (3, 3), "stride": (1, 1), "padding": object()}
    of_windows(told)
    assert "padding" not in told
    assert told["stride"] == (1, 1)


def test_whether_zeros_count_is_of_no_effect_without_padding():
    told = {"kind": "AvgPool1d", "kernel_size": 2, "padding": 0, "count_include_pad": True}
    of_windows(told)
    assert "count_include_pad" not in told
    assert "padding_value" not in told


def test_pairs_of_the_last_axis_come_first_in_a_padding_layer():
    assert reversed_pairs((1, 2, 3, 4)) == ((3, 4), (1, 2))


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
        raise RuntimeError

    @rate.setter
    def rate(self, value):
        pass


def test_the_name_of_a_models_own_class_is_no_kind():
    ours, theirs = {"kind": "ReLU"}, {"kind": "Activation"}
    assert differences(ours, theirs) == ["kind ReLU (reference) Activation (candidate)"]
    assert differences(ours, theirs | {OWN: True}) == []
    assert differences(ours | {OWN: True}, theirs) == []


def test_of_a_models_own_class_the_epsilon_counts_whatever_its_name():
    ours, theirs = {"kind": "RMSNorm", "eps": 1e-5}, {"kind": "Norm", "eps": 1e-6, OWN: True}
    assert differences(ours, theirs) == ["eps 1e-05 (reference) 1e-06 (candidate)"]


def test_which_container_holds_the_layers_is_no_difference():
    assert differences({"kind": "Sequential"}, {"kind": "ModuleList"}) == []
    assert differences({"kind": "Sequential"}, {"kind": "ReLU"}) == []  # it may hold one


# Settings that each weight has for itself.


def by_weight(reference, candidate):
    return differences({"kind": "o", "lr": reference}, {"kind": "o", "lr": candidate})


def test_weights_of_equal_values_are_told_together():
    ours = {"a": 0.1, "b": 0.1, "c": 0.0}
    assert by_weight(ours, {"a": 0.1 + 1e-9, "b": 0.1, "c": 0.0}) == []
    assert by_weight(ours, {"a": 0.2, "b": 0.2, "c": 0.0}) == [
        "lr 0.1 (reference) 0.2 (candidate) for a, b"
    ]
    assert by_weight(ours, dict.fromkeys("abc", 0.5)) == [
        "lr 0.1 (reference) 0.5 (candidate) for a, b",
        "lr 0 (reference) 0.5 (candidate) for c",
    ]
    assert by_weight(ours, {"c": 0.5}) == ["lr 0 (reference) 0.5 (candidate)"]


def test_of_a_schedule_the_first_step_that_differs_is_told():
    rates = np.array([0.4, 0.3, 0.2, 0.1])
    late = np.array([0.4, 0.3, 0.3])
    assert by_weight({"a": rates}, {"a": rates[:2]}) == []
    assert by_weight({"a": rates}, {"a": late}) == [
        "lr 0.2 (reference) 0.3 (candidate) in step 2 (the first is 0)"
    ]
    assert len(by_weight({"a": rates}, {"a": 0.4})) == 1


def test_a_reference_whose_schedule_is_not_known_is_compared_in_the_first_step():
    assert by_weight({"a": 0.4}, {"a": np.array([0.4, 0.3])}) == []
    assert len(by_weight({"a": 0.5}, {"a": np.array([0.4, 0.3])})) == 1


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


def test_an_argument_that_raises_is_left_out():
    assert "rate" not in arguments(Hostile(1), Hostile)


class Deprecated:
    def __init__(self, rate):
        self._rate = rate

    @property
    def rate(self):
        warnings.warn("read config.rate", FutureWarning, stacklevel=2)
        return self._rate


def test_what_a_property_warns_of_is_not_told_to_the_user():
    with warnings.catch_warnings(action="error"):
        assert arguments(Deprecated(3), Deprecated) == {"rate": 3}


def test_a_class_is_looked_up_among_the_librarys_own():
    assert library_class(Derived(), __name__, (Root,)) is Derived
    assert library_class(Derived(), "elsewhere", (Root,)) is Derived
    Outside = type("Outside", (Layer,), {"__module__": "model"})  # noqa: N806
    assert library_class(Outside(1), __name__, (Root,)) is Layer
