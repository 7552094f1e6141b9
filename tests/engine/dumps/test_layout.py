"""The folder of a recorded run: what is written once, and what is refused when it is read."""

import json

import numpy as np
import pytest

from equivalence import dtypes
from equivalence.dumps import layout, read
from equivalence.errors import CheckpointError

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def write(folder, finish=True, **arrays):
    writer = layout.FolderWriter(folder, {"framework": "torch"}, whole=100, limit=1 << 20)
    writer.begin("step0")
    for name, values in arrays.items():
        writer.add(name, values)
    if finish:
        writer.finish()
    return folder


def test_arrays_come_back_in_order_with_their_dtypes(tmp_path):
    given = {
        "z": X.astype(np.float64),
        "half": X.astype(np.float16),
        "brain": dtypes.rounded(X, "bfloat16"),
        "count": np.arange(3),
        "truth": np.array(True),
        "pair": X * 1j,
    }
    dump = read.read(write(tmp_path / "a", **given))
    assert [*dump.arrays] == [f"step0/{name}" for name in given]
    for stored, values in zip(dump.arrays.values(), given.values(), strict=True):
        loaded = stored.load()
        assert stored.dtype == dtypes.name(values.dtype) == dtypes.name(loaded.dtype)
        assert np.array_equal(loaded, values)
    with np.load(tmp_path / "a" / "step0.npz") as file:
        assert {file["half"].dtype, file["brain"].dtype} == {np.dtype(np.float32)}


def test_the_same_numbers_are_written_once_and_a_second_name_is_another(tmp_path):
    writer = layout.FolderWriter(tmp_path / "a", {}, whole=100, limit=1 << 20)
    writer.begin("step0")
    for values in (X, X + 1, X + 2):
        writer.add("x", values)
    writer.add("y", X)
    writer.finish()
    assert [*read.read(tmp_path / "a").arrays] == [
        *("step0/x", "step0/x.again1", "step0/x.again2", "step0/y"),
    ]
    with np.load(tmp_path / "a" / "step0.npz") as file:
        assert len(file.files) == 3


def test_checksums_are_those_of_the_numbers():
    ones = np.array([0.0, np.nan, 1.0], np.float32)
    assert layout.digest(ones) == layout.digest(np.array([-0.0, -np.nan, 1.0], np.float32))
    assert layout.digest(ones) != layout.digest(np.array([0.0, np.nan, 2.0], np.float32))
    assert layout.digest(X) == layout.digest(np.asfortranarray(X))


def test_folders_of_several_processes_are_read_together(tmp_path):
    for rank in range(2):
        write(tmp_path / f"rank{rank}", x=X + rank)
    assert [*read.read(tmp_path).arrays] == ["rank0/step0/x", "rank1/step0/x"]


def damage(path, words=b"\0\0"):
    content = bytearray(path.read_bytes())
    content[200 : 200 + len(words)] = words
    path.write_bytes(content)


def without_end(folder):
    content = (folder / layout.MANIFEST).read_text()
    (folder / layout.MANIFEST).write_text(content[: len(content) // 2])


def with_other_release(folder):
    content = json.loads((folder / layout.MANIFEST).read_text())
    (folder / layout.MANIFEST).write_text(json.dumps({**content, "format": 99}))


def with_other_entry(folder):
    path = folder / layout.MANIFEST
    path.write_text(path.read_text().replace("step0/x", "step0/y"))


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda folder: damage(folder / "step0.npz"), "step0.npz is damaged: its checksum"),
        (lambda folder: (folder / "step0.npz").unlink(), "step0.npz is missing"),
        (without_end, "recorded.json is damaged; record it again"),
        (with_other_release, "is of another release"),
        (with_other_entry, "recorded.json is damaged: its checksum"),
    ],
)
def test_a_damaged_folder_is_refused_in_a_sentence(harm, words, tmp_path):
    harm(write(tmp_path / "a", x=X))
    with pytest.raises(CheckpointError, match=words):
        read.read(tmp_path / "a")


def test_a_half_written_folder_is_refused_and_its_files_have_no_name_yet(tmp_path):
    write(tmp_path / "a", finish=False, x=X)
    assert not (tmp_path / "a" / "step0.npz").exists()
    with pytest.raises(CheckpointError, match="half written"):
        read.read(tmp_path / "a")
