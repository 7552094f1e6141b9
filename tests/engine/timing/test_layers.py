"""The times of layers: which are told, and that the slow one comes first."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, cases
from equivalence.host.isolation import isolated
from equivalence.timing import layers
from equivalence.timing.layers import LayerTimes

HERE = "tests.engine.timing.nets"


def measured(candidate):
    twin = Twin(
        "timed",
        reference=f"{HERE}_pt:Net",
        candidate=f"{HERE}_ms:{candidate}",
        inputs=[normal(2, 4)],
        executions=("pynative",),
        phases=("train",),
        random_layers=None,
    )
    with isolated():
        return layers.measure(next(cases(twin, "cpu")))


def test_layers_that_run_are_told_and_those_that_never_do_are_not():
    assert {row.path for row in measured("Net")} == {"first", "again"}


def test_a_layer_that_waits_comes_first_with_the_sum_of_its_calls():
    first, _ = measured("Slow")
    assert (first.path, first.partner, first.kind) == ("again", "again", "Linear")
    assert 0.04 < first.candidate < 1.0
    assert first.reference < 0.04


def test_the_table_has_the_largest_losses_and_the_sum_of_the_others():
    rows = [LayerTimes(f"l{n}", "Linear", f"m{n}", 0.001, 0.001 * (5 - n)) for n in range(4)]
    table = layers.table(rows, most=2)
    assert [line.split() for line in table[2:4]] == [
        ["|", "l0", "(Linear)", "|", "m0", "|", "1", "|", "5", "|", "5.00", "|"],
        ["|", "l1", "(Linear)", "|", "m1", "|", "1", "|", "4", "|", "4.00", "|"],
    ]
    assert table[4:] == ["2 other layers: 2 in PyTorch, 5 in MindSpore pynative"]
