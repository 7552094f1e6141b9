"""Training scripts as they stand: right ports pass, and mistakes are named where they are."""

import pytest
import torch

from equivalence.distributed import alone
from equivalence.errors import SideError, WeightError
from equivalence.scripts.running import ScriptTraining
from equivalence.scripts.steps import UNCOMPILED
from equivalence.scripts.text import lines
from equivalence.stand_ins.loss_scales import CHECKED
from equivalence.stream import observer
from tests.engine.scripts.mistakes import MISTAKES, STYLES

ONE_OF_EACH = [next(each for each in MISTAKES if each.pair == pair) for pair in STYLES]


@pytest.mark.parametrize("pair", STYLES)
def test_a_right_port_is_equal(compared, pair):
    result = compared(pair)
    assert result, lines(result)
    assert len(result.ours.steps) == 3
    assert result.verdict.compared >= 3 * len(result.theirs.steps[0].weights)
    assert result.verdict.notes == []
    assert result.ours.stand_ins == ()
    both = [alone.ALONE] * (pair == "ddp")
    assert result.theirs.notes == both
    assert result.ours.notes == both + [CHECKED] * (pair == "manager")


@pytest.mark.parametrize("mistake", ONE_OF_EACH, ids=lambda each: f"{each.pair}: {each.name}")
def test_a_mistake_is_named_by_step_stage_and_line(compared, mistake):
    result = compared(mistake.pair, (mistake.old, mistake.new))
    first = result.verdict.departures[0]
    assert not result
    assert (first.step, first.stage) == (mistake.step, mistake.stage)
    assert mistake.line in first.line


def test_dropout_is_pinned_and_its_share_compared(compared):
    result = compared("plain", ("nn.Dropout(p=0.2)", "nn.Dropout(p=0.3)"), steps=1)
    assert not result
    assert not result.verdict.departures
    assert any("p 0.2 (reference) 0.3 (candidate)" in line for line in lines(result)) or any(
        "p is 0.3 in the port and 0.2 in the original" in line for line in lines(result)
    )
    assert result.theirs.pinned == result.ours.pinned == 1


def test_what_the_reference_draws_is_handed_over(compared):
    result = compared("gan", steps=2)
    drawn = [given.drawn for call in result.theirs.steps[0].calls for given in call.inputs]
    assert drawn == [True, False, False]
    assert result
    assert all(step.replayed for step in result.ours.steps)
    assert not result.verdict.unseen


def test_after_other_data_the_reference_s_batch_is_judged(compared):
    edit = ("np.random.default_rng(epoch)", "np.random.default_rng(epoch + 1)")
    result = compared("plain", edit)
    assert {each.stage for each in result.verdict.departures} == {"data"}
    assert {each.name for each in result.verdict.departures} == {"input 0", "target"}


def test_a_port_that_ends_early_is_named(compared):
    result = compared("plain", ("range(0, 64, 8)", "range(0, 16, 8)"), ("range(2)", "range(1)"))
    assert "after 2 steps" in result.verdict.departures[-1].told
    assert not result


PARAMS = '[{"params": net.trainable_params()}]'
LEFT_OUT = '[{"params": [w for w in net.trainable_params() if "conv" not in w.name]}]'
ZEROS = (
    "        optimizer(grads)",
    "        of = zip(optimizer.parameters, grads)\n"
    '        optimizer(tuple(g * float("conv" not in w.name) for w, g in of))',
)
UNDECAYED = (
    PARAMS,
    '[{"params": [w for w in net.trainable_params() if "conv" not in w.name]},\n'
    '    {"params": [w for w in net.trainable_params() if "conv" in w.name], "weight_decay": 0.0}]',
)


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ([(PARAMS, LEFT_OUT)], ""),
        ([UNDECAYED, ZEROS], ""),
        ([ZEROS], "update: conv.bias is off"),
        ([], "is updated by the optimiser, which does not have it in the original"),
    ],
)
def test_a_weight_may_be_frozen_by_its_optimiser_as_well_as_by_itself(compared, edits, told):
    frozen = ("net = Net()", "net = Net()\nnet.conv.requires_grad_(False)")
    # Over its own weights PyTorch's norm is that of what it trains.
    unclipped = ("        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)\n", "")
    unbounded = ("        grads = ops.clip_by_global_norm(grads, 0.5)\n", "")
    result = compared("plain", unbounded, *edits, reference=[frozen, unclipped], steps=2)
    assert bool(result) is (not told)
    assert told in "\n".join(lines(result))
    by_zeros = [note for note in result.verdict.notes if "frozen by gradients of zeros" in note]
    assert len(by_zeros) == (2 if ZEROS in edits else 0)


