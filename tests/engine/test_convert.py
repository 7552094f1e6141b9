"""Checkpoints from one framework to the other: names, shapes, values, and every refusal."""

from collections import OrderedDict

import mindspore as ms
import numpy as np
import pytest
import safetensors.numpy
import torch
from mindspore import mint

from equivalence import checkpoints, mindspore_names
from equivalence.checkpoint_formats import MINDSPORE, PYTORCH
from equivalence.convert import convert
from equivalence.errors import CheckpointError, DeclarationError, EquivalenceError, WeightError
from ms_models.resnet import resnet
from pt_reference.resnet import resnet as torch_resnet

HERE = "tests.engine.test_convert"


class TorchNet(torch.nn.Module):
    """Every kind of layer whose names differ."""

    def __init__(self, width=4, affine=True, tied=False, frozen=False):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, width, 3)
        self.bn = torch.nn.BatchNorm2d(width, affine=affine)
        self.ln = torch.nn.LayerNorm(width)
        self.tokens = torch.nn.Embedding(4, width)
        self.head = torch.nn.Linear(width, 4, bias=False)
        if tied:
            self.head.weight = self.tokens.weight
        self.conv.weight.requires_grad_(not frozen)


class Net(ms.nn.Cell):
    """Its twin."""

    def __init__(self, width=4, affine=True, tied=False, frozen=False):
        super().__init__()
        self.conv = ms.nn.Conv2d(3, width, 3, has_bias=True)
        self.bn = ms.nn.BatchNorm2d(width, affine=affine)
        self.ln = ms.nn.LayerNorm((width,))
        self.tokens = ms.nn.Embedding(4, width)
        self.head = ms.nn.Dense(width, 4, has_bias=False)
        if tied:
            self.head.weight = self.tokens.embedding_table
        if frozen:
            for parameter in self.get_parameters():
                parameter.requires_grad = False


def same_block_twice():
    block = ms.nn.Dense(2, 2)
    return ms.nn.CellList([block, block])


def same_module_twice():
    block = torch.nn.Linear(2, 2)
    return torch.nn.ModuleList([block, block])


class Unnamed(ms.nn.Cell):
    """Two weights of one name."""

    def __init__(self):
        super().__init__()
        self.a = ms.nn.Dense(2, 2)
        self.b = ms.nn.Dense(2, 2)
        self.b.weight.name = self.a.weight.name


def broken():
    raise ValueError("no such\nluck")


