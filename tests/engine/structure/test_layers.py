"""Layers of the two sides find their partners, and nothing else is paired."""

from equivalence.structure.layers import Layer, align, below, children


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
