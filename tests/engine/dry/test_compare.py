import os

import pytest

from tests.engine.dry.mistakes import LATE

SOME = [each for each in LATE if each.stage in ("settings", "averages")][:2]


def test_right_scripts_agree_to_their_end(late):
    found = late()
    assert found.compared == 120
    assert not found.departures
    assert "averages" in found.notes[0]
    assert "scales" in found.notes[0]


@pytest.mark.parametrize("mistake", SOME, ids=lambda each: each.name)
def test_what_shows_late_is_told_with_its_step(late, mistake):
    first = late((mistake.old, mistake.new)).departures[0]
    assert (first.step, first.stage) == (mistake.step, mistake.stage)
    assert first.told.endswith("(dry run)")


def test_no_file_is_written(late, folder):
    late()
    assert sorted(os.listdir(folder)) == ["late_mindspore.py", "late_torch.py"]


def test_a_script_that_raises_late_is_told_and_the_steps_before_are_compared(late):
    found = late(("        step += 1\n", "        step += 1\n        assert step < 50\n"))
    assert found.compared == 50
    assert not found.departures
    assert "the dry run of the port ends there" in " ".join(found.notes)


def test_what_has_no_time_left_is_told(late):
    found = late(seconds=0.0)
    assert found.compared < 120
    assert not found.departures
    assert "no time left" in " ".join(found.notes)


DRAWN = {
    "numpy": ("np.random.beta(0.4, 0.4)", "np.random.beta(0.4, 0.4)"),
    "frameworks": ("torch.rand(())", "ops.rand(())"),
}


@pytest.mark.parametrize("by", DRAWN)
def test_both_sides_have_the_same_numbers_where_they_draw(late, by):
    theirs, ours = DRAWN[by]
    of_reference = ("loss = loss * (1.0 if", f"loss = loss * {theirs} * (1.0 if")
    factor = "factor = 1.0 if step < 90 else 0.5"
    right = (factor, f"factor = {ours} * (1.0 if step < 90 else 0.5)")
    found = late(right, reference=[of_reference], anew=True)
    assert found.compared == 120
    assert not found.departures
    wrong = (factor, f"factor = {ours} * (1.0 if step < 80 else 0.5)")
    first = late(wrong, reference=[of_reference], anew=True).departures[0]
    assert (first.step, first.stage) == (81, "loss")


PORT = (
    "net = nn.SequentialCell(nn.Dense(6, 8), nn.Tanh(), nn.Dense(8, 3))\n",
    "class Net(nn.SequentialCell):\n"
    "    count = 0\n\n"
    "    def construct(self, x):\n"
    "        self.count += 1\n"
    "        return super().construct(x)\n\n\n"
    "net = Net(nn.Dense(6, 8), nn.Tanh(), nn.Dense(8, 3))\n",
)
ORIGINAL = (
    "net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))\n",
    PORT[1]
    .replace("SequentialCell", "Sequential")
    .replace("Dense", "Linear")
    .replace("construct", "forward"),
)


@pytest.mark.parametrize("sides", [("port",), ("original",), ("original", "port")])
def test_a_network_that_counts_is_called_each_time_and_answers_the_same(late, sides):
    edits = [PORT] if "port" in sides else []
    found = late(*edits, reference=[ORIGINAL] if "original" in sides else [])
    for side in ("original", "port"):
        told = f"Net of the {side} is called each time"
        assert (told in " ".join(found.notes)) == (side in sides)
    assert found.compared == 120
    assert not found.departures


def late_network(kind, *layers):
    """An edit by which a script calls a network of its own after 48 steps."""
    made = f"nn.{kind}({', '.join(layers)})"
    return ("    for start", f"    if epoch == 6:\n        {made}(x)\n    for start")


def test_a_network_that_is_made_anew_answers_as_the_one_before(late):
    port = late_network("SequentialCell", "nn.Dense(6, 8)", "nn.Tanh()", "nn.Dense(8, 3)")
    original = late_network("Sequential", "nn.Linear(6, 8)", "nn.Tanh()", "nn.Linear(8, 3)")
    found = late(port, reference=[original])
    assert found.compared == 120
    assert not found.departures
    assert len(found.notes) == 1


def test_at_a_network_that_the_first_steps_do_not_call_a_dry_run_ends(late):
    other = late_network("Sequential", "nn.Linear(6, 5)")
    found = late(reference=[other])
    assert found.compared == 48
    told = "the dry run of the original ends there: Sequential is first called after 48 steps"
    assert told in " ".join(found.notes)
