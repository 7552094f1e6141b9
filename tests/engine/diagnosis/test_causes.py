"""A culprit's cause is told where it can be shown, and weights are told from computing.

Those of the trees that `test_diagnose.py` diagnoses are held there.
"""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from equivalence.declare.draws import normal
from equivalence.diagnosis import causes
from equivalence.diagnosis.diagnose import diagnose
from equivalence.host.isolation import isolated
from equivalence.judge.expected import Expected
from equivalence.structure.layers import Layer
from tests.engine.parts.small import case

PT, MS = "tests.engine.parts.trees_pt:", "tests.engine.parts.trees_ms:"


@pytest.fixture(autouse=True)
def isolation():
    with isolated():
        yield


def told(candidate, **options):
    """The causes of each culprit of a tree."""
    found = diagnose(case(PT + "Tree", MS + candidate, normal(4, 3, 10, 8), **options), 0)
    return {layer.reference: layer.causes for layer in found.culprits}


def test_a_map_that_takes_weights_from_elsewhere_is_a_cause_and_its_cure_is_proved():
    swapped = {"body.0.weight": "body.2.weight", "body.2.weight": "body.0.weight"}
    cured = "; with its own the layer is right"
    assert {layer: found[0] for layer, found in told("Tree", rename=swapped).items()} == {
        "body.0": f"weights: weight holds body.2.weight, not weight{cured}",
        "body.2": f"weights: weight holds body.0.weight, not weight{cured}",
    }


def test_a_map_within_a_layer_is_a_cause_too():
    swapped = {"bn.gamma": "bn.bias", "bn.beta": "bn.weight"}
    assert told("Tree", rename=swapped)["bn"][0] == (
        "weights: gamma holds bias, not weight, beta holds weight, not bias; "
        "with its own the layer is right"
    )


def test_a_wrong_map_to_a_wrong_layer_is_not_said_to_be_all():
    swapped = {"bn.gamma": "bn.bias", "bn.beta": "bn.weight"}
    found = told("tree_of_another_epsilon", rename=swapped)["bn"]
    assert found[0] == "eps 1e-05 (reference) 0.001 (candidate)"
    assert found[1] == "weights: gamma holds bias, not weight, beta holds weight, not bias"


@pytest.mark.parametrize(
    ("candidate", "culprit", "first"),
    [
        ("tree_of_a_resting_norm", "bn", "computes as in evaluation mode, in training"),
        ("tree_of_crossed_gradients", "bn", "the gradients of bias and weight are exchanged"),
        ("tree_of_narrow_inputs", "body.2", "computes with inputs rounded to float16"),
    ],
)
def test_a_mode_a_rounding_and_exchanged_gradients_are_tried_out(candidate, culprit, first):
    found = told(candidate)
    assert list(found) == [culprit]
    assert found[culprit][0] == first


SQUASHED = "tests.engine.parts.kernels_pt:Squashed"
TANH = (
    "the port is right, and MindSpore's kernel is not: ops.Tanh on cpu (its own error %s "
    "roundings; finding tanh_accuracy)"
)


def squashed(candidate):
    """The causes of each culprit of a network with a tanh."""
    inputs = normal(4, 6, scale=3.0)
    found = diagnose(case(SQUASHED, f"tests.engine.parts.kernels_ms:{candidate}", inputs), 0)
    return {layer.reference: layer.causes for layer in found.culprits}


def test_an_inaccurate_kernel_is_told_apart_from_a_mistake_of_the_port():
    found = squashed("Squashed")
    assert list(found) == ["act"]
    assert [re.sub(r"error \S+ ", "error %s ", cause) for cause in found["act"]] == [TANH]
    # The port is wrong, and no kernel is said to be instead.
    found = squashed("Mixed")
    assert list(found) == ["norm"]
    assert found["norm"][0] == "eps 1e-05 (reference) 0.01 (candidate)"
    assert not any(cause.startswith(causes.ACQUITTED) for cause in found["norm"])


