"""Whole networks from one framework to the other, and what has no partner there."""

import mindspore as ms
import numpy as np
import pytest
import torch

from equivalence.checkpoints import files as checkpoints
from equivalence.checkpoints.formats import MINDSPORE, PYTORCH
from equivalence.convert.convert import convert
from equivalence.errors import WeightError
from ms_models.resnet import resnet
from pt_reference.resnet import resnet as torch_resnet
from tests.engine.parts.conversions import (
    HERE,
    Net,
    TorchNet,
    equal,
    names,
    randomised,
    refused,
    same_block_twice,
    same_module_twice,
    saved,
    stored,
)


@pytest.mark.parametrize(
    ("suffix", "checked"),
    [
        ("ckpt", True),
        ("safetensors", False),
        pytest.param("ckpt", False, marks=pytest.mark.nightly),
        pytest.param("safetensors", True, marks=pytest.mark.nightly),
    ],
)
def test_a_converted_resnet_computes_the_same(tmp_path, suffix, checked):
    twin = randomised(torch_resnet(18, num_classes=10)).eval()
    source, target = saved(tmp_path / "r.pth", twin), tmp_path / f"r.{suffix}"
    network = {"network": "ms_models.resnet:resnet", "arguments": {"depth": 18, "num_classes": 10}}
    made = convert(source, target, to=MINDSPORE, **(network if checked else {}))
    assert made.count() == "102 weights, 11.2 million values"
    cell = resnet(18, num_classes=10)
    loaded = ms.load_checkpoint(str(target), format=suffix, crc_check=True)
    assert ms.load_param_into_net(cell, loaded, strict_load=True) == ([], [])
    image = np.random.default_rng(0).normal(size=(2, 3, 64, 64)).astype(np.float32)
    found = cell.set_train(False)(ms.Tensor(image)).asnumpy()
    with torch.no_grad():
        expected = twin(torch.from_numpy(image)).numpy()
    assert np.linalg.norm(found - expected) < 1e-5 * np.linalg.norm(expected)

    network = {"network": "pt_reference.resnet:resnet", "arguments": network["arguments"]}
    convert(target, tmp_path / "back.pth", **(network if checked else {}))
    back = torch.load(tmp_path / "back.pth", weights_only=True)
    assert equal(back, twin.state_dict())
    torch_resnet(18, num_classes=10).load_state_dict(back, strict=True)


def test_another_depth_is_refused_both_ways(tmp_path):
    source = saved(tmp_path / "r.pth", torch_resnet(18, num_classes=2))
    convert(source, tmp_path / "r.ckpt")
    arguments = {"depth": 34, "num_classes": 2}
    for file, target, network in (
        (source, "x.ckpt", "ms_models.resnet:resnet"),
        (tmp_path / "r.ckpt", "x.pth", "pt_reference.resnet:resnet"),
    ):
        text = refused(
            file, tmp_path / target, network=network, arguments=arguments, error=WeightError
        )
        assert text.startswith(f"{file} does not fit {network} (reference is PyTorch's side")
        assert "layer1.2.conv1.weight" in text
        assert "nearest: layer1.1.conv1.weight" in text


def test_another_width_is_refused(tmp_path):
    source = saved(tmp_path / "n.pth", TorchNet(width=4))
    arguments = {"width": 5}
    options = {"network": f"{HERE}:Net", "arguments": arguments, "error": WeightError}
    text = refused(source, tmp_path / "n.ckpt", **options)
    assert "candidate bn.gamma is a weight (5,), its partner bn.weight a weight (4,)" in text


