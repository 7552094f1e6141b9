"""Weights pair up one to one, or the complaint says which do not and why."""

import re
import time

import numpy as np
import pytest

from equivalence.errors import WeightError
from equivalence.structure.weights import (
    CONSTANT,
    UNSAVED,
    WRAPPERS,
    Slot,
    pair,
    reference_name,
)

REFERENCE = {
    "conv.weight": Slot((8, 3, 3, 3), "parameter"),
    "bn.weight": Slot((8,), "parameter"),
    "bn.bias": Slot((8,), "parameter"),
    "bn.running_mean": Slot((8,), "buffer"),
    "bn.running_var": Slot((8,), "buffer"),
    "bn.num_batches_tracked": Slot((), "buffer"),
}
CANDIDATE = {
    "conv.weight": Slot((8, 3, 3, 3), "parameter"),
    "bn.moving_mean": Slot((8,), "buffer"),
    "bn.moving_variance": Slot((8,), "buffer"),
    "bn.gamma": Slot((8,), "parameter"),
    "bn.beta": Slot((8,), "parameter"),
}


def complaint(reference, candidate, rename=()):
    """The text of the error that these two sides raise."""
    with pytest.raises(WeightError) as caught:
        pair(reference, candidate, dict(rename))
    return str(caught.value)


def without(slots, *names):
    return {name: slot for name, slot in slots.items() if name not in names}


# --- Constants -----------------------------------------------------------------------------------

TABLES = {**REFERENCE, "mask": Slot((4,), CONSTANT), "angles": Slot((4,), UNSAVED)}


def test_an_unsaved_constant_needs_no_partner_and_a_saved_one_must_be_named():
    assert "has no partner" in complaint(TABLES, CANDIDATE)
    partners = pair(TABLES, CANDIDATE, {}, ["mask"])
    assert partners == pair(REFERENCE, CANDIDATE, {})
    assert partners.constants == partners.alone == {"mask", "angles"}


@pytest.mark.parametrize("kind", ["buffer", CONSTANT])
def test_the_partner_of_a_constant_is_not_trained(kind):
    partners = pair(TABLES, {**CANDIDATE, "mask": Slot((4,), kind)}, {})
    assert partners["mask"] == "mask"
    assert partners.alone == {"angles"}
    trained = {**CANDIDATE, "mask": Slot((4,), "parameter")}
    told = "its partner mask a constant (4,); it would be trained: write Parameter(..., requires"
    assert f"candidate mask is a parameter (4,), {told}" in complaint(TABLES, trained)


def test_what_a_graph_keeps_holds_no_drawn_weight():
    other = {**CANDIDATE, "bn.moving_mean": Slot((8,), CONSTANT)}
    assert "its partner bn.running_mean a buffer" in complaint(REFERENCE, other)


def test_a_tensor_that_only_the_candidate_keeps_is_its_own_affair():
    assert "table" not in pair(REFERENCE, {**CANDIDATE, "table": Slot((4,), CONSTANT)}, {})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("masks", "constants name 'masks', which the reference does not have; nearest: mask"),
        ("bn.bias", "constants name 'bn.bias', a parameter (8,), which is drawn"),
        ("bn.running_var", "constants name 'bn.running_var', a buffer (8,), which is drawn"),
        ("mask", "constants name 'mask', which the candidate keeps in kept"),
    ],
)
def test_constants_that_are_misnamed_are_told(name, text):
    candidate = {**CANDIDATE, "kept": Slot((4,), "buffer")}
    with pytest.raises(WeightError, match=re.escape(text)):
        pair(TABLES, candidate, {"kept": "mask"}, [name])


# --- Names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [
        ("bn1.gamma", "bn1.weight"),
        ("bn1.beta", "bn1.bias"),
        ("bn1.moving_mean", "bn1.running_mean"),
        ("bn1.moving_variance", "bn1.running_var"),
        ("tokens.embedding_table", "tokens.weight"),
        ("layer1.0.conv1.weight", "layer1.0.conv1.weight"),
        ("gamma", "weight"),
        ("gamma.gamma", "gamma.weight"),
        ("moving_mean.weight", "moving_mean.weight"),
    ],
)
def test_standard_renames_reach_the_last_segment_only(candidate, reference):
    assert reference_name(candidate, {}) == reference


