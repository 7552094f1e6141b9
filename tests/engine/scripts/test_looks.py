"""Trainings in half precision: which layers to keep in float32, and where numbers overflow."""

import pytest

from equivalence.errors import DeclarationError, SideError
from equivalence.scripts.judging import RunVerdict, StepDeparture
from equivalence.scripts.looks import NO_FAULTS, NOTHING_FITS, Faults, Looks
from equivalence.scripts.steps import TrainingRun
from equivalence.scripts.text import lines

NONE_KEPT = ('kept = "norm"', 'kept = "none"')
FLOAT32 = (
    ("with torch.autocast", "with torch.autocast('cpu', enabled=False), torch.autocast"),
    (
        '"cpu", torch.float16',
        '"cpu", torch.float16, enabled=False',
    ),
)
LARGE = ("1024.0", "2097152.0")


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3"])
def test_a_right_port_in_half_precision_is_equal(compared, level):
    result = compared("half", ('"O3"', f'"{level}"'), steps=2)
    assert result, lines(result)


def test_the_layer_that_overflows_is_named_with_its_operator_and_found_by_trying(compared):
    result = compared("half", NONE_KEPT, steps=1)
    assert not result
    assert result.kept.layers == ("norm",)
    assert result.kept.count == 5
    step, overflow = result.overflows["candidate"]
    assert (step, overflow.passing) == (1, True)
    assert overflow.told == "Mul gives infinity in float16 in norm"
    assert overflow.line.endswith("variance = (x * x).mean(-1, True)")
    assert "reference" not in result.overflows
    told = "\n".join(lines(result))
    assert "with which this step is right (1 of 5 layers in half precision" in told
    assert "    write net.norm.to_float(mindspore.float32)" in told


def test_trials_that_cannot_run_are_counted_and_told(compared):
    demanding = """x = self.mix(x)
        if x.dtype != ms.float16:
            raise TypeError("half precision alone")
        return self.fc(ops.relu(x))"""
    result = compared(
        "half", ("return self.fc(ops.relu(self.mix(x)))", demanding), NONE_KEPT, steps=1
    )
    assert not result
    assert (result.kept.layers, result.kept.failed) == ((), 1)
    told = "1 trial, of which 1 could not run: "
    (line,) = (line for line in lines(result) if told in line)
    assert "half precision alone" in line
    assert not any("precision is not the reason" in line for line in lines(result))


def test_level_o1_hides_no_setting(compared):
    counts = [
        compared("half", ('"O3"', f'"{level}"'), steps=1).settings["Net"].compared
        for level in ("O0", "O1")
    ]
    assert counts[0] == counts[1] > 15


def test_another_mistake_is_told_not_to_be_the_precision_s(compared):
    result = compared("half", ("ops.relu(self.mix(x))", "ops.tanh(self.mix(x))"), steps=1)
    assert not result
    assert result.kept.layers == result.kept.casting == ()
    assert any(
        line.startswith("  precision is not the reason: with all ") for line in lines(result)
    )


def test_casts_in_the_code_are_told_to_withstand_the_trials(compared):
    mix = "self.mix(x.astype(ms.float16)).astype(ms.float16) * ms.Tensor(8.0, ms.float16)"
    result = compared("half", ("self.mix(x)", mix), steps=1)
    assert not result
    assert result.kept.casting
    assert any("was not found by trying" in line for line in lines(result))


def test_a_layer_in_another_precision_is_told_beside_the_original_s(compared):
    result = compared("half", steps=1, reference=[FLOAT32[1]])
    assert not result
    assert result.coarser == "computed in float16, and in float32 in the original"
    first = next(line for line in lines(result) if line.startswith("    first in"))
    assert first.endswith(f"conv (Conv2d), {result.coarser}")


SMALL = ("3000.0 * self.conv", "self.conv")


@pytest.mark.parametrize("kept", ["nothing", "norm"])
def test_a_norm_in_half_precision_in_the_port_alone_is_told_where_nothing_departs(compared, kept):
    single = (
        "self.norm(self.conv(x).mean((2, 3)))",
        "self.norm(self.conv(x).mean((2, 3)).float())",
    )
    edits = [SMALL, ('kept = "norm"', f'kept = "{kept}"')]
    result = compared("half", *edits, steps=1, reference=[SMALL, single])
    assert result, lines(result)
    assert dict(result.halves) == ({} if kept == "norm" else {"norm": "float16"})
    told = any("in half precision in the port alone: norm (float16)" in x for x in lines(result))
    assert told == bool(result.halves)


def test_updates_that_are_skipped_for_an_overflow_are_right_on_both_sides(compared):
    result = compared("half", LARGE, reference=[LARGE], steps=1)
    assert result, lines(result)
    assert result.theirs.steps[0].overflows == result.ours.steps[0].overflows > 0


def test_an_update_that_is_not_skipped_is_told(compared):
    edit = ("    if finite:\n", "    if True:\n")
    result = compared("half", LARGE, edit, reference=[LARGE], steps=1)
    first = result.verdict.departures[0]
    assert (
        "the original skips an update whose gradients overflow, and the port does not" in first.told
    )
    _, overflow = result.overflows["candidate"]
    assert overflow.told.startswith(
        "the backward pass gives NaN or infinity, first in the gradient"
    )
    assert ": " in overflow.line