# --- What has no partner -------------------------------------------------------------------------


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("suffixes", [("pth", "ckpt"), ("safetensors", "safetensors")])
def test_there_and_back_is_the_same(tmp_path, affine, tied, frozen, suffixes):
    arguments = {"affine": affine, "tied": tied, "frozen": frozen}
    twin = randomised(TorchNet(**arguments))
    first = saved(tmp_path / "first.pth", twin)
    middle, last = tmp_path / f"m.{suffixes[1]}", tmp_path / f"last.{suffixes[0]}"
    made = convert(first, middle, MINDSPORE, f"{HERE}:Net", arguments)
    cell = Net(**arguments)
    kind = {"format": suffixes[1]}
    loaded = ms.load_checkpoint(str(middle), crc_check=True, **kind)
    assert ms.load_param_into_net(cell, loaded, strict_load=True) == ([], [])
    assert np.array_equal(cell.tokens.embedding_table.asnumpy(), twin.tokens.weight.detach())
    assert np.array_equal(cell.head.weight.asnumpy(), twin.head.weight.detach())
    assert np.array_equal(cell.bn.moving_variance.asnumpy(), twin.bn.running_var)
    assert np.all(cell.bn.beta.asnumpy() == (twin.bn.bias.detach().numpy() if affine else 0))
    assert np.all(cell.bn.gamma.asnumpy() == (twin.bn.weight.detach().numpy() if affine else 1))
    assert "bn.num_batches_tracked: dropped, MindSpore has no place for it" in made.notes
    assert (("head.weight", "tokens.embedding_table") in made.rows) == tied
    assert (("(no scale or shift)", "bn.gamma") in made.rows) != affine

    made = convert(middle, last, PYTORCH, f"{HERE}:TorchNet", arguments)
    assert ("(0)", "bn.num_batches_tracked") in made.rows
    assert any("dropped, the layer has no scale or shift" in n for n in made.notes) != affine
    found = checkpoints.read(last, PYTORCH)
    expected = checkpoints.read(first, PYTORCH).weights
    assert found.weights.keys() == expected.keys()
    assert all(found.weights[n].same(expected[n]) for n in expected)
    assert bool(found.aliases) == (tied and suffixes[0] == "pth")


def test_a_scale_that_the_network_would_ignore_is_refused(tmp_path):
    convert(saved(tmp_path / "n.pth", TorchNet()), tmp_path / "n.ckpt", network=f"{HERE}:Net")
    plain = {"network": f"{HERE}:TorchNet", "arguments": {"affine": False}}
    convert(tmp_path / "n.ckpt", tmp_path / "ones.pth", **plain)
    source = saved(tmp_path / "n.pth", randomised(TorchNet()))
    convert(source, tmp_path / "n.ckpt", network=f"{HERE}:Net", force=True)
    text = refused(tmp_path / "n.ckpt", tmp_path / "x.pth", error=WeightError, **plain)
    assert "bn.gamma (weight (4,)) maps to bn.weight, which the reference does not have" in text
    assert "bn.beta (weight (4,)) maps to bn.bias" in text


@pytest.mark.parametrize(
    ("missing", "affine"), [(("bn.weight",), False), (("bn.weight", "bn.bias"), True)]
)
def test_a_missing_scale_is_no_layer_without_scale(tmp_path, missing, affine):
    state = {n: t for n, t in TorchNet().state_dict().items() if n not in missing}
    source = saved(tmp_path / "n.pth", state)
    options = {"network": f"{HERE}:Net", "arguments": {"affine": affine}, "error": WeightError}
    assert "bn.gamma" in refused(source, tmp_path / "n.ckpt", **options)


def test_a_layer_norm_that_is_missing_is_not_made_up(tmp_path):
    state = {n: t for n, t in TorchNet().state_dict().items() if not n.startswith("ln.")}
    source = saved(tmp_path / "n.pth", state)
    options = {"network": f"{HERE}:Net", "arguments": {"frozen": True}, "error": WeightError}
    assert "candidate ln.gamma (weight (4,)) maps to ln.weight" in refused(
        source, tmp_path / "n.ckpt", **options
    )


def test_a_group_norm_without_scale_gets_ones_and_zeros(tmp_path):
    source = stored(tmp_path / "n.pth", a__weight=(4, 3, 1, 1))
    made = convert(source, tmp_path / "n.ckpt", network=f"{HERE}:grouped")
    assert made.rows[:2] == [("(no scale or shift)", n) for n in ("b.gamma", "b.beta")]
    assert made.weights["b.gamma"].values.tolist() == [1, 1, 1, 1]
    assert made.weights["b.beta"].values.tolist() == [0, 0, 0, 0]


def test_a_block_used_twice_is_one_block_in_mindspore_and_two_in_pytorch(tmp_path):
    twin = randomised(same_module_twice())
    source, target = saved(tmp_path / "n.pth", twin), tmp_path / "n.ckpt"
    convert(source, target, network=f"{HERE}:same_block_twice")
    loaded = ms.load_checkpoint(str(target))
    assert ms.load_param_into_net(same_block_twice(), loaded) == ([], [])
    assert len(loaded) == 2
    convert(target, tmp_path / "back.pth", network=f"{HERE}:same_module_twice")
    back = torch.load(tmp_path / "back.pth", weights_only=True)
    assert equal(back, twin.state_dict())
    assert back["0.weight"].data_ptr() == back["1.weight"].data_ptr()


