"""Optimisers whose state is not converted, and mistakes in converting one."""

import mindspore as ms
import pytest
import torch
from mindspore import mint, nn
from mindspore.experimental import optim

from equivalence.checkpoints import files as checkpoints
from equivalence.checkpoints.formats import MINDSPORE, PYTORCH
from equivalence.convert.convert import convert
from equivalence.errors import WeightError
from tests.engine.parts import training_ms, training_pt
from tests.engine.parts.conversions import names, refused
from tests.engine.parts.trainings import (
    FOR_MINDSPORE,
    FOR_PYTORCH,
    MS,
    PT,
    saved,
    stored,
)

HERE = "tests.engine.convert.test_convert_optimizer_refusals:"


def test_a_state_is_never_lost_without_a_word(tmp_path):
    source = saved(tmp_path / "n.pth", training_pt.momentum)
    for options in ({}, FOR_MINDSPORE):
        text = refused(source, tmp_path / "n.ckpt", **options)
        assert "holds the state of an optimiser (optimizer): build the one that it is for" in text
        assert "or leave it behind with --drop optimizer" in text
    made = convert(source, tmp_path / "n.ckpt", drop=["optimizer"], **FOR_MINDSPORE)
    assert "optimizer: dropped, as told" in made.notes
    assert len(made.weights) == 9

    source = stored(tmp_path / "t.ckpt", training_ms.adam, steps=0)
    for options in ({}, FOR_PYTORCH):
        text = refused(source, tmp_path / "b.pth", **options)
        assert "holds the state of an optimiser (global_step): build" in text
    made = convert(source, tmp_path / "b.pth", drop=["optimizer"])
    assert names(tmp_path / "b.pth", PYTORCH) == set(training_pt.Net().state_dict())
    assert any(note.endswith("dropped, as told") for note in made.notes)


@pytest.mark.parametrize(
    "kind", ["RAdam", "NAdam", "Adamax", "RMSprop", "Adagrad", "Adadelta", "ASGD", "Rprop"]
)
def test_other_optimisers_of_pytorch_are_refused(tmp_path, kind):
    build = getattr(torch.optim, kind)
    source = saved(tmp_path / "n.pth", lambda network: build(network.parameters(), lr=0.01))
    text = refused(source, tmp_path / "n.ckpt", optimizer=f"{MS}adam", **FOR_MINDSPORE)
    assert "is none of SGD, Adam and AdamW: its groups have lr, " in text
    assert "--drop optimizer leaves the state behind" in text


OTHERS = [
    lambda params: nn.AdamWeightDecay(params),
    lambda params: nn.AdaMax(params),
    lambda params: nn.RMSProp(params),
    lambda params: nn.Adagrad(params),
    lambda params: nn.Adadelta(params),
    lambda params: nn.FTRL(params),
    lambda params: nn.Lamb(params, 0.1),
    lambda params: optim.RAdam(params),
    lambda params: optim.NAdam(params),
    lambda params: mint.optim.AdamW(params),
    lambda params: mint.optim.SGD(params, 0.1),
]


@pytest.mark.parametrize("other", range(len(OTHERS)))
def test_other_optimisers_of_mindspore_are_refused(tmp_path, other):
    source = tmp_path / "n.ckpt"
    stored(source, lambda network: OTHERS[other](network.trainable_params()), steps=0)
    text = refused(source, tmp_path / "n.pth", optimizer=f"{PT}adam", **FOR_PYTORCH)
    assert "of its weights: it is none of those whose state has a counterpart in PyTorch" in text
    assert "; --drop optimizer leaves the state behind" in text
    convert(source, tmp_path / "n.pth", drop=["optimizer"], **FOR_PYTORCH)


def test_an_adam_without_its_count_of_steps_is_refused(tmp_path):
    source = stored(tmp_path / "t.ckpt", training_ms.adam, steps=1)
    held = ms.load_checkpoint(str(source))
    rest = [{"name": n, "data": each} for n, each in held.items() if n != "global_step"]
    assert len(rest) == len(held) - 1
    ms.save_checkpoint(rest, str(source))
    text = refused(source, tmp_path / "n.pth", optimizer=f"{PT}adam", **FOR_PYTORCH)
    assert "the file has powers of betas and no global_step" in text
    assert "--drop optimizer leaves the state behind" in text


