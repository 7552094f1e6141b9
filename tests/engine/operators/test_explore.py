import importlib
import re
from dataclasses import replace

import pytest

from equivalence.declare.difference import Difference, Raised
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import along, unary
from equivalence.errors import DeclarationError, EquivalenceError, IllPosedError
from equivalence.operators import explore as exploring
from equivalence.operators.drawing import (
    GATE_EXAMPLES,
    NIGHTLY_EXAMPLES,
    Exploration,
    beyond_limit,
    draw_examples,
    explorations,
    pairs_without,
)
from equivalence.operators.explore import differs, explore

HERE = "tests.engine.parts.operators_ms:"


def operator(through=None, torch="torch.cumsum", space=None, api="ops.cumsum", **names):
    through = HERE + through if through else None
    without = {"empty": "a cumulative sum of nothing is refused"}
    return Operator(torch, space or along(), to(api, through=through, without=without, **names))


def search(declared, count=NIGHTLY_EXAMPLES, execution="pynative"):
    return Exploration(declared, declared.counterparts[0], execution, "cpu", count)


RIGHT = operator(dim="axis")


def test_a_right_operator_passes_with_as_many_examples(tmp_path):
    found = explore(search(RIGHT), 0, tmp_path)
    assert found.failure is None
    assert found.drawn == NIGHTLY_EXAMPLES
    assert NIGHTLY_EXAMPLES // 2 < len(found.outcomes) <= NIGHTLY_EXAMPLES + 1  # and one in double
    assert all(outcome.passed for outcome in found.outcomes)


def test_few_examples_are_fewer(tmp_path):
    assert explore(search(RIGHT, GATE_EXAMPLES), 0, tmp_path).drawn == GATE_EXAMPLES


def test_the_largest_nightly_example_is_of_double_precision_too(tmp_path):
    in_double = [o.case.dtype for o in explore(search(RIGHT), 0, tmp_path).outcomes[-1:]]
    assert in_double == ["float64"]
    few = explore(search(RIGHT, GATE_EXAMPLES), 0, tmp_path)
    assert {outcome.case.dtype for outcome in few.outcomes} <= {"float32", "float16"}


def test_a_kernel_that_computes_in_single_precision_is_found_in_double(tmp_path):
    found = explore(search(operator("through_single")), 0, tmp_path)
    assert found.example.dtype == "float64"
    assert 1e4 < found.failure.judgement.needed < 1e8
    limited = search(operator("through_single"))
    without = {**limited.counterpart.without, "float64": "rounded to float32 on the way"}
    counterpart = replace(limited.counterpart, without=without)
    assert explore(replace(limited, counterpart=counterpart), 0, tmp_path).failure is None
    beyond = beyond_limit(replace(limited, counterpart=counterpart), "float64", 0)
    assert {example.dtype for example in beyond} == {"float64"}


def test_a_wrong_operator_is_found_and_the_example_is_small(tmp_path):
    found = explore(search(operator("wrong_when_long")), 0, tmp_path)
    assert not found.failure.passed
    shape = found.example.inputs[0].shape
    assert found.example.dtype == "float32"
    assert sorted(shape) == [1] * (len(shape) - 1) + [3]


def test_without_shrinking_the_first_failure_is_told(tmp_path):
    wrong = search(operator("wrong_when_long"))
    assert explore(wrong, 0, tmp_path, shrink=False).drawn <= explore(wrong, 0, tmp_path).drawn


def test_what_a_side_raises_is_a_failure_in_words(tmp_path):
    found = explore(search(operator("refuses_tall")), 0, tmp_path)
    assert isinstance(found.failure, EquivalenceError)
    assert "the candidate raised ValueError: too tall" in str(found.failure)
    assert found.example.inputs[0].shape[0] == 2


def test_what_the_reference_raises_is_a_failure_too(tmp_path):
    wrong = operator(torch="tests.engine.parts.operators_pt.refuses", space=unary(), api="ops.relu")
    found = explore(search(wrong), 0, tmp_path)
    assert "the reference raised ValueError: not " in str(found.failure)