@pytest.mark.parametrize(
    ("rename", "candidate", "reference"),
    [
        ({"down": "downsample"}, "layer1.down.0.gamma", "layer1.downsample.0.weight"),
        ({"down": "downsample"}, "down", "downsample"),
        ({"e2.0": "conv2", "e2.1": "bn2"}, "layer1.0.e2.1.beta", "layer1.0.bn2.bias"),
        ({"stem": "features.0.1"}, "stem.weight", "features.0.1.weight"),
        ({"a": "b"}, "a.a.x.a.weight", "b.b.x.b.weight"),
        ({"a": "b", "b": "a"}, "a.b.weight", "b.a.weight"),
        ({"a": "x", "a.b": "y"}, "a.b.a.weight", "y.x.weight"),
        ({"gamma": "gamma"}, "scale.gamma", "scale.gamma"),
        ({"table": "weight"}, "bias.table", "bias.weight"),
        ({"eta": "rate"}, "eta.beta", "rate.bias"),
    ],
)
def test_declared_renames_replace_whole_runs_of_segments_at_once(rename, candidate, reference):
    assert reference_name(candidate, rename) == reference


@pytest.mark.parametrize("candidate", ["layer1.downs.weight", "updown.weight", "e2x0.weight"])
def test_declared_renames_leave_parts_of_segments_alone(candidate):
    assert reference_name(candidate, {"down": "downsample", "e2.0": "conv2"}) == candidate


# --- Pairs ---------------------------------------------------------------------------------------


def test_all_weights_of_both_sides_are_paired():
    assert pair(REFERENCE, CANDIDATE, {}) == {
        "conv.weight": "conv.weight",
        "bn.moving_mean": "bn.running_mean",
        "bn.moving_variance": "bn.running_var",
        "bn.gamma": "bn.weight",
        "bn.beta": "bn.bias",
    }


def test_networks_without_weights_pair_up():
    assert pair({}, {}, {}) == {}


def test_the_count_of_batches_alone_needs_no_partner():
    assert "bn.num_batches_tracked" not in pair(REFERENCE, CANDIDATE, {}).values()
    text = complaint(REFERENCE | {"bn.step": Slot((), "buffer")}, CANDIDATE)
    assert "reference bn.step (buffer ()) has no partner in the candidate" in text


# --- Complaints ----------------------------------------------------------------------------------


def test_a_weight_of_the_reference_that_would_never_be_loaded_is_named():
    text = complaint(REFERENCE, without(CANDIDATE, "bn.gamma"))
    assert text.startswith("weights do not pair up: 1 complaint\n")
    assert "reference bn.weight (parameter (8,)) has no partner in the candidate" in text


def test_how_to_name_a_table_that_the_candidate_computes_is_told():
    tables = {f"blocks.{i}.relative_position_index": Slot((9, 9), CONSTANT) for i in range(2)}
    text = complaint(REFERENCE | tables, CANDIDATE)
    assert "blocks.0.relative_position_index (constant (9, 9)) has no partner" in text
    told = "what the other side computes, or keeps in no weight, is named: "
    assert text.count(told) == 1
    assert f"{told}constants=['relative_position_index']; on the command line " in text
    assert "on the command line --constant relative_position_index\n" in text
    assert pair(REFERENCE | tables, CANDIDATE, {}, ["relative_position_index"])


def test_how_to_name_a_table_that_the_candidate_alone_keeps_is_told():
    text = complaint(REFERENCE, CANDIDATE | {"rope.angles": Slot((6, 4), "buffer")})
    assert "constants=['angles']; on the command line --constant angles" in text
    assert pair(REFERENCE, CANDIDATE | {"rope.angles": Slot((6, 4), "buffer")}, {}, ["angles"])


@pytest.mark.parametrize("lost", ["bn.gamma", "bn.moving_mean"])
def test_a_weight_that_is_drawn_is_no_table(lost):
    assert "--constant" not in complaint(REFERENCE, without(CANDIDATE, lost))


def test_a_statistic_by_another_name_is_no_table():
    statistic = {"bn.runing_mean": Slot((8,), "buffer")}
    text = complaint(REFERENCE, without(CANDIDATE, "bn.moving_mean") | statistic)
    assert "nearest: bn.running_mean" in text
    assert "--constant" not in text


def test_a_weight_that_only_the_candidate_has_is_named_with_the_nearest():
    text = complaint(REFERENCE, CANDIDATE | {"bn1.gamma": Slot((8,), "parameter")})
    assert "weights do not pair up: 1 complaint" in text
    assert (
        "candidate bn1.gamma (parameter (8,)) maps to bn1.weight, which the reference does not "
        "have; nearest: bn.weight" in text
    )


