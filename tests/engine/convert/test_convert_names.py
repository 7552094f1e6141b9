"""The names of a conversion without the network, and kernels that are laid out otherwise."""

import mindspore as ms
import numpy as np
import pytest
import safetensors.numpy

from equivalence.checkpoints.formats import MINDSPORE, PYTORCH
from equivalence.convert import mindspore_names
from equivalence.convert.convert import convert
from equivalence.errors import WeightError
from tests.engine.parts.conversions import (
    HERE,
    TorchNet,
    names,
    refused,
    saved,
    stored,
)


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
