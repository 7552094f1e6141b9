"""Checkpoint files: what is written comes back bit for bit, and damage is one clear sentence."""

import binascii
import pickle

import mindspore as ms
import numpy as np
import pytest
import safetensors.torch
import torch

from equivalence.checkpoints import files, mindspore_files, safetensors_files, torch_files
from equivalence.checkpoints.files import read, write
from equivalence.checkpoints.formats import (
    DTYPES,
    MINDSPORE,
    PYTORCH,
    StoredWeight,
    TorchOptimizer,
    numpy_dtype,
)
from equivalence.errors import CheckpointError

FILES = [
    ("net.pth", PYTORCH),
    ("net.pt", PYTORCH),
    ("net.safetensors", PYTORCH),
    ("net.ckpt", MINDSPORE),
    ("net.safetensors", MINDSPORE),
]

WRITERS = [
    (torch_files, "write_torch"),
    (mindspore_files, "write_ckpt"),
    (safetensors_files, "write_safetensors"),
]


def drawn(dtype, *shape):
    """A weight with random bits, so that NaN, infinities and -0 are among the floats."""
    size = int(np.prod(shape)) * numpy_dtype(dtype).itemsize
    bits = np.random.default_rng(7).integers(0, 2 if dtype == "bool" else 256, size, np.uint8)
    return StoredWeight(dtype, bits.view(numpy_dtype(dtype)).reshape(shape))


def some():
    return {"b.weight": drawn("float32", 8, 5), "a.bias": drawn("float32", 64)}


def complaint(path, framework):
    with pytest.raises(CheckpointError) as caught:
        read(path, framework)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    return text


def same(found, wanted):
    return found.keys() == wanted.keys() and all(found[n].same(wanted[n]) for n in wanted)


# --- There and back ------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "framework"), FILES)
def test_every_dtype_comes_back_bit_for_bit(tmp_path, name, framework):
    weights = {f"layer.{dtype}": drawn(dtype, 3, 4) for dtype in DTYPES}
    weights |= {f"scalar.{dtype}": drawn(dtype) for dtype in ("float32", "int64", "bfloat16")}
    write(tmp_path / name, framework, weights, {})
    found = read(tmp_path / name, framework)
    assert same(found.weights, weights)
    assert found.checked
    assert not found.aliases
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    "other",
    [
        StoredWeight("float32", np.array([0.0, -0.0], np.float32)),
        StoredWeight("float32", np.zeros((2, 1), np.float32)),
        StoredWeight("int32", np.zeros(2, np.int32)),
    ],
    ids=["sign of zero", "shape", "dtype"],
)
def test_a_difference_in_bits_shape_or_dtype_is_a_difference(other):
    weight = StoredWeight("float32", np.zeros(2, np.float32))
    assert weight.same(StoredWeight("float32", np.zeros(2, np.float32)))
    assert not weight.same(other)


def test_a_state_dict_of_pytorch_is_read_with_its_shared_weights(tmp_path):
    shared = torch.arange(6.0).reshape(2, 3)
    whole = torch.arange(12.0)
    state = {
        "encoder": shared,
        "turned": shared.T,
        "decoder": shared,
        "left": whole[:6],
        "right": whole[6:],
        "none": torch.zeros(0, 3),
        "empty": torch.zeros(0, 3),
    }
    torch.save(state, tmp_path / "net.pth")
    found = read(tmp_path / "net.pth", PYTORCH)
    assert found.aliases == {"decoder": "encoder"}
    for name, tensor in state.items():
        assert np.array_equal(found.weights[name].values, tensor.numpy()), name
    write(tmp_path / "again.pth", PYTORCH, found.weights, found.aliases)
    again = torch.load(tmp_path / "again.pth", weights_only=True)
    assert again["encoder"].data_ptr() == again["decoder"].data_ptr()
    assert again["encoder"].data_ptr() != again["turned"].data_ptr()


@pytest.mark.parametrize("key", ["state_dict", "model", "model_state_dict"])
def test_a_state_dict_is_found_in_what_a_training_saves(tmp_path, key):
    torch.save({"epoch": 3, key: {"w": torch.ones(2)}, "loss": torch.ones(())}, tmp_path / "n.pth")
    found = read(tmp_path / "n.pth", PYTORCH)
    assert list(found.weights) == ["w"]
    assert found.extras == ("epoch", "loss")


def test_the_older_files_of_pytorch_are_read_but_have_no_checksum(tmp_path):
    path = tmp_path / "old.pth"
    torch.save({"w": torch.ones(2)}, path, _use_new_zipfile_serialization=False)
    assert not read(path, PYTORCH).checked