def test_a_misspelt_weight_is_named_on_both_sides_with_the_nearest():
    candidate = without(CANDIDATE, "conv.weight") | {"conw.weight": CANDIDATE["conv.weight"]}
    text = complaint(REFERENCE, candidate)
    assert "weights do not pair up: 2 complaints" in text
    assert "maps to conw.weight, which the reference does not have; nearest: conv.weight" in text
    assert (
        "reference conv.weight (parameter (8, 3, 3, 3)) has no partner in the candidate; "
        "nearest: conw.weight" in text
    )


def test_nothing_is_guessed_where_nothing_is_near():
    text = complaint({"weight": Slot((2,), "parameter")}, {"kappa": Slot((2,), "parameter")})
    assert "nearest" not in text


def test_shapes_that_differ_are_named_with_both_names():
    candidate = CANDIDATE | {"conv.weight": Slot((3, 8, 3, 3), "parameter")}
    assert (
        "candidate conv.weight is a parameter (3, 8, 3, 3), its partner conv.weight a parameter "
        "(8, 3, 3, 3)" in complaint(REFERENCE, candidate)
    )


@pytest.mark.parametrize(
    ("name", "kind", "partner"),
    [
        ("bn.gamma", "buffer", "its partner bn.weight a parameter (8,)"),
        ("bn.moving_mean", "parameter", "its partner bn.running_mean a buffer (8,)"),
    ],
)
def test_a_frozen_weight_is_no_partner_for_a_trained_one(name, kind, partner):
    text = complaint(REFERENCE, CANDIDATE | {name: Slot((8,), kind)})
    assert f"candidate {name} is a {kind} (8,), {partner}" in text


def test_two_weights_that_claim_one_partner_are_both_named():
    candidate = CANDIDATE | {"bn.weight": Slot((8,), "parameter")}
    text = complaint(REFERENCE, candidate)
    assert "candidate bn.weight and bn.gamma both map to bn.weight" in text
    assert "weights do not pair up: 1 complaint" in text


def test_a_rename_that_matches_nothing_is_named():
    text = complaint(REFERENCE, CANDIDATE, {"conv": "conv", "con": "conv"})
    assert "weights do not pair up: 1 complaint" in text
    assert "rename 'con' matches no candidate name" in text


def test_every_complaint_is_told_at_once():
    candidate = without(CANDIDATE, "bn.beta") | {
        "conv.weight": Slot((8, 3, 1, 1), "parameter"),
        "head.weight": Slot((10, 8), "parameter"),
    }
    text = complaint(REFERENCE, candidate, {"tail": "head"})
    assert text.startswith("weights do not pair up: 4 complaints\n")
    for words in ("rename 'tail'", "candidate head.weight", "conv.weight is a", "bn.bias"):
        assert words in text


def test_both_sides_are_shown_side_by_side():
    candidate = without(CANDIDATE, "bn.beta") | {"fc.beta": Slot((8,), "parameter")}
    table = complaint(REFERENCE, candidate).splitlines()[-7:]
    rows = [tuple(cell.strip() for cell in line.strip().split("  ", 1)) for line in table]
    assert rows == [
        ("reference", "candidate"),
        ("conv.weight (8, 3, 3, 3)", "conv.weight (8, 3, 3, 3)"),
        ("bn.weight (8,)", "bn.gamma (8,)"),
        ("bn.bias (8,)", "-"),
        ("bn.running_mean (8,)", "bn.moving_mean (8,)"),
        ("bn.running_var (8,)", "bn.moving_variance (8,)"),
        ("-", "fc.beta (8,)"),
    ]
    starts = {line.rindex(right) for line, (_, right) in zip(table, rows, strict=True)}
    assert len(starts) == 1, "the right column is straight"


def test_the_loser_of_two_claims_is_shown_alone():
    candidate = CANDIDATE | {"bn.weight": Slot((8,), "parameter")}
    text = complaint(REFERENCE, candidate)
    rows = [line.split() for line in text.splitlines()]
    assert ["bn.weight", "(8,)", "bn.gamma", "(8,)"] in rows
    assert ["-", "bn.weight", "(8,)"] in rows


# --- Rearranged weights --------------------------------------------------------------------------

FUSED = {"attn.qkv.weight": Slot((12, 4), "parameter"), "attn.qkv.bias": Slot((12,), "parameter")}
PARTS = {
    f"attn.{part}.{leaf}": Slot(shape, "parameter")
    for part in "qkv"
    for leaf, shape in (("weight", (4, 4)), ("bias", (4,)))
}


