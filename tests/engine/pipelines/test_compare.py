"""Data pipelines side by side: what passes, and that each assertion can fail."""

import dataclasses

import numpy as np
import pytest

from equivalence import kinds
from equivalence.declare.difference import Difference
from equivalence.declare.pipeline import Pipeline, PipelineCase, cases
from equivalence.declare.twin import sample_of
from equivalence.errors import DeclarationError, EquivalenceError, SideError
from equivalence.pipelines import compare as pipelines
from equivalence.pipelines.compare import compare
from equivalence.report import text as report

HERE = "tests.engine.parts.pipelines_np:"


def pipeline(candidate="right", reference="reference", files="files", configs=({},), **options):
    return Pipeline("small", HERE + reference, HERE + candidate, HERE + files, configs, **options)


def case(candidate="right", reference="reference", differs=None, files="files", **config):
    return PipelineCase(pipeline(candidate, reference, files, (config,), differs=differs), config)


def red(candidate, **config):
    """Names of the tensors that differ."""
    return {v.name for v in compare(case(candidate, **config), seed=0).judgement.differing}


def problems(candidate, **config):
    """What is wrong in words, by tensor."""
    verdicts = compare(case(candidate, **config), seed=0).judgement.verdicts
    return {verdict.name: verdict.problem for verdict in verdicts if verdict.problem}


# Declarations.


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "a-b"}, "is no identifier"),
        ({"reference": "pt_reference.data"}, "reference 'pt_reference.data' is not"),
        ({"candidate": "nothing"}, "candidate 'nothing' is not 'module:attribute'"),
        ({"files": ""}, "files '' is not"),
        ({"level": "daily"}, "level 'daily' is not among gate, nightly"),
        ({"configs": {}}, "configs is one configuration"),
        ({"configs": ()}, "configs is empty"),
        ({"configs": [{"size": 3}, {"size": 3}]}, "share the name small-size3"),
    ],
)
def test_a_wrong_declaration_is_refused_with_the_reason(changes, complaint):
    with pytest.raises(DeclarationError, match=complaint):
        dataclasses.replace(pipeline(), **changes)


def test_cases_are_named_by_their_configuration_and_share_a_sample():
    found = [*cases(pipeline(configs=[{"batch_size": 4}, {"batch_size": 5, "COUNT": 7}]))]
    names = [each.name for each in found]
    assert names == ["small-batch_size4-pipeline-cpu", "small-batch_size5-COUNT7-pipeline-cpu"]
    assert [sample_of(name) for name in names] == [each.sample_name for each in found]


def test_a_key_in_capitals_is_for_the_files():
    found = case(COUNT=7, batch_size=3)
    assert found.arguments == {"batch_size": 3}
    assert compare(found, seed=0).trace["count:samples"].tolist() == [7]


# What passes.


@pytest.mark.parametrize("candidate", ["right", "int32_labels", "unsigned_labels", "few_roundings"])
def test_a_right_candidate_passes(candidate):
    compared = compare(case(candidate), seed=0)
    assert compared.judgement.equal
    batches = [f"{part}[{batch}]" for batch in range(3) for part in ("image", "label")]
    assert [*compared.trace] == [*batches, "count:batches", "count:samples"]


def test_of_several_ranks_every_part_is_compared_and_what_they_read():
    compared = compare(case(num_shards=3), seed=0)
    assert compared.judgement.equal
    assert {"image[0]@rank0", "label[0]@rank1", "image[0]@rank2"} <= compared.trace.keys()
    assert compared.trace["count:samples"].tolist() == [4, 3, 3]
    assert compared.trace["count:reads"].tolist() == [1] * 10


def test_one_rank_can_be_compared_alone():
    compared = compare(case(num_shards=3, shard_id=1), seed=0)
    assert compared.trace["count:samples"].tolist() == [3]


def test_truth_is_float64_and_rounding_widens_it():
    compared = compare(case(), seed=0)
    image = compared.reference.expected["image[0]"]
    assert (image.truth.dtype, image.dtype) == (np.float64, "float32")
    u = 2.0**-24
    assert 0.1 * u < image.spread_peak / abs(image.truth).max() < 10 * u
    assert 0.0 < image.own_needed < 4.0
    assert compared.reference.expected["label[0]"].spread == 0.0


def test_another_seed_is_other_files():
    zero, one = (compare(case(), seed).trace["image[0]"] for seed in (0, 1))
    assert not np.array_equal(zero, one)
    assert np.array_equal(zero, compare(case(), seed=0).trace["image[0]"])