def test_a_wrong_layer_is_not_excused_by_its_kernel():
    found = squashed("Wrong")
    assert list(found) == ["act"]
    assert not any("kernel" in cause for cause in found["act"])


def test_a_gradient_that_rounding_alone_makes_is_not_said_to_be_added():
    """Both sides have the wrong gradients; a right one is zero in truth and rounding here."""
    local = SimpleNamespace(
        trace={"gradient:a": np.ones(3), "gradient:b": np.full(3, 1e-9)},
        expected={
            "gradient:a": Expected.whole(np.full(3, 2.0)),
            "gradient:b": Expected.whole(np.zeros(3)),
        },
        judgement=SimpleNamespace(differing=[SimpleNamespace(name="gradient:a")]),
    )
    assert not causes._lost_or_added(local)
    local.judgement.differing.append(SimpleNamespace(name="gradient:b"))
    assert causes._lost_or_added(local)


def test_layers_that_compute_nothing_are_no_cause():
    """A flatten, a container and dropout of one side are told nowhere, a missing activation is."""

    def layer(path, kind):
        return path, Layer(path, kind, {}, frozenset())

    ours = dict([layer("", "Net"), layer("flat", "Flatten"), layer("cbr", "SequentialCell")])
    theirs = dict([layer("", "Net"), layer("drop", "StochasticDepth"), layer("act", "ReLU")])
    found = SimpleNamespace(theirs=theirs, ours=ours, pairs={"": ""}, rearranged=lambda _: False)
    assert causes.without_partner(found, "") == ["only the reference has act (ReLU)"]
    assert causes.without_partner(found, "", "y = self.act(x)") == [
        "only the reference has act (ReLU)"
    ]
    assert causes.without_partner(found, "", "y = self.attention(x)") == []


def test_layers_that_only_one_side_has_are_told_where_the_network_itself_is_to_blame():
    # Right layers, wrongly joined, and one more: only the network can be blamed.
    assert "only the candidate has extra (ReLU)" in told("Overactive")[""]


def test_each_hypothesis_is_another_set_of_weights():
    rng = np.random.default_rng(0)
    held = {"weight": rng.normal(size=(4, 4, 3, 3)), "bias": rng.normal(size=4)}
    phrases = []
    for phrase, altered in causes._hypotheses(held):
        phrases.append(phrase)
        assert set(altered) <= set(held)
        assert all(altered[name].shape == held[name].shape for name in altered)
        assert any(not np.array_equal(altered[name], held[name]) for name in altered)
    assert len(set(phrases)) == len(phrases)
    assert "the kernels of weight were flipped" in phrases


def test_hwio_is_tried_both_ways_and_is_its_own_inverse_pair():
    values = np.arange(2 * 3 * 5 * 7.0).reshape(2, 3, 5, 7)
    tried = {phrase: altered["w"] for phrase, altered in causes._hypotheses({"w": values})}
    # A file in HWIO that was read as OIHW without a transposition.
    file = values.transpose(2, 3, 1, 0)
    assert np.array_equal(tried["w were in HWIO order"], file.reshape(values.shape))


def test_a_flipped_kernel_is_told():
    found = told("tree_of_flipped_kernels")["conv"]
    assert found[0] == "weights: computes as if the kernels of weight were flipped"


def test_nothing_is_said_of_gradients_where_an_output_has_another_shape():
    found = told("tree_of_a_larger_pooling")
    assert list(found) == ["pool"]
    assert not any("depends on" in cause or "reaches" in cause for cause in found["pool"])


def test_a_layer_that_is_run_another_number_of_times_is_told():
    fewer = "fewer runs in the candidate: "
    assert told("Bodiless")[""][0] == f"{fewer}body 0 times, 1 in the reference"
    assert told("Inactive")[""][0] == f"{fewer}act 1 time, 2 in the reference"


def test_a_layer_whose_weights_a_function_takes_counts_as_run():
    weighted = case(PT + "Weighted", MS + "Weighted", normal(3, 4), normal(3, 4).constant())
    (culprit,) = diagnose(weighted, 0).culprits
    assert not any("times" in cause for cause in culprit.causes)