def test_the_operator_for_which_one_side_alone_skips_an_update_is_named(compared):
    result = compared("half", reference=[LARGE], steps=1)
    first = result.verdict.departures[0]
    assert "the original skips an update whose gradients overflow" in first.told
    step, overflow = result.overflows["reference"]
    assert (step, overflow.passing, "candidate" in result.overflows) == (1, True, False)
    assert overflow.told == "mm gives NaN in float16 in the backward pass"
    assert "half_torch.py:" in overflow.line
    assert result.fits == NOTHING_FITS


def test_nothing_is_looked_for_in_a_right_port(compared):
    result = compared("plain", steps=1)
    assert (result.kept, result.overflows, result.coarser) == (None, {}, "")
    assert result.halves == {}


def test_a_script_that_skips_every_update_is_an_error_that_says_so(compared):
    with pytest.raises(DeclarationError, match="gradients of 6 backward passes overflow"):
        compared("half", ("1024.0", "1e12"), reference=[("1024.0", "1e12")])


@pytest.mark.parametrize(
    ("edit", "fits"),
    [
        (("range(16)]", "[0, *range(15)]]"), ("the learning rate one step late",)),
        (
            ("grads = ops.clip_by_global_norm(grads, 0.5)", "pass"),
            ("clipping of gradients lost",),
        ),
        (("label_smoothing=0.1", "label_smoothing=0.0"), ("label smoothing lost",)),
        (("self.fc(self.drop(x))", "1.01 * self.fc(self.drop(x))"), ()),
    ],
)
def test_what_fits_is_found_by_running_the_reference_with_a_mistake(compared, edit, fits):
    result = compared("plain", edit)
    assert not result
    assert result.fits.found == fits
    told = [line for line in lines(result) if "fits" in line]
    if fits:
        assert told == [f"  fits: {each}" for each in fits]
    else:
        tried, failed = result.fits.tried, result.fits.failed
        (none,) = told
        assert none.startswith(f"  fits: none of {tried - failed} mistakes that were tried")


def test_nothing_is_tried_on_a_right_port(compared):
    told = []
    assert compared("plain", tell=told.append).fits == NOTHING_FITS
    assert not any("mistakes" in each for each in told)


UNDER_AUTOCAST = [
    (
        "            loss = nn.functional.mse_loss(net(x), y)",
        '            with torch.autocast("cpu", torch.float16):\n'
        "                loss = nn.functional.mse_loss(net(x), y)",
    )
]
MANAGED = (
    (
        "Model(net, nn.MSELoss(), optimizer)",
        'Model(net, nn.MSELoss(), optimizer, amp_level="O2", '
        "loss_scale_manager=FixedLossScaleManager(1024.0, False))",
    ),
    ("import Callback,", "import FixedLossScaleManager, Callback,"),
)
UNSCALED = ("weight_decay=0.05)", "weight_decay=0.05, loss_scale=1024.0)")


@pytest.mark.parametrize("is_right", [True, False])
def test_a_model_with_its_level_and_its_loss_scale_manager(compared, is_right):
    edits = [*MANAGED, UNSCALED] if is_right else MANAGED
    result = compared("model", *edits, reference=UNDER_AUTOCAST, steps=2, eager=True)
    assert bool(result) is is_right, lines(result)
    if not is_right:
        assert result.verdict.departures[0].stage == "clipping"


SELU = (
    ('ops.gelu(self.bn(self.conv(x)), approximate="none")', "ops.selu(self.bn(self.conv(x)))"),
    ("functional.gelu(", "functional.selu("),
)


def test_a_port_that_only_meets_a_fault_of_mindspore_is_told_to_be_right(compared):
    result = compared("plain", SELU[0], reference=[SELU[1]], steps=2)
    assert not result
    assert result.faults.explain_all
    assert result.fits == NOTHING_FITS  # nothing is left to be explained
    (told,) = result.faults.told
    assert "selu is wrong (finding selu_gradient); write" in told
    assert "    with what is right there nothing else differs: the port is right" in lines(result)


def test_a_mistake_beside_a_fault_stays_the_port_s(compared):
    decay = ("weight_decay=1e-2", "weight_decay=1e-3")
    clip = ("ops.clip_by_global_norm(grads, 0.5)", "ops.clip_by_global_norm(grads, 0.4)")
    result = compared("plain", SELU[0], clip, decay, reference=[SELU[1]], steps=2)
    assert [len(result.faults.told), result.faults.explain_all] == [1, False]
    assert result.faults.rest.stage == "clipping"
    told = lines(result)
    assert any(line.startswith("  besides, clipping: ") for line in told)
    assert not any("the port is right" in line for line in told)


def test_a_mistake_that_no_fault_explains_is_told_of_none(compared):
    mistake = ("ops.avg_pool2d(x, 2, 2)", "ops.avg_pool2d(x, 2, 2) * 1.01")
    result = compared("plain", mistake, steps=1)
    assert not result
    assert result.faults == NO_FAULTS


def test_faults_that_cannot_be_tried_are_told():
    def raising(*_, **__):
        raise SideError("the candidate train.py raised TypeError\nmore")

    departure = StepDeparture(1, "gradients", "w", "is off", roundings=99.0)
    looks = Looks(
        raising,
        raising,
        TrainingRun([]),
        TrainingRun([]),
        RunVerdict([departure]),
        {},
        lambda _: None,
    )
    found = looks.faults(None, [object()])
    assert found == Faults(failed="the candidate train.py raised TypeError")
    assert not found.explain_all
