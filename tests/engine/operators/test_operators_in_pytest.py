"""Operators inside pytest, by runs of a small project that uses the real plugin."""

import pytest

from equivalence.comparison.check import check
from equivalence.host.isolation import isolated
from tests.engine.operators.test_explore import RIGHT, search
from tests.engine.plugin.test_options import by_case, project, results, run, text_of  # noqa: F401

pytest_plugins = ["pytester"]

SUITE = """
import pytest
from equivalence.operators.drawing import GATE_EXAMPLES
from tests.engine.operators.test_explore import RIGHT, operator, search

SEARCHES = {
    "right": search(RIGHT, GATE_EXAMPLES),
    "wrong": search(operator("wrong_when_long"), GATE_EXAMPLES),
    "refused": search(operator("refuses_tall"), GATE_EXAMPLES),
    "fatal": search(operator("kills_the_process"), GATE_EXAMPLES),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_operator(name, explore):
    explore(SEARCHES[name])
"""


@pytest.fixture(scope="module", autouse=True)
def _frameworks():
    """Loads here what a case needs: a run forgets the modules that were imported in it."""
    with isolated():
        for name in ("pynative", "graph"):
            example = RIGHT.example("cumsum(normal(2, 3), dim=1)")
            check(search(RIGHT, execution=name).case(example), 0)


@pytest.fixture
def suite(project):  # noqa: F811
    project.makepyfile(test_twins=SUITE)
    return project


def test_the_smallest_failing_example_is_told_with_the_line_that_repeats_it(suite):
    result = run(suite, "-k", "right or wrong")
    result.assert_outcomes(failed=1, passed=1)
    text = text_of(result)
    assert "cumsum(normal(3), dim=0) ops.cumsum pynative cpu: 2 of 2 tensors differ" in text
    assert "\nevery value: reports/diagnosis/cumsum_normal_3_dim=0_ops" in text
    repeat = "pytest 'test_twins.py::test_operator[wrong]' --seed 0 --example "
    assert f"repeat: {repeat}'cumsum(normal(3), dim=0)'" in text
    written = suite.path / "reports/diagnosis/cumsum_normal_3_dim=0_ops.cumsum_pynative_cpu.txt"
    assert "output.0, truth" in written.read_text()
    found = by_case(results(suite))
    last = list(found.values())[-1]
    assert [line["equal"] for line in last] == [False, False]
    assert {line["counterpart"] for line in last} == {"ops.cumsum"}
    assert {line["torch"] for line in last} == {"torch.cumsum"}


def test_one_example_is_repeated(suite):
    result = run(suite, "-k", "wrong", "--example", "cumsum(normal(3, 2), dim=1)")
    result.assert_outcomes(failed=1)
    assert "cumsum(normal(3, 2), dim=1) ops.cumsum pynative cpu: 2 of 2" in text_of(result)
    result = run(suite, "-k", "wrong", "--example", "cumsum(normal(2, 2), dim=1)")
    result.assert_outcomes(passed=1)
    assert len(by_case(results(suite))) == 1


def test_what_is_no_example_is_refused_in_a_sentence(suite):
    result = run(suite, "-k", "right", "--example", "cumsum(2)")
    result.assert_outcomes(failed=1)
    assert "'cumsum(2)' is no example of cumsum, such as 'cumsum(normal(2, 3))'" in text_of(result)


def test_what_the_candidate_raises_is_told_with_the_smallest_example(suite):
    text = text_of(run(suite, "-k", "refused"))
    assert "the candidate raised ValueError: too tall" in text
    assert "--example 'cumsum(normal(2), dim=0)'" in text


def test_a_process_that_dies_says_which_example_it_ran(suite):
    result = suite.runpytest_subprocess("-p", "no:cacheprovider", "-k", "right or fatal", "-n1")
    result.assert_outcomes(failed=1, passed=1)
    text = text_of(result)
    assert "crashed while running 'test_twins.py::test_operator[fatal]'" in text
    example = "cumsum[float16](ties(6, 1), dim=-2)"  # the first of those that are chosen
    assert f"while it ran {example}\n" in text
    assert f"test_twins.py::test_operator[fatal]' --seed 0 --example '{example}'" in text
