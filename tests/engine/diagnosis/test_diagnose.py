"""The layers to blame are found, whatever the layers' names, and no others."""

import functools
import math
from dataclasses import replace

import pytest

from equivalence.declare.draws import binary, logits, normal
from equivalence.declare.twin import EXECUTIONS
from equivalence.diagnosis import search, text
from equivalence.diagnosis.diagnose import diagnose
from equivalence.host.isolation import isolated
from tests.engine.parts.small import case

PT, MS = "tests.engine.parts.trees_pt:", "tests.engine.parts.trees_ms:"
ORDER = ["conv", "bn", "act", "pool", "body.0", "body.1", "body.2", "body", ""]
MAPS = normal(4, 3, 10, 8)


@pytest.fixture(autouse=True)
def isolation():
    with isolated():
        yield


def tree(candidate, reference="Tree", drawn=MAPS, every=False, **options):
    return diagnose(case(PT + reference, MS + candidate, drawn, **options), 0, every)


once = functools.cache(tree)
"""Of a diagnosis that several tests look at, where nothing is patched."""


def blamed(found):
    return [layer.reference for layer in found.culprits]


def causes_of(candidate, execution="pynative"):
    """The causes of each culprit."""
    return {each.reference: each.causes for each in once(candidate, execution=execution).culprits}


def by_path(found):
    return {layer.reference: layer for layer in found.layers}


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("phase", ["train", "eval"])
def test_a_right_network_has_no_culprit_and_all_its_layers_are_measured(execution, phase):
    right = "TreeInGraph" if execution == "graph" else "Tree"
    found = tree(right, every=True, execution=execution, phase=phase)
    assert blamed(found) == []
    assert found.eager is False
    layers = by_path(found)
    assert list(layers) == ORDER
    for layer in layers.values():
        figures = (layer.inherited_forward, layer.inherited_backward, layer.forward, layer.backward)
        assert all(0 <= figure < 16 for figure in figures), layer


CULPRITS = {
    "tree_of_another_epsilon": ["bn"],
    "tree_padded_with_zeros": ["pool"],
    "tree_of_two_mistakes": ["bn", "act"],
    "Unjoined": [""],
    "Detached": [""],
    "tree_of_a_turned_weight": ["body.2"],
    "tree_of_swapped_weights": ["bn"],
    "tree_of_an_unused_bias": ["body.2"],
    "Misaligned": ["pool", ""],  # its own code has a ReLU more
}
"""Wrong port -> the layers to blame."""

COMPILED = ("Unjoined", "Misaligned")
"""A mistake of the network's code, and one of both its code and a layer."""


@pytest.mark.parametrize(
    ("candidate", "execution"),
    [
        *[(candidate, "pynative") for candidate in CULPRITS],
        *[(candidate, "graph") for candidate in COMPILED],
        *[
            pytest.param(candidate, "graph", marks=pytest.mark.nightly)
            for candidate in CULPRITS
            if candidate not in COMPILED
        ],
    ],
)
def test_the_layers_to_blame_are_named(candidate, execution):
    found = once(candidate, execution=execution)
    assert blamed(found) == CULPRITS[candidate]
    for layer in found.culprits:
        assert max(layer.forward, layer.backward) > 1000


def test_a_layer_that_no_row_is_sent_to_is_not_fed():
    """The gradient of its weight would be a product over nothing: memory that nobody wrote."""
    found = tree("Unsent", "Unsent", normal(3, 4), every=True)
    assert blamed(found) == [""]
    assert by_path(found)["expert"].unfed == "it is called with no rows"


def test_errors_that_are_inherited_are_told_from_local_ones():
    layers = by_path(once("tree_of_another_epsilon", execution="pynative"))
    assert layers["conv"].inherited_forward < 16 < layers["conv"].inherited_backward
    assert max(layers["conv"].forward, layers["conv"].backward) < 16
    assert min(layers["bn"].inherited_forward, layers["bn"].forward) > 1000
    assert layers["body"].forward < 16 < layers["body"].inherited_forward


def test_only_layers_on_the_way_to_a_culprit_are_fed_by_themselves():
    layers = by_path(once("tree_of_another_epsilon", execution="pynative"))
    assert math.isnan(layers["body.0"].forward)
    assert layers["body"].forward < 16