@pytest.mark.parametrize("shared", [True, False])
def test_a_second_name_is_dropped_only_where_the_file_says_it_is_one(tmp_path, shared):
    weight, bias = torch.rand(2, 2), torch.rand(2)
    other = weight if shared else weight.clone()
    state = {"0.weight": weight, "0.bias": bias, "head.weight": other}
    source, target = saved(tmp_path / "n.pth", state), tmp_path / "n.ckpt"
    if shared:
        made = convert(source, target, network=f"{HERE}:one_dense")
        assert made.notes == ["head.weight: the same weight under a second name"]
        assert names(target, MINDSPORE) == {"0.weight", "0.bias"}
    else:
        text = refused(source, target, network=f"{HERE}:one_dense", error=WeightError)
        assert "reference head.weight (weight (2, 2)) has no partner in the candidate" in text


def test_weights_that_differ_do_not_become_one(tmp_path):
    source = saved(tmp_path / "n.pth", randomised(TorchNet()))
    tied = {"arguments": {"tied": True}}
    text = refused(source, tmp_path / "n.ckpt", network=f"{HERE}:Net", **tied)
    assert "are one weight of the network (tokens.embedding_table), but their values" in text
    convert(source, tmp_path / "n.ckpt", network=f"{HERE}:Net")
    text = refused(tmp_path / "n.ckpt", tmp_path / "x.pth", network=f"{HERE}:TorchNet", **tied)
    assert "are one weight of the network (tokens.weight), but their values differ" in text


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("affine", [True, False])
def test_a_batch_norm_that_is_the_whole_network(tmp_path, known, affine):
    twin = randomised(torch.nn.BatchNorm2d(3, affine=affine))
    source, target = saved(tmp_path / "n.pth", twin), tmp_path / "n.ckpt"
    arguments = {"num_features": 3, "affine": affine}
    networks = ("mindspore.nn:BatchNorm2d", "torch.nn:BatchNorm2d") if known else (None, None)
    convert(source, target, network=networks[0], arguments=arguments if known else None)
    cell = ms.nn.BatchNorm2d(**arguments)
    not_loaded, left = ms.load_param_into_net(cell, ms.load_checkpoint(str(target)))
    assert not left
    assert known or not_loaded == ([] if affine else ["gamma", "beta"])
    assert np.array_equal(cell.moving_mean.asnumpy(), twin.running_mean)
    assert np.array_equal(cell.moving_variance.asnumpy(), twin.running_var)
    last = tmp_path / "back.pth"
    convert(target, last, network=networks[1], arguments=arguments if known else None)
    assert equal(torch.load(last, weights_only=True), twin.state_dict())


def test_a_cell_with_the_names_of_pytorch_keeps_the_count_of_batches(tmp_path):
    twin = torch.nn.Sequential(torch.nn.BatchNorm2d(3))
    twin[0].num_batches_tracked += 7
    source, target = saved(tmp_path / "n.pth", twin), tmp_path / "n.ckpt"
    made = convert(source, target, network=f"{HERE}:minted")
    assert made.weights["0.num_batches_tracked"].values == 7
    assert not made.notes
    made = convert(target, tmp_path / "back.pth")
    assert made.weights["0.num_batches_tracked"].values == 7
    assert ("(0)", "0.num_batches_tracked") not in made.rows


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_dtype_stays(tmp_path, dtype):
    twin = randomised(TorchNet().to(dtype))
    source, target = saved(tmp_path / "n.pth", twin), tmp_path / "n.ckpt"
    convert(source, target, network=f"{HERE}:Net")
    found = {str(p.dtype) for p in ms.load_checkpoint(str(target)).values()}
    assert {name.lower().removeprefix("mindspore.") for name in found} == {str(dtype)[6:]}
    convert(target, tmp_path / "back.pth", network=f"{HERE}:TorchNet")
    assert equal(torch.load(tmp_path / "back.pth", weights_only=True), twin.state_dict())


def test_cells_without_weights_take_nothing(tmp_path):
    source = stored(tmp_path / "n.pth", w=(2,))
    text = refused(source, tmp_path / "n.ckpt", network="mindspore.nn:ReLU", error=WeightError)
    assert "reference w (weight (2,)) has no partner in the candidate" in text
