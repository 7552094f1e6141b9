"""A red case ends in the user's line, or in a sentence that says what could not be watched."""

import pytest

from equivalence.comparison.check import check
from equivalence.declare.draws import integers, normal
from equivalence.diagnosis import diagnose, network, statement
from equivalence.diagnosis.search import Search
from equivalence.diagnosis.whole import FIRST
from tests.engine.parts.small import case

PT, MS = "tests.engine.parts.told_pt:", "tests.engine.parts.told_ms:"
INPUTS = {
    "Sparse": [normal(4, 6)],
    "Informed": [normal(5, 2)],
    "Spectrum": [normal(2, 8, 4)],
    "Supervised": [normal(4, 6), integers(4, high=3)],
    "Gates": [normal(3, 4, 4)],
    "Messages": [normal(6, 6), integers(2, 9, high=6)],
    "Normed": [normal(2, 5, 8)],
    "Difference": [normal(3, 6), normal(3, 6)],
    "Tempered": [normal(4, 6), integers(4, high=3)],
    "Adversarial": [normal(4, 4), normal(4, 6)],
    "leaking": [normal(4, 4), normal(4, 6)],
    "by_tanh": [normal(4, 4), normal(4, 6)],
}


def of(reference, candidate, **fields):
    if reference == "Sparse":
        fields["constants"] = ["index", "shares"]
    if "steps" in fields:
        fields["phases"] = ("train",)
    inputs = INPUTS.get(reference, [normal(4, 6)])
    return case(PT + reference, MS + candidate, *inputs, **fields)


def told(reference, candidate, **fields):
    return diagnose.tell(of(reference, candidate, **fields), 0, False).brief


@pytest.mark.parametrize(
    "name",
    [
        "Sparse",
        "ByHand",
        "Informed",
        "Spectrum",
        "Unused",
        "Supervised",
        "Gates",
        "Messages",
        "Normed",
        "Difference",
        "Handed",
        "Softened",
        "Rounds",
    ],
)
def test_a_right_port_is_equal(name):
    assert check(of(name, name), 0).passed


@pytest.mark.parametrize(
    ("reference", "candidate", "line", "cause"),
    [
        (
            "Sparse",
            "sparse_by_both",
            "# the table",
            "it uses self.table, which is another one in the",
        ),
        ("ByHand", "ByWrongHand", "# made by hand", "made by hand here is not"),
        ("Informed", "InformedOtherwise", "# the factor", "what goes in is the same"),
        ("Informed", "InformedAcross", "# the column", "what goes in is the same"),
        ("Spectrum", "Conjugated", "# the sign", "what goes in is the same"),
        ("Unused", "UnusedScaled", "# the scale", "what goes in is the same"),
        ("Gates", "GatesExchanged", "# exchanged", "stand in each other's place"),
        ("Normed", "NormedTwice", "# the weight", "which is right when told_ms.py:"),
        ("Normed", "NormedFirst", "# the weight", "which is right when told_ms.py:"),
        ("Normed", "NormedScaled", "# the epsilon", "it hands eps=0.1 to told_ms.py:"),
        ("Softened", "SoftenedMore", "# handed on", "it hands factor=0.75 to told_ms.py:"),
        ("Softened", "SoftenedLayer", "# to a layer", "it hands scale=2.5 to told_ms.py:"),
        (
            "Softened",
            "SoftenedByDefault",
            "# by default",
            "its default is shift=0.25 for",
        ),
        ("Softened", "SoftenedWrongly", "# an absolute value", "what goes in is the same"),
        ("Softened", "SoftenedTwice", "# an absolute value", "what goes in is the same"),
        ("Handed", "HandedWeight", "# another weight", "it hands another value to told_ms.py:"),
        ("Handed", "HandedInput", "# another input", "it hands another value to told_ms.py:"),
        ("Handed", "HandedToAbsolute", "# no relu", "what goes in is the same"),
        ("Difference", "DifferenceBack", "# the sign", "what goes in is the same"),
        ("Messages", "MessagesBack", "# the ends", "stand in each other's place"),
        ("Supervised", "SupervisedHigher", "# the share", "what goes in is the same"),
        (
            "Rounds",
            "RoundsFewer",
            "# of one round",
            "fewer runs in the candidate: inner 2 times, 3 in the reference",
        ),
    ],
)
def test_the_line_is_named(reference, candidate, line, cause):
    culprit, _, first, *_ = lines = told(reference, candidate)
    assert culprit.startswith("culprit: told_ms.py:")
    assert culprit.endswith(line), lines
    assert cause in first
    assert sum(each.startswith("culprit") for each in lines) == 1


def test_a_step_with_a_weight_that_is_a_single_number_is_diagnosed():
    lines = told("Tempered", "tempered_faster", steps=2)
    assert lines[0] == "culprit: update (training step)"
    assert "as by another learning rate" in lines[2]


def test_a_step_whose_network_cannot_be_called_is_watched_as_a_whole():
    assert check(of("Adversarial", "Adversarial", steps=2), 0).passed
    lines = told("leaking", "Adversarial", steps=2)
    assert lines[0].endswith("# gets other gradients")
    assert lines[2].startswith("  its optimisers get another gradient of d.bias, d.weight: ")
    assert "network cannot be called with what the step gets: the reference raised" in lines[-1]
    lines = told("Adversarial", "Faster", steps=2)
    assert lines[1].startswith("  its optimisers get the right gradients")
    lines = told("Adversarial", "Bare", steps=2)
    assert lines[0].endswith("# no softplus within")
    assert lines[2] == f"  {FIRST}"


LEFT = "the gradients that the loss of one optimiser leaves in the weights of another: so the"


def test_a_gradient_that_another_loss_leaves_is_told_and_one_that_is_cleared_is_no_difference():
    lines = told("leaking", "Adversarial", steps=2)
    assert lines[3].startswith(f"  computes without {LEFT}")
    assert check(of("leaking", "Leaking", steps=2), 0).passed
    lines = told("Adversarial", "Leaking", steps=2)
    assert lines[0].endswith("# not cleared")
    assert lines[3].startswith(f"  computes with {LEFT}")


def test_an_inaccurate_kernel_does_not_make_a_gradient_another_one():
    lines = told("by_tanh", "ByTanh", steps=2)
    assert lines[1].startswith("  its optimisers get the right gradients")


def test_where_the_layers_cannot_be_compared_the_first_wrong_one_of_the_run_is_named(monkeypatch):
    def cannot(*_):
        raise KeyError("no")

    wrong = of("Supervised", "SupervisedHigher")
    monkeypatch.setattr(Search, "blame", cannot)
    lines = diagnose.tell(wrong, 0, False).brief
    assert lines[0].startswith("culprit: told_ms.py:")
    assert lines[1] == "  in loss (Weighted)"
    assert lines[2] == f"  {FIRST}"
    assert lines[-1] == "its layers could not be compared by themselves: KeyError: 'no'"
    monkeypatch.setattr(network, "diagnose", cannot)
    lines = diagnose.tell(wrong, 0, False).brief
    assert lines == ["culprit: not known; the run cannot be watched: KeyError: 'no'"]


def test_what_cannot_be_tried_or_watched_is_told(monkeypatch):
    def cannot(*_):
        raise KeyError("no")

    monkeypatch.setattr(network.causes, "explain", cannot)
    monkeypatch.setattr(statement, "_FedLayer", cannot)
    lines = told("Supervised", "SupervisedHigher")
    assert lines[:2] == ["culprit: loss (Weighted)", "  why could not be tried out: KeyError: 'no'"]
    assert lines[-1] == "its statements could not be watched: KeyError: 'no'"