FOR_ASCEND = (
    "net = Net()",
    "ms.set_context(mode=ms.GRAPH_MODE, device_target='Ascend')\nnet = Net()",
)


@pytest.mark.filterwarnings("ignore:it asks for Ascend")
def test_a_port_that_compiles_all_of_its_steps_runs_in_pynative_mode_and_that_is_told(compared):
    result = compared("plain", FOR_ASCEND, steps=2)
    assert result, lines(result)
    assert result.ours.notes == [UNCOMPILED]
    clipped = ("grads = ops.clip_by_global_norm(grads, 0.5)", "pass")
    wrong = compared("plain", FOR_ASCEND, clipped, steps=1)
    assert (wrong.verdict.departures[0].step, wrong.verdict.departures[0].stage) == (1, "clipping")


def test_a_port_that_is_written_for_an_ascend_runs_where_it_is_compared(compared, monkeypatch):
    monkeypatch.setattr(observer, "_warned", set())
    with pytest.warns(UserWarning, match="it asks for Ascend, and runs on the CPU on which it is"):
        assert compared("plain", (FOR_ASCEND[0], FOR_ASCEND[1].replace("GRAPH", "PYNATIVE")))


RAISING = ("print(epoch, start, loss)", "assert start < 8, 'the loss is no number'")


def test_a_port_that_raises_is_judged_by_the_steps_before(compared):
    result = compared("plain", RAISING, ("grads = ops.clip_by_global_norm(grads, 0.5)", "pass"))
    assert {(each.step, each.stage) for each in result.verdict.departures} >= {(1, "clipping")}
    last = result.verdict.departures[-1]
    told = "the port's script raised AssertionError: the loss is no number after 2 steps"
    assert (last.step, last.told.startswith(told)) == (3, True)


def test_a_port_that_raises_where_all_is_right_before_is_an_error(compared):
    with pytest.raises(SideError, match="the loss is no number after 2 steps"):
        compared("plain", RAISING)
    with pytest.raises(SideError, match="another after 0 steps"):
        compared("plain", ("loss, grads = step(x, y)", "raise ValueError('another')"))


def test_a_port_whose_kernels_a_cpu_lacks_runs_with_stand_ins_and_the_verdict_names_them(compared):
    result = compared("mint", steps=2)
    functions = "avg_pool2d", "layer_norm", "leaky_relu", "log_softmax", "mish"
    names = [f"mint.nn.functional.{each}" for each in functions]
    assert result, lines(result)
    assert result.ours.stand_ins == (*names,)
    told = f"has no kernel, for {', '.join(names[:-1])} and {names[-1]}"
    assert any(told in line for line in lines(result))


def test_a_mistake_shows_through_stand_ins(compared):
    first = compared("mint", ("2), 0.1)", "2), 0.01)"), steps=1).verdict.departures[0]
    assert (first.step, first.stage) == (1, "forward")
    assert "x = self.norm(F.leaky_relu(" in first.line or "step = ms.value_and_grad" in first.line


def test_a_kernel_that_nothing_stands_for_is_an_error_that_names_it(compared):
    with pytest.raises(SideError, match="The kernel CumminExt unregistered after 0 steps"):
        compared("mint", ("self.fc(F.mish(x))", "mint.cummin(F.mish(x), 1)[0]"), steps=1)


def test_an_error_that_is_not_the_script_s_is_none_of_its_ends(compared, monkeypatch):
    run = ScriptTraining.run

    def failing(training, recorder, around):
        run(training, recorder, around)
        if training.role == "candidate":
            raise SideError("a weight cannot be read")

    monkeypatch.setattr(ScriptTraining, "run", failing)
    with pytest.raises(SideError, match="a weight cannot be read"):
        compared("plain")


def test_an_average_that_is_not_updated_is_red(compared):
    result = compared("accumulation", ("        ema.update()\n", ""), steps=2)
    assert {each.stage for each in result.verdict.departures} == {"averages"}


