"""Layers of the two sides find their partners, and their settings are compared."""

import math
from dataclasses import replace

import numpy as np
import pytest

from equivalence.judge.settings import Unread
from equivalence.structure import layers
from equivalence.structure.layers import (
    Layer,
    align,
    below,
    children,
    common,
    compare_settings,
    unread,
)
from equivalence.structure.settings import ALL, OWN


def layer(path, kind="Conv2d", *weights):
    return Layer(path, kind, frozenset(weights))


def tree(*layers):
    every = frozenset().union(*(each.weights for each in layers))
    return [Layer("", "Net", every), *layers]


def test_the_roots_are_partners_whatever_their_kinds():
    assert align([Layer("", "ResNet")], [Layer("", "Cell")], {}) == {"": ""}


def test_layers_of_the_same_path_are_partners():
    theirs = tree(layer("conv1", "Conv2d", "conv1.weight"), layer("relu", "ReLU"))
    ours = tree(layer("relu", "ReLU6"), layer("conv1", "Conv2d", "conv1.weight"))
    assert align(theirs, ours, {}) == {"": "", "conv1": "conv1", "relu": "relu"}


def test_declared_renames_lead_to_partners():
    theirs = tree(layer("downsample", "Sequential"), layer("downsample.0", "Conv2d"))
    ours = tree(layer("down_sample_layer", "SequentialCell"), layer("down_sample_layer.0"))
    assert align(theirs, ours, {"down_sample_layer": "downsample"}) == {
        "": "",
        "downsample": "down_sample_layer",
        "downsample.0": "down_sample_layer.0",
    }


def test_the_same_path_makes_no_partners_where_the_weights_are_others():
    theirs = tree(layer("one", "Linear", "one.weight"), layer("two", "Linear", "two.weight"))
    ours = tree(layer("one", "Linear", "two.weight"), layer("three", "Linear", "one.weight"))
    assert align(theirs, ours, {}) == {"": "", "one": "three", "two": "one"}


def test_blocks_whose_indices_are_shifted_are_paired_with_all_that_they_hold():
    def block(index, width):
        path = f"features.{index}"
        weight = f"w{width}"
        return [
            layer(path, "MBConv", weight),
            layer(f"{path}.conv", "Conv2d", weight),
            layer(f"{path}.act", "SiLU"),
            layer(f"{path}.drop", "StochasticDepth"),
            layer(f"{path}.drop.rule", "Rule"),
        ]

    theirs = tree(*(each for i in range(4) for each in block(i, i)))
    ours = tree(layer("features.0", "SiLU"), *(each for i in range(4) for each in block(i + 1, i)))
    pairs = align(theirs, ours, {"features.1": "features.0"})
    expected = {
        each.path: each.path.replace(f".{i}", f".{i + 1}") for i in range(4) for each in block(i, i)
    }
    assert pairs == {"": "", **expected}


def test_layers_without_weights_follow_the_path_where_no_parent_has_a_partner():
    theirs = tree(layer("a", "Block", "a.w", "b.w"), layer("a.act", "ReLU"))
    ours = tree(layer("a", "Block", "a.w"), layer("a.act", "ReLU"), layer("b", "Conv2d", "b.w"))
    assert align(theirs, ours, {}) == {"": "", "a.act": "a.act"}


def test_layers_of_other_names_are_found_by_the_weights_they_hold():
    theirs = tree(layer("features.0", "Conv2d", "a"), layer("features.1", "BatchNorm2d", "b", "c"))
    ours = tree(layer("stem_bn", "BatchNorm2d", "b", "c"), layer("stem_conv", "Conv2d", "a"))
    pairs = align(theirs, ours, {})
    assert pairs == {"": "", "features.0": "stem_conv", "features.1": "stem_bn"}


def test_a_wrapper_and_what_it_wraps_are_paired_from_the_outside():
    theirs = tree(
        layer("block", "Sequential", "a"), layer("block.0", "Conv2d", "a"), layer("b", "", "b")
    )
    ours = tree(
        layer("cell", "SequentialCell", "a"), layer("cell.conv", "Conv2d", "a"), layer("b", "", "b")
    )
    assert align(theirs, ours, {}) == {"": "", "b": "b", "block": "cell", "block.0": "cell.conv"}


