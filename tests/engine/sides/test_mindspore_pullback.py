"""Outputs of any structure are compared by name, and each gets its own cotangent."""

import mindspore as ms
import numpy as np
import pytest

from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.errors import EquivalenceError
from equivalence.host.isolation import isolated
from equivalence.sides.mindspore_pullback import NumberedPullback, OddOutputsError, Pullback
from tests.engine.parts import returning_ms
from tests.engine.parts.small import case

PT = "tests.engine.parts.returning_pt:Returning"

BOTH = ("pynative", "graph")


def target(what, monkeypatch):
    """A candidate that returns this, whatever it is asked for."""
    monkeypatch.setattr(returning_ms, "Other", lambda **_: returning_ms.Returning(what), False)
    return "tests.engine.parts.returning_ms:Other"


def compared(reference, candidate, execution):
    with isolated(), pytest.MonkeyPatch.context() as patched:
        other = target(candidate, patched)
        made = case(PT, other, normal(5, 4), execution=execution, config={"what": reference})
        return check(made, 0)


def problems(reference, candidate, execution):
    """The tensors that differ, each with its problem, if it has one."""
    return {
        each.name: each.problem
        for each in compared(reference, candidate, execution).judgement.differing
    }


@pytest.mark.parametrize("execution", BOTH)
@pytest.mark.parametrize("what", ["dict", "none", "none in a dict", "numbers", "loss", "complex"])
def test_the_same_structure_is_equal(what, execution):
    assert problems(what, what, execution) == {}


@pytest.mark.parametrize("execution", BOTH)
def test_a_complex_output_is_compared_as_pairs_of_real_numbers(execution):
    judgement = compared("complex", "conjugate", execution).judgement
    worst = judgement.verdicts[0]
    assert (worst.name, worst.problem, worst.index[-1]) == ("output.0", None, 1)
    assert {"gradient:input[0]", "gradient:dense.weight"} <= {v.name for v in judgement.differing}


@pytest.mark.parametrize("what", ["dataclass", "named tuple", "ordered"])
def test_in_pynative_mode_every_container_is_compared(what):
    assert problems(what, what, "pynative") == {}


@pytest.mark.parametrize(
    ("what", "name"),
    [("dataclass", "Output"), ("named tuple", "Pair"), ("ordered", "OrderedDict")],
)
def test_what_a_graph_cannot_differentiate_is_told_in_one_sentence(what, name):
    with pytest.raises(EquivalenceError) as refused:
        compared(what, what, "graph")
    assert str(refused.value).startswith(f"the candidate returns a {name}, through which graph")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("execution", BOTH)
def test_the_order_of_keys_does_not_matter(execution):
    assert problems("dict", "other order", execution) == {}


@pytest.mark.parametrize("execution", BOTH)
def test_outputs_under_each_others_keys_differ(execution):
    assert {"output.logits", "output.hidden.0"} <= problems("dict", "exchanged", execution).keys()


ORDERED = {
    ("dict", "tuple"): "a dict (logits, hidden), the candidate a tuple of 4 tensors; paired by "
    "order: 0 with logits, 1 with hidden.0, 2 with hidden.1.0, 3 with hidden.1.1.last",
    ("tuple", "dict"): "a tuple of 4 tensors, the candidate a dict (logits, hidden); paired by "
    "order: logits with 0, hidden.0 with 1, hidden.1.0 with 2, hidden.1.1.last with 3",
    ("none in a dict", "tensor"): "a dict (logits, loss), the candidate one tensor; paired by "
    "order: 0 with logits",
    ("tensor", "none in a dict"): "one tensor, the candidate a dict (logits, loss); paired by "
    "order: logits with 0",
}


@pytest.mark.parametrize("execution", BOTH)
@pytest.mark.parametrize("sides", ORDERED, ids=" for ".join)
def test_names_of_one_side_alone_are_paired_by_order_with_a_word(sides, execution):
    judgement = compared(*sides, execution).judgement
    assert judgement.equal
    assert {"gradient:input[0]", "gradient:dense.weight"} <= {v.name for v in judgement.verdicts}
    assert judgement.by_order == f"the reference returns {ORDERED[sides]}"


@pytest.mark.parametrize("execution", BOTH)
@pytest.mark.parametrize("sides", [("tuple", "other order"), ("tuple", "exchanged")])
def test_outputs_in_another_order_differ(sides, execution):
    assert {"output.0", "output.1", "gradient:input[0]"} <= problems(*sides, execution).keys()