@pytest.mark.parametrize(
    ("reference", "candidate", "rename"),
    [(FUSED, PARTS, {"q + k + v": "qkv"}), (PARTS, FUSED, {"qkv": "q + k + v"})],
)
def test_a_rename_joins_or_cuts_all_weights_of_layers(reference, candidate, rename):
    partners = pair(reference, candidate, rename)
    assert partners == {}
    assert [sorted(group.reference) for group in partners.groups] == [
        [n for n in sorted(reference) if n.endswith(leaf)] for leaf in ("weight", "bias")
    ]
    values = {n: np.random.default_rng(1).normal(size=s.shape) for n, s in reference.items()}
    loaded = {
        name: partners.drawn(name, slot.shape, lambda n, shape: values[n].reshape(shape))
        for name, slot in candidate.items()
    }
    assert all(loaded[name].shape == slot.shape for name, slot in candidate.items())
    back = partners.restored(loaded)
    assert all(np.array_equal(back[name], values[name]) for name in values)
    assert partners.held(candidate) == {*reference}


@pytest.mark.parametrize(
    ("rename", "text"),
    [
        ({"q + k": "qkv"}, "does not fit reference attn.qkv.weight (parameter (12, 4))"),
        ({"q + k + w": "qkv"}, "rename 'q + k + w' matches no candidate name"),
        ({"q + k + v": "kqv"}, "finds attn.q.weight, but no attn.kqv.weight"),
        ({"q + k + q": "qkv"}, "does not fit reference attn.qkv.weight"),
    ],
)
def test_a_rename_that_joins_wrongly_is_refused(rename, text):
    assert text in complaint(FUSED, PARTS, rename)


def test_a_part_of_a_joined_weight_stands_for_no_layer():
    partners = pair(FUSED, PARTS, {"q + k + v": "qkv"})
    assert partners.held(["attn.q.weight"]) == {"a part: attn.q.weight"}
    local = partners.part("attn.", lambda name: name.removeprefix("attn."))
    assert local.sources("k.bias") == ("qkv.bias",)


def test_weights_that_a_map_exchanges_keep_their_places():
    slots = {f"{n}.weight": Slot((4, 4), "parameter") for n in ("one", "two")}
    partners = pair(slots, slots, {"one": "two", "two": "one"})
    assert partners.held(["one.weight"]) == {"one.weight"}
    shifted = {f"{n}.weight": Slot((4, 4), "parameter") for n in ("two", "three")}
    partners = pair(slots, shifted, {"two": "one", "three": "two"})
    assert partners.held(["two.weight"]) == {"one.weight"}, "a shift is no exchange"


def test_the_factors_of_a_weight_norm_pair_under_both_names():
    start = "conv.parametrizations.weight.original"
    reference = {f"{start}0": Slot((4, 1), "parameter"), f"{start}1": Slot((4, 2), "parameter")}
    candidate = {"conv.weight_g": Slot((4, 1), "parameter")}
    candidate |= {"conv.weight_v": Slot((4, 2), "parameter")}
    partners = pair(reference, candidate, {})
    assert partners == {"conv.weight_g": f"{start}0", "conv.weight_v": f"{start}1"}


@pytest.mark.parametrize(("ours", "theirs"), [((4, 3, 1, 5), (4, 3, 5)), ((4, 3), (4, 3, 1, 1))])
def test_axes_of_length_one_need_no_rename(ours, theirs):
    """Such as those of a Conv1d, and of a convolution of one pixel for a dense layer."""
    kernel = np.arange(np.prod(theirs), dtype=np.float32).reshape(theirs)
    sides = [{"a.weight": Slot(shape, "parameter")} for shape in (theirs, ours)]
    (group,) = pair(*sides, {}).groups
    assert group.candidate == {"a.weight": ours}
    (loaded,) = pair(*sides, {}).restored({"a.weight": kernel.reshape(ours)}).values()
    assert np.array_equal(loaded, kernel)
    assert "does not have it" not in complaint(*sides[:1], {"a.weight": Slot((4, 5), "parameter")})


def test_a_name_that_both_sides_have_stands_for_itself():
    """Such as the scale of a layer, which is no weight of a norm."""
    scale = {"block.gamma": Slot((8,), "parameter"), "block.weight": Slot((8,), "parameter")}
    assert pair(scale, scale, {}) == {name: name for name in scale}
    assert pair({"bn.weight": Slot((8,), "parameter")}, {"bn.gamma": Slot((8,), "parameter")}, {})