def test_layers_without_weights_are_paired_by_kind_and_order_within_partners():
    theirs = tree(layer("act1", "ReLU"), layer("pool", "MaxPool2d"), layer("act2", "ReLU"))
    ours = tree(layer("relu_a", "ReLU"), layer("relu_b", "ReLU"), layer("maxpool", "MaxPool2d"))
    pairs = align(theirs, ours, {})
    assert pairs == {"": "", "act1": "relu_a", "act2": "relu_b", "pool": "maxpool"}


def test_kinds_that_are_not_as_many_on_either_side_stay_alone():
    theirs = tree(layer("act", "ReLU"))
    ours = tree(layer("one", "ReLU"), layer("two", "ReLU"), layer("drop", "Dropout"))
    assert align(theirs, ours, {}) == {"": ""}


def test_layers_of_parents_that_are_no_partners_stay_alone():
    theirs = tree(layer("a", "Block"), layer("a.act", "ReLU"))
    ours = tree(layer("b", "Other"), layer("b.relu", "ReLU"))
    assert align(theirs, ours, {}) == {"": ""}


def test_below_a_path_lie_its_own_names_and_no_others():
    names = ["layer1.0.weight", "layer10.weight", "layer1.bias", "weight"]
    assert below("layer1", names) == {"layer1.0.weight", "layer1.bias"}
    assert below("", names) == set(names)


def test_an_activation_in_a_norm_has_the_one_behind_the_norm_for_a_partner():
    def conv(path, weight):
        return layer(path, "Conv2d", weight)

    def norm(path, *weights):
        return layer(path, "BatchNorm2d", *weights)

    theirs = tree(
        conv("stem", "w0"),
        norm("bn0", "n0"),
        layer("bn0.drop", "Identity"),
        layer("bn0.act", "ReLU6"),
        layer("block", "Block", "w1", "n1"),
        conv("block.conv", "w1"),
        norm("block.bn", "n1"),
        layer("block.bn.drop", "Identity"),
        layer("block.bn.act", "ReLU6"),
        layer("block.pool", "MaxPool2d"),
        layer("fc", "Linear", "w2"),
    )
    ours = tree(
        conv("0", "w0"),
        norm("1", "n0"),
        layer("2", "Clip"),
        layer("2.relu", "ReLU"),
        layer("3", "Sequential", "w1", "n1"),
        conv("3.0", "w1"),
        norm("3.1", "n1"),
        layer("3.2", "ReLU"),
        layer("fc", "Linear", "w2"),
    )
    pairs = align(theirs, ours, {})
    assert pairs["bn0.act"] == "2"
    assert "block.bn.act" not in pairs, "one side has more layers there"
    assert "bn0.act" not in children("bn0", pairs), "its partner lies in another layer"
    assert children("", pairs) == ["stem", "bn0", "bn0.act", "block", "fc"]


def test_a_layer_that_serves_several_places_is_no_partner_of_the_last_of_several():
    def block(*acts):
        every = [layer("conv1", "Conv2d", "w1"), layer("conv2", "Conv2d", "w2")]
        return tree(*every[:1], *acts[:-1], *every[1:], *acts[-1:])

    theirs = block(layer("act1", "ReLU"), layer("act2", "ReLU"))
    ours = block(layer("relu", "ReLU"))
    assert align(theirs, ours, {}) == {"": "", "conv1": "conv1", "conv2": "conv2"}


def test_children_are_the_nearest_layers_below():
    paths = ["", "a", "a.0", "a.0.conv", "a.1.conv", "ab", "b.c"]
    pairs = {path: path for path in paths}
    assert children("", pairs) == ["a", "ab", "b.c"]
    assert children("a", pairs) == ["a.0", "a.1.conv"]
    assert children("a.0.conv", pairs) == []


# Two configurations are compared.


def differences(reference, candidate):
    return [str(each) for each in layers.differences(reference, candidate)]


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