def test_an_archive_without_checksums_is_refused(tmp_path):
    torch.serialization.set_crc32_options(False)
    try:
        torch.save({"w": torch.ones(2)}, tmp_path / "n.pth")
    finally:
        torch.serialization.set_crc32_options(True)
    text = complaint(tmp_path / "n.pth", PYTORCH)
    assert "(or it was saved with set_crc32_options(False))" in text


def test_safetensors_that_leave_out_shared_names_get_them_back(tmp_path):
    module = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 2), "b": torch.nn.Linear(2, 2)})
    module["b"].weight = module["a"].weight
    safetensors.torch.save_model(module, str(tmp_path / "n.safetensors"))
    found = read(tmp_path / "n.safetensors", PYTORCH)
    assert found.weights.keys() == module.state_dict().keys()
    assert found.aliases == {"b.weight": "a.weight"}
    assert not found.checked


def test_mindspore_itself_reads_what_is_written_and_checks_its_sum(tmp_path):
    weights = some() | {"scale": drawn("float16")}
    for name, kind in (("n.ckpt", "ckpt"), ("n.safetensors", "safetensors")):
        write(tmp_path / name, MINDSPORE, weights, {})
        loaded = ms.load_checkpoint(str(tmp_path / name), format=kind, crc_check=True)
        assert {n: p.get_bytes() for n, p in loaded.items()} == {
            n: w.values.tobytes() for n, w in weights.items()
        }
        damaged = bytearray((tmp_path / name).read_bytes())
        damaged[-40] ^= 1  # a value
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(ValueError, match=r"crc|correct"):
            ms.load_checkpoint(str(tmp_path / name), format=kind, crc_check=True)


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("kind", ["ckpt", "safetensors"])
def test_what_mindspore_writes_is_read_and_its_sum_checked(tmp_path, kind, checked):
    path = tmp_path / f"n.{kind}"
    cell = ms.nn.SequentialCell(ms.nn.Dense(3, 4), ms.nn.BatchNorm1d(4))
    ms.save_checkpoint(cell, str(path), format=kind, crc_check=checked)
    found = read(path, MINDSPORE)
    assert found.checked == checked
    assert found.weights.keys() == {p.name for p in cell.get_parameters()}
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(cell[0].weight.asnumpy().tobytes()) + 5] ^= 1
    path = tmp_path / f"damaged.{kind}"
    path.write_bytes(damaged)
    if checked:
        assert "is damaged: its checksum does not match" in complaint(path, MINDSPORE)
    else:  # nothing in the file could tell
        assert not same(read(path, MINDSPORE).weights, found.weights)


# --- Damage --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "framework"), FILES)
def test_a_flipped_bit_in_the_values_is_found(tmp_path, name, framework):
    weights = some()
    write(tmp_path / name, framework, weights, {})
    content = bytearray((tmp_path / name).read_bytes())
    content[content.index(weights["a.bias"].values.tobytes()) + 17] ^= 4
    (tmp_path / name).write_bytes(content)
    assert "is damaged: its checksum does not match" in complaint(tmp_path / name, framework)


@pytest.mark.parametrize(("name", "framework"), FILES)
def test_no_flipped_bit_passes_or_leaves_a_traceback(tmp_path, name, framework):
    weights = {"weight": drawn("float32", 2, 3)}
    write(tmp_path / name, framework, weights, {})
    content = (tmp_path / name).read_bytes()
    generator = np.random.default_rng(3)
    for place in generator.integers(0, len(content), 60):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(generator.integers(8))
        (tmp_path / name).write_bytes(damaged)
        try:
            found = read(tmp_path / name, framework)
        except CheckpointError:
            continue
        # Padding, a date in an archive, the length of a sum: nothing of the weights.
        assert same(found.weights, weights) or not found.checked, place


@pytest.mark.parametrize(("name", "framework"), FILES)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.99])
def test_a_file_that_was_cut_off_is_named(tmp_path, name, framework, share):
    write(tmp_path / name, framework, some(), {})
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: int(share * len(content))])
    assert "damaged, cut off, or no" in complaint(tmp_path / name, framework)


def test_a_ckpt_whose_shape_and_size_disagree_is_damaged(tmp_path):
    cell_file = tmp_path / "n.ckpt"
    ms.save_checkpoint(
        [{"name": "w", "data": ms.Tensor(np.ones((2, 2), np.float32))}], str(cell_file)
    )
    content = cell_file.read_bytes()
    assert content.count(b"\x08\x02\x08\x02") == 1
    cell_file.chmod(0o644)
    cell_file.write_bytes(content.replace(b"\x08\x02\x08\x02", b"\x08\x02\x08\x03"))
    assert "is damaged: w is float32 (2, 3), but has 16 bytes" in complaint(cell_file, MINDSPORE)