def test_the_candidates_own_path_is_told():
    culprit, _ = once("Misaligned", execution="pynative").culprits
    assert (culprit.reference, culprit.candidate) == ("pool", "shrink")


def test_a_layer_that_is_called_by_keyword_is_fed_as_it_was_called():
    found = tree("Keyed", "Keyed", normal(5, 4))
    assert blamed(found) == ["inner.dense"]
    assert by_path(found)["inner"].unfed == ""
    assert by_path(found)["inner"].forward > 16


def test_a_function_has_one_layer_itself():
    focal = case(
        "pt_reference.losses:SigmoidFocalLoss",
        "ms_models.losses:SigmoidFocalLoss",
        logits(6, 5),
        binary(6, 5),
        config={"alpha": 0.25, "reduction": "sum"},
    )
    found = diagnose(focal, 0, every=True)
    assert [layer.reference for layer in found.layers] == [""]
    assert found.layers[0].forward < 16


def test_a_cotangent_that_may_be_of_another_call_is_left_out():
    # Of the two calls of the activation, the gradient of one is stopped.
    layers = by_path(once("Detached", execution="pynative"))
    assert math.isnan(layers["act"].inherited_backward)
    assert layers["act"].inherited_forward < 16


def test_it_ends_in_time_and_says_where(monkeypatch):
    monkeypatch.setattr(search, "PATIENCE", 0.0)
    found = tree("tree_of_another_epsilon")
    assert blamed(found) == [""]
    assert found.notes == ["stopped after 0 seconds, at conv"]


def test_weights_and_mode_are_those_of_the_case_in_every_layer():
    # In evaluation a BatchNorm reads its statistics: another epsilon shows there too.
    assert blamed(tree("tree_of_another_epsilon", phase="eval")) == ["bn"]
    assert blamed(tree("tree_of_another_epsilon", dtype="float16")) == ["bn"]


def test_an_ill_posed_case_has_no_culprit(monkeypatch):
    """Right layers fail in it, too; there is nothing to blame."""
    measure = search.Search._whole

    def blind(self):
        local = measure(self)
        local.judgement = replace(local.judgement, ill_posed="zeros would pass")
        return local

    monkeypatch.setattr(search.Search, "_whole", blind)
    found = tree("tree_of_another_epsilon")
    assert (found.culprits, found.ill_posed) == ([], "zeros would pass")
    assert text.brief(found)[0] == (
        "culprit: none; the case is ill-posed, in which right layers fail, too"
    )


def test_what_is_wrong_in_graph_mode_alone_is_told_so():
    found = tree("Moody", execution="graph")
    assert blamed(found) == [""]
    assert found.notes == [
        "in PyNative mode the same network gives the right outputs and gradients"
    ]
    found = tree("MoodyBackward", execution="graph")
    assert found.notes == ["in PyNative mode the same network gives the right gradients"]
    assert once("Unjoined", execution="graph").notes == []


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_nothing_is_said_of_pynative_mode_where_buffers_alone_are_wrong(execution):
    """The outputs are right in both modes, and the statistics in neither."""
    found = tree("tree_of_another_momentum", execution=execution)
    assert blamed(found) == ["bn"]
    assert found.notes == []


@pytest.mark.parametrize(
    ("reference", "candidate", "end"),
    [
        ("Activated", "another_epsilon", "the candidate's layer ends before bn.act"),
        ("Apart", "Together", "the candidate's layer ends behind act"),
    ],
)
def test_a_norm_is_not_to_blame_for_an_activation_that_only_one_side_holds_in_it(
    reference, candidate, end
):
    found = tree(candidate, reference)
    assert blamed(found) == ["norm"]
    assert by_path(tree(candidate, reference, every=True))["bn"].unfed == end


def test_an_activation_in_a_norm_is_to_blame_where_both_sides_have_a_layer_for_it():
    (culprit,) = tree("another_activation", "Activated").culprits
    assert (culprit.reference, culprit.candidate) == ("bn.act", "act")
    assert "kind SiLU (reference) GELU (candidate)" in culprit.causes


def test_a_function_for_an_activation_in_a_norm_is_the_network_s_own_code():
    (culprit,) = tree("another_function", "Activated").culprits
    assert culprit.reference == ""
    assert "trees_ms.py" in culprit.statement