@pytest.mark.parametrize(
    ("ours", "theirs", "told"),
    [
        (("Conv2d", {"kernel_size": (1, 1)}), ("Linear", {}), []),
        (("Conv1d", {}), ("Conv2d", {}), []),
        (("AdaptiveAvgPool2d", {}), ("AvgPool2d", {}), []),
        (("LayerNorm", {"eps": 1e-5}), ("GroupNorm", {"eps": 1e-5}), []),
        (("LayerNorm", {"eps": 1e-5}), ("GroupNorm", {"eps": 1e-6}), ["eps"]),
        (("ReLU", {}), ("ReLU6", {}), ["kind"]),
        (("Dropout", {"p": 0.1}), ("Dropout2d", {"p": 0.1}), ["kind"]),
        (("Sigmoid", {}), ("Hardsigmoid", {}), []),
    ],
)
def test_another_kind_may_compute_the_same_so_that_the_tensors_decide(ours, theirs, told):
    def side(kind, settings):
        return [Layer("", "Net"), Layer("a", kind, settings={"kind": kind, **settings})]

    found = compare_settings(side(*ours), side(*theirs), {})
    assert [each.name for each in found.differing] == told
    assert found.compared == len({"eps", "kind"} & {*told, *ours[1]})


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


# What could not be read is named, and not compared.

LOST = Unread("KeyError: 'x'")


def test_what_could_not_be_read_is_named_and_not_compared():
    ours, theirs = {"kind": "N", "eps": 1.0, "p": 1}, {"kind": "N", "eps": LOST, "p": 2}
    assert common(ours, theirs) == ["kind", "p"]
    assert differences(ours, theirs) == ["p 1 (reference) 2 (candidate)"]
    assert unread(ours, theirs) == unread(theirs, ours) == [replace(LOST, name="eps")]
    assert unread(theirs, theirs) == [replace(LOST, name="eps")]


def test_what_the_other_side_does_not_have_is_not_lost():
    assert unread({"kind": "N"}, {"kind": "N", "eps": LOST}) == []
    assert unread({"kind": "N", "p": 1.0}, {"kind": "M", "p": LOST}) == []  # kind tells it


def test_whole_layers_count_though_one_side_lost_them():
    assert replace(LOST, name=ALL) in unread({"kind": "N"}, {"kind": "N", ALL: LOST})
    assert differences({"kind": "N"}, {"kind": "N", ALL: LOST}) == []


def test_code_of_the_models_own_is_told_apart():
    own = {"kind": "N", "eps": LOST, OWN: True}
    (found,) = unread({"kind": "N", "eps": 1.0}, own)
    assert found.own
    (found,) = unread(own, {"kind": "N", "eps": LOST})  # a framework's layer counts more
    assert not found.own


def test_weights_whose_setting_could_be_read_are_compared():
    ours, theirs = {"a": 0.1, "b": 0.1}, {"a": LOST, "b": 0.2}
    assert by_weight(ours, theirs) == ["lr 0.1 (reference) 0.2 (candidate) for b"]
    sides = ({"kind": "o", "lr": each} for each in (ours, theirs))
    assert unread(*sides) == [replace(LOST, name="lr")]
    assert common({"kind": "o", "lr": ours}, {"kind": "o", "lr": {"a": LOST}}) == ["kind"]


def test_of_partners_the_layer_is_named():
    sides = [[Layer("", "Net"), Layer.of("a", {"kind": "ReLU6", "p": p}, {})] for p in (1, LOST)]
    found = layers.compare_settings(*sides, {})
    assert (found.layers, found.compared) == (1, 1)
    assert [str(each) for each in found.unread] == ["a.p (KeyError: 'x')"]


@pytest.mark.parametrize(
    ("theirs", "ours", "decays", "found"),
    [
        ("Adam", "AdamW", (0.0, 0.0), []),
        ("AdamW", "Adam", (0.0, 0), []),
        ("Adam", "AdamW", (0.1, 0.1), ["algorithm"]),
        ("AdamW", "AdamW", (0.0, 0.1), ["weight_decay"]),
        ("Adam", "SGD", (0.0, 0.0), ["algorithm"]),
    ],
)
def test_adamw_that_decays_a_weight_on_neither_side_is_adam(theirs, ours, decays, found):
    sides = [
        {"kind": "optimizer", "algorithm": {"w": name}, "weight_decay": {"w": decay}}
        for name, decay in zip((theirs, ours), decays, strict=True)
    ]
    assert [each.name for each in layers.differences(*sides)] == found