@pytest.mark.parametrize(("name", "framework"), FILES)
@pytest.mark.parametrize(
    "content",
    [b"hello world\n" * 9, b"\x00" * 99, b"\xff" * 99, b"<html>" * 20],
    ids=["text", "zeros", "ones", "page"],
)
def test_a_file_of_another_kind_is_named(tmp_path, name, framework, content):
    (tmp_path / name).write_bytes(content)
    text = complaint(tmp_path / name, framework)
    assert "damaged, cut off, or no" in text or "holds no weights" in text


@pytest.mark.parametrize(("name", "framework"), FILES)
def test_missing_empty_and_folders_are_named(tmp_path, name, framework):
    path = tmp_path / name
    assert "there is no such file" in complaint(path, framework)
    path.touch()
    assert "is empty; copy or download it again" in complaint(path, framework)
    path.unlink()
    path.mkdir()
    assert "is a folder" in complaint(path, framework)


def test_a_file_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.Path, "open", refuse)
    assert "cannot be read: Permission denied" in complaint(tmp_path / "n.pth", PYTORCH)


@pytest.mark.parametrize(
    ("name", "framework", "content", "words"),
    [
        ("n.ckpt", MINDSPORE, b"PK\x03\x04" + b"x" * 50, "PyTorch, not MindSpore: name it .pth"),
        ("n.ckpt", MINDSPORE, pickle.dumps([1]), "PyTorch, not MindSpore: name it .pth"),
        ("n.safetensors", PYTORCH, b"PK\x03\x04" + b"x" * 50, "PyTorch, not safetensors: name"),
        ("n.pth", PYTORCH, b"\x30" + b"\0" * 7 + b'{"a": 1}', "safetensors, not PyTorch: name it"),
        ("n.pth", PYTORCH, b"\x89HDF\r\n\x1a\n" + b"x" * 50, "HDF5, not PyTorch: export it to"),
        ("n.pth", PYTORCH, b"version https://git-lfs.github.com/", "git lfs, not PyTorch: run git"),
    ],
)
def test_a_file_under_the_wrong_name_is_told(tmp_path, name, framework, content, words):
    (tmp_path / name).write_bytes(content)
    assert f"looks like {words}" in complaint(tmp_path / name, framework)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickled_module_is_not_executed(tmp_path, zipped):
    path = tmp_path / "n.pth"
    torch.save(torch.nn.Linear(2, 2), path, _use_new_zipfile_serialization=zipped)
    text = complaint(path, PYTORCH)
    assert "holds Python objects" in text
    assert "save model.state_dict() and convert that" in text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_traced_module_is_not_executed(tmp_path):
    traced = torch.jit.trace(torch.nn.Linear(2, 2), torch.ones(1, 2))
    torch.jit.save(traced, str(tmp_path / "n.pt"))
    assert "holds Python objects" in complaint(tmp_path / "n.pt", PYTORCH)


