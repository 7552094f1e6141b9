"""Curves of files: each way in which a run leaves one."""

import json
from pathlib import Path

import numpy as np
import pytest

from equivalence import DeclarationError, curve
from equivalence.curves.read import read
from equivalence.curves.series import half_digit

VALUES = [1.0, 0.5, 0.25]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "step,loss,note\n1,1.000,x\n2,0.500,y\n3,0.250,z\n"),
        ("a.csv", "loss\n1.0\n0.5\n0.25\n"),
        (
            "a.jsonl",
            '{"step": 1, "loss": 1.0}\n{"step": 2, "loss": 0.5}\n{"step": 3, "loss": 0.25}\n',
        ),
        ("a.json", json.dumps([{"loss": each} for each in VALUES])),
        (
            "a.log",
            "epoch: 1 step: 1, loss is 1.0\nepoch: 1 step: 2, loss is 0.5\n"
            "Train epoch time: 12.3 ms, per step time: 6.1 ms\nepoch: 2 step: 1, loss is [0.25]\n",
        ),
        ("a.log", "Epoch 0 Step 1 Loss: 1.0\nEpoch 0 Step 2 Loss: .5\nEpoch 1 Step 3 Loss .25\n"),
        ("a.log", "start\niter 1 | lr 0.1 | loss: 1.0\niter 2 loss: 5e-1\niter 3 loss=0.25\n"),
    ],
)
def test_losses_and_steps_are_read(tmp_path, name, text):
    series = read(written(tmp_path, name, text)).metrics["loss"]
    assert series.values.tolist() == VALUES
    assert series.steps.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("step 1: loss -0.51", -0.51),
        ("step 1 loss: -0.51", -0.51),
        ("step 1 loss=-0.51", -0.51),
        ("step 1 loss (-.5)", -0.5),
        ("step 1 {'loss': -0.51, 'lr-0.1': 1}", -0.51),
        ("step 1 loss +0.5", 0.5),
        ("step 1 loss 1e-05", 1e-5),
        ("step 1 loss: -1.2e+03", -1200.0),
        ("step 1 loss nan", np.nan),
        ("step 1 loss: -inf", -np.inf),
        ("epoch 1-5 step 1 loss-0.5", 0.5),
        ("step 1 loss 3-5", 3.0),
        ("step 1 info: loss info 7, loss 0.5", 0.5),
    ],
)
def test_the_sign_of_a_loss_is_read_and_a_hyphen_is_none(tmp_path, text, value):
    series = read(written(tmp_path, "a.log", text)).metrics["loss"]
    assert series.values == pytest.approx([value], nan_ok=True)
    assert series.steps.tolist() == [1]


@pytest.mark.parametrize(
    ("lines", "steps"),
    [
        ("Epoch [{epoch}/2], Step [{step}/40], Loss: 0.5", [10, 20, 50, 60]),
        ("epoch {epoch} step {step} loss 0.5", [10, 20, 30, 40]),
        ("epoch: {epoch} step: {step}, loss is 0.5", [10, 20, 30, 40]),
    ],
)
def test_steps_that_each_epoch_counts_are_numbered_through(tmp_path, lines, steps):
    rows = [lines.format(epoch=epoch, step=step) for epoch in (1, 2) for step in (10, 20)]
    assert read(written(tmp_path, "a.log", "\n".join(rows))).metrics["loss"].steps.tolist() == steps


def test_steps_from_0_on_of_each_epoch_do_not_meet(tmp_path):
    rows = [f"Epoch {epoch}, iter {step}: loss 0.5" for epoch in (0, 1) for step in (0, 1)]
    log = written(tmp_path, "a.log", "\n".join(rows))
    assert read(log).metrics["loss"].steps.tolist() == [0, 1, 2, 3]


def test_a_table_beside_a_log_needs_no_pattern(tmp_path):
    table = written(tmp_path, "a.csv", "step,loss\n1,0.5\n")
    log = written(tmp_path, "a.log", "[1] cost 0.5\n")
    assert curve(table, log, pattern=r"\[(?P<step>\d+)\] cost (?P<loss>\S+)")


def test_a_pattern_names_its_metrics(tmp_path):
    log = written(tmp_path, "a.txt", "[7] train=0.50 top1=0.25\nbeside\n[8] train=0.40 top1=0.50\n")
    curve_of = read(log, r"\[(?P<step>\d+)\] train=(?P<loss>\S+) top1=(?P<accuracy>\S+)")
    assert curve_of.metrics["accuracy"].values.tolist() == [0.25, 0.5]
    assert curve_of.metrics["loss"].steps.tolist() == [7, 8]
    assert curve_of.unread == 1