def test_the_layer_within_a_batch_norm_of_volumes_is_not_in_the_name():
    theirs = {"bn.weight": Slot((8,), "parameter"), "bn.running_mean": Slot((8,), "buffer")}
    ours = {"bn.bn2d.gamma": theirs["bn.weight"], "bn.bn2d.moving_mean": theirs["bn.running_mean"]}
    assert pair(theirs, ours, {}) == dict(zip(ours, theirs, strict=True))


# --- Likely reasons ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs", "cure"),
    [
        ((4, 3), (3, 4), "as if transposed: rename={'fc.weight': 'fc.weight.T'}"),
        (
            (8, 48),
            (8, 3, 4, 4),
            "the same if a patch lists its channels first: "
            "rename={'fc.weight': 'fc.weight.reshape()'}",
        ),
        (
            (8, 48),
            (8, 3, 4, 4),
            "if it lists them last: "
            "rename={'fc.weight': 'fc.weight.transpose(0, 2, 3, 1).reshape()'}",
        ),
        (
            (8, 3, 4, 5),
            (8, 60),
            "if it lists them last: "
            "rename={'fc.weight': 'fc.weight.reshape(8, 4, 5, 3).transpose(0, 3, 1, 2)'}",
        ),
    ],
)
def test_another_shape_is_told_with_the_rename_that_fits(ours, theirs, cure):
    sides = [{"fc.weight": Slot(shape, "parameter")} for shape in (theirs, ours)]
    assert cure in complaint(*sides)
    assert pair(*sides, dict([cure.split("{")[1][:-1].replace("'", "").split(": ")])).groups


@pytest.mark.parametrize(("ours", "theirs"), [((8, 16), (8, 1, 4, 4)), ((8, 1, 5), (8, 5))])
def test_patches_of_one_channel_have_one_order(ours, theirs):
    sides = [{"fc.weight": Slot(shape, "parameter")} for shape in (theirs, ours)]
    assert pair(*sides, {}).groups


def test_a_missing_bias_is_told_with_what_the_layer_has():
    text = complaint(REFERENCE, without(CANDIDATE, "bn.beta"))
    has = "the candidate's bn has only running_mean, running_var, weight"
    assert f"reference bn.bias (parameter (8,)) has no partner in the candidate: {has}" in text
    text = complaint(without(REFERENCE, "bn.bias"), CANDIDATE)
    assert "the reference's bn has only running_mean, running_var, weight" in text


def test_a_bias_that_one_side_was_built_without_is_told_with_what_to_write():
    dense = {
        name: Slot(shape, "parameter") for name, shape in (("fc.weight", (4, 8)), ("fc.bias", (4,)))
    }
    text = complaint(dense, without(dense, "fc.bias"))
    assert "the candidate's fc has only weight; nn.Dense and nn.Conv2d take has_bias=True" in text
    text = complaint(without(dense, "fc.bias"), dense)
    assert "the reference's fc has only weight; nn.Dense and nn.Conv2d take has_bias=False" in text


@pytest.mark.parametrize("side", ["reference", "candidate"])
def test_a_prefix_of_all_names_is_told_once(side):
    sides = {"reference": REFERENCE, "candidate": CANDIDATE}
    sides[side] = {f"backbone.{name}": slot for name, slot in sides[side].items()}
    text = complaint(sides["reference"], sides["candidate"])
    old, new = ("backbone.bn", "bn") if side == "candidate" else ("bn", "backbone.bn")
    assert f"every name of the {side} begins with 'backbone.': rename={{{old!r}: {new!r}" in text
    conv = {old.replace("bn", "conv"): new.replace("bn", "conv")}
    assert len(pair(sides["reference"], sides["candidate"], {old: new, **conv})) == 5


def test_a_head_that_one_side_alone_ties_is_told():
    table, head = Slot((9, 4), "parameter"), {"head.weight": Slot((9, 4), "parameter")}
    tied = {"table.weight": Slot((9, 4), "parameter", ("head.weight",))}
    text = complaint(tied, {"table.embedding_table": table, **head})
    assert "does not have: it ties head.weight to table.weight" in text
    text = complaint({"table.weight": table, **head}, tied)
    assert "head.weight (parameter (9, 4)) has no partner in the candidate, which ties it" in text


