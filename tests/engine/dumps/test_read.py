"""Arrays of files and folders: every format, the order of the run, and what is refused."""

import json
import pickle

import mindspore as ms
import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from equivalence.dumps import read
from equivalence.errors import CheckpointError

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


def write(path, values=X):
    if path.suffix == ".npy":
        np.save(path, values)
    elif path.suffix == ".npz":
        np.savez(path, a=values)
    elif path.suffix == ".safetensors":
        save_file({"a": values}, path)
    elif path.suffix == ".ckpt":
        ms.save_checkpoint([{"name": "a", "data": ms.Tensor(values)}], str(path))
    else:
        torch.save(torch.from_numpy(values), path)
    return path


@pytest.mark.parametrize("suffix", read.SUFFIXES)
def test_each_format_gives_its_arrays(suffix, tmp_path):
    dump = read.read(write(tmp_path / f"x{suffix}"))
    ((name, stored),) = dump.arrays.items()
    assert name == ("x" if suffix in (".npy", ".pt", ".pth", ".bin") else "a")
    assert (stored.dtype, stored.shape) == ("float32", (3, 4))
    assert np.array_equal(stored.load(), X)


def test_bfloat16_keeps_its_numbers_and_its_name(tmp_path):
    values = torch.from_numpy(X).bfloat16()
    torch.save(values, tmp_path / "x.pt")
    (stored,) = read.read(tmp_path / "x.pt").arrays.values()
    assert stored.dtype == "bfloat16"
    assert np.array_equal(stored.load(), values.float().numpy())


def test_nested_tensors_have_the_names_of_their_keys(tmp_path):
    torch.save({"out": [torch.ones(2), {"loss": torch.ones(())}], "epoch": 3}, tmp_path / "x.pt")
    assert [*read.read(tmp_path / "x.pt").arrays] == ["out.0", "out.1.loss"]


def test_a_training_s_file_gives_its_weights(tmp_path):
    torch.save({"state_dict": {"fc.weight": torch.ones(2)}, "epoch": 3}, tmp_path / "x.pth")
    assert [*read.read(tmp_path / "x.pth").arrays] == ["fc.weight"]


def test_a_folder_is_read_whole_and_what_holds_no_array_is_named(tmp_path):
    (tmp_path / "step1").mkdir()
    write(tmp_path / "b.npy")
    write(tmp_path / "step1" / "a.npz")
    (tmp_path / "log.txt").write_text("loss 3")
    dump = read.read(tmp_path)
    assert [*dump.arrays] == ["b", "step1/a/a"]
    assert (dump.ordered, dump.unread) == (False, ["log.txt"])
    assert read.unread_line(dump) == f"1 file in {tmp_path} hold no arrays: log.txt"


def test_msprobe_s_list_gives_the_order_of_the_run(tmp_path):
    folder = tmp_path / "step0" / "rank0" / "dump_tensor_data"
    folder.mkdir(parents=True)
    calls = ["Module.b.Linear.forward.0", "Module.a.ReLU.forward.0"]
    (folder.parent / "dump.json").write_text(json.dumps({"data": {call: {} for call in calls}}))
    (folder.parent / "stack.json").write_text("{}")
    for call in sorted(calls):
        write(folder / f"{call}.output.0.npy")
    dump = read.read(tmp_path)
    assert [name.rpartition("/")[2] for name in dump.arrays] == [f"{c}.output.0" for c in calls]
    assert dump.ordered
    assert not dump.unread


def test_what_cannot_be_read_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "log.txt").write_text("loss")
    (tmp_path / "half.npy").write_bytes(b"\x93NUMPY\x01\x00v")
    (tmp_path / "half.pt").write_bytes(b"PK\x03\x04")
    (tmp_path / "none.pt").write_bytes(b"")
    (tmp_path / "objects.npy").write_bytes(b"")
    np.save(tmp_path / "objects.npy", np.array([object()]), allow_pickle=True)
    np.save(tmp_path / "words.npy", np.array(["a"]))
    with (tmp_path / "pickled.pt").open("wb") as file:
        pickle.dump(np.random.default_rng, file)
    (tmp_path / "dumped").mkdir()
    (tmp_path / "dumped" / "dump.json").write_text("{")
    for name, words in {
        "gone": "is not there; name a file or a folder",
        "empty": "has no array",
        "log.txt": "has no arrays: it is none of .npy",
        "half.npy": "cannot be read as .npy; write it again",
        "half.pt": "half.pt",
        "none.pt": "is empty",
        "objects.npy": "holds objects; save arrays of numbers",
        "words.npy": "no numbers",
        "pickled.pt": "pickled.pt",
        "dumped": "is no list of msprobe",
    }.items():
        with pytest.raises(CheckpointError, match=words):
            read.read(tmp_path / name)


def test_a_text_names_what_is_stored_or_what_is_built(tmp_path):
    assert read.is_stored(str(tmp_path))
    assert read.is_stored("gone.npy")
    assert not read.is_stored("models:Net")
    assert not read.is_stored("torch.nn:Linear")
