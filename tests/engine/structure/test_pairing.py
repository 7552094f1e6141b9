"""Rearranged weights are loaded and judged like any other; mistakes in them are found."""

from dataclasses import replace

import pytest

from equivalence import Twin, cases, check, kinds, normal
from equivalence.errors import WeightError

HERE = "tests.engine.parts"
RENAME = {
    "blocks": "layers",
    "q + k + v": "qkv",
    "mix.kernel": "mix.weight.T",
    "conv.weight": "conv.weight.reshape()",
}
NAMED = Twin(
    "fused",
    f"{HERE}.fused_pt:Model",
    f"{HERE}.fused_ms:Model",
    [normal(2, 5, 6)],
    phases=("train",),
    rename=RENAME,
)


def outcome(twin, number=0):
    return check([*cases(twin, "cpu")][number], 0)


@pytest.mark.parametrize("execution", [0, 1])
def test_rearranged_weights_are_judged_by_the_names_and_shapes_of_the_reference(execution):
    result = outcome(NAMED, execution)
    assert result.passed
    names = {verdict.name for verdict in result.judgement.verdicts}
    assert "gradient:layers.0.qkv.weight" in names
    assert "gradient:layers.1.conv.weight" in names
    assert result.proposed == ()


def test_the_order_pairs_what_names_do_not_and_says_how():
    rename = {"mix.kernel": RENAME["mix.kernel"]}  # of a square weight no shape tells
    result = outcome(replace(NAMED, pair="order", rename=rename))
    assert result.passed
    assert "    'q + k + v': 'qkv'," in result.proposed
    assert "    'blocks': 'layers'," in result.proposed


OTHERS = {old: new for old, new in RENAME.items() if old != "q + k + v"}
MISTAKES = {
    "q and k exchanged": {"rename": {**OTHERS, "k + q + v": "qkv"}},
    "k and v exchanged": {"rename": {**OTHERS, "q + v + k": "qkv"}},
    "a square weight as it is": {"rename": {**RENAME, "mix.kernel": "mix.weight"}},
    "a square weight transposed": {"candidate": f"{HERE}.fused_ms:not_transposed"},
    "a square weight by its order": {"rename": {}, "pair": "order"},
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_an_arrangement_is_red(mistake):
    assert not outcome(replace(NAMED, **MISTAKES[mistake])).passed


def test_a_head_that_is_not_tied_is_refused():
    with pytest.raises(WeightError, match=r"it ties head\.weight to table; share the parameter"):
        outcome(replace(NAMED, candidate=f"{HERE}.fused_ms:untied"))


def test_a_mistake_beside_rearranged_weights_names_its_layer():
    case = next(cases(replace(NAMED, candidate=f"{HERE}.fused_ms:not_transposed"), "cpu"))
    brief = "\n".join(kinds.diagnose(case, 0).brief)
    assert "  in layers.0.mix = candidate's blocks.0.mix (Linear), layers.1.mix" in brief
    assert "weight were transposed to axes (1, 0)" in brief
    assert "head" not in brief  # its weight is the table
