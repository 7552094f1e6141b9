"""Weights find their partners by order, shape and names, and the renames say the same."""

import random
import time

import pytest

from equivalence.errors import WeightError
from equivalence.structure.order import propose
from equivalence.structure.slots import UNSAVED, Slot
from equivalence.structure.weights import pair


def conv(path, *shape):
    return {f"{path}.weight": Slot(shape, "parameter")}


def dense(path, outputs, inputs, leaf="weight"):
    start = f"{path}." if path else ""
    weight, bias = Slot((outputs, inputs), "parameter"), Slot((outputs,), "parameter")
    return {f"{start}{leaf}": weight, f"{start}{leaf.replace('weight', 'bias')}": bias}


def norm(path, channels, side):
    leaves = {
        "torch": ("weight", "bias", "running_mean", "running_var"),
        "mindspore": ("moving_mean", "moving_variance", "gamma", "beta"),
    }[side]
    trained = ("weight", "bias", "gamma", "beta")
    kinds = ["parameter" if leaf in trained else "buffer" for leaf in leaves]
    return {
        f"{path}.{leaf}": Slot((channels,), kind) for leaf, kind in zip(leaves, kinds, strict=True)
    }


def paired(reference, candidate, rename=(), constants=()):
    rename, constants = dict(rename), list(constants)
    found = propose(reference, candidate, rename, constants)
    every = {**rename, **found.rename}
    return pair(reference, candidate, every, [*constants, *found.constants]), found


def shifted(blocks, channels=(4, 4, 4, 6, 6)):
    """Two networks of blocks: those of the candidate begin two places later and are flat."""
    reference = conv("features.0.0", 4, 3, 3, 3) | norm("features.0.1", 4, "torch")
    candidate = conv("features.0", 4, 3, 3, 3) | norm("features.1", 4, "mindspore")
    wanted = {"features.0.weight": "features.0.0.weight"}
    before = 4
    for i, width in zip(range(blocks), channels, strict=False):
        for j, shape in enumerate([(before, 1, 3, 3), (width, before, 1, 1)]):
            reference |= conv(f"features.{i + 1}.block.{j}.0", *shape)
            reference |= norm(f"features.{i + 1}.block.{j}.1", shape[0], "torch")
            candidate |= conv(f"features.{i + 3}.layers.{3 * j}", *shape)
            candidate |= norm(f"features.{i + 3}.layers.{3 * j + 1}", shape[0], "mindspore")
            wanted[f"features.{i + 3}.layers.{3 * j}.weight"] = (
                f"features.{i + 1}.block.{j}.0.weight"
            )
        before = width
    return (
        reference | dense("classifier.1", 10, before),
        candidate | dense("head", 10, before),
        wanted,
    )


def test_names_that_pair_need_no_proposal():
    reference = conv("conv", 4, 3, 3, 3) | norm("bn", 4, "torch")
    candidate = conv("conv", 4, 3, 3, 3) | norm("bn", 4, "mindspore")
    assert paired(reference, candidate)[1] == ({}, ())


def test_blocks_of_equal_shapes_whose_indices_are_shifted_follow_their_order():
    reference, candidate, wanted = shifted(5)
    partners, found = paired(reference, candidate)
    assert {name: partners[name] for name in wanted} == wanted
    assert partners["head.bias"] == "classifier.1.bias"
    assert found.rename["layers.3"] == "block.1.0", "inside a block the same run is said once"
    assert len(found.rename) < len(candidate) / 4


def test_the_order_of_one_side_may_differ_where_names_or_parents_tell():
    reference, candidate = {}, {}
    for i in (0, 1):
        width = 4 * (i + 1)
        reference |= conv(f"layer.{i}.conv1", 4, 4, 3, 3) | conv(f"layer.{i}.conv2", 4, 4, 3, 3)
        reference |= conv(f"layer.{i}.down.0", width, 4, 1, 1)
        candidate |= conv(f"stage.{i}.short.0", width, 4, 1, 1)
        candidate |= conv(f"stage.{i}.conv1", 4, 4, 3, 3) | conv(f"stage.{i}.conv2", 4, 4, 3, 3)
    partners, _ = paired(reference, candidate)
    assert partners["stage.1.short.0.weight"] == "layer.1.down.0.weight"
    assert partners["stage.0.conv2.weight"] == "layer.0.conv2.weight"


def test_the_same_names_in_partners_pair_whatever_their_order():
    reference, candidate = {}, {}
    for name in "qkv":
        reference |= dense(f"attn.{name}", 4, 4)
    for name in "kvq":
        candidate |= dense(f"attention.{name}", 4, 4)
    partners, found = paired(reference, candidate)
    assert partners == {n: n.replace("attention", "attn") for n in candidate}
    assert found.rename == {"attention": "attn"}


@pytest.mark.parametrize("leaf", ["weight", "in_proj_weight"])
def test_three_projections_are_one_on_the_other_side(leaf):
    fused, single = {}, {}
    for i in (0, 1):
        name = f"layers.{i}.qkv" if leaf == "weight" else f"layers.{i}"
        fused |= dense(name, 12, 4, leaf) | dense(f"layers.{i}.proj", 4, 4)
        for part in "qkv":
            single |= dense(f"blocks.{i}.{part}", 4, 4)
        single |= dense(f"blocks.{i}.out", 4, 4)
    there, found = paired(fused, single)
    assert len(there.groups) == 4
    assert there.sources("blocks.1.k.bias") == (
        f"layers.1.{'qkv.bias' if leaf == 'weight' else 'in_proj_bias'}",
    )
    if leaf == "weight":
        assert found.rename["q + k + v"] == "qkv"
    back, _ = paired(single, fused)
    target = "layers.0.qkv.weight" if leaf == "weight" else "layers.0.in_proj_weight"
    assert back.sources(target) == tuple(f"blocks.0.{part}.weight" for part in "qkv")