# What does not.


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        ("many_roundings", {"image[0]", "image[1]", "image[2]"}),
        ("one_level", {"image[0]", "image[1]", "image[2]"}),
        ("not_a_number", {"image[0]", "image[1]", "image[2]"}),
        ("double", {"image[0]", "image[1]", "image[2]"}),
        ("float_labels", {"label[0]", "label[1]", "label[2]"}),
        ("wrong_label", {"label[0]"}),
        ("last_batch_missing", {"image[2]", "label[2]", "count:batches", "count:samples"}),
        ("batch_twice", {"image[3]", "label[3]", "count:batches", "count:samples"}),
        ("batches_exchanged", {"image[0]", "label[0]", "image[1]", "label[1]"}),
        ("last_sample_missing", {"image[2]", "label[2]", "count:samples"}),
    ],
)
def test_a_mistake_turns_exactly_these_tensors_red(candidate, expected):
    assert red(candidate) == expected


def test_what_is_wrong_is_said():
    assert problems("float_labels")["label[0]"] == "dtype float32, expected int64"
    assert problems("double")["image[0]"] == "dtype float64, expected float32"
    assert problems("not_a_number")["image[0]"].startswith("1 of 672 elements are not finite")
    assert problems("last_batch_missing")["image[2]"] == "the candidate does not have it"
    assert problems("last_sample_missing")["image[2]"].startswith("shape (1, 3, 8, 7)")


def test_a_sample_that_two_ranks_read_and_one_that_none_does_are_counted():
    found = problems("first_shard", num_shards=2)
    assert found["count:reads"] == "10 of 10 integers differ; first at (0,): 2 for 1"
    assert not compare(case("other_shards", num_shards=2), seed=0).judgement.equal


def test_a_reference_that_is_not_exact_itself_is_ill_posed():
    judgement = compare(case("right", reference="crude"), seed=0).judgement
    assert "the reference's own run in this precision" in judgement.ill_posed
    assert not judgement.equal


def test_beside_very_large_elements_the_others_are_judged_by_themselves():
    assert compare(case("with_holes", reference="with_holes"), seed=0).judgement.equal
    (wrong,) = compare(
        case("crude_beside_holes", reference="with_holes"), seed=0
    ).judgement.differing
    assert wrong.faint
    assert wrong.name == "image[0]"
    assert wrong.relative < 1e-8  # all elements together show nothing


def test_a_declared_difference_passes_and_is_red_when_it_is_gone():
    assert kinds.check(case("one_level", differs=Difference("crop: a level", {"*": 0.1})), 0).passed
    outcome = kinds.check(case("right", differs=Difference("crop: a level", {"*": 0.1})), 0)
    assert not outcome.passed
    assert "if the difference is gone, remove `differs`" in report.failure(outcome, "pytest")


def test_a_side_that_raises_is_named():
    with pytest.raises(SideError, match=r"-cpu: the candidate raised ValueError: no such picture$"):
        compare(case("raises"), seed=0)


def test_what_mindspore_frames_is_said_in_one_line():
    with pytest.raises(SideError, match=r"RuntimeError: map operation: \[Decode\] failed\.$"):
        compare(case("raises_like_mindspore"), seed=0)


def test_a_side_without_samples_is_an_error():
    with pytest.raises(EquivalenceError, match="the candidate gives no samples"):
        compare(case("nothing"), seed=0)


def test_columns_have_any_names():
    judgement = compare(case("columns_right", "columns_right"), seed=0).judgement
    assert judgement.equal
    assert [v.name for v in judgement.verdicts][:2] == ["pixels[0]", "y[0]"]
    wrong = compare(case("columns_wrong_label", "columns_right"), seed=0).judgement
    assert [v.name for v in wrong.differing] == ["y[0]"]


def test_columns_of_other_names_on_each_side_are_told():
    with pytest.raises(EquivalenceError, match=r"columns pixels, y, and the candidate data, targ"):
        compare(case("others_right", "columns_right"), seed=0)


def test_what_is_no_dict_of_columns_is_told():
    with pytest.raises(EquivalenceError, match=r"the candidate gives a tuple after 'batch'; give"):
        compare(case("rows"), seed=0)


def test_arguments_that_a_side_does_not_take_are_named():
    with pytest.raises(SideError, match="unexpected keyword argument 'size'"):
        compare(case(size=3), seed=0)


# Files.


def test_files_are_made_once_for_a_seed_and_vanish_with_the_next():
    first = pipelines.fill_folder(case(), 0)
    assert pipelines.fill_folder(case("one_level"), 0) == first
    second = pipelines.fill_folder(case(), 1)
    assert second != first
    assert not first.exists()
    third = pipelines.fill_folder(case(COUNT=3), 1)
    assert third.exists()
    assert not second.exists()


def test_files_that_cannot_be_made_leave_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(EquivalenceError, match=r"no files: .*no_files: the disk is full"):
        pipelines.fill_folder(case(files="no_files"), 0)
    assert not [*tmp_path.iterdir()]
