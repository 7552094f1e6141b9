"""What a user may give to `convert`: each mistake is one sentence, and nothing is left behind."""

import argparse
import json
import os
import struct
import zipfile

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from equivalence.__main__ import main

HERE = "tests.engine.parts.conversions"
STATE = {"a.weight": torch.ones(2, 3), "a.bias": torch.ones(2)}


def sharded(folder, places=None, **files):
    """A folder of shards with an index, `places`: weight -> file."""
    files = files or {"x-1": {"a.weight": STATE["a.weight"]}, "x-2": {"a.bias": STATE["a.bias"]}}
    for name, state in files.items():
        save_file(state, folder / f"{name}.safetensors")
    if places is None:
        places = {"a.weight": "x-1.safetensors", "a.bias": "x-2.safetensors"}
    text = places if isinstance(places, str) else json.dumps({"weight_map": places})
    (folder / "m.safetensors.index.json").write_text(text)
    return folder / "m.safetensors.index.json"


def saved(folder, content, name="n.pth"):
    torch.save(content, folder / name)
    return folder / name


def content(folder, data, name="n.pth"):
    (folder / name).write_bytes(data)
    return folder / name


def cut(folder, name="n.pth"):
    path = saved(folder, STATE, "whole.pth")
    return content(folder, path.read_bytes()[:-400], name)


def header_twice(folder):
    entry = '"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'
    head = f"{{{entry},{entry}}}".encode()
    return content(folder, struct.pack("<Q", len(head)) + head + bytes(4), "n.safetensors")


def ckpt_twice(folder):
    value = b"\n\x01w\x12\x11\x08\x01\x12\x07Float32\x1a\x04" + bytes(4)
    other = value.replace(b"\n\x01w", b"\n\x01v")
    entries = b"".join(b"\n" + bytes([len(each)]) + each for each in (value, other, value))
    return content(folder, entries, "n.ckpt")


def part_twice(folder):
    path = saved(folder, STATE)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(archive.namelist()[0], b"")
    return path


class Odd:
    """A class that the file names and that must not be imported."""


