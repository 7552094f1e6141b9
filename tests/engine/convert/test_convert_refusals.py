"""What a user may have wrong in a conversion, and what is told of one."""

import pytest
import torch

from equivalence.checkpoints.formats import MINDSPORE, PYTORCH
from equivalence.convert.convert import convert
from equivalence.errors import CheckpointError, DeclarationError
from tests.engine.parts.conversions import HERE, TorchNet, names, refused, saved, stored


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
    assert "does not end in .pth, .pt, .bin, .ckpt, .safetensors" in text


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