class Bomb:
    """Unpickling this writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_pickle_from_outside_runs_nothing(tmp_path):
    torch.save({"w": torch.ones(1), "x": Bomb(tmp_path / "ran")}, tmp_path / "n.pth")
    assert "holds Python objects" in complaint(tmp_path / "n.pth", PYTORCH)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("loaded", "words"),
    [
        ([torch.ones(1)], "holds a list, no state dict"),
        (torch.ones(1), "holds a Tensor, no state dict"),
        ({"w": torch.ones(1), "epoch": 3}, "'epoch' is no tensor but a int"),
        ({"net": {"w": torch.ones(1)}}, "or lies under 'state_dict' or 'model'"),
        ({}, "holds no weights"),
        ({"state_dict": {}}, "holds no weights"),
        ({"w": torch.ones(2, dtype=torch.complex64)}, "w is complex64, which cannot be converted"),
        ({"w": torch.ones(2).to(torch.float8_e4m3fn)}, "w is float8_e4m3fn, which cannot be"),
        ({"w": torch.eye(2).to_sparse()}, "w is no dense tensor"),
    ],
)
def test_a_pytorch_file_of_something_else_is_refused(tmp_path, loaded, words):
    torch.save(loaded, tmp_path / "n.pth")
    assert words in complaint(tmp_path / "n.pth", PYTORCH)


def test_a_text_in_a_ckpt_is_refused(tmp_path):
    path = tmp_path / "n.ckpt"
    cell = ms.nn.Dense(2, 2)
    ms.save_checkpoint(cell, str(path), append_dict={"author": "me"})
    assert "'author' is no tensor but a str; save the network alone" in complaint(path, MINDSPORE)


def test_safetensors_of_the_other_framework_are_refused(tmp_path):
    path = tmp_path / "n.safetensors"
    write(path, PYTORCH, some(), {})
    assert "is no mindspore file: it says format=pt" in complaint(path, MINDSPORE)
    write(path, MINDSPORE, some(), {})
    assert "is no pytorch file: it says format=ms" in complaint(path, PYTORCH)


# --- Writing -------------------------------------------------------------------------------------


def test_a_weight_that_a_ckpt_would_leave_out_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match=r"cannot hold w, which has no elements"):
        write(tmp_path / "n.ckpt", MINDSPORE, {"w": drawn("float32", 0, 3)}, {})
    write(tmp_path / "n.safetensors", MINDSPORE, {"w": drawn("float32", 0, 3)}, {})
    assert read(tmp_path / "n.safetensors", MINDSPORE).weights["w"].shape == (0, 3)


@pytest.mark.parametrize(("name", "framework"), FILES)
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (OSError(28, "No space left on device"), CheckpointError),
        (RuntimeError("writer failed\nin C++"), CheckpointError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_an_interrupted_write_leaves_what_was_there(
    tmp_path, monkeypatch, name, framework, there, error, raised
):
    path = tmp_path / name
    if there:
        path.write_bytes(b"before")
    for module, writer in WRITERS:

        def interrupted(draft, *_):
            assert draft.parent.parent == tmp_path, "the same file system"
            draft.write_bytes(b"half")
            raise error

        monkeypatch.setattr(module, writer, interrupted)
    with pytest.raises(raised) as caught:
        write(path, framework, some(), {})
    if raised is CheckpointError:
        assert str(caught.value).startswith(f"{path} cannot be written: ")
        assert "\n" not in str(caught.value)
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"before"] * there


@pytest.mark.parametrize(("name", "framework"), FILES)
@pytest.mark.parametrize("fault", ["value", "missing", "more", "dtype"])
def test_what_reads_back_otherwise_is_not_kept(tmp_path, monkeypatch, name, framework, fault):
    def wrong(weights):
        weights = dict(weights)
        if fault == "missing":
            del weights["a.bias"]
        elif fault == "more":
            weights["c.bias"] = drawn("float32", 2)
        elif fault == "dtype":
            weights["a.bias"] = drawn("int32", 64)
        else:
            turned = weights["a.bias"].values.copy()
            turned.view(np.uint8)[5] ^= 1
            weights["a.bias"] = StoredWeight("float32", turned)
        return weights

    for module, writer in WRITERS:
        right = getattr(module, writer)

        def write_wrong(draft, side, weights, aliases, right=right):
            right(draft, side, wrong(weights), aliases)

        monkeypatch.setattr(module, writer, write_wrong)
    with pytest.raises(
        CheckpointError, match=r"was not written: [ac]\.bias .* read back otherwise"
    ):
        write(tmp_path / name, framework, some(), {})
    assert list(tmp_path.iterdir()) == []


def test_the_sum_is_over_names_and_values():
    weights = some()
    expected = b"".join(n.encode() + weights[n].values.tobytes() for n in ("a.bias", "b.weight"))
    assert safetensors_files.checksum(weights) == binascii.crc32(expected)


def test_an_optimiser_that_reads_back_otherwise_is_not_kept(tmp_path, monkeypatch):
    right = torch_files.write_torch
    state = {0: {"momentum_buffer": drawn("float32", 8, 5)}}
    wanted = TorchOptimizer(state, [{"lr": 0.1, "params": [0]}])

    def write_wrong(draft, side, weights, aliases, optimizer):
        moved = TorchOptimizer(optimizer.state, [{"lr": 0.2, "params": [0]}])
        right(draft, side, weights, aliases, moved)

    write(tmp_path / "right.pth", PYTORCH, some(), {}, wanted)
    assert wanted.same(read(tmp_path / "right.pth", PYTORCH).optimizer)
    monkeypatch.setattr(torch_files, "write_torch", write_wrong)
    with pytest.raises(CheckpointError, match=r"was not written: the optimiser reads back"):
        write(tmp_path / "n.pth", PYTORCH, some(), {}, wanted)
    assert [path.name for path in tmp_path.iterdir()] == ["right.pth"]
