"""Odd cases of a conversion: wrappers, networks without weights, and kernels of another shape."""

import mindspore as ms
import numpy as np
import pytest
import safetensors.numpy
import torch
from mindspore import mint, nn

from equivalence.checkpoints import files as checkpoints
from equivalence.checkpoints.formats import MINDSPORE, PYTORCH
from equivalence.convert.convert import convert
from equivalence.errors import WeightError
from tests.engine.parts.conversions import (
    TorchNet,
    equal,
    names,
    randomised,
    refused,
    saved,
    stored,
)

HERE = "tests.engine.convert.test_convert_odd:"
NET = {"network": "tests.engine.parts.conversions:Net"}

# --- Wrappers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prefix", ["module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module."]
)
@pytest.mark.parametrize("options", [{}, NET], ids=["alone", "network"])
def test_a_wrapper_s_name_is_taken_off_and_told(tmp_path, prefix, options):
    state = randomised(TorchNet()).state_dict()
    if not options:
        state = {n: t for n, t in state.items() if n.partition(".")[0] in ("conv", "bn", "ln")}
    convert(saved(tmp_path / "plain.pth", state), tmp_path / "plain.ckpt", **options)
    source = saved(tmp_path / "n.pth", {prefix + name: t for name, t in state.items()})
    made = convert(source, tmp_path / "n.ckpt", **options)
    assert names(tmp_path / "n.ckpt", MINDSPORE) == names(tmp_path / "plain.ckpt", MINDSPORE)
    told = {f"{part}: in front of every name, taken off" for part in prefix[:-1].split(".")}
    assert told <= set(made.notes)


def test_a_wrapper_s_name_that_one_weight_lacks_is_taken_off_the_others(tmp_path):
    state = randomised(TorchNet()).state_dict()
    convert(saved(tmp_path / "plain.pth", state), tmp_path / "plain.ckpt", **NET)
    mixed = {n if n == "conv.bias" else f"module.{n}": t for n, t in state.items()}
    convert(saved(tmp_path / "n.pth", mixed), tmp_path / "n.ckpt", **NET)
    read = [checkpoints.read(tmp_path / f"{n}.ckpt", MINDSPORE).weights for n in ("n", "plain")]
    assert read[0].keys() == read[1].keys()
    assert all(weight.same(read[1][name]) for name, weight in read[0].items())
    text = refused(
        saved(tmp_path / "two.pth", {**mixed, "module.conv.bias": mixed["conv.bias"] + 1}),
        tmp_path / "two.ckpt",
        error=WeightError,
        **NET,
    )
    assert "module.conv.bias" in text


class Wrapped(nn.Cell):
    def __init__(self):
        super().__init__()
        self.module = nn.Dense(3, 2)


@pytest.mark.parametrize(
    "options",
    [
        {"network": f"{HERE}Wrapped"},
        {"rename": {"module": "module"}},
        {"rename": {"net": "module"}},
    ],
    ids=str,
)
def test_a_name_that_the_destination_has_stays(tmp_path, options):
    source = stored(tmp_path / "n.pth", module__weight=(2, 3), module__bias=(2,))
    made = convert(source, tmp_path / "n.ckpt", **options)
    first = {"net"} if options.get("rename") == {"net": "module"} else {"module"}
    assert {name.partition(".")[0] for name in made.weights} == first
    assert not made.notes


# --- No weights ----------------------------------------------------------------------------------


def test_no_weights_are_an_error_unless_the_network_has_none(tmp_path):
    torch.save({}, tmp_path / "n.pth")
    text = refused(tmp_path / "n.pth", tmp_path / "n.safetensors", "mindspore")
    assert text == f"{tmp_path}/n.pth holds no weights"
    assert "holds no weights" in refused(tmp_path / "n.pth", tmp_path / "n.ckpt", **NET)
    relu = {"network": "mindspore.nn:ReLU"}
    made = convert(tmp_path / "n.pth", tmp_path / "n.safetensors", "mindspore", **relu)
    assert made.count() == "0 weights, 0 values"
    assert made.lines() == []
    text = refused(tmp_path / "n.pth", tmp_path / "n.ckpt", **relu)
    assert "n.ckpt would be empty, and MindSpore loads no empty .ckpt" in text


