"""Times of steps: their arithmetic and tables, with steps that only move a clock."""

from equivalence.timing import steps
from equivalence.timing.steps import FEWEST, PATIENCE, REFERENCE, ROUNDS, WARM_UP, Row, Times


class Clock:
    """Stands still but for what steps take."""

    def __init__(self):
        self.now, self.order = 0.0, []

    def __call__(self):
        return self.now

    def side(self, name, building, *seconds):
        """A builder of a step that takes so long; the last time is that of all later steps."""
        waiting = list(seconds)

        def step():
            self.order.append(name)
            self.now += waiting.pop(0) if len(waiting) > 1 else waiting[0]

        def build():
            self.now += building
            return step

        return build


def test_sides_take_turns_and_the_first_rounds_are_left_out():
    clock = Clock()
    sides = {"a": clock.side("a", 5.0, 4.0, 3.0, 3.0, 0.125), "b": clock.side("b", 0.0, 0.125)}
    found = steps.measured(sides, clock)
    assert found["a"].first == 5.0 + 4.0
    assert found["a"].steps == [0.125] * ROUNDS
    assert found["b"] == Times(0.125, [0.125] * ROUNDS)
    assert clock.order == ["a", "b"] * (1 + WARM_UP + ROUNDS)


def test_slow_steps_are_timed_a_few_times_only():
    clock = Clock()
    found = steps.measured({"a": clock.side("a", 0.0, PATIENCE)}, clock)
    assert found["a"].steps == [PATIENCE] * FEWEST
    clock = Clock()
    found = steps.measured({"a": clock.side("a", 0.0, PATIENCE / 20)}, clock)
    assert FEWEST < len(found["a"].steps) < ROUNDS


def test_the_spread_is_by_quartiles_so_that_one_long_step_moves_nothing():
    assert Times(0.0, [1.0, 2.0, 3.0, 4.0, 5.0]).quartiles == (2.0, 3.0, 4.0)
    assert Times(0.0, [1.0, 2.0, 3.0, 4.0, 5e3]).quartiles == (2.0, 3.0, 4.0)
    assert Times(0.0, [1.0, 2.0]).quartiles == (1.25, 1.5, 1.75)


ROWS = [
    Row(
        "conv",
        {
            REFERENCE: Times(0.5, [0.001, 0.002, 0.003]),
            "MindSpore graph": Times(12.25, [0.003, 0.005, 0.007], 11.5),
        },
    ),
    Row("a step", {REFERENCE: Times(2.0, [1.5] * 5)}),
]


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_has_median_quartiles_ratio_and_first_step():
    titles, rule, conv, step = map(cells, steps.table(ROWS))
    assert set("".join(rule)) == {"-"}
    assert dict(zip(titles, conv, strict=True)) == {
        "step, ms: median (quartiles)": "conv",
        "PyTorch": "2 (1.5-2.5)",
        "MindSpore graph": "5 (4-6)",
        "MindSpore graph / PyTorch": "2.50",
        "first step of PyTorch, s": "0.5",
        "first step of MindSpore graph, s": "12.2",
        "rounds": "3",
    }
    assert step == ["a step", "1500 (1500-1500)", "-", "-", "2.0", "-", "5"]


def test_the_lines_of_the_table_are_equally_long():
    assert len({len(line) for line in steps.table(ROWS)}) == 1


def test_a_table_by_side_has_a_line_for_each():
    titles, rule, theirs, ours = map(cells, steps.by_side(ROWS[0]))
    assert titles[:3] == ["conv", "ms: median (quartiles)", "times PyTorch"]
    assert titles[3:] == ["first step, s", "of it compiling", "rounds"]
    assert set("".join(rule)) == {"-"}
    assert theirs == ["PyTorch", "2 (1.5-2.5)", "1.00", "0.5", "-", "3"]
    assert ours == ["MindSpore graph", "5 (4-6)", "2.50", "12.2", "11.5", "3"]


def test_what_compiling_takes_is_told_beside_the_first_step():
    clock = Clock()

    class Spent(steps.Nothing):
        def __exit__(self, *_):
            self.seconds = clock.now

    found = steps.measured({"a": clock.side("a", 5.0, 4.0, 0.5)}, clock, Spent)
    assert (found["a"].first, found["a"].compiling) == (9.0, 9.0)
    (told,) = steps.every_time([Row("conv", found)])
    assert (told["compiling"], told["median"], told["quartiles"]) == (9.0, 0.5, [0.5, 0.5])


def test_the_machine_is_told_with_the_versions():
    told = steps.machine("cpu")
    for word in ("mindspore 2.", "torch 2.", "; cpu; ", " cores, ", ", load ", "one thread"):
        assert word in told