def test_an_operator_that_is_another_every_time_is_a_failure(tmp_path):
    wrong = operator("other_every_time", torch="torch.relu", space=unary())
    assert not explore(search(wrong), 0, tmp_path).failure.passed


def test_an_operator_of_which_no_example_tells_anything_is_an_error(tmp_path):
    reference = "tests.engine.parts.operators_pt.ill_conditioned"
    lost = operator("ill_conditioned", torch=reference, space=unary())
    with pytest.raises(DeclarationError, match=r"of \d+ examples \d+ are well-posed"):
        explore(search(lost), 0, tmp_path)


def test_half_of_the_examples_must_be_well_posed(tmp_path, monkeypatch):
    compare, left = exploring.check, []

    def lose(case, seed):
        if left:
            left.pop()
            raise IllPosedError("the truth itself is NaN")
        return compare(case, seed)

    monkeypatch.setattr(exploring, "check", lose)
    left[:] = range(3)
    assert explore(search(RIGHT, GATE_EXAMPLES), 0, tmp_path).failure is None
    left[:] = range(4)
    with pytest.raises(DeclarationError, match="of 6 examples 2 are well-posed"):
        explore(search(RIGHT, GATE_EXAMPLES), 0, tmp_path)


def test_a_known_difference_shows_in_its_tensors_and_no_larger():
    declared = operator("wrong_when_long")
    example = declared.example("cumsum(normal(3), dim=0)")
    assert exploring.shows(search(declared), example, Difference("it", {"*": 1e3}), 0)
    assert not exploring.shows(search(declared), example, Difference("it", {"*": 1e-9}), 0)
    with pytest.raises(DeclarationError, match="differs names nothing, which no tensor is left"):
        exploring.shows(search(declared), example, Difference("it", {"nothing": 1.0}), 0)
    right = declared.example("cumsum(normal(2), dim=0)")
    assert not exploring.shows(search(declared), right, Difference("it", {"*": 1e3}), 0)


def test_a_known_refusal_shows_by_its_words():
    declared = operator("refuses_tall")
    tall, low = (declared.example(f"cumsum(normal({n}, 1), dim=0)") for n in (2, 1))
    known = Difference("too tall", Raised("ValueError", "too tall"))
    assert exploring.shows(search(declared), tall, known, 0)
    assert not exploring.shows(search(declared), low, known, 0)
    other = Difference("too tall", Raised("ValueError", "too wide"))
    assert not exploring.shows(search(declared), tall, other, 0)