@pytest.mark.parametrize("checked", [True, False])
def test_an_empty_ckpt_of_mindspore_is_that_of_a_network_without_weights(tmp_path, checked):
    ms.save_checkpoint(nn.ReLU(), str(tmp_path / "n.ckpt"), crc_check=checked)
    text = refused(tmp_path / "n.ckpt", tmp_path / "n.pth")
    assert text.startswith(f"{tmp_path}/n.ckpt ")
    convert(tmp_path / "n.ckpt", tmp_path / "n.pth", network="torch.nn:ReLU")
    assert torch.load(tmp_path / "n.pth", weights_only=True) == {}


# --- Convolutions over one dimension -------------------------------------------------------------


def one_dimension():
    return nn.SequentialCell(
        nn.Conv1d(3, 4, 5, has_bias=True), nn.Conv1dTranspose(4, 6, 2), nn.Conv1d(6, 6, 3, group=6)
    )


def one_dimension_in_torch():
    return torch.nn.Sequential(
        torch.nn.Conv1d(3, 4, 5),
        torch.nn.ConvTranspose1d(4, 6, 2, bias=False),
        torch.nn.Conv1d(6, 6, 3, groups=6, bias=False),
    )


def test_kernels_over_one_dimension_have_two_in_mindspore(tmp_path):
    twin = randomised(one_dimension_in_torch())
    source, target = saved(tmp_path / "n.pth", twin), tmp_path / "n.ckpt"
    made = convert(source, target, network=f"{HERE}one_dimension")
    assert made.weights["0.weight"].shape == (4, 3, 1, 5)
    loaded = ms.load_checkpoint(str(target))
    assert ms.load_param_into_net(one_dimension(), loaded, strict_load=True) == ([], [])
    convert(target, tmp_path / "back.pth", network=f"{HERE}one_dimension_in_torch")
    assert equal(torch.load(tmp_path / "back.pth", weights_only=True), twin.state_dict())
    assert "--network" in refused(source, tmp_path / "x.ckpt")


def test_a_convolution_over_one_dimension_computes_the_same(tmp_path):
    twin = randomised(torch.nn.Conv1d(3, 4, 5))
    source, target = saved(tmp_path / "n.pth", twin), tmp_path / "n.ckpt"
    convert(source, target, network=f"{HERE}conv1d")
    cell = conv1d()
    ms.load_param_into_net(cell, ms.load_checkpoint(str(target)), strict_load=True)
    x = np.random.default_rng(0).normal(size=(2, 3, 11)).astype(np.float32)
    with torch.no_grad():
        expected = twin(torch.from_numpy(x)).numpy()
    assert np.allclose(cell(ms.Tensor(x)).asnumpy(), expected, atol=1e-5)


def conv1d():
    return nn.Conv1d(3, 4, 5, pad_mode="valid", has_bias=True)


# --- TensorFlow's kernels ------------------------------------------------------------------------


def depthwise(channels=3, multiplier=2):
    layers = nn.Conv2d(channels, channels * multiplier, (2, 3), group=channels), nn.Dense(6, 5)
    return nn.SequentialCell(*layers)


def depthwise_in_mint(channels=3, multiplier=2):
    conv = mint.nn.Conv2d(channels, channels * multiplier, (2, 3), groups=channels, bias=False)
    return nn.SequentialCell(conv, nn.Dense(6, 5))


def depthwise_in_torch(channels=3, multiplier=2):
    conv = torch.nn.Conv2d(channels, channels * multiplier, (2, 3), groups=channels, bias=False)
    return torch.nn.Sequential(conv, torch.nn.Linear(6, 5))