def test_a_pooling_that_flattens_is_to_blame_only_where_its_values_are_wrong():
    assert blamed(tree("pooled_of_another_epsilon", "Pooled", phase="eval")) == ["norm"]
    assert blamed(tree("pooled_twice", "Pooled", phase="eval")) == ["pool"]


def test_a_block_is_compared_where_its_residual_is_added():
    renames = {"outer.block.0": "block.fc1", "outer.block.1": "block.fc2", "outer.block": "block"}
    drawn = normal(3, 4)
    found = tree("Residual", "Residual", drawn, rename=renames)
    assert blamed(found) == ["norm"]
    found = tree("residual_of_another_factor", "Residual", drawn, rename=renames)
    assert blamed(found) == ["block", "norm"]


def test_what_is_off_by_little_is_to_blame_only_where_nothing_is_off_by_more():
    renames = {"outer.block.0": "block.fc1", "outer.block.1": "block.fc2", "outer.block": "block"}
    little, much = (
        tree(name, "Residual", normal(3, 4), rename=renames)
        for name in ("residual_off_by_little", "residual_off_by_much")
    )
    assert blamed(little) == ["block.fc1"]
    assert blamed(much) == ["norm"]


def test_a_gradient_that_a_layer_does_not_give_within_the_network_blames_no_layer():
    weighted = case(PT + "Weighted", MS + "Weighted", normal(3, 4), normal(3, 4).constant())
    assert blamed(diagnose(weighted, 0)) == [""]


@pytest.mark.parametrize(("port", "culprit"), [("conjugate", "waves"), ("louder", "signal")])
def test_of_layers_that_hand_complex_numbers_on_the_wrong_one_is_to_blame(port, culprit):
    waves = "tests.engine.parts.waves_{}:"
    reference, candidate = waves.format("pt") + "Filter", waves.format("ms") + port
    found = diagnose(case(reference, candidate, normal(2, 8)), 0)
    assert blamed(found)[0] == culprit


# Why: the causes of the same diagnoses.


@pytest.mark.parametrize(
    ("candidate", "culprit", "first"),
    [
        ("tree_of_another_epsilon", "bn", "eps 1e-05 (reference) 0.001 (candidate)"),
        ("tree_padded_with_zeros", "pool", "padding_value -inf (reference) 0 (candidate)"),
        ("Misaligned", "pool", "padding ((1, 1), (1, 1)) (reference) same (candidate)"),
    ],
)
def test_a_setting_that_differs_is_a_cause(candidate, culprit, first):
    assert causes_of(candidate)[culprit][0] == first


@pytest.mark.parametrize(
    ("candidate", "culprit", "first"),
    [
        (
            "tree_of_a_turned_weight",
            "body.2",
            "weights: computes as if weight were transposed to axes (1, 0)",
        ),
        (
            "tree_of_swapped_weights",
            "bn",
            "weights: computes as if weight and bias were swapped",
        ),
        (
            "tree_of_an_unused_bias",
            "body.2",
            "weights: computes as if bias were not loaded, but at its initial 0",
        ),
    ],
)
@pytest.mark.parametrize(
    "execution", ["pynative", pytest.param("graph", marks=pytest.mark.nightly)]
)
def test_what_the_layer_seems_to_compute_with_is_tried_out(candidate, culprit, first, execution):
    assert causes_of(candidate, execution)[culprit][0] == first


def test_gradients_that_are_lost_are_told_from_weights_that_are_not_used():
    lost = causes_of("Detached")[""]
    assert "no gradient reaches body.0.bias, body.0.weight, body.2.bias and 1 more" in lost
    unused = causes_of("tree_of_an_unused_bias")["body.2"]
    assert "weights: nothing depends on bias" in unused


def test_a_network_of_right_layers_is_told_to_join_them_wrongly():
    lost = "its layers and its outputs are right; its own code loses or adds a gradient"
    assert lost in causes_of("Detached")[""]
    joined = causes_of("Unjoined")[""]  # the statement is named, see tests/engine/statements
    assert joined[0] == "its result is that of trees_pt.py:22, and the original goes on from there"
    assert joined[1].startswith("against ")


def test_right_outputs_tell_nothing_of_rounding():
    (lost,) = causes_of("Detached").values()
    assert not any("rounded" in cause for cause in lost)


def test_weights_are_not_suspected_where_outputs_are_right():
    (found,) = causes_of("Detached").values()
    assert not any(cause.startswith("weights:") for cause in found)
