"""What calls give each time that they run, beside what the reference's give."""

import functools

import numpy as np
import pytest

from equivalence.statements.calls import Recording, Statement
from equivalence.statements.series import in_step, runs
from tests.defects import sequences
from tests.engine.statements import telling

told = functools.partial(telling.told, sequences.DEFECTS)
LINE, OTHER = (Statement("net.py", line, "x = f(x)", "") for line in (1, 2))


def recorded(*calls):
    """A run of calls, each a name and a statement, that give 0, 1, 2 and so on."""
    run = Recording()
    for number, (name, statement) in enumerate(calls):
        run.add(name, (), [np.full(3, float(number))], statement)
    return run


def test_a_call_runs_again_where_the_same_line_calls_the_same_operator():
    run = recorded(("add", LINE), ("mul", LINE), ("add", OTHER), ("add", LINE))
    assert runs(run, 0) == [0, 3]


def test_calls_that_no_line_leads_to_are_of_one_statement():
    assert runs(recorded(("add", None), ("add", None)), 1) == [0, 1]


def test_what_loops_give_is_paired_in_their_order():
    ours = recorded(*[("MatMul", LINE), ("Tanh", LINE)] * 3)
    theirs = recorded(*[("mm", OTHER), ("tanh", OTHER)] * 3)
    assert in_step(ours, (1, 0), theirs, (1, 0)) == [(1, 1), (3, 3), (5, 5)]


def test_one_line_of_the_reference_may_call_an_operator_several_times_in_each_turn():
    ours, theirs = recorded(*[("Tanh", LINE)] * 2), recorded(*[("tanh", OTHER)] * 6)
    assert in_step(ours, (0, 0), theirs, (2, 0)) == [(0, 2), (1, 5)]
    assert in_step(ours, (1, 0), theirs, (2, 0)) == []  # of different turns


def test_what_runs_once_is_no_series():
    once = recorded(("tanh", LINE))
    assert in_step(once, (0, 0), once, (0, 0)) == []


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("", "0, 3, 1, 2"),
        pytest.param("lstm_gates_of_onnx", "0, 3, 1, 2", marks=pytest.mark.nightly),
        pytest.param("lstm_gates_of_tensorflow", "0, 2, 1, 3", marks=pytest.mark.nightly),
    ],
)
def test_results_in_another_order_are_told_of_the_call_that_gives_them(name, order):
    lines = told(name) if name else telling.told_of("Gated", "Exchanged")
    assert "= ops.chunk(gates, 4, -1)" in lines[0]
    assert lines[2] == f"  its results, counted from 0, belong in the order {order}"
    assert not any(line.startswith("culprit") for line in lines[1:])


@pytest.mark.nightly
def test_a_statement_that_is_wrong_in_every_turn_of_a_loop_is_told_alone():
    lines = told("words_one_step_late")
    assert "ops.cat((before[:, step - 1], attended), -1)" in lines[0]
    assert lines[2] == "  what goes in is the same"
    assert not any(line.startswith("culprit") for line in lines[1:])
