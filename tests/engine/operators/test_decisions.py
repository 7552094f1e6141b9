"""Which sides of decisions an example takes, and which examples of many the gate compares."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import strategies as st

from benchmarks.reach import taken_of
from equivalence.declare.draws import booleans, gaps, infinite, integers, normal, ties, whole
from equivalence.declare.operator import Example, Operator, to
from equivalence.declare.spaces import along, unary
from equivalence.operators import drawing
from equivalence.operators.decisions import cover, sides, size
from equivalence.operators.drawing import (
    GATE_EXAMPLES,
    NIGHTLY_EXAMPLES,
    Exploration,
    choose,
    draw_examples,
    explorations,
    planned,
)
from equivalence.operators.explore import explore
from tests.engine.operators.test_explore import RIGHT, operator, search
from tests.twins.operators import operators

ROOT = Path(__file__).parents[3]


def taken(*inputs, dtype="float32", **arguments):
    return sides(Example(inputs, arguments, dtype), "some", 0)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (True, "flag=True"),
        (None, "flag=None"),
        ("mean", "flag='mean'"),
        (0, "flag is 0"),
        (1.0, "flag is 1"),
        (-3, "flag below 0"),
        (2, "flag is even"),
        (3.0, "flag is odd"),
        (0.5, "flag is a fraction"),
        (float("inf"), "flag is inf"),
        ((), "flag: 0"),
        ((2, 2), "flag: all equal"),
        ((1, 2), "flag: not all equal"),
        ((1, 2), "one of flag is 1"),
    ],
)
def test_an_argument_has_the_side_of_its_value(value, told):
    assert told in taken(normal(2, 3), flag=value)
    assert told not in taken(normal(2, 3), other=value)
    assert told not in taken(normal(2, 3))


def test_what_is_left_out_is_a_side_too():
    assert "with inputs alone" in taken(normal(2))
    assert "with dim, keepdim" in taken(normal(2), dim=0, keepdim=True)


@pytest.mark.parametrize(
    ("dim", "told"),
    [
        (0, {"dim from the front", "dim is the first axis", "dim of size several"}),
        (-1, {"dim from the end", "dim is the last axis", "dim of size several"}),
        (1, {"dim from the front", "dim is the inner axis", "dim of size 1"}),
        ((0, 1), {"dim: several", "dim: in order"}),
        ((-1, 0), {"dim: several", "dim: out of order"}),
        ((), {"dim: 0"}),
        (None, {"dim=None"}),
    ],
)
def test_an_axis_has_sides_by_its_place_and_size(dim, told):
    assert told <= taken(normal(2, 1, 3), dim=dim)
    assert "dim of size 0" in taken(normal(2, 0), dim=-1)


def test_an_argument_shows_where_there_are_several_elements():
    for shape in ((0, 3), (1, 1), ()):
        assert "flag=True" not in taken(normal(*shape), flag=True)
    assert "flag=True" in taken(flag=True)


def test_shapes_and_values_have_sides():
    assert {"input 0: no element", "input 0: batch of 0"} <= taken(normal(0, 3))
    assert {"input 0: 0 axes", "input 0: one element"} <= taken(normal())
    assert {"input 0: a long axis", "input 0: last size odd"} <= taken(normal(2, 257))
    assert {"input 0: batch of 1", "input 0: last size even"} <= taken(normal(1, 4))
    assert {"input 0: last sizes equal"} <= taken(normal(3, 3))
    assert "input 0: NaN" in taken(gaps(9))
    assert "input 0: infinity" in taken(infinite(9))
    found = taken(ties(40))
    assert {"input 0: 0", "input 0: -0", "input 0: below 0", "input 0: equal elements"} <= found
    assert "input 0: half a number" in taken(ties(40, step=0.5))
    assert "input 0: beyond 88" in taken(whole(4, low=2**31, high=2**40))
    assert {"input 1: the last index", "input 1: 0"} <= taken(normal(2), integers(40, high=3))
    assert not any("below" in each for each in taken(booleans(40)))
    assert "float16" in taken(normal(2), dtype="float16")


def test_two_inputs_have_sides_together():
    assert "inputs of one shape" in taken(normal(2, 3), normal(2, 3))
    found = taken(normal(2, 3), normal(1))
    assert {"input 1 has fewer axes", "input 1 is repeated along an axis"} <= found
    assert "inputs of one shape" not in found
    assert "an element equal in both inputs" in taken(ties(40), ties(40, 1))
    assert "an element equal in both inputs" not in taken(normal(40), normal(40, 1))
    assert "an element NaN in both inputs" in taken(gaps(9), gaps(9))
    assert not any("in both" in each for each in taken(gaps(3), gaps(2)))


def test_a_bound_has_elements_on_its_sides():
    found = taken(ties(40), bound=1)
    assert {f"an element {word} bound" for word in ("below", "at", "above")} <= found
    assert "an element at bound" not in taken(normal(40), bound=1)


def test_those_are_chosen_that_take_most_and_the_first_of_equals():
    some, sizes = [frozenset(each) for each in ("a", "ab", "cd", "bc", "d")], [9] * 5
    assert cover(some, sizes, 2) == [1, 2]
    assert cover(some, sizes, 9) == [1, 2, 0, 3, 4]
    assert cover(some, sizes, 1, given=frozenset("ab")) == [2]
    assert cover([], [], 3) == []


def test_a_large_example_must_take_more():
    """So that the records do not grow."""
    one, two, three = (frozenset(each) for each in ("a", "bc", "bcdef"))
    assert cover([one, two], [9, 1000], 1) == [0]
    assert cover([one, two], [9, 9], 1) == [1]
    assert cover([one, three], [9, 400], 1) == [1]
    assert cover([one, one], [9, 8], 1) == [1]
    assert size(Example((normal(2, 3), normal(512)))) == 774
    assert size(Example((normal(513),))) == 512


def test_sides_of_arguments_come_before_those_of_inputs():
    some = [frozenset({"input 0: 0", "input 0: -0"}), frozenset({"keepdim=True"})]
    assert cover(some, [9, 9], 1) == [1]


def rare(draw, without):
    """One example in fifteen or so has another mode than the others."""
    (tensor,), _ = unary()(draw, without)
    return [tensor], {"mode": "rare" if draw(st.integers(0, 14)) == 14 else "usual"}


def modal(seed, count=GATE_EXAMPLES):
    declared = Operator("torch.sqrt", rare, to("ops.sqrt"))
    exploration = Exploration(declared, declared.counterparts[0], "pynative", "cpu", count)
    return exploration, draw_examples(exploration, seed, NIGHTLY_EXAMPLES)


def test_the_gate_compares_what_is_rare_among_the_nightly_examples():
    """Unless it is large, or has too few elements to show it; the first ones have it by chance."""
    by_first = by_gate = 0
    for seed in range(10):
        exploration, many = modal(seed)
        chosen = choose(exploration, seed)
        assert len(chosen) == GATE_EXAMPLES
        assert all(each in many for each in chosen)
        by_first += "rare" in {each.arguments["mode"] for each in many[:GATE_EXAMPLES]}
        by_gate += "rare" in {each.arguments["mode"] for each in chosen}
    assert by_first + 1 < by_gate


def test_what_is_always_compared_takes_its_sides_already():
    exploration, many = modal(3)
    odd = next(each for each in many if each.arguments["mode"] == "rare")
    declared = exploration.operator.meeting(odd)
    chosen = planned(Exploration(declared, *_rest(exploration)), 3)
    assert chosen[0] == odd
    assert odd not in chosen[1:]
    assert len(chosen) == 1 + GATE_EXAMPLES


def _rest(exploration):
    return exploration.counterpart, exploration.execution, exploration.device, exploration.count


def test_an_operator_of_few_examples_has_them_all():
    declared = Operator("torch.sqrt", lambda *_: ([normal(2)], {}), to("ops.sqrt"))
    exploration = Exploration(declared, declared.counterparts[0], "pynative", "cpu", GATE_EXAMPLES)
    assert {each.dtype for each in choose(exploration, 0)} == {"float32", "float16"}
    assert len(choose(exploration, 0)) == 2


ALONE = """
import json, sys
sys.modules["torch"] = sys.modules["mindspore"] = None
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import along
from equivalence.operators.drawing import Exploration, choose
declared = Operator("torch.cumsum", along(), to("ops.cumsum", without={"empty": "is refused"}))
one = Exploration(declared, declared.counterparts[0], "pynative", "cpu", 6)
print(json.dumps([each.spelled("cumsum") for each in choose(one, 0)]))
"""


def test_a_host_without_torch_chooses_the_same():
    """Alone, in another process, and whatever was drawn before."""
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    here = search(RIGHT, GATE_EXAMPLES)
    modal(0)
    drawing._drawn.cache_clear()
    assert json.loads(done.stdout) == [each.spelled("cumsum") for each in choose(here, 0)]


def test_a_failing_example_of_the_gate_is_made_smaller(tmp_path):
    wrong = search(operator("wrong_when_long"), GATE_EXAMPLES)
    chosen = planned(wrong, 0)
    found = explore(wrong, 0, tmp_path)
    first = explore(wrong, 0, tmp_path, shrink=False)
    assert first.example in chosen
    assert sorted(found.example.inputs[0].shape)[-1] == 3
    assert not found.failure.passed


def test_more_of_the_many_are_taken_than_by_the_first_ones():
    declared = Operator("torch.softmax", along(), to("ops.softmax"))
    one = Exploration(declared, declared.counterparts[0], "pynative", "cpu", GATE_EXAMPLES)
    many = [sides(each, "softmax", 0) for each in draw_examples(one, 0, NIGHTLY_EXAMPLES)]
    whole_set = frozenset().union(*many)
    first = frozenset().union(*many[:GATE_EXAMPLES])
    chosen = frozenset().union(*(sides(each, "softmax", 0) for each in choose(one, 0)))
    assert len(first) < 0.9 * len(whole_set) < len(chosen)


def test_the_six_of_real_operators_take_nearly_all_sides_of_arguments_and_most_of_all():
    """Where the first six that are drawn leave out many; and they are not larger."""
    every = first = gate = large = larger = of_arguments = 0
    lost: list[str] = []
    for declared in operators()[::20]:
        one = next(explorations(declared, "cpu", GATE_EXAMPLES))
        many = draw_examples(one, 0, NIGHTLY_EXAMPLES)
        chosen = planned(one, 0)
        every_side, of_first, of_gate = taken_of(declared)
        arguments = {each for each in every_side if not each.startswith("input")}
        of_arguments += len(arguments)
        lost += [f"{declared.name}: {each}" for each in sorted(arguments - of_gate)]
        every, first, gate = every + len(every_side), first + len(of_first), gate + len(of_gate)
        large += sum(map(size, many[:GATE_EXAMPLES]))
        larger += sum(map(size, chosen[-GATE_EXAMPLES:]))
    assert len(lost) < 0.03 * of_arguments, lost
    assert first < 0.85 * every
    assert gate > 0.92 * every
    assert larger < 1.2 * large