@pytest.mark.parametrize(
    ("there", "kind", "words"),
    [
        ("adam", "momentum", "exp_avg of conv.weight has no place in the optimiser of --optimizer"),
        ("momentum", "adam", "momentum_buffer of conv.weight has no place in the optimiser of"),
        ("adamw", "adam", "has decoupled weight decay 1.0, the one of --optimizer 0.0"),
        ("amsgrad", "adam", "has amsgrad 1.0, the one of --optimizer 0.0; build it with the file"),
        ("nesterov", "momentum", "has nesterov 1.0, the one of --optimizer 0.0"),
        ("adam", "new_amsgrad", "with amsgrad=True, which MindSpore ignores"),
        ("adam", "adam_weight_decay", "builds a AdamWeightDecay; only the state of Momentum, SGD"),
        ("adam", "other_betas", "has beta2 0.999, the one of --optimizer 0.99"),
        ("momentum", "other_momentum", "has momentum 0.875, the one of --optimizer 0.5"),
        ("momentum", "half", "has 7 parameters, that of --optimizer 1"),
        ("momentum", "broken", "cannot be built from the network: no luck"),
        ("momentum", "nothing", "builds a NoneType, no MindSpore optimiser"),
    ],
)
def test_an_optimiser_that_is_not_the_file_s_is_refused(tmp_path, there, kind, words):
    source = saved(tmp_path / "n.pth", getattr(training_pt, there))
    place = MS if hasattr(training_ms, kind) else HERE
    text = refused(source, tmp_path / "n.ckpt", optimizer=f"{place}{kind}", **FOR_MINDSPORE)
    assert words in text
    assert "\n" not in text


def other_betas(network):
    return nn.Adam(network.trainable_params(), beta2=0.99)


def other_momentum(network):
    return nn.Momentum(network.trainable_params(), 0.1, 0.5)


def half(network):
    return nn.Momentum(network.trainable_params()[:1], 0.1, training_ms.MOMENTUM)


def broken(_):
    raise ValueError("no luck\nat all")


def nothing(_):
    return None


@pytest.mark.parametrize(
    ("there", "kind", "words"),
    [
        ("adam", "momentum", "the file has the state of Adam, and --optimizer builds SGD"),
        ("momentum", "adam", "the file has the state of SGD, and --optimizer builds Adam"),
        ("adam", "torch_amsgrad", "one only of the file's optimiser and --optimizer's has amsgrad"),
        ("adam", "torch_betas", "beta2_power is 0.998001 in the file, but 0.99^2 is 0.9801"),
        ("momentum", "torch_momentum", "has momentum 0.875, the one of --optimizer 0.5"),
        ("momentum", "torch_half", "bn.bias is a parameter of one only of the file's optimiser"),
        ("momentum", "rmsprop", "builds a RMSprop; only the state of SGD, Adam and AdamW is"),
        ("momentum", "strange", "steps a parameter, number 0, that the network does not have"),
        ("momentum", "broken", "cannot be built from the network: no luck"),
        ("momentum", "nothing", "builds a NoneType, no PyTorch optimiser"),
    ],
)
def test_an_optimiser_of_pytorch_that_is_not_the_file_s_is_refused(tmp_path, there, kind, words):
    source = stored(tmp_path / "n.ckpt", getattr(training_ms, there))
    place = PT if hasattr(training_pt, kind) else HERE
    text = refused(source, tmp_path / "n.pth", optimizer=f"{place}{kind}", **FOR_PYTORCH)
    assert words in text
    assert "\n" not in text


def torch_amsgrad(network):
    return torch.optim.Adam(network.parameters(), amsgrad=True)


def torch_betas(network):
    return torch.optim.Adam(network.parameters(), betas=(0.9, 0.99))


def torch_momentum(network):
    return torch.optim.SGD(network.parameters(), momentum=0.5)


def torch_half(network):
    return torch.optim.SGD(list(network.parameters())[:1], momentum=training_pt.MOMENTUM)


def rmsprop(network):
    return torch.optim.RMSprop(network.parameters())


def strange(_):
    return torch.optim.SGD([torch.zeros(2, requires_grad=True)], momentum=training_pt.MOMENTUM)


def test_parameters_that_are_not_equally_far_are_refused(tmp_path):
    source = saved(tmp_path / "n.pth", training_pt.adam)
    whole = torch.load(source, weights_only=True)
    whole["optimizer"]["state"][3]["step"] += 1
    torch.save(whole, source)
    options = {"optimizer": f"{MS}adam", **FOR_MINDSPORE}
    text = refused(source, tmp_path / "n.ckpt", **options)
    assert "are not equally many steps on (conv.weight 2, fc1.weight 3)" in text
    del whole["optimizer"]["state"][3]
    torch.save(whole, source)
    assert "not equally many steps on" in refused(source, tmp_path / "n.ckpt", **options)


def test_a_state_of_another_shape_is_refused_both_ways(tmp_path):
    def build(network):
        return torch.optim.SGD(network.named_parameters(), lr=0.1, momentum=training_pt.MOMENTUM)

    source = saved(tmp_path / "n.pth", build)
    whole = torch.load(source, weights_only=True)
    whole["optimizer"]["state"][1]["momentum_buffer"] = torch.ones(5)
    torch.save(whole, source)
    text = refused(source, tmp_path / "n.ckpt", optimizer=f"{MS}momentum", **FOR_MINDSPORE)
    assert "momentum_buffer of parameter 1 is (5,), but bn.weight, whose it would be, is" in text

    source = stored(tmp_path / "m.ckpt", training_ms.momentum)
    weights = checkpoints.read(source, MINDSPORE).weights
    weights["moments.bn.gamma"] = weights["moments.conv.weight"]
    source.unlink()
    checkpoints.write(source, MINDSPORE, weights, {})
    text = refused(source, tmp_path / "m.pth", optimizer=f"{PT}momentum", **FOR_PYTORCH)
    assert "moments.bn.gamma is (4, 3, 3, 3), but bn.gamma is (4,)" in text


