"""A diagnosis is told in a few lines, and whole in a file."""

import math

from equivalence.declare.draws import normal
from equivalence.diagnosis import text as explanation
from equivalence.diagnosis.found import SEEN_LATER, Diagnosis, LayerError
from tests.engine.parts.small import MS, case

CASE = case("torch.nn:Linear", MS + "Affine", normal(3, 4))


def layer(path, *errors, candidate=None, kind="Conv2d", causes=(), unfed=""):
    kinds = (kind, kind)
    return LayerError(path, candidate or path, kinds, *errors, unfed=unfed, causes=list(causes))


def told(*layers, culprits=(), notes=()):
    named = [each for each in layers if each.reference in culprits]
    return Diagnosis(CASE, list(layers), named, list(notes))


def test_a_culprit_is_named_with_its_kind_and_causes_and_shown_between_its_neighbours():
    found = told(
        layer("conv1", 0.5, 3e4, 0.4, 0.6),
        layer("bn1", 4e4, 2e4, 3.5e4, 15.25, kind="BatchNorm2d", causes=["eps 1 (reference) 2"]),
        layer("relu", 3e4, 0.0, 0.0, 0.0),
        layer("conv2", 3e4, 0.0, 0.7, 0.1),
        culprits=["bn1"],
    )
    assert explanation.brief(found) == [
        "culprit: bn1 (BatchNorm2d)",
        "  eps 1 (reference) 2",
        "                in the whole run       by itself",
        "    roundings   forward  backward   forward  backward",
        "    conv1           0.5    30,000       0.4       0.6",
        "  > bn1          40,000    20,000    35,000      15.2",
        "    relu         30,000         0         0         0",
    ]


def test_a_candidates_path_is_told_where_it_is_another():
    found = told(
        layer("pool", 1, 1, 99, 1, candidate="shrink", kind="MaxPool2d"), culprits=["pool"]
    )
    assert explanation.brief(found) == ["culprit: pool = candidate's shrink (MaxPool2d)"]


def test_culprits_of_the_same_causes_are_told_together():
    layers = [layer(f"bn{i}", 1, 1, 99, 1, causes=["eps"]) for i in range(6)]
    layers += [layer("fc", 1, 1, 99, 1, causes=["bias"])]
    layers += [layer("head", 1, 1, 99, 1)]
    lines = explanation.brief(told(*layers, culprits=[each.reference for each in layers]))
    assert lines[:5] == [
        "culprits: bn0 (Conv2d), bn1 (Conv2d), bn2 (Conv2d), bn3 (Conv2d) and 2 more",
        "  eps",
        "culprit: fc (Conv2d)",
        "  bias",
        "... and 1 more group of culprits",
    ]


def test_one_statement_of_which_the_same_is_said_in_several_layers_is_one_place_to_mend():
    layers = [layer(f"conv{i}", 1, 1, 99, 1, causes=["goes in", f"shift {i}"]) for i in range(3)]
    for each in layers:
        each.statement, each.words = "port.py:3  y = pad(x)", ["goes in"]
    layers[2].words = ["goes in otherwise"]
    found = told(*layers, culprits=[each.reference for each in layers])
    one, other = explanation.mistakes(found).found
    assert one.where == "conv0 (Conv2d), conv1 (Conv2d)"
    assert one.words == ("goes in",)
    assert (other.where, other.words) == ("conv2 (Conv2d)", ("goes in otherwise",))


def test_the_terminal_gets_few_lines_and_the_file_all():
    layers = [
        layer(f"layer{i}", 1, 1, 99, 1, causes=[f"one {i}", "two", "three"]) for i in range(20)
    ]
    found = told(*layers, culprits=[each.reference for each in layers], notes=["stopped"])
    assert len(explanation.brief(found)) <= 14
    text = explanation.full(found)
    assert text[0] == CASE.name
    for each in layers:
        assert f"culprit: {each.reference} (Conv2d)" in text
        assert any(line.startswith(f"  > {each.reference} ") for line in text)
    assert sum(line == "  three" for line in text) == 20
    assert text[-1] == "stopped"


def test_what_is_left_to_be_seen_is_no_promise_that_the_rest_is_right():
    found = told(layer("fc", 1, 1, 99, 1), culprits=["fc"], notes=[SEEN_LATER])
    found.mended = "all outputs are right"
    assert explanation.mistakes(found).more
    assert explanation.mistakes(found).mended == ""
    found.notes = []
    assert not explanation.mistakes(found).more
    assert explanation.mistakes(found).mended == "all outputs are right"


def test_without_a_culprit_it_says_so():
    found = told(layer("a", 1, 1, 2, 3), layer("", 1, 1, 2, 3))
    assert explanation.brief(found)[0] == "culprit: none; each layer by itself is within the budget"
    assert "culprit: none; each layer that was fed by itself is within the budget" in (
        explanation.full(found)
    )


def test_the_network_itself_is_called_so():
    found = told(layer("", 1, 1, 99, 1, kind="ResNet"), culprits=[""])
    assert explanation.brief(found) == ["culprit: the network itself (ResNet)"]


def test_what_was_not_measured_is_a_dash_with_the_reason():
    found = told(layer("a", 1, math.nan, unfed="no tensors"), layer("b", 1, 1, 1, 1))
    (line,) = (line for line in explanation.full(found) if line.startswith("    a "))
    assert line.split() == ["a", "1", "-", "-", "-", "no", "tensors"]


def test_the_data_for_the_page_has_every_layer_and_both_trees():
    found = told(
        layer("conv", 0.5, math.nan, 0.123456, math.inf),
        layer("norm", 3e4, 1.0, candidate="bn", causes=["eps"], unfed="called with a list"),
        culprits=["norm"],
        notes=["stopped"],
    )
    found.trees = {"conv": "Conv2d", "norm": "BatchNorm2d"}, {"conv": "Conv2d"}
    found.culprits[0].statement, found.culprits[0].counterpart = "a.py:1  x", "b.py:2  y"
    assert explanation.told(found).data == {
        "trees": {
            "reference": {"conv": "Conv2d", "norm": "BatchNorm2d"},
            "candidate": {"conv": "Conv2d"},
        },
        "layers": [
            ["conv", "conv", [0.5, None, 0.123, "inf"]],
            ["norm", "bn", [3e4, 1.0, None, None]],
        ],
        "culprits": [
            {
                "reference": "norm",
                "candidate": "bn",
                "kind": "Conv2d",
                "causes": ["eps"],
                "statement": "a.py:1  x",
                "counterpart": "b.py:2  y",
            }
        ],
        "unfed": {"norm": "called with a list"},
        "notes": ["stopped"],
    }