def test_what_a_log_holds_is_half_of_its_last_digit():
    assert [half_digit(each) for each in ("0.250", "2.5e-3", "3", "nan")] == [5e-4, 5e-5, 0.5, 0.0]
    assert half_digit("0.12345678901234567") == 0.0


@pytest.mark.parametrize(
    ("name", "text", "pattern", "words"),
    [
        ("a.log", "nothing here\n", None, "no line tells a loss that is known; give --pattern"),
        ("a.log", "loss 1\n", "(", "is no regular expression"),
        ("a.log", "loss 1\n", "loss", "names no metric"),
        ("a.log", "\nlos 1\n", r"loss (?P<loss>\d)", r"fits no line of .*a.log, such as 'los 1'"),
        ("a.log", "loss 1,\n", r"loss (?P<loss>\S+)", "1 row and no number .*, such as '1,'"),
        ("a.csv", "a,b\nx,y\n", None, "1 row and no number of a metric in them, such as 'x'"),
        ("a.jsonl", "{no", None, "line 1 is no JSON object"),
        ("events.out.tfevents.1", "", None, "TensorBoard's, whose package is not installed"),
    ],
)
def test_what_cannot_be_read_is_told_with_the_cure(tmp_path, name, text, pattern, words):
    with pytest.raises(DeclarationError, match=words):
        read(written(tmp_path, name, text), pattern)


def logs(folder, theirs, ours, digits=6):
    made = []
    for name, values in (("a.csv", theirs), ("b.csv", ours)):
        text = "loss\n" + "\n".join(f"{each:.{digits}f}" for each in values)
        made.append(written(folder, name, text))
    return curve(*made)


RANDOM = np.random.default_rng(0)
CURVE = 2 * np.exp(-np.arange(60) / 30) + 0.2 * RANDOM.random(60)


def test_logs_with_the_same_digits_are_not_called_equal(tmp_path):
    result = logs(tmp_path, CURVE, CURVE + 1e-8)
    assert result
    assert "the same to within the last digit" in str(result)
    assert "what they do not hold, they cannot tell" in str(result)
    assert "equal" not in str(result)


@pytest.mark.parametrize(
    ("ours", "words"),
    [
        (CURVE * 1.5, "a factor of 1.5"),
        (CURVE + 0.25, "an offset of 0.25"),
        (np.concatenate([CURVE[:1], CURVE[:-1]]), "the reference's curve 1 step late"),
        (np.concatenate([CURVE[1:], CURVE[-1:]]), "the reference's curve 1 step early"),
        (RANDOM.permutation(CURVE), "the same values in another order"),
        (CURVE + 0.3 * RANDOM.random(60), "none of what is tried"),
    ],
)
def test_what_fits_two_logs_is_said(tmp_path, ours, words):
    result = logs(tmp_path, CURVE, ours)
    assert not result
    assert words in str(result)


def test_a_small_difference_that_grows_may_be_rounding_and_a_jump_is_not(tmp_path):
    growing = CURVE * (1 + 1e-6 * 1.2 ** np.arange(60))
    result = logs(tmp_path, CURVE, growing, digits=8)
    assert not result
    assert "logs alone cannot tell rounding from a small mistake" in str(result)
    jumping = np.where(np.arange(60) < 20, CURVE, CURVE + 0.1)
    told = str(logs(tmp_path, CURVE, jumping, digits=8))
    assert "the digits part at step 21" in told
    assert "this comes at one step" in told


def test_metrics_that_do_not_pair_up_are_told(tmp_path):
    one = written(tmp_path, "a.csv", "loss,top\n1,2\n")
    other = written(tmp_path, "b.csv", "cost,acc\n1,2\n")
    with pytest.raises(DeclarationError, match="no metric pairs up"):
        curve(one, other)
    assert curve(one, other, rename={"cost": "loss"})
    with pytest.raises(DeclarationError, match="has no loss"):
        curve(one, other, rename={"loss": "loss"})


def test_a_log_that_differs_from_its_first_row_on_is_not_said_to_differ_before_any_update(tmp_path):
    told = str(logs(tmp_path, CURVE, CURVE * 1.5))
    assert "at the first value that is there" in told
    assert "before any update" not in told


def test_beside_a_value_of_0_a_difference_is_no_share_of_it(tmp_path):
    values = np.array([0.0, 0.5])
    told = str(logs(tmp_path, values, values, digits=1))
    assert "differences from 2.0e-01 of the value on, and from 1.0e-01 on where it is 0" in told
    assert "differences from 1.0e-01 on where it is 0" in str(logs(tmp_path, [0.0], [0.0], 1))
    assert "part at step 1, by 0.25 from 0;" in str(logs(tmp_path, values, values + 0.25, 2))
    assert "e+30" not in told