def randomised(module):
    """The module with random weights and statistics."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for tensor in module.state_dict().values():
            if tensor.ndim > 1:
                drawn = torch.randn(tensor.shape, generator=generator)
                tensor.copy_(drawn * (2 / tensor[0].numel()) ** 0.5)
            elif tensor.is_floating_point():
                tensor.copy_(torch.rand(tensor.shape, generator=generator) + 0.5)
    return module


def saved(path, weights):
    """The file with a PyTorch module's or a dictionary's weights."""
    state = weights.state_dict() if isinstance(weights, torch.nn.Module) else weights
    torch.save(OrderedDict(state), path)
    return path


def stored(path, **shapes):
    """A .pth with weights of those shapes; `__` is a dot."""
    return saved(path, {n.replace("__", "."): torch.rand(s) for n, s in shapes.items()})


def names(path, framework):
    return set(checkpoints.read(path, framework).weights)


def bits(tensor):
    return tensor.dtype, tensor.shape, tensor.contiguous().reshape(-1).view(torch.uint8).tolist()


def equal(found, expected):
    """Two state dicts, bit for bit; a count of batches starts anew."""
    return found.keys() == expected.keys() and all(
        bits(found[n]) == bits(expected[n] * 0 if n.endswith("tracked") else expected[n])
        for n in expected
    )


def refused(*arguments, error=CheckpointError, **options):
    """The text of the refusal; nothing is written."""
    target = arguments[1]
    before = target.read_bytes() if target.is_file() else None
    with pytest.raises(error) as caught:
        convert(*arguments, **options)
    assert isinstance(caught.value, EquivalenceError)
    assert (target.read_bytes() if target.is_file() else None) == before
    assert not [p for p in target.parent.glob(".*") if p != target]
    return str(caught.value)


# --- A whole network -----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["ckpt", "safetensors"])
@pytest.mark.parametrize("checked", [True, False])
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


def grouped():
    layers = {"a": ms.nn.Conv2d(3, 4, 1), "b": ms.nn.GroupNorm(2, 4, affine=False)}
    return ms.nn.SequentialCell(OrderedDict(layers))


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


def one_dense():
    return ms.nn.SequentialCell(ms.nn.Dense(2, 2))


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


def minted():
    return ms.nn.SequentialCell(mint.nn.BatchNorm2d(3))


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


# --- Without the network -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ({"weight": (2, 3), "bias": (2,)}, ["weight", "bias"]),
        ({"weight": (2, 3, 1, 1)}, ["weight"]),
        ({"weight": (2, 3, 1, 1, 1), "bias": (2,)}, ["weight", "bias"]),
        ({"weight": (2,), "bias": (2,)}, ["gamma", "beta"]),
        ({"weight": (2, 3), "bias": (2, 3)}, ["weight", "bias"]),
        ({"running_mean": (2,), "running_var": (2,)}, ["moving_mean", "moving_variance"]),
        ({"weight": (2,), "running_var": (2,)}, ["gamma", "moving_variance"]),
        ({"pos_embed": (1, 4, 2), "w": (2,)}, ["pos_embed", "w"]),
    ],
)
def test_names_follow_from_what_a_layer_has(shapes, expected):
    given = {f"a.b.{name}": shape for name, shape in shapes.items()}
    assert list(mindspore_names.guess(given, {}).values()) == [f"a.b.{n}" for n in expected]


@pytest.mark.parametrize(
    "shapes",
    [
        {"weight": (2, 3)},
        {"weight": (2,)},
        {"weight": (2, 3, 1), "bias": (2,)},
        {"weight": (), "bias": ()},
        {"bias": (2,)},
        {"weight": (2,), "bias": (3,)},
    ],
    ids=str,
)
def test_what_cannot_be_known_is_refused(tmp_path, shapes):
    given = {f"a__{name}": shape for name, shape in shapes.items()}
    source = stored(tmp_path / "n.pth", b__weight=(2, 2, 1, 1), **given)
    text = refused(source, tmp_path / "n.ckpt")
    first = next(iter(shapes))
    assert f"whether a.{first} {shapes[first]} and {len(shapes) - 1} others are of" in text
    assert "name it with --network" in text
    assert f"--rename a.{first}=a.{first} " in text
    rename = {f"a.{name}": f"a.{name}" for name in shapes}
    convert(source, tmp_path / "n.ckpt", rename=rename)
    assert names(tmp_path / "n.ckpt", MINDSPORE) == {"b.weight", *rename}


def test_a_rename_says_what_an_embedding_is(tmp_path):
    source = stored(
        tmp_path / "n.pth", enc__tokens__weight=(5, 3), enc__bn__weight=(3,), enc__bn__bias=(3,)
    )
    rename = {"tokens.embedding_table": "tokens.weight", "encoder": "enc"}
    convert(source, tmp_path / "n.ckpt", rename=rename)
    expected = {"encoder.tokens.embedding_table", "encoder.bn.gamma", "encoder.bn.beta"}
    assert names(tmp_path / "n.ckpt", MINDSPORE) == expected
    convert(tmp_path / "n.ckpt", tmp_path / "back.pth", rename=rename)
    assert names(tmp_path / "back.pth", PYTORCH) == names(source, PYTORCH)


def test_names_that_would_not_come_back_are_refused(tmp_path):
    source = stored(tmp_path / "n.pth", scale__gamma=(3,))
    text = refused(source, tmp_path / "n.ckpt", error=WeightError)
    assert f"{source} cannot be converted" in text
    assert "candidate scale.gamma (weight (3,)) maps to scale.weight" in text


def test_two_weights_of_one_name_are_refused(tmp_path):
    weights = [{"name": f"a.{n}", "data": ms.Tensor([1.0, 2.0])} for n in ("gamma", "weight")]
    ms.save_checkpoint(weights, str(tmp_path / "n.ckpt"))
    text = refused(tmp_path / "n.ckpt", tmp_path / "n.pth", error=WeightError)
    assert "candidate a.gamma and a.weight both map to a.weight" in text or (
        "candidate a.weight and a.gamma both map to a.weight" in text
    )


@pytest.mark.parametrize("network", [None, f"{HERE}:Net"])
def test_a_rename_that_matches_nothing_is_refused(tmp_path, network):
    state = TorchNet().state_dict()
    if network is None:
        state = {n: t for n, t in state.items() if n.startswith("bn")}
    source = saved(tmp_path / "n.pth", state)
    options = {"rename": {"batchnorm": "norm"}, "network": network, "error": WeightError}
    text = refused(source, tmp_path / "n.ckpt", **options)
    assert "rename 'batchnorm' matches no candidate name" in text


# --- TensorFlow ----------------------------------------------------------------------------------


@pytest.mark.parametrize("to", [PYTORCH, MINDSPORE])
def test_kernels_of_tensorflow_are_turned_and_embeddings_are_not(tmp_path, to):
    draw = np.random.default_rng(0).normal
    weights = {
        "conv.kernel": draw(size=(3, 3, 3, 4)),
        "conv.bias": draw(size=4),
        "bn.gamma": draw(size=4),
        "bn.beta": draw(size=4),
        "bn.moving_mean": draw(size=4),
        "bn.moving_variance": draw(size=4),
        "ln.gamma": draw(size=4),
        "ln.beta": draw(size=4),
        "tokens.embeddings": draw(size=(4, 4)),
        "head.kernel": draw(size=(4, 4)),
    }
    source, target = tmp_path / "tf.safetensors", tmp_path / "n.safetensors"
    safetensors.numpy.save_file({n: w.astype(np.float32) for n, w in weights.items()}, source)
    source_names = {"kernel": "weight", "embeddings": "weight"}
    network = f"{HERE}:TorchNet"
    if to == MINDSPORE:
        kept = ("gamma", "beta", "moving_mean", "moving_variance")
        source_names = {"weight": "kernel", "embedding_table": "embeddings"} | {n: n for n in kept}
        network = f"{HERE}:Net"
    made = convert(source, target, to, network, rename=source_names, layout="hwio")
    given = {n: w.astype(np.float32) for n, w in weights.items()}
    found = {source: made.weights[name].values for source, name in made.rows if source in given}
    assert found.keys() == given.keys()
    for name, values in given.items():
        order = {"conv.kernel": (3, 2, 0, 1), "head.kernel": (1, 0)}.get(name)
        assert np.array_equal(found[name], values.transpose(order) if order else values), name


def test_a_layout_needs_the_network_and_no_ckpt(tmp_path):
    source = stored(tmp_path / "n.pth", w=(2, 3))
    words = "--layout hwio needs --network, which tells the kernels from other weights"
    assert words in refused(source, tmp_path / "n.ckpt", layout="hwio")
    convert(source, tmp_path / "n.ckpt")
    options = {"network": f"{HERE}:TorchNet", "layout": "hwio"}
    assert "source that is no .ckpt" in refused(tmp_path / "n.ckpt", tmp_path / "x.pth", **options)


# --- What a user may have wrong ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "to"),
    [
        ("a.pth", "b.pt", None),
        ("a.ckpt", "b.ckpt", None),
        ("a.pth", "b.ckpt", PYTORCH),
        ("a.pth", "b.safetensors", PYTORCH),
        ("a.safetensors", "b.ckpt", PYTORCH),
    ],
)
def test_files_of_one_framework_are_no_conversion(tmp_path, source, target, to):
    text = refused(tmp_path / source, tmp_path / target, to=to)
    assert "is no conversion from one framework to the other" in text


@pytest.mark.parametrize(("source", "target"), [("a.h5", "b.ckpt"), ("a.pth", "b.npz"), ("a", "b")])
def test_an_unknown_suffix_is_named(tmp_path, source, target):
    text = refused(tmp_path / source, tmp_path / target)
    assert "does not end in .pth, .pt, .ckpt, .safetensors" in text


def test_the_direction_between_safetensors_is_asked_for(tmp_path):
    text = refused(tmp_path / "a.safetensors", tmp_path / "b.safetensors")
    assert "may be of either side: give --to pytorch|mindspore" in text


def test_a_safetensors_beside_another_kind_needs_no_direction(tmp_path):
    source = stored(tmp_path / "n.pth", w=(2,))
    convert(source, tmp_path / "n.safetensors")
    convert(tmp_path / "n.safetensors", tmp_path / "back.pth")
    assert names(tmp_path / "back.pth", PYTORCH) == {"w"}


def test_a_missing_source_is_named(tmp_path):
    assert "n.pth: there is no such file" in refused(tmp_path / "n.pth", tmp_path / "n.ckpt")


def test_a_destination_that_exists_is_kept_unless_forced(tmp_path):
    source, target = stored(tmp_path / "n.pth", w=(2,)), tmp_path / "n.ckpt"
    target.write_bytes(b"precious")
    assert "n.ckpt exists; give --force to replace it" in refused(source, target)
    bad = stored(tmp_path / "bad.pth", weight=(2,))
    refused(bad, target, force=True)
    convert(source, target, force=True)
    assert names(target, MINDSPORE) == {"w"}


def test_the_source_is_never_the_destination(tmp_path):
    source = stored(tmp_path / "n.safetensors", w=(2,))
    text = refused(source, tmp_path / "n.safetensors", to=PYTORCH, force=True)
    assert "is the source itself; name another destination" in text


def test_a_destination_that_is_no_file_is_named(tmp_path):
    source = stored(tmp_path / "n.pth", w=(2,))
    (tmp_path / "d.ckpt").mkdir()
    assert "d.ckpt is a folder" in refused(source, tmp_path / "d.ckpt", force=True)
    text = refused(source, tmp_path / "none" / "n.ckpt")
    assert "lies in a folder that does not exist; name a file in a folder that exists" in text


@pytest.mark.parametrize(
    ("network", "arguments", "error", "words"),
    [
        ("resnet", {}, CheckpointError, "--network 'resnet' is not 'module:attribute'"),
        ("no_such:x", {}, DeclarationError, "there is no module 'no_such'"),
        (f"{HERE}:nothing", {}, DeclarationError, "has no attribute 'nothing'"),
        (f"{HERE}:Net", {"depth": 3}, DeclarationError, "does not take {'depth': 3}"),
        (f"{HERE}:broken", {}, CheckpointError, "broken' cannot be built: no such"),
        (f"{HERE}:TorchNet", {}, CheckpointError, "builds a TorchNet, no MindSpore cell"),
        (f"{HERE}:Unnamed", {}, CheckpointError, "has two weights called a.weight"),
    ],
)
def test_a_network_that_is_none_is_named(tmp_path, network, arguments, error, words):
    source = saved(tmp_path / "n.pth", TorchNet())
    options = {"network": network, "arguments": arguments, "error": error}
    text = refused(source, tmp_path / "n.ckpt", **options)
    assert words in text
    assert "\n" not in text


def test_a_cell_is_no_module_and_a_module_keeps_tensors_alone(tmp_path):
    convert(stored(tmp_path / "n.pth", w=(2,)), tmp_path / "n.ckpt")
    for network, words in (
        ("Net", "builds a Net, no PyTorch module"),
        ("Extra", "keeps _extra_state, which is no tensor, in its state dict"),
    ):
        text = refused(tmp_path / "n.ckpt", tmp_path / "x.pth", network=f"{HERE}:{network}")
        assert words in text


class Extra(torch.nn.Linear):
    def __init__(self):
        super().__init__(2, 2)

    def get_extra_state(self):
        return {"steps": 3}


def test_arguments_without_a_network_are_refused(tmp_path):
    source = stored(tmp_path / "n.pth", w=(2,))
    text = refused(source, tmp_path / "n.ckpt", arguments={"depth": 50})
    assert "--arguments are for a --network, and there is none" in text


def test_dropped_weights_are_told_and_must_be_there(tmp_path):
    source = stored(tmp_path / "n.pth", head__w=(2,), head__b=(2,), header=(2,), step=())
    made = convert(source, tmp_path / "n.ckpt", drop=["head", "step"])
    assert names(tmp_path / "n.ckpt", MINDSPORE) == {"header"}
    assert made.notes == ["head.w, head.b: dropped, as told", "step: dropped, as told"]
    text = refused(source, tmp_path / "x.ckpt", drop=["tail"])
    assert "--drop tail: " in text
    assert "has no such weight" in text
    text = refused(source, tmp_path / "x.ckpt", drop=["head", "header", "step"])
    assert "holds no weights beside those that are dropped" in text


def test_a_file_of_counts_alone_leaves_nothing(tmp_path):
    source = stored(tmp_path / "n.pth", bn__num_batches_tracked=())
    text = refused(source, tmp_path / "n.ckpt")
    assert text == f"{source} holds nothing that mindspore has a place for"


def test_what_cannot_be_checked_or_is_left_out_is_told(tmp_path):
    source = tmp_path / "old.pth"
    state = {"model": {f"a{i}.w": torch.ones(1) for i in range(5)}, "epoch": 1}
    torch.save(state, source, _use_new_zipfile_serialization=False)
    made = convert(source, tmp_path / "n.ckpt", drop=[f"a{i}" for i in range(1)])
    assert made.notes == [
        f"{source}: has no checksum, so that damage to its values would not show",
        "epoch: beside the weights, not converted",
        "a0.w: dropped, as told",
    ]


def test_every_weight_has_its_line(tmp_path):
    source = stored(
        tmp_path / "n.pth", bn__running_mean=(2,), bn__running_var=(2,), conv__weight=(2, 3, 1, 1)
    )
    made = convert(source, tmp_path / "n.ckpt")
    assert made.lines() == [
        "  bn.running_mean  bn.moving_mean      float32 (2,)",
        "  bn.running_var   bn.moving_variance  float32 (2,)",
        "  conv.weight      conv.weight         float32 (2, 3, 1, 1)",
    ]
    assert made.count() == "3 weights, 10 values"
