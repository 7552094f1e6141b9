"""What lies beside and above the weights in a PyTorch file: read where needed, never run."""

import argparse
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from equivalence.checkpoints.files import read
from equivalence.checkpoints.formats import PYTORCH
from equivalence.convert.convert import convert
from tests.engine.parts.conversions import names, stored


def weights():
    return {"w": torch.arange(3.0)}


@pytest.mark.parametrize("zipped", [True, False], ids=["archive", "older"])
def test_what_lies_beside_the_weights_is_told_and_not_loaded(tmp_path, zipped):
    beside = {
        "args": argparse.Namespace(lr=0.1, data=Path("x")),
        "best": np.float64(71.5),
        "epoch": np.int64(3),
        "history": np.arange(4),
        "device": Path("a"),
    }
    path = tmp_path / "n.pth"
    torch.save({"model": weights(), **beside}, path, _use_new_zipfile_serialization=zipped)
    found = read(path, PYTORCH)
    assert list(found.weights) == ["w"]
    assert found.extras == tuple(beside)


def test_a_class_that_the_file_names_is_not_imported(tmp_path, monkeypatch):
    module = tmp_path / "their_module.py"
    module.write_text("class Config:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    import their_module

    torch.save({"model": weights(), "config": their_module.Config()}, tmp_path / "n.pth")
    del sys.modules["their_module"]
    module.write_text("raise RuntimeError('imported')\n")
    assert read(tmp_path / "n.pth", PYTORCH).extras == ("config",)
    assert "their_module" not in sys.modules


class Runs:
    """Unpickling this would write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_what_a_pickle_would_run_beside_the_weights_is_not_run(tmp_path):
    torch.save({"model": weights(), "x": Runs(tmp_path / "ran")}, tmp_path / "n.pth")
    assert read(tmp_path / "n.pth", PYTORCH).extras == ("x",)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("key", "content"),
    [
        ("ema", {"ema": weights(), "model": {"v": torch.ones(1)}}),
        ("ema.module", {"ema": {"module": weights(), "decay": 0.9}, "model": {}}),
        ("net.ema", {"net.ema": weights(), "net": {"x": 1}}),
        ("a.b.c", {"a.b": {"c": weights()}, "a": {"b": {}}}),
    ],
)
def test_a_state_dict_is_found_by_its_key(tmp_path, key, content):
    torch.save(content, tmp_path / "n.pth")
    assert list(read(tmp_path / "n.pth", PYTORCH, key=key).weights) == ["w"]


def test_a_bin_is_a_file_of_pytorch(tmp_path):
    made = convert(stored(tmp_path / "pytorch_model.bin", w=(2,)), tmp_path / "n.ckpt")
    assert list(made.weights) == ["w"]
    convert(tmp_path / "n.ckpt", tmp_path / "back.bin")
    assert names(tmp_path / "back.bin", PYTORCH) == {"w"}


def test_prefixes_are_stripped_one_after_the_other_and_told(tmp_path):
    source = stored(tmp_path / "n.pth", model__net__w=(2,), model__v=(3,), u=(1,))
    made = convert(source, tmp_path / "n.ckpt", strip=["model.", "net"])
    assert set(made.weights) == {"w", "v", "u"}
    assert made.notes == [
        "model: in front of 2 of 3 names, taken off",
        "net: in front of 1 of 3 names, taken off",
    ]


def test_values_stay_in_the_file_until_they_are_used(tmp_path):
    torch.save({"w": torch.zeros(1 << 20)}, tmp_path / "n.pth")
    assert not read(tmp_path / "n.pth", PYTORCH).weights["w"].values.flags.owndata
