"""Two monitored trainings beside each other: what departs first, and at which step."""

import json

import numpy as np
import pytest

from equivalence import curve
from equivalence.__main__ import main
from equivalence.curves import monitored
from equivalence.errors import DeclarationError

NAMES = {
    "rate": 0.1,
    "activations/input": 5.0,
    "activations/conv": 4.0,
    "activations/fc": 2.0,
    "activations/output": 2.0,
    "loss": 1.5,
    "gradients/conv.weight": 0.3,
    "gradients/conv.bias": 1e-9,
    "gradients/fc.weight": 0.7,
    "updates/conv.weight": 0.03,
    "updates/fc.weight": 0.07,
    "weights/bn.weight": 2.0,
    "weights/fc.weight": 3.0,
}
OTHERS = {"weights/bn.weight": "weights/bn.gamma"}


def nothing(step, row):
    """A change that changes nothing."""


def write(path, change=nothing, steps=8, renamed=False, end=True, noise=0.0):
    """The file of a monitor, whose rows are changed."""
    draws = np.random.default_rng(1)
    made = {"monitor": 1, "framework": "torch", "version": "2", "mode": "eager", "every": 1}
    lines = [json.dumps(made)]
    for step in range(steps):
        grown = {n: v * (1 + noise * 2.0**step * draws.uniform(-1, 1)) for n, v in NAMES.items()}
        row = {"step": step, **grown}
        change(step, row)
        if renamed:
            row = {OTHERS.get(name, name): value for name, value in row.items()}
        lines.append(json.dumps(row))
    if end:
        lines.append(json.dumps({"end": True, "notes": ["it was seen"]}))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def both(tmp_path):
    """Compares two files, of which the candidate's is changed."""

    def run(change=nothing, **options):
        theirs = write(tmp_path / "a.jsonl")
        return curve(theirs, write(tmp_path / "b.jsonl", change, **options))

    return run


def test_the_same_norms_are_the_same_and_names_of_mindspore_pair_up(both):
    result = both(renamed=True)
    assert result
    assert result.pairs["weights/bn.gamma"] == "weights/bn.weight"
    assert result.lines()[-1] == "the same to within the last digits of 13 norms"


def at(step, names, factor=1.01):
    """A change of norms from a step on."""

    def change(number, row):
        if number >= step:
            for name in names:
                row[name] *= factor

    return change


FORWARD = ("activations/conv", "activations/fc", "activations/output", "loss")
BACKWARD = ("gradients/conv.weight", "gradients/fc.weight")


@pytest.mark.parametrize(
    ("names", "first"),
    [
        ((*FORWARD, *BACKWARD), "activations/conv"),
        (("loss", *BACKWARD), "loss"),
        (BACKWARD, "gradients/fc.weight"),  # in the order of the backward pass
        (("updates/fc.weight", "updates/conv.weight", "rate"), "rate"),
        (("weights/fc.weight", "updates/fc.weight"), "updates/fc.weight"),
    ],
)
def test_what_departs_first_is_named_by_step_kind_and_layer(both, names, first):
    result = both(at(3, names))
    assert not result
    assert {norm.name for norm in result.departing} == {*names}
    assert (result.departing[0].step, result.departing[0].name) == (3, first)
    told = result.lines()
    begin = f"departs at step 3, first {monitored.words(first)}"
    assert any(line.startswith(begin) for line in told)
    assert "  before it no digit differs" in told
    assert told[-1] == f"different in {len(names)} of 13 norms, from step 3 on"


def test_rounding_before_a_departure_is_told_to_be_in_digits_alone(both):
    def change(number, row):
        row["weights/fc.weight"] *= 1.01 if number >= 3 else 1.0 + 1e-5

    told = both(change).lines()
    assert any(line.startswith("departs at step 3, ") for line in told)
    end = "at once from step 3 on; before it in digits alone, from step 0 on"
    assert told[-1] == f"different in 1 of 13 norms, {end}"


def test_a_difference_in_the_first_step_is_told_to_be_there_from_the_start(both):
    told = both(at(0, ["weights/fc.weight"])).lines()
    assert any("it is the first step: weights, data or settings differ" in line for line in told)


def test_differences_that_grow_are_not_called_a_departure_nor_the_same(both):
    result = both(noise=1e-7)
    assert not result
    assert result.departing == ()
    assert any(line.startswith("no norm departs at once") for line in result.lines())


def test_a_departure_among_growing_differences_is_found(both):
    result = both(at(5, ["updates/fc.weight"]), noise=1e-7)
    assert [norm.name for norm in result.departing] == ["updates/fc.weight"]


def test_what_is_made_of_rounding_alone_does_not_depart(both):
    result = both(at(0, ["gradients/conv.bias"], 40.0))
    assert result.departing == ()


def test_where_numbers_stop_being_finite_is_told(both):
    def change(step, row):
        if step >= 4:
            row["first_not_finite"] = "activations/fc"
            row["activations/fc"] = float("nan")

    result = both(change)
    told = "\n".join(result.lines())
    assert "b.jsonl is not finite from step 4 on, first the activations of fc" in told
    assert result.departing[0].name == "activations/fc"
    assert result.document()["not_finite"] == [None, 4]


def test_steps_that_both_have_are_compared_and_names_that_one_has_are_told(both):
    def change(_, row):
        row["weights/extra"] = 1.0

    result = both(change, steps=5)
    assert result.steps == (0, 1, 2, 3, 4)
    assert not result
    assert any("alone has weights/extra" in line for line in result.lines())


def test_a_run_that_goes_on_is_read_without_its_half_line(tmp_path):
    theirs, ours = write(tmp_path / "a"), write(tmp_path / "b", end=False)
    ours.write_text(ours.read_text() + '{"step": 8, "lo')
    result = monitored.compare(theirs, ours, {})
    assert result
    assert any(line.endswith("b: the run has not come to its end") for line in result.lines())


def test_what_cannot_be_compared_is_one_sentence(tmp_path):
    theirs = write(tmp_path / "a.jsonl")
    damaged = write(tmp_path / "damaged.jsonl")
    damaged.write_text(damaged.read_text().replace('"step": 2', '"step: 2'))
    empty = write(tmp_path / "empty.jsonl", steps=0)
    later = write(tmp_path / "later.jsonl", lambda step, row: row.update(step=step + 100))
    log = tmp_path / "log.csv"
    log.write_text("step,loss\n1,2.0\n")
    for other, words in (
        (damaged, "line 4 is damaged"),
        (empty, "holds no step"),
        (later, "no step is on both sides"),
        (log, "the other side is not"),
    ):
        with pytest.raises(DeclarationError, match=words):
            curve(theirs, other)
    with pytest.raises(DeclarationError, match="is in no name of the candidate"):
        curve(theirs, theirs, rename={"head": "fc"})


def test_the_command_prints_and_writes_it(tmp_path, capsys):
    theirs = write(tmp_path / "a.jsonl")
    ours = write(tmp_path / "b.jsonl", at(3, ["updates/fc.weight"]))
    found = tmp_path / "r.json"
    assert main(["curve", str(theirs), str(theirs)]) == 0
    assert main(["curve", str(theirs), str(ours), "--json", str(found)]) == 1
    assert "departs at step 3, first the updates of fc.weight" in capsys.readouterr().out
    assert json.loads(found.read_text())["departing"][0]["step"] == 3
    assert main(["curve", str(theirs), str(ours), "--picture", str(tmp_path / "p.svg")]) == 2
