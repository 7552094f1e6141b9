"""Right curves stay inside the band, wrong ones leave it at their step."""

import numpy as np
import pytest

from equivalence import DeclarationError, curve
from equivalence.__main__ import main
from tests.engine.curves import trainings as own

STEPS = 24


def compared(candidate, steps=STEPS, runs=3):
    return curve(own.train, candidate, steps=steps, runs=runs)


def test_a_right_port_stays_inside_and_is_not_called_equal():
    result = compared(own.port)
    assert result
    assert "cannot be told apart" in str(result)
    assert "equal" not in str(result)
    assert "a difference shows from this share of the value on" in str(result)
    assert result.unsound is None


@pytest.mark.parametrize("runs", [2, 6])
def test_more_or_fewer_runs_refuse_no_right_port(runs):
    assert compared(own.port, runs=runs)


@pytest.mark.parametrize(
    ("candidate", "step", "words"),
    [
        (own.late, 3, "the learning rate one step late"),
        (own.early, 2, "the learning rate one step early"),
        (own.without_momentum, 3, "momentum lost"),
        (own.decaying_norms, 2, "weight decay on all weights, norms and biases too"),
        (own.unsmoothed, 1, "label smoothing lost"),
        (own.scaled, 1, "a factor of 0.50"),
        (own.nesterov_port, 2, "Nesterov's momentum for plain, or the reverse"),
    ],
)
def test_a_mistake_leaves_the_band_at_its_step_and_what_fits_is_said(candidate, step, words):
    result = compared(candidate)
    (left,) = [metric for metric in result.metrics if metric.differs]
    assert not result
    assert (left.reference, left.leaving.step) == ("loss", step)
    assert any(words in fit for fit in left.fits)


def test_another_shuffle_leaves_at_the_first_step_before_any_update():
    result = compared(own.shuffled)
    assert result.metrics[0].leaving.step == 1
    assert "before any update" in str(result)


def test_a_mistake_that_sets_in_later_is_found_there():
    result = compared(own.late_from_ten)
    assert 11 <= result.metrics[0].leaving.step <= 13
    assert "values that agree" in str(result)


def test_a_difference_below_the_band_cannot_be_told_apart():
    def slightly(steps):
        for told in own.train(steps):
            yield {**told, "loss": told["loss"] * (1 + 2**-24)}

    result = compared(slightly)
    assert result
    assert "cannot be told apart" in str(result)


def test_nothing_that_is_not_finite_stays_inside():
    def breaking(steps):
        for step, told in enumerate(own.train(steps)):
            yield {**told, "loss": np.nan if step == 6 else told["loss"]}

    assert compared(breaking).metrics[0].leaving.step == 7


def test_a_reference_that_differs_from_itself_is_refused():
    with pytest.raises(DeclarationError, match="another loss each time"):
        curve(own.unseeded, own.unseeded, steps=5, runs=2)


def test_a_rate_with_few_values_has_no_quantum():
    def wrong_rate(steps):
        for step, told in enumerate(own.train(steps)):
            yield {**told, "rate": 0.1 if step < 12 else 0.02}

    def right(steps):
        for step, told in enumerate(own.train(steps)):
            yield {**told, "rate": 0.1 if step < 12 else 0.01}

    result = curve(right, wrong_rate, steps=STEPS, runs=2)
    assert [(each.reference, each.leaving.step) for each in result.metrics if each.differs] == [
        ("rate", 13)
    ]


def test_the_command_has_the_exit_codes_of_compare(capsys, tmp_path):
    here = own.__name__
    given = ["--steps", "8", "--runs", "2"]
    assert main(["curve", f"{here}:train", f"{here}:port", *given]) == 0
    image, found = tmp_path / "curve.svg", tmp_path / "curve.json"
    extra = ["--picture", str(image), "--json", str(found)]
    assert main(["curve", f"{here}:train", f"{here}:late", *given, *extra]) == 1
    told = capsys.readouterr().out
    assert "loss: 8 steps, 1 to 8; 2 noisy runs of the reference" in told
    assert "outside the band in 1 of 2 metrics, from step 3 on" in told
    assert image.read_text().startswith("<svg")
    assert '"inside": false' in found.read_text()


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        (["nowhere.csv", "nowhere.csv"], "is neither a file nor MODULE:FUNCTION"),
        ([__file__, "{here}:train"], f"names no class or function; write {__file__}:"),
        (["{here}:train", "{here}:nothing"], "has no attribute 'nothing'"),
        (["{here}:BATCH", "{here}:train"], "is an int; name a function that trains"),
        (["{here}:rate", "{here}:train"], "is called with steps and seed alone"),
        (["{here}:train", "{here}:train", "--runs", "1"], "runs is 1; it must be at least 2"),
    ],
)
def test_a_mistake_of_the_user_is_one_sentence(sides, words, capsys):
    assert main(["curve", *(each.format(here=own.__name__) for each in sides)]) == 2
    assert words in capsys.readouterr().err


def test_a_metric_that_is_told_now_and_then_is_not_said_to_differ_before_any_update():
    def every_five(candidate):
        def training(steps):
            for step, told in enumerate(candidate(steps), 1):
                yield {"loss": told["loss"]} if step % 5 == 0 else {"rate": told["rate"]}

        return training

    result = curve(every_five(own.train), every_five(own.late), steps=10, runs=2)
    assert not result
    assert "at the first value that is there" in str(result)


def test_only_what_changes_the_reference_is_said_to_fit():
    (left,) = [metric for metric in compared(own.late, steps=12).metrics if metric.differs]
    assert left.fits == ("the learning rate one step late",)


def test_a_schedule_that_depends_on_all_steps_is_that_of_all_steps_in_shorter_runs():
    def cosine(late):
        def training(steps):
            plain = own.rate
            own.rate = lambda step: 0.1 * (1 - step / steps)
            try:
                yield from own.train(steps, late=late)
            finally:
                own.rate = plain

        return training

    right = curve(cosine(0), cosine(0), steps=30, runs=2)
    assert right
    wrong = curve(cosine(0), cosine(1), steps=30, runs=3)
    assert "the learning rate one step late" in wrong.metrics[0].fits


def test_a_reference_that_noise_does_not_reach_is_told():
    def halving(steps):
        yield from (0.5**step for step in range(steps))

    assert "noise moved nothing" in str(curve(halving, halving, steps=6, runs=2))
    assert "noise moved nothing" not in str(compared(own.train, steps=6, runs=2))