def test_weights_that_do_not_pair_up_are_an_error_with_the_cure(compared):
    edits = ("self.fc = nn.Dense", "self.head = nn.Dense"), ("self.fc(", "self.head(")
    with pytest.raises(WeightError, match=r"by order and shape; .* write --rename head=fc$"):
        compared("plain", *edits)
    wider = (*edits, ("nn.Dense(4 * 9, 5)", "nn.Dense(4 * 9, 6)"))
    with pytest.raises(WeightError, match="--rename MINDSPORE=PYTORCH"):
        compared("plain", *wider)


def test_a_rename_is_of_one_network_of_two(compared):
    layers = "nn.Dense(6, 12), nn.LeakyReLU(0.2), nn.Dense(12, 1)"
    named = "OrderedDict(zip('abc', [" + layers + "]))"
    edits = (layers, named), ("import numpy", "from collections import OrderedDict\nimport numpy")
    assert compared("gan", *edits, rename={"a": "0", "c": "2"}, steps=2)
    with pytest.raises(WeightError, match="--rename top=fc: no weight of the candidate has top"):
        compared("plain", rename={"top": "fc"}, steps=1)


NOISE = "z = torch.randn(8, 1, 6, 6)\n        x = x + z\n"
PORT = "z = {}\n        x = x + z\n"


def noisy(port):
    """A loop that adds noise of its own to its images, and to its loss."""
    theirs = (
        "        optimizer.zero_grad()\n",
        f"        {NOISE}        optimizer.zero_grad()\n",
    )
    ours = ("        loss, grads = step(x, y)", f"        {port}        loss, grads = step(x, y)")
    return theirs, ours


def test_numbers_that_the_port_draws_are_the_reference_s(compared):
    theirs, ours = noisy(PORT.format("ops.randn(8, 1, 6, 6)"))
    assert compared("plain", ours, reference=[theirs], steps=2)


def test_another_use_of_drawn_numbers_is_red(compared):
    theirs, ours = noisy(PORT.format("2 * ops.randn(8, 1, 6, 6)"))
    result = compared("plain", ours, reference=[theirs], steps=1)
    assert {each.stage for each in result.verdict.departures} == {"data"}


def test_numbers_of_another_law_are_told_and_not_taken_for_the_reference_s(compared):
    theirs, ours = noisy(PORT.format("ops.rand(8, 1, 6, 6)"))
    told = lines(compared("plain", ours, reference=[theirs], steps=1))
    assert any(line.startswith("drawn by the port alone, and kept: uniform") for line in told)
    assert any("not compared: inputs that the original draws" in line for line in told)


def mixed(order, share):
    """A loop that mixes its images with others of the batch."""
    return f"other, lam = {order}, {share}\n        x = lam * x + (1 - lam) * x[other]\n"


@pytest.mark.parametrize(
    ("order", "share", "told"),
    [
        ("ops.randperm(8)", "float(np.random.beta(0.4, 0.4))", ""),
        ("np.random.permutation(8).tolist()", "np.random.beta(0.4, 0.4)", ""),
        (
            "np.random.default_rng().permutation(8).tolist()",
            "__import__('random').betavariate(0.4, 0.4)",
            "",
        ),
        (
            "ops.randperm(8)",
            "np.random.beta(0.4, 0.8)",
            "beta numbers of NumPy or Python, one number",
        ),
    ],
)
def test_a_mixture_that_the_port_draws_by_the_same_laws_is_the_reference_s(
    compared, order, share, told
):
    theirs, ours = noisy(f"np.random.seed(3)\n        {mixed(order, share)}")
    theirs = (
        theirs[0],
        theirs[1].replace(NOISE, mixed("torch.randperm(8)", "np.random.beta(0.4, 0.4)")),
    )
    result = compared("plain", ours, reference=[theirs], steps=2)
    assert bool(result) is (not told)
    noted = [each for each in lines(result) if each.startswith("drawn by the port alone")]
    assert all(told in each for each in noted)
    assert bool(noted) is bool(told)


def scaled(side, table):
    """A network whose images are scaled by a table that it keeps."""
    plain = "self.fc = nn." + ("Linear" if side == "torch" else "Dense")
    kept = {
        "torch": f"self.register_buffer('scale', {table})",
        "mindspore": f"self.scale = ms.Parameter({table}, requires_grad=False)",
    }
    return (plain, f"{kept[side]}\n        {plain}")


