"""The first stage that goes wrong is named, and the cause."""

import pytest

from equivalence import kinds
from equivalence.pipelines.compare import PipelineSides
from equivalence.pipelines.diagnose import diagnose
from tests.engine.pipelines.test_compare import case


@pytest.mark.parametrize(
    ("candidate", "config", "culprit", "cause"),
    [
        ("other_pictures", {}, "read", "10 of 10 samples are none of the reference's"),
        ("other_pictures", {}, "read", "flipped upside down"),
        ("reversed_order", {}, "order", "the same samples in another order: 9, 8, 7, 6, 5, 4 and"),
        ("last_sample_missing", {}, "order", "missing: 9"),
        ("last_sample_missing", {"num_shards": 2}, "shard", "missing: 8, 9"),
        ("first_shard", {"num_shards": 2}, "shard", "missing: 1, 3, 5, 7, 9"),
        ("first_shard", {"num_shards": 2}, "shard", "too often: 0, 2, 4, 6, 8"),
        ("first_shard", {"num_shards": 2}, "shard", "rank 1 reads 0, 2, 4, 6, 8 for 1, 3, 5, 7, 9"),
        ("other_shards", {"num_shards": 5}, "shard", "rank 0 reads 4, 9 for 0, 5"),
        ("reversed_order", {"num_shards": 5}, "order", "in another order: 5, 0, 6, 1, 7, 2"),
        ("one_level", {}, "crop", "off by up to 1 of 255 levels, 0.01 in the mean (in 10 of 10)"),
        ("flipped", {}, "crop", "flipped left to right (in 10 of 10)"),
        ("flip_added", {}, "flip", "the reference has no such stage"),
        ("flip_added", {}, "flip", "flipped left to right in 10 of 10"),
        ("copy_added_before_flip", {}, "scale", "flipped left to right"),
        ("without_crop", {}, "crop", "the candidate has no such stage"),
        ("without_scale", {}, "scale", "the picture is not divided by 255"),
        ("without_normalize", {}, "normalize", "the candidate has no such stage"),
        ("without_layout", {}, "layout", "shape (8, 7, 3) for (3, 8, 7): HWC for CHW"),
        ("normalize_first", {}, "scale", "it comes after normalize, and is to come before"),
        ("wrong_label", {}, "label", "sample 3 has"),
        ("labels_from_one", {}, "label", "1 more than the reference's"),
        ("batches_of_five", {}, "batch", "batches of 5, 5 for 4, 4, 2"),
        ("remainder_dropped", {}, "batch", "the last batch, of 2 where others have 4, is dropped"),
        (
            "remainder_kept",
            {"drop_remainder": True},
            "batch",
            "the last batch, of 2 where others have 4, is kept",
        ),
        ("batches_exchanged", {}, "batch", "label[0]: row 0 is "),
        ("float_labels", {}, "batch", "dtype float32, expected int64"),
        ("many_roundings", {}, "batch", "roundings"),
    ],
)
def test_the_first_stage_that_differs_is_named_with_the_cause(candidate, config, culprit, cause):
    found = diagnose(case(candidate, **config), seed=0)
    (blamed,) = found.culprits
    assert blamed.reference == culprit
    assert any(cause in each for each in blamed.causes), blamed.causes


@pytest.mark.parametrize(
    ("candidate", "culprit"),
    [
        ("flipped", "crop"),
        ("without_normalize", "normalize"),
        ("labels_from_one", "label"),
        ("reversed_order", "order"),
        ("batches_of_five", "batch"),
    ],
)
def test_columns_of_any_name_are_diagnosed(candidate, culprit):
    found = diagnose(case(f"columns_{candidate}", "columns_right"), seed=0)
    assert [each.reference for each in found.culprits] == [culprit]


@pytest.mark.parametrize("candidate", ["right", "copy_added", "early_layout", "crop_last"])
def test_what_comes_to_the_same_is_not_blamed(candidate):
    found = diagnose(case(candidate), seed=0)
    assert found.culprits == []
    assert found.lines()[0] == "culprit: none; every stage is within the budget"
    assert found.stages["batch"] == "equal"


def test_stages_are_shown_up_to_the_culprit():
    lines = kinds.diagnose(case("flipped"), 0, every=False).brief
    assert lines == [
        "culprit: crop",
        "  flipped left to right (in 10 of 10)",
        "    read  equal",
        "  > crop  10 of 10 differ",
    ]


def test_floating_stages_are_measured_in_roundings():
    stages = diagnose(case(), seed=0).stages
    assert [*stages] == ["read", "crop", "scale", "normalize", "layout", "label", "batch"]
    assert stages["crop"] == "equal"
    assert float(stages["normalize"].removesuffix(" roundings")) < 4.0


def test_another_law_behind_a_stage_that_differs_is_said_to_follow_perhaps(monkeypatch):
    told = {"stage:crop": "other offsets", "stage:together": "it draws"}
    monkeypatch.setattr(PipelineSides, "laws", lambda _: told)
    found = diagnose(case("flip_added"), seed=0)
    causes = {each.reference: each.causes for each in found.culprits}
    assert [*causes] == ["flip", "crop", "together"]
    assert causes["crop"] == ["other offsets"]
    assert causes["together"] == ["it draws", "it comes behind flip, and may follow from that"]