def test_axes_of_length_one_and_a_transposed_weight_leave_no_other_choice():
    reference = conv("conv", 5, 4, 3) | conv("fc", 7, 5)
    candidate = conv("conv1d", 5, 4, 1, 3) | {"fc.kernel": Slot((5, 7), "parameter")}
    partners, found = paired(reference, candidate)
    assert len(partners.groups) == 2
    assert found.rename == {"conv1d": "conv", "weight": "weight.reshape()", "kernel": "weight.T"}


def test_a_table_that_only_the_candidate_has_stays_as_it_was_made():
    reference = conv("fc", 4, 4) | {"attn_mask": Slot((1, 4), UNSAVED)}
    candidate = conv("head", 4, 4) | {
        "bias.index": Slot((9, 9), "buffer"),
        "attn_mask": Slot((4,), "buffer"),
    }
    partners, found = paired(reference, candidate)
    assert found.constants == ("index", "attn_mask")
    assert partners.sources("bias.index") == partners.sources("attn_mask") == ()
    assert found.lines()[-1] == "constants=['index', 'attn_mask'],"


def test_a_statistic_is_never_left_as_it_was_made():
    reference, candidate = conv("fc", 4, 4), conv("head", 4, 4) | norm("bn", 4, "mindspore")
    with pytest.raises(WeightError, match=r"candidate bn\.moving_mean"):
        paired(reference, candidate)


def test_declared_renames_stay():
    reference = conv("a", 4, 4) | conv("b", 4, 4) | conv("c", 4, 4)
    candidate = conv("x", 4, 4) | conv("y", 4, 4) | conv("z", 4, 4)
    partners, _ = paired(reference, candidate, {"x": "c"})
    assert partners == {"x.weight": "c.weight", "y.weight": "a.weight", "z.weight": "b.weight"}


def test_a_weight_that_only_one_side_has_is_refused_with_what_is_left():
    reference, candidate, _ = shifted(4)
    del candidate["head.bias"]
    with pytest.raises(WeightError, match=r"1 complaint\n.*classifier\.1\.bias") as caught:
        paired(reference, candidate)
    assert "the candidate's classifier.1 has only weight" in str(caught.value)


def test_the_pairing_is_the_same_every_time_and_one_to_one():
    reference, candidate, _ = shifted(5)
    first, found = paired(reference, candidate)
    again, other = paired(dict(reference), dict(candidate))
    assert first == again
    assert found == other
    assert len({*first.values()}) == len(first) == len(reference)


def test_names_alone_do_not_matter_where_the_order_is_the_same():
    reference, candidate, wanted = shifted(5)
    letters = random.Random(0)
    names = {
        path: "".join(letters.choices("abcdefgh", k=8))
        for path in {name.rpartition(".")[0] for name in candidate}
    }
    blind = {
        f"{names[n.rpartition('.')[0]]}.{n.rpartition('.')[2]}": s for n, s in candidate.items()
    }
    partners, _ = paired(reference, blind)
    for name, target in wanted.items():
        path, _, leaf = name.rpartition(".")
        assert partners[f"{names[path]}.{leaf}"] == target


def test_a_thousand_weights_take_seconds():
    reference, candidate, _ = shifted(100, [4 + i // 9 for i in range(100)])
    assert len(candidate) > 1000
    begin = time.process_time()
    paired(reference, candidate)
    assert time.process_time() - begin < 20.0


def test_neighbours_stay_neighbours_where_a_shortcut_has_the_shape_of_another_layer():
    reference, candidate = conv("stem", 4, 3, 3, 3), conv("stem", 4, 3, 3, 3)
    wanted, before = {}, 4
    for i, width in enumerate((6, 8)):
        wide = (width, before, 1, 1)
        for name, shape in (
            ("conv1", wide),
            ("conv2", (width, 2, 3, 3)),
            ("conv3", (width, width, 1, 1)),
            ("down", wide),
        ):
            reference |= conv(f"s{i}.b.{name}.conv", *shape)
            reference |= norm(f"s{i}.b.{name}.bn", width, "torch")
        for name, layer, shape, target in (
            ("proj", "bn", wide, "down"),
            ("f.a", "f.a_bn", wide, "conv1"),
            ("f.b", "f.b_bn", (width, 2, 3, 3), "conv2"),
            ("f.c", "f.c_bn", (width, width, 1, 1), "conv3"),
        ):
            candidate |= conv(f"stages.{i}.{name}", *shape)
            candidate |= norm(f"stages.{i}.{layer}", width, "mindspore")
            wanted[f"stages.{i}.{name}.weight"] = f"s{i}.b.{target}.conv.weight"
            wanted[f"stages.{i}.{layer}.gamma"] = f"s{i}.b.{target}.bn.weight"
        before = width
    partners, _ = paired(reference, candidate)
    assert {name: partners[name] for name in wanted} == wanted


def test_a_table_that_has_a_partner_by_name_is_no_constant_of_the_candidate():
    reference = conv("fc", 4, 4) | {"block.attn_mask": Slot((4, 4), UNSAVED)}
    candidate = conv("head", 4, 4) | {
        "block.attn_mask": Slot((4, 4), "buffer"),
        "index": Slot((9,), "buffer"),
    }
    partners, found = paired(reference, candidate)
    assert found.constants == ("index",)
    assert partners["block.attn_mask"] == "block.attn_mask"