def test_outputs_of_other_names_are_not_paired_by_order():
    assert "output.loss" in problems("loss", "dataclass", "pynative")


SAME = "; return the same structure"
NO_GRADIENT = "; no gradient is compared"
LOGITS_AND_HIDDEN = ": the reference returns a dict (logits, hidden), the candidate "

WRONG = {
    ("dict", "lacking"): {"output.hidden.1.1.last": "the candidate does not have it"},
    ("dict", "pair"): {
        "output.logits": "the candidate does not have it"
        + LOGITS_AND_HIDDEN
        + "a tuple of 2 tensors"
        + SAME,
        "output.1": "only the candidate has it" + LOGITS_AND_HIDDEN + "a tuple of 2 tensors" + SAME,
    },
    ("tensor", "dict"): {
        "output.0": "the candidate does not have it: the reference returns one tensor, the "
        "candidate a dict (logits, hidden)" + SAME,
    },
    ("none in a dict", "loss"): {"output.loss": "a float32 of the shape (), expected None"},
    ("loss", "none in a dict"): {"output.loss": "None, expected a float32 of the shape ()"},
    ("tensor", "none"): {"output.1": "only the candidate has it"},
    ("loss", "tensor"): {
        "output.loss": "the candidate does not have it: the reference returns a dict (logits, "
        "loss), the candidate one tensor" + SAME,
    },
    ("numbers", "other number"): {
        "output.count": "1 of 1 integers differ; first at (): 4 for 3",
    },
}


@pytest.mark.parametrize("execution", BOTH)
@pytest.mark.parametrize("sides", WRONG, ids=" for ".join)
def test_another_structure_differs_in_words(sides, execution):
    found = problems(*sides, execution)
    told = {name: found.get(name, "").removesuffix(NO_GRADIENT) for name in WRONG[sides]}
    assert told == WRONG[sides]


@pytest.mark.parametrize(
    ("sides", "told"),
    [
        (("text", "text"), "the reference returns a str as output.task; return tensors, numbers"),
        (("numbers", "text"), "the candidate returns a str as output.task; return tensors"),
    ],
)
@pytest.mark.parametrize("execution", BOTH)
def test_what_cannot_be_compared_is_refused_in_one_sentence(sides, told, execution):
    with pytest.raises(EquivalenceError) as refused:
        compared(*sides, execution)
    assert str(refused.value).startswith(told)


# What is compiled in less time, where it is known to return tensors in a tuple.

X, COTANGENT = (
    np.random.default_rng(i).normal(size=(5, n)).astype("f") for i, n in [(0, 4), (1, 3)]
)


def pulled(make, what, outputs):
    """The outputs and gradients of a compiled network."""
    with isolated():
        ms.set_context(mode=ms.GRAPH_MODE)
        ms.set_seed(1)
        network = returning_ms.Returning(what)
        weights = tuple(network.trainable_params())
        cotangents = [ms.Tensor(COTANGENT * (i + 1)) for i in range(len(outputs))]
        (_, result), gradients = make(network, weights, outputs)(ms.Tensor(X), *cotangents)
    result = result if isinstance(result, tuple) else (result,)
    return [each.asnumpy() for each in (*result, gradients[0], *gradients[1])]


def numbered(network, weights, outputs):
    return NumberedPullback(network, 1, (0,), weights, outputs)


def general(network, weights, outputs):
    return Pullback(network, 1, (0,), weights, outputs, outputs, True)


@pytest.mark.parametrize(
    ("what", "outputs"), [("tensor", ("0",)), ("pair", ("0", "1")), ("whole", ("0",))]
)
def test_what_is_compiled_in_less_time_gives_the_same_bits(what, outputs):
    quick, slow = (pulled(make, what, outputs) for make in (numbered, general))
    assert [each.tobytes() for each in quick] == [each.tobytes() for each in slow]


@pytest.mark.parametrize(
    ("what", "outputs"),
    [
        *(("dict", ("0",)), ("tuple", ("0", "1", "2", "3")), ("none", ("0", "1"))),
        *(
            ("named tuple", ("0", "1")),
            ("row", ("0",)),
            ("tensor", ("0", "1")),
            ("whole", ("0", "1")),
            ("raises", ("0",)),
            ("interpreted", ("0",)),
        ),
    ],
)
def test_what_returns_anything_else_is_left_to_the_general_way(what, outputs):
    with pytest.raises(OddOutputsError):
        pulled(numbered, what, outputs)
