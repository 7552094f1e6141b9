"""Tokens and logits of functions that generate: right ones, mistakes, and what rounding decides."""

import pytest

from equivalence import DeclarationError, Twin, integers
from equivalence.declare.network import network
from equivalence.declare.twin import cases
from equivalence.generation.compare import APART, compare

PT, MS = "tests.engine.parts.generating_pt:", "tests.engine.parts.generating_ms:"
THREE, ONE = integers(3, 4, high=40), integers(1, 4, high=40)


def generated(reference, candidate, theirs="Lm", ours="Lm", inputs=THREE, seed=0):
    """What comes of two functions, each with a network of its own."""
    config = {"net": network(PT + theirs, MS + ours)}
    sides = {"reference": PT + reference, "candidate": MS + candidate}
    fields = {"inputs": [inputs], "configs": (config,), "phases": ("eval",)}
    twin = Twin("generated", executions=("pynative",), **sides, **fields)
    return compare(next(cases(twin, "cpu")), seed)


@pytest.mark.parametrize(
    ("function", "inputs", "calls"), [("greedy", THREE, 6), ("whole", THREE, 4), ("beams", ONE, 6)]
)
def test_right_functions_are_equal_call_by_call(function, inputs, calls):
    found = generated(function, function, inputs=inputs)
    assert found.equal
    assert not found.partings
    assert found.compared == found.calls == calls
    assert max(found.errors) < 2.0
    assert max(found.logs) < 1e-5


@pytest.mark.parametrize(
    ("reference", "candidate", "told"),
    [
        ("greedy", "stale", "the logits of call 5 are"),
        ("greedy", "second_best", "after call 3, and the original 28, whose logit is"),
        ("greedy", "second_best_at_the_end", "though all logits are right"),
        ("greedy", "short", "the port calls its network 4 times, and the original 6 times"),
        ("greedy", "other_ids", "though all logits are right"),
        ("whole", "whole_second", "after call 2, and the original 31, whose logit is"),
    ],
)
def test_a_mistake_is_red_at_its_call(reference, candidate, told):
    found = generated(reference, candidate)
    assert not found.equal
    assert told in found.wrong[0]
    assert not any(parting.decided for parting in found.partings)


def test_a_stale_cache_that_the_tokens_hide_is_seen_in_the_logits():
    found = generated("greedy", "stale", seed=1)
    assert not found.equal
    assert "its cache, or its masks and positions, differ" in found.wrong[0]


@pytest.mark.parametrize(
    ("candidate", "ours", "told"),
    [
        ("unordered", "Lm", "the logits of call 3 are"),
        ("penalised", "Lm", "what the port chooses by them is not"),
        ("beams", "Shifted", "the logits of call 2 are"),
    ],
)
def test_a_mistake_with_beams_is_red(candidate, ours, told):
    found = generated("beams", candidate, ours=ours, inputs=ONE)
    assert not found.equal
    assert told in found.wrong[0]


def test_where_two_logits_tie_rounding_decides_and_all_calls_are_still_compared():
    found = generated("greedy", "greedy", "TiedLm", "TiedLm", seed=1)
    assert found.equal
    assert found.partings
    assert all(each.decided and abs(each.gap) <= APART for each in found.partings)
    assert {abs(each.want - each.got) for each in found.partings} == {40}
    assert found.compared == 6


def test_a_mistake_behind_a_tie_is_red():
    found = generated("greedy", "stale", "TiedLm", "TiedLm", seed=1)
    assert not found.equal
    assert found.partings[0].decided
    assert "the logits of call 5 are" in found.wrong[0]


def test_beams_that_tie_are_compared_up_to_there():
    found = generated("beams", "beams", "TiedLm", "TiedLm", ONE)
    assert found.equal
    assert all(each.decided for each in found.partings)
    assert found.compared < found.calls


def test_what_generates_nothing_is_refused():
    sides = {"reference": PT + "Lm", "candidate": MS + "Lm"}
    twin = Twin("net", inputs=[THREE], phases=("eval",), executions=("pynative",), **sides)
    with pytest.raises(DeclarationError, match="is a network; name a function that generates"):
        compare(next(cases(twin, "cpu")), 0)
