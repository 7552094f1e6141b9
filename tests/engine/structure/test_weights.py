"""Weights pair up one to one, or the complaint says which do not and what is nearest."""

import re

import pytest

from equivalence.errors import WeightError
from equivalence.structure.weights import CONSTANT, UNSAVED, Slot, pair, reference_name

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
    assert "candidate mask is a parameter (4,), its partner mask a constant" in complaint(
        TABLES, trained
    )


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
    assert text.startswith("weights do not pair up: 1 complaints\n")
    assert "reference bn.weight (parameter (8,)) has no partner in the candidate" in text


def test_a_weight_that_only_the_candidate_has_is_named_with_the_nearest():
    text = complaint(REFERENCE, CANDIDATE | {"bn1.gamma": Slot((8,), "parameter")})
    assert "weights do not pair up: 1 complaints" in text
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
    assert "weights do not pair up: 1 complaints" in text


def test_a_rename_that_matches_nothing_is_named():
    text = complaint(REFERENCE, CANDIDATE, {"conv": "conv", "con": "conv"})
    assert "weights do not pair up: 1 complaints" in text
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