@pytest.mark.parametrize(
    ("table", "port", "equal"),
    [
        ("torch.rand(36)", "ops.rand(36)", True),
        ("torch.arange(36.0)", "ops.arange(36.0)", True),
        ("torch.arange(36.0)", "ops.arange(36.0) + 1", False),
    ],
)
def test_a_table_that_the_original_draws_is_the_port_s_and_any_other_is_its_own(
    compared, table, port, equal
):
    used = ("self.drop(x)", "self.drop(x) * self.scale")
    theirs, ours = (scaled(*each) for each in (("torch", table), ("mindspore", port)))
    result = compared("plain", ours, used, reference=[theirs, used], steps=1)
    assert bool(result) is equal


HUGE = ("SCALE = 2**10", "SCALE = 2**22"), ("SCALE = 2.0**10", "SCALE = 2.0**22")


def test_an_update_that_overflows_is_skipped_on_both_sides_or_refused(compared):
    ours, theirs = HUGE
    assert compared("amp", ours, reference=[theirs])
    result = compared("amp", ours, ("    if finite:", "    if True:"), reference=[theirs])
    first = result.verdict.departures[0]
    assert (first.step, first.stage) == (1, "forward")
    assert first.told.endswith("gradients overflow, and the port does not")


ON_CUDA = [
    ('("cpu", init_scale', '("cuda", init_scale'),
    ('torch.autocast("cpu", torch.float16)', "torch.cuda.amp.autocast()"),
    ("cross_entropy(net(x), y)", "cross_entropy(net(x.cuda()), y.cuda())"),
]


@pytest.mark.skipif(torch.cuda.is_available(), reason="this torch has CUDA")
@pytest.mark.filterwarnings("ignore:it asks for CUDA", "ignore:.*torch.cuda.amp.autocast")
@pytest.mark.parametrize(
    ("edits", "stages"),
    [
        ([], []),
        ([("net = auto_mixed_precision", "auto_mixed_precision")], []),  # in more bits
        ([("    grads = scaler.unscale(grads)\n", "")], ["clipping"]),
        (
            [("clip_by_value(grads, -0.05, 0.05)", "clip_by_value(grads, -0.06, 0.05)")],
            ["clipping"],
        ),
        ([("BatchNorm2d(6)", "BatchNorm2d(6, eps=0.1)")], ["forward"]),
    ],
    ids=["right", "in float32", "scaled", "clipped", "epsilon"],
)
def test_a_script_that_trains_by_autocast_of_cuda_is_compared_on_a_cpu(compared, edits, stages):
    result = compared("amp", *edits, reference=ON_CUDA)
    assert [each.stage for each in result.verdict.departures][:1] == stages, lines(result)
    assert bool(result) == (not stages)


def test_copies_in_float32_that_an_optimiser_updates_stand_for_their_weights(compared):
    result = compared("master", steps=2)
    assert result, lines(result)
    assert all(step.reached.keys() == {*step.weights} for step in result.theirs.steps)
    assert result.theirs.notes == result.ours.notes == []


@pytest.mark.parametrize(
    ("edit", "stage"),
    [
        (("master, 0.1,", "master, 0.101,"), "schedule"),
        (("/ 128.0", "/ 120.0"), "clipping"),
    ],
)
def test_mistakes_in_the_updates_of_copies_in_float32_are_named(compared, edit, stage):
    first = compared("master", edit, steps=1).verdict.departures[0]
    assert (first.step, first.stage) == (1, stage)


def test_the_settings_of_a_norm_are_compared_within_what_level_o2_puts_around_it(compared):
    result = compared("amp", ("BatchNorm2d(6)", "BatchNorm2d(6, eps=1e-3)"), steps=1)
    assert any("eps is 0.001" in line for line in lines(result))
    assert not result


def test_a_batch_of_another_size_is_data(compared):
    result = compared(
        "plain", ("range(0, 64, 8)", "range(0, 64, 4)"), ("start + 8", "start + 4"), steps=1
    )
    assert [each.name for each in result.verdict.departures[:2]] == ["input 0", "target"]
    assert result.verdict.departures[0].told == "has 4 samples, and 8 in the original"


AMP = (
    "        loss = criterion(net(x), y)",
    '        with torch.autocast("cpu", torch.bfloat16):\n            loss = criterion(net(x), y)',
)


def test_a_port_in_float32_of_a_training_under_autocast_is_equal(compared):
    assert compared("plain", reference=[AMP])


def test_a_mistake_shows_under_autocast(compared):
    edit = ("grads = ops.clip_by_global_norm(grads, 0.5)", "pass")
    result = compared("plain", edit, reference=[AMP], steps=1)
    assert result.verdict.departures[0].stage == "clipping"