def test_a_weight_norm_that_one_side_alone_has_is_told():
    start = "conv.parametrizations.weight.original"
    normed = {f"{start}{i}": Slot((4, 1 + i), "parameter") for i in (0, 1)}
    text = complaint(normed, {"conv.weight": Slot((4, 2), "parameter")})
    assert "there it is weight-normed" in text
    assert "the candidate must have weight_g and weight_v" in text


def test_many_complaints_are_counted_and_told_in_a_second():
    reference = {
        f"layers.{i}.{j}.conv.weight": Slot((i,), "parameter") for i in range(300) for j in range(4)
    }
    candidate = {
        f"blocks.{i}.{j}.body.weight": Slot((i,), "parameter") for i in range(300) for j in range(4)
    }
    begin = time.process_time()
    text = complaint(reference, candidate)
    assert time.process_time() - begin < 1.0
    assert text.startswith("weights do not pair up: 2400 complaints\n")
    assert "and 1190 more of the candidate" in text
    assert "and 1190 more of the reference" in text
    assert text.endswith("pairs by order and shape, and proposes renames")
    assert len(text.splitlines()) < 60


WRAPPED = {"conv.weight": Slot((4, 3, 3, 3), "parameter"), "bn.running_mean": Slot((4,), "buffer")}


def within(path, slots):
    return {f"{path}.{name}": slot for name, slot in slots.items()}


def test_the_dense_layers_of_a_transformer_have_other_names():
    theirs = {f"layers.0.linear{n}.weight": Slot((4, 4 * n), "parameter") for n in (1, 2)}
    ours = {name.replace("linear", "dense"): slot for name, slot in theirs.items()}
    assert pair(theirs, ours, {}) == dict(zip(ours, theirs, strict=True))
    # What both sides call so is the same, and another layer has no partner.
    assert pair(ours, ours, {}) == {name: name for name in ours}
    with pytest.raises(WeightError, match="dense3"):
        pair(
            {"linear3.weight": Slot((4, 4), "parameter")},
            {"dense3.weight": Slot((4, 4), "parameter")},
            {},
        )


@pytest.mark.parametrize("name", ["act.weight", "act.w", "weight"])
def test_the_weight_of_mindspores_prelu_needs_no_rename(name):
    ours = "act.w" if name.startswith("act.") else "w"
    slot = Slot((4,), "parameter")
    assert pair({name: slot}, {ours: slot}, {}) == {ours: name}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_what_wrappers_add_to_names_needs_no_rename(wrapper):
    plain, wrapped = within("net", WRAPPED), within(f"net.{wrapper}", WRAPPED)
    expected = dict(zip(wrapped, plain, strict=True))
    assert pair(plain, wrapped, {}) == expected
    assert pair(wrapped, plain, {}) == {two: one for one, two in expected.items()}


def test_names_of_mindspore_in_a_wrapper_are_paired():
    ours = {"_backbone.bn.moving_mean": Slot((4,), "buffer")}
    theirs = {"module.bn.running_mean": Slot((4,), "buffer")}
    assert pair(theirs, ours, {}) == {"_backbone.bn.moving_mean": "module.bn.running_mean"}


@pytest.mark.parametrize("name", ["scale.w", "scale.gamma"])
def test_a_name_of_mindspore_that_both_sides_have_stands_for_itself_in_a_wrapper(name):
    theirs, ours = (
        within("net", {name: Slot((4,), "parameter")}),
        within("net._backbone", {name: Slot((4,), "parameter")}),
    )
    assert pair(theirs, ours, {}) == {f"net._backbone.{name}": f"net.{name}"}


def test_two_weights_that_wrappers_alone_tell_apart_are_not_guessed():
    ours = {**within("module", WRAPPED), **within("_backbone", WRAPPED)}
    assert "candidate _backbone.conv.weight" in complaint(WRAPPED, ours)


def test_another_shape_in_a_wrapper_is_refused():
    ours = within("_backbone", WRAPPED | {"conv.weight": Slot((4, 3, 1, 1), "parameter")})
    assert "its partner conv.weight a parameter (4, 3, 3, 3)" in complaint(WRAPPED, ours)


def test_a_packed_projection_may_be_a_layer():
    theirs = {f"attn.in_proj_{leaf}": Slot((24,), "parameter") for leaf in ("weight", "bias")}
    ours = {f"attn.in_proj.{leaf}": Slot((24,), "parameter") for leaf in ("weight", "bias")}
    assert pair(theirs, ours, {}) == dict(zip(ours, theirs, strict=True))
