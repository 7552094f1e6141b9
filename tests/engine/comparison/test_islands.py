"""Islands of half precision that rounding hides are told, and ports in more bits are right."""

from dataclasses import replace

import pytest

from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.report.answer import not_looked_at
from tests.engine.parts.small import case

PARTS = "tests.engine.parts.islands_"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Attend", ""),
        ("Single", ""),
        ("SoftmaxInHalf", "The port computes softmax in float16 (1 of 1 call), and the original"),
        ("MeanInHalf", "The port computes mean in float16 (1 of 1 call), and the original"),
        ("NormByHand", "The port computes mean in float16 (2 of 3 calls), and the original"),
    ],
)
def test_an_island_that_rounding_hides_is_told(name, told):
    one = case(f"{PARTS}pt:Attend", f"{PARTS}ms:{name}", normal(2, 6, 8), phase="eval")
    outcome = check(one, 0)
    assert outcome.passed
    lines = [each for each in not_looked_at([outcome]) if "computes" in each]
    assert [each[: len(told)] for each in lines] == [told] * bool(told)


@pytest.mark.parametrize(
    ("name", "executions", "told"),
    [
        ("Attend", ("graph",), ""),
        ("SoftmaxInHalf", ("graph",), "The port computes softmax in float16 (1 of 1 call)"),
        ("NormByHand", ("graph",), "The port computes mean in float16 (2 of 3 calls)"),
        ("SoftmaxInHalf", ("pynative", "graph"), ""),  # its case in PyNative mode tells it
    ],
)
def test_an_island_of_a_port_that_is_compared_as_a_graph_alone_is_told(name, executions, told):
    one = case(f"{PARTS}pt:Attend", f"{PARTS}ms:{name}", normal(2, 6, 8), phase="eval")
    twin = replace(one.twin, executions=executions)
    outcome = check(replace(one, twin=twin, execution="graph"), 0)
    assert outcome.passed
    lines = [each for each in not_looked_at([outcome]) if "computes" in each]
    assert [each[: len(told)] for each in lines] == [told] * bool(told)


IN_HALF = "tests.engine.parts.islands_in_half_"


@pytest.mark.parametrize(
    ("network", "name", "told"),
    [
        ("Attend", "Attend", ""),
        ("Attend", "SoftmaxOfMint", ""),
        ("Attend", "SoftmaxInHalf", "softmax in float16 (1 of 1 call)"),
        ("Attend", "SoftmaxOfMintInHalf", "softmax in float16 (1 of 1 call)"),
        ("Attend", "SoftmaxOfACell", "softmax in float16 (1 of 1 call)"),
        ("Normed", "Normed", ""),
        ("Normed", "NormByHand", ""),
        ("Normed", "NormByHandInHalf", "mean in float16 (2 of 3 calls)"),
        ("Normed", "MeanInHalf", "mean in float16 (1 of 3 calls)"),
        ("Stream", "Stream", ""),
        ("Stream", "FirstSumInHalf", "addition in float16 (1 of 3 calls)"),
        ("Stream", "SecondSumInHalf", "addition in float16 (1 of 3 calls)"),
    ],
)
def test_an_island_in_a_network_of_float16_is_told(network, name, told):
    sides = f"{IN_HALF}pt:{network}", f"{IN_HALF}ms:{name}"
    outcome = check(case(*sides, normal(2, 6, 8), dtype="float16", phase="eval"), 0)
    lines = [each for each in not_looked_at([outcome]) if "computes" in each]
    assert outcome.passed
    wanted = f"The port computes {told}, and the original in float32: islands_in_half_ms.py:"
    assert [each[: len(wanted)] for each in lines] == [wanted] * bool(told)