ROWS = {
    "no such file": (lambda f: f / "no.pth", [], "no.pth: there is no such file"),
    "empty": (lambda f: content(f, b""), [], "is empty; copy or download it again"),
    "text": (lambda f: content(f, b"hello\n" * 40), [], "damaged, cut off, or no PyTorch file"),
    "page as bin": (lambda f: content(f, b"<html>" * 9, "n.bin"), [], "or no PyTorch file"),
    "cut off": (cut, [], "damaged, cut off, or no PyTorch file"),
    "cut off bin": (lambda f: cut(f, "n.bin"), [], "damaged, cut off, or no PyTorch file"),
    "git lfs": (
        lambda f: content(f, b"version https://git-lfs.github.com/spec/v1\n", "n.safetensors"),
        ["--to", "mindspore"],
        "looks like git lfs, not safetensors: run git lfs pull",
    ),
    "no suffix": (lambda f: content(f, b"x", "weights"), [], "does not end in .pth, .pt, .bin"),
    "a part twice": (part_twice, [], "it has a part twice"),
    "names twice in a header": (header_twice, ["--to", "mindspore"], "holds two weights called w"),
    "no key": (
        lambda f: saved(f, {"ema": STATE, "net": STATE}),
        [],
        "under what --key names (there is ema, net)",
    ),
    "another key": (
        lambda f: saved(f, {"ema": STATE, "epoch": 3}),
        ["--key", "ema.module"],
        "has nothing under 'ema.module', no state dict: there is ema",
    ),
    "a key of a number": (
        lambda f: saved(f, {"ema": STATE, "epoch": 3}),
        ["--key", "epoch"],
        "has a int under 'epoch', no state dict: there is ema",
    ),
    "a key of a tensor": (
        lambda f: saved(f, STATE),
        ["--key", "a.bias"],
        "under 'a.bias', no state dict: it has no dictionary in it; leave --key out",
    ),
    "a key for a ckpt": (
        lambda f: content(f, b"\n\x01x", "n.ckpt"),
        ["--key", "model"],
        "has names alone; --key is for dictionaries in PyTorch files",
    ),
    "an object under the key": (
        lambda f: saved(f, {"net": Odd(), "x": STATE}),
        ["--key", "net"],
        "holds Python objects",
    ),
    "an object beside the weights": (
        lambda f: saved(f, {**STATE, "args": argparse.Namespace(lr=1)}),
        [],
        "holds Python objects",
    ),
    "a number beside the weights": (
        lambda f: saved(f, {**STATE, "best": np.float64(3)}),
        [],
        "'best' is no tensor but a float64",
    ),
    "a name that is a number": (
        lambda f: saved(f, {3: torch.ones(2)}),
        [],
        "3 is no name of a weight",
    ),
    "strip without a match": (
        lambda f: saved(f, STATE),
        ["--strip", "backbone"],
        "--strip backbone: no name in",
    ),
    "strip makes one of two": (
        lambda f: saved(f, {**STATE, "ema.a.bias": torch.ones(2)}),
        ["--strip", "ema."],
        "ema.a.bias and a.bias of",
    ),
    "a folder without an index": (
        lambda f: f,
        [],
        "is a folder without an index (*.index.json); name the checkpoint file in it",
    ),
    "two indices": (
        lambda f: (sharded(f), (f / "z.bin.index.json").write_text("{}"), f)[2],
        [],
        "is a folder of several checkpoints; name one, m.safetensors.index.json or z.bin.index",
    ),
    "no index there": (
        lambda f: f / "m.safetensors.index.json",
        [],
        "there is no such file",
    ),
    "an index that is no JSON": (lambda f: sharded(f, "{"), [], "is damaged, or no JSON"),
    "an index without a map": (lambda f: sharded(f, "[]"), [], "has no 'weight_map' that says"),
    "an index with a name twice": (
        lambda f: sharded(f, '{"weight_map": {"a": "x-1.safetensors", "a": "x-2.safetensors"}}'),
        [],
        "holds two weights called a: which one counts is not known",
    ),
    "a shard that is missing": (
        lambda f: sharded(f, {"a.weight": "x-1.safetensors", "a.bias": "x-9.safetensors"}),
        [],
        "names x-9.safetensors, which is not beside it; copy or download that, too",
    ),
    "a shard elsewhere": (
        lambda f: sharded(f, {"a.weight": "../x-1.safetensors"}),
        [],
        "in '../x-1.safetensors'; a shard is the name of a file beside its index",
    ),
    "a shard by an absolute path": (
        lambda f: sharded(f, {"a.weight": "/etc/passwd"}),
        [],
        "a shard is the name of a file beside its index",
    ),
    "a shard that is a number": (lambda f: sharded(f, {"a.weight": 3}), [], "in 3; a shard is"),
    "a shard of another kind": (
        lambda f: sharded(f, {"a.weight": "x-1.bin"}),
        [],
        "no .safetensors file",
    ),
    "a shard that lacks a weight": (
        lambda f: sharded(f, dict.fromkeys(STATE, "x-1.safetensors")),
        [],
        "x-1.safetensors lacks a.bias, which m.safetensors.index.json says is in it",
    ),
    "a shard that has more": (
        lambda f: sharded(f, {"a.weight": "x-1.safetensors"}, **{"x-1": STATE}),
        [],
        "x-1.safetensors holds a.bias, which m.safetensors.index.json does not have there",
    ),
    "shards and an optimiser": (
        lambda f: saved(
            f,
            {
                "model": {"0.weight": torch.ones(2, 2), "0.bias": torch.ones(2)},
                "optimizer": {"state": {}, "param_groups": [{"params": [0, 1]}]},
            },
        ),
        ["--shard", "1MB"],
        "holds the state of an optimiser (optimizer)",
    ),
    "a dtype that is none": (
        lambda f: saved(f, {"w": torch.ones(2).to(torch.float8_e4m3fn)}),
        [],
        "w is float8_e4m3fn, which cannot be converted; cast it to one of float64",
    ),
    "integers for numbers": (
        lambda f: saved(f, {"0.weight": torch.ones(2, 2).long(), "0.bias": torch.ones(2)}),
        ["--network", f"{HERE}:one_dense"],
        "0.weight is int64, and the network has float32 in its place",
    ),
    "another shape": (
        lambda f: saved(f, {"0.weight": torch.ones(3, 2), "0.bias": torch.ones(2)}),
        ["--network", f"{HERE}:one_dense"],
        "candidate 0.weight is a weight (2, 2), its partner 0.weight a weight (3, 2)",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_mistake_is_one_sentence_and_leaves_nothing(tmp_path, capsys, row):
    make, options, words = ROWS[row]
    (tmp_path / "in").mkdir()
    source = make(tmp_path / "in")
    before = sorted(os.listdir(tmp_path / "in"))
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / "n.ckpt"
    if source.suffix == ".ckpt":
        target = target.with_suffix(".pth")
    assert main(["convert", str(source), str(target), *options]) == 2
    text = capsys.readouterr().err
    assert text.startswith("error: ")
    assert words in text
    assert str(tmp_path) in text
    if "do not pair up" not in text:  # that has a table of both sides
        assert text.count("\n") == 1
    assert os.listdir(tmp_path / "out") == []
    assert sorted(os.listdir(tmp_path / "in")) == before


def test_a_name_twice_in_a_ckpt_is_refused(tmp_path, capsys):
    assert main(["convert", str(ckpt_twice(tmp_path)), str(tmp_path / "n.pth")]) == 2
    assert "n.ckpt holds two weights called w: which one counts" in capsys.readouterr().err


@pytest.mark.parametrize("size", ["5", "GB", "-1GB", "1.5GB", "0MB", "5TB"])
def test_a_size_that_is_none_is_told(tmp_path, capsys, size):
    with pytest.raises(SystemExit) as ended:
        main(["convert", str(saved(tmp_path, STATE)), "n.ckpt", f"--shard={size}"])
    assert ended.value.code == 2
    assert "is no size; write 500MB or 5GB" in capsys.readouterr().err
