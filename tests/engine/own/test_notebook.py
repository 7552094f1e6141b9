"""The functions return what the command prints, as an object."""

import pytest
import torch
from mindspore import mint
from mindspore import nn as ms_nn
from torch import nn

from equivalence import compare, normal
from equivalence.declare.twin import Twin

X = normal(4, 6)


@pytest.fixture(scope="module")
def different():
    theirs = nn.Sequential(nn.Linear(6, 5), nn.LayerNorm(5))
    ours = ms_nn.SequentialCell(ms_nn.Dense(6, 5), ms_nn.LayerNorm((5,)))
    return compare(theirs, ours, X, execution="pynative")


def test_the_result_is_true_or_false_and_prints_itself(different):
    assert not different
    assert repr(different) == "<Result Sequential: different in 2 of 2 cases>"
    lines = str(different).splitlines()
    assert lines[0].startswith("DIFFERENT. Sequential (train and eval, PyNative, CPU): ")
    assert lines[lines.index("details:") + 1].startswith("settings: 1 of ")
    assert "culprit: 1 (LayerNorm)" in lines
    assert lines[-1] == "different in 2 of 2 cases"


def test_a_notebook_shows_the_page_of_the_result(different):
    frame = different._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts allow-downloads" ')
    assert "&lt;title&gt;Sequential: different in 2 of 2 cases&lt;/title&gt;" in frame


def test_the_result_has_all_parts(different):
    assert [outcome.case.phase for outcome in different.outcomes] == ["train", "eval"]
    assert len(different.tensors) == sum(len(o.judgement.verdicts) for o in different.outcomes)
    assert [culprit.reference for culprit in different.culprits] == ["1"]
    assert different.culprits[0].causes[0] == "eps 1e-05 (reference) 1e-07 (candidate)"
    assert [each.path for each in different.settings] == ["1.eps"]
    assert different.pairs["1.gamma"] == "1.weight"
    assert isinstance(different.twin, Twin)


def test_a_call_is_told_that_repeats_a_case(different):
    call = "compare(..., phase='train', execution='pynative', dtype='float32', seed=0)"
    assert f"repeat: {call}" in str(different)


def test_classes_functions_and_targets_are_built_with_a_configuration():
    sizes = {"in_features": 6, "out_features": 3}
    for theirs, ours in (
        (nn.Linear, mint.nn.Linear),
        ("torch.nn:Linear", mint.nn.Linear),
        (lambda **sizes: nn.Linear(**sizes), "mindspore.mint.nn:Linear"),
    ):
        result = compare(theirs, ours, X, configs=[sizes], phase="eval", execution="pynative")
        assert result, result


def test_what_torch_has_compiled_is_compared_as_it_was():
    theirs = torch.compile(nn.Linear(6, 3), backend="eager")
    result = compare(theirs, ms_nn.Dense(6, 3), X, phase="eval", execution="pynative")
    assert repr(result) == "<Result Linear: equal in 1 case>"


def test_a_setting_can_be_declared():
    theirs = nn.Sequential(nn.Linear(6, 5), nn.LayerNorm(5, elementwise_affine=True))
    ours = ms_nn.SequentialCell(ms_nn.Dense(6, 5), ms_nn.LayerNorm((5,), epsilon=1.0001e-5))
    meant = {"LayerNorm.eps": "the paper's"}
    options = {"phase": "eval", "execution": "pynative"}
    assert not compare(theirs, ours, X, **options)
    result = compare(theirs, ours, X, settings=meant, **options)
    assert result, result
    assert "(reference) 1.0001e-05 (candidate): declared: the paper's" in str(result)