def test_the_same_seed_draws_the_same_examples_and_another_others(tmp_path):
    drawn = [[], [], []]
    for told, seed in zip(drawn, (0, 0, 1), strict=True):
        explore(search(RIGHT), seed, tmp_path, told.append)
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_else_is_imported_changes_no_example(tmp_path, monkeypatch):
    before = [draw_examples(search(RIGHT), seed, NIGHTLY_EXAMPLES) for seed in range(5)]
    source = tmp_path / "of_a_user.py"
    source.write_text("NUMBERS = " + repr(list(range(1000, 1200))) + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("of_a_user")
    assert [draw_examples(search(RIGHT), seed, NIGHTLY_EXAMPLES) for seed in range(5)] == before


def test_of_a_compiled_operator_the_largest_examples_are_compared(tmp_path):
    drawn = []
    right = search(RIGHT, GATE_EXAMPLES, "graph")
    found = explore(right, 0, tmp_path, drawn.append)
    assert len(found.outcomes) == 1
    assert found.outcomes[0].case.execution == "graph"
    sizes = [int(size) for size in re.findall(r"\d+", drawn[0].partition("dim")[0])]
    assert len(sizes) >= 3


def test_a_wrong_operator_is_found_compiled(tmp_path):
    found = explore(search(operator("wrong_when_long"), GATE_EXAMPLES, "graph"), 0, tmp_path)
    assert not found.failure.passed


def test_failing_examples_are_tried_first_the_next_time(tmp_path):
    wrong = search(operator("wrong_when_long"))
    smallest = explore(wrong, 0, tmp_path).example
    again = []
    explore(wrong, 7, tmp_path, again.append)
    assert again[0] == smallest.spelled("cumsum")
    few = []
    explore(replace(wrong, count=GATE_EXAMPLES), 7, tmp_path, few.append)
    assert few[0] != smallest.spelled("cumsum")


def test_what_failed_once_and_passes_now_is_forgotten(tmp_path):
    memory = tmp_path / exploring.MEMORY / f"{search(RIGHT).name}.txt"
    memory.parent.mkdir(parents=True)
    memory.write_text("cumsum(normal(2, 3), dim=1)\n")
    tried = []
    assert explore(search(RIGHT), 0, tmp_path, tried.append).failure is None
    assert tried[0] == "cumsum(normal(2, 3), dim=1)"
    assert not memory.exists()


def test_a_memory_of_what_is_no_example_any_more_is_passed_over(tmp_path):
    memory = tmp_path / exploring.MEMORY / f"{search(RIGHT).name}.txt"
    memory.parent.mkdir(parents=True)
    memory.write_text("cumsum(")
    assert explore(search(RIGHT), 0, tmp_path).failure is None


def test_a_memory_beyond_a_limit_that_was_declared_since_is_passed_over(tmp_path):
    exploration = search(RIGHT)
    memory = tmp_path / exploring.MEMORY / f"{exploration.name}.txt"
    memory.parent.mkdir(parents=True)
    memory.write_text("cumsum(normal(0, 2), dim=1)")
    assert explore(exploration, 0, tmp_path).failure is None


def test_explorations_are_those_of_every_counterpart_and_what_compiles():
    declared = Operator(
        "torch.cumsum",
        along(),
        to("ops.cumsum", without={"graph": "does not compile"}),
        to("mint.cumsum"),
        to("nn.CumSum"),
    )
    few = [each.name for each in explorations(declared, "cpu", GATE_EXAMPLES)]
    assert few == [
        "cumsum-few-ops.cumsum@pynative-cpu",
        "cumsum-few-mint.cumsum@pynative-cpu",
        "cumsum-few-mint.cumsum@graph-cpu",
        "cumsum-few-nn.CumSum@pynative-cpu",
    ]
    many = {each.name for each in explorations(declared, "cpu", NIGHTLY_EXAMPLES)}
    assert many == {name.replace("few", "many") for name in few} | {
        "cumsum-many-nn.CumSum@graph-cpu"
    }


def test_examples_beyond_a_limit_are_beyond_that_alone():
    without = {"vector": "wrong", "empty": "wrong"}
    limited = Operator("torch.cumsum", along(), to("ops.cumsum", without=without))
    found = beyond_limit(search(limited), "vector", 0)
    assert found
    assert all(len(e.inputs[0].shape) == 1 and 0 not in e.inputs[0].shape for e in found)


def test_what_differs_or_is_refused_differs():
    declared = operator("refuses_tall")
    assert differs(search(declared), declared.example("cumsum(normal(2, 1), dim=0)"), 0)
    declared = operator("wrong_when_long")
    assert differs(search(declared), declared.example("cumsum(normal(3), dim=0)"), 0)
    assert not differs(search(declared), declared.example("cumsum(normal(2, 2), dim=1)"), 0)


def test_what_the_reference_refuses_shows_nothing():
    declared = Operator("tests.engine.parts.operators_pt.refuses", unary(), to("ops.abs"))
    assert not differs(search(declared), declared.example("refuses(normal(2))"), 0)


def test_examples_that_leave_an_argument_out_are_else_the_same():
    pairs = pairs_without(search(RIGHT), "dim", 0)
    assert pairs
    for told, left in pairs:
        assert (told.inputs, told.dtype) == (left.inputs, left.dtype)
        assert {**left.arguments, "dim": told.arguments["dim"]} == told.arguments
        assert "dim" not in left.arguments


def test_the_levels_draw_differently_many():
    assert set(exploring.COMPILED_EXAMPLES) == {GATE_EXAMPLES, NIGHTLY_EXAMPLES}
    assert GATE_EXAMPLES < NIGHTLY_EXAMPLES