def test_a_file_as_the_tutorial_of_pytorch_writes_it_is_told_by_its_own_names(tmp_path):
    source = saved(tmp_path / "n.pth", training_pt.momentum)
    whole = torch.load(source, weights_only=True)
    named = {"model_state_dict": whole["model"], "optimizer_state_dict": whole["optimizer"]}
    torch.save({"epoch": 3, **named, "loss": 0.5}, source)
    for drop in ("optimizer", "optimizer_state_dict"):
        made = convert(source, tmp_path / f"{drop}.ckpt", drop=[drop], **FOR_MINDSPORE)
        assert "optimizer: dropped, as told" in made.notes
    assert convert(source, tmp_path / "n.ckpt", optimizer=f"{MS}momentum", **FOR_MINDSPORE)
    torch.save({"epoch": 3, **named, "optimizer_state_dict": "SGD"}, source)
    text = refused(source, tmp_path / "m.ckpt", optimizer=f"{MS}momentum", **FOR_MINDSPORE)
    assert "has no optimiser's state dict under 'optimizer_state_dict'; save optim" in text


@pytest.mark.parametrize("broken_part", ["state", "param_groups", None])
def test_something_else_under_that_name_is_told(tmp_path, broken_part):
    source = saved(tmp_path / "n.pth", training_pt.momentum)
    whole = torch.load(source, weights_only=True)
    if broken_part:
        del whole["optimizer"][broken_part]
    else:
        whole["optimizer"] = "SGD"
    torch.save(whole, source)
    text = refused(source, tmp_path / "n.ckpt", optimizer=f"{MS}momentum", **FOR_MINDSPORE)
    assert "has no optimiser's state dict under 'optimizer'; save optimizer.state_dict()" in text


def test_options_that_do_not_go_together_are_refused(tmp_path):
    training = saved(tmp_path / "n.pth", training_pt.adam)
    alone = tmp_path / "alone.pth"
    torch.save(training_pt.Net().state_dict(), alone)
    adam = {"optimizer": f"{MS}adam", **FOR_MINDSPORE}
    target = tmp_path / "n.ckpt"
    for source, options, words in (
        (training, {"optimizer": f"{MS}adam"}, "--optimizer needs --network"),
        (training, {"layout": "hwio", **adam}, "--optimizer needs --network, and has no --layout"),
        (training, {"steps": 3, **FOR_MINDSPORE}, "--steps are for an --optimizer, and there is"),
        (training, {"steps": 3, **adam}, "--steps is for PyTorch's SGD alone"),
        (training, {**adam, "optimizer": "adam"}, "--optimizer 'adam' is not 'module:attribute'"),
        (alone, adam, "holds no state of an optimiser for --optimizer"),
        (alone, {"drop": ["optimizer"]}, "--drop optimizer: "),
    ):
        assert words in refused(source, target, **options)


def test_a_safetensors_of_pytorch_cannot_hold_it(tmp_path):
    source = stored(tmp_path / "n.ckpt", training_ms.momentum)
    options = {"optimizer": f"{PT}momentum", **FOR_PYTORCH}
    text = refused(source, tmp_path / "n.safetensors", **options)
    assert "n.safetensors cannot hold an optimiser's state; write a .pth" in text
    target = tmp_path / "s.safetensors"
    training = saved(tmp_path / "n.pth", training_pt.momentum)
    convert(training, target, "mindspore", optimizer=f"{MS}momentum", **FOR_MINDSPORE)
    convert(target, tmp_path / "back.pth", "pytorch", **options)


def test_what_training_adds_beside_the_weights_is_told(tmp_path):
    network = training_ms.Net()
    counts = {"epoch_num": 3, "step_num": 12}
    ms.save_checkpoint(network, str(tmp_path / "n.ckpt"), append_dict=counts)
    made = convert(tmp_path / "n.ckpt", tmp_path / "n.pth", **FOR_PYTORCH)
    assert "epoch_num, step_num: beside the weights, not converted" in made.notes


def test_a_scale_of_the_loss_is_no_weight(tmp_path):
    network = training_ms.Net()
    ms.save_checkpoint(network, str(tmp_path / "n.ckpt"), append_dict={"scale_sense": 1024.0})
    text = refused(tmp_path / "n.ckpt", tmp_path / "n.pth", error=WeightError, **FOR_PYTORCH)
    assert "candidate scale_sense (weight ()) maps to scale_sense, which the reference" in text
    convert(tmp_path / "n.ckpt", tmp_path / "n.pth", drop=["scale_sense"], **FOR_PYTORCH)
