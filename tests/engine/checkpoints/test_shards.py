"""Checkpoints of several files: what is split comes back, and the index comes last."""

import json

import numpy as np
import pytest
import safetensors.torch
import torch

from equivalence.checkpoints import files, shards
from equivalence.checkpoints.formats import MINDSPORE, PYTORCH, StoredWeight
from equivalence.convert.convert import convert
from equivalence.errors import CheckpointError

NAMES = ("b.weight", "a.weight", "c.weight", "d.bias")


def some(count=1000):
    values = np.arange(4 * count, dtype=np.float32).reshape(4, count)
    return {name: StoredWeight("float32", values[i]) for i, name in enumerate(NAMES)}


@pytest.mark.parametrize(
    ("name", "framework"),
    [
        ("n.safetensors", PYTORCH),
        ("n.safetensors", MINDSPORE),
        ("n.bin", PYTORCH),
        ("n.ckpt", MINDSPORE),
    ],
)
def test_shards_come_back_bit_for_bit_by_index_and_by_folder(tmp_path, name, framework):
    files.write(tmp_path / name, framework, some(), {}, shard=8000)
    stem, suffix = name.split(".")
    numbered = [f"{stem}-0000{n}-of-00002.{suffix}" for n in (1, 2)]
    assert sorted(p.name for p in tmp_path.iterdir()) == [*numbered, f"{name}.index.json"]
    for path in (tmp_path, tmp_path / f"{name}.index.json"):
        found = files.read(path, framework)
        assert set(found.weights) == set(NAMES)
        assert all(found.weights[n].same(weight) for n, weight in some().items())
        assert found.checked
    index = json.loads((tmp_path / f"{name}.index.json").read_text())
    assert index["metadata"] == {"total_size": 16000}


def test_a_weight_larger_than_a_shard_is_alone():
    groups = shards.split(some(), {}, 100)
    assert [list(group) for group in groups] == [[name] for name in NAMES]


def test_shared_weights_stay_in_one_file(tmp_path):
    weights = some()
    weights["z.weight"] = weights["b.weight"]
    files.write(tmp_path / "n.pth", PYTORCH, weights, {"z.weight": "b.weight"}, shard=4000)
    found = files.read(tmp_path, PYTORCH)
    assert found.aliases == {"z.weight": "b.weight"}
    assert len(list(tmp_path.glob("*.pth"))) == 4


def test_older_shards_are_kept_without_force_and_gone_with_it(tmp_path):
    torch.save({f"{n}.w": torch.ones(300_000) for n in "abcd"}, tmp_path / "n.pth")
    target = tmp_path / "out.ckpt"
    convert(tmp_path / "n.pth", target, shard=1_300_000)
    assert len(shards.present(target)) == 5
    with pytest.raises(CheckpointError, match=r"out.ckpt.index.json exists; give --force"):
        convert(tmp_path / "n.pth", target, shard=5_000_000)
    convert(tmp_path / "n.pth", target, shard=5_000_000, force=True)
    assert [p.name for p in shards.present(target)] == [
        "out.ckpt.index.json",
        "out-00001-of-00001.ckpt",
    ]


def test_shards_of_others_are_read(tmp_path):
    """As Hugging Face's libraries write them, without a checksum."""
    for number, name in enumerate("ab", 1):
        file = tmp_path / f"model-0000{number}-of-00002.safetensors"
        safetensors.torch.save_file({f"{name}.w": torch.full((2,), number)}, file)
    places = {f"{n}.w": f"model-0000{i}-of-00002.safetensors" for i, n in enumerate("ab", 1)}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": places}))
    made = convert(tmp_path, tmp_path / "n.ckpt")
    assert list(made.weights) == ["a.w", "b.w"]
    assert "has no checksum" in made.notes[0]


def test_an_interrupted_write_of_shards_leaves_what_was_there(tmp_path, monkeypatch):
    target = tmp_path / "n.safetensors"
    files.write(target, PYTORCH, some(), {}, shard=4000)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_compare", full)
    with pytest.raises(CheckpointError, match=r"cannot be written: No space left on device"):
        files.write(target, PYTORCH, some(), {}, shard=8000)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