@pytest.mark.parametrize("network", ["depthwise", "depthwise_in_mint", "depthwise_in_torch"])
@pytest.mark.parametrize("form", ["DepthwiseConv2D", "Conv2D"])
def test_depthwise_kernels_of_tensorflow_are_turned(tmp_path, network, form):
    rng = np.random.default_rng(1)
    kernel = rng.normal(size=(2, 3, 3, 2) if form == "DepthwiseConv2D" else (2, 3, 1, 6))
    weights = {
        "0.weight": kernel,
        "1.weight": rng.normal(size=(6, 5)),
        "1.bias": rng.normal(size=5),
    }
    source = tmp_path / "tf.safetensors"
    safetensors.numpy.save_file({n: w.astype(np.float32) for n, w in weights.items()}, source)
    to = PYTORCH if network.endswith("torch") else MINDSPORE
    made = convert(source, tmp_path / "n.safetensors", to, f"{HERE}{network}", layout="hwio")
    found = made.weights["0.weight"].values
    assert found.shape == (6, 1, 2, 3)
    for output in range(6):
        wanted = (
            kernel[:, :, output // 2, output % 2] if form != "Conv2D" else kernel[:, :, 0, output]
        )
        assert np.array_equal(found[output, 0], wanted.astype(np.float32))


def ranks():
    return torch.nn.Sequential(torch.nn.Conv1d(2, 3, 4), torch.nn.Conv3d(2, 3, (4, 5, 6)))


def test_kernels_of_tensorflow_over_one_and_three_dimensions_are_turned(tmp_path):
    rng = np.random.default_rng(1)
    shapes = {"0.weight": (4, 2, 3), "0.bias": (3,), "1.weight": (4, 5, 6, 2, 3), "1.bias": (3,)}
    weights = {n: rng.normal(size=s).astype(np.float32) for n, s in shapes.items()}
    safetensors.numpy.save_file(weights, tmp_path / "tf.safetensors")
    target = tmp_path / "n.safetensors"
    made = convert(tmp_path / "tf.safetensors", target, PYTORCH, f"{HERE}ranks", layout="hwio")
    expected = weights["1.weight"].transpose(4, 3, 0, 1, 2)
    assert np.array_equal(made.weights["0.weight"].values, weights["0.weight"].transpose(2, 1, 0))
    assert np.array_equal(made.weights["1.weight"].values, expected)


# --- Dtypes --------------------------------------------------------------------------------------


def test_another_width_is_told_and_integers_are_refused(tmp_path):
    state = randomised(TorchNet()).state_dict()
    state["conv.weight"] = state["conv.weight"].half()
    made = convert(saved(tmp_path / "n.pth", state), tmp_path / "n.ckpt", **NET)
    assert "conv.weight: stays float16, which the network has as float32" in made.notes
    assert made.weights["conv.weight"].dtype == "float16"
    back = {"network": "tests.engine.parts.conversions:TorchNet"}
    made = convert(tmp_path / "n.ckpt", tmp_path / "back.pth", **back)
    assert "conv.weight: stays float16, which the network has as float32" in made.notes
    state["conv.weight"] = state["conv.weight"].int()
    source = saved(tmp_path / "i.pth", state)
    text = refused(source, tmp_path / "i.ckpt", **NET)
    assert text == f"{source}: conv.weight is int32, and the network has float32 in its place"
    weights = checkpoints.read(tmp_path / "n.ckpt", MINDSPORE).weights
    weights["bn.gamma"] = type(weights["bn.gamma"])("int64", np.ones(4, np.int64))
    checkpoints.write(tmp_path / "j.ckpt", MINDSPORE, weights, {})
    text = refused(tmp_path / "j.ckpt", tmp_path / "j.pth", **back)
    assert "bn.gamma is int64, and the network has float32 in its place" in text
