"""The command line: what it prints, and its exit codes."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from equivalence.__main__ import main
from equivalence.checkpoints import mindspore_files
from equivalence.commands import EXAMPLES, parser

ROOT = Path(__file__).parents[2]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "n.pth"
    torch.save({"fc.weight": torch.ones(2, 3), "fc.bias": torch.ones(2)}, path)
    return path


def python(*arguments):
    """The finished process of `python -m equivalence` with these arguments."""
    command = [sys.executable, "-m", "equivalence", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_command_lists_every_weight_and_says_that_it_was_verified(source, tmp_path):
    done = python("convert", source, tmp_path / "n.ckpt")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{source} -> {tmp_path}/n.ckpt",
        "  fc.weight  fc.weight  float32 (2, 3)",
        "  fc.bias    fc.bias    float32 (2,)",
        f"{tmp_path}/n.ckpt: 2 weights, 8 values, verified by reading back",
    ]


@pytest.mark.parametrize("content", [b"", b"rubbish" * 9, b"PK\x03\x04", b"\n\xff\xff\xff\x0f"])
@pytest.mark.parametrize("names", [("a.pth", "b.ckpt"), ("a.ckpt", "b.pth")])
def test_damage_is_one_sentence_without_a_traceback(tmp_path, capfd, names, content):
    path = tmp_path / names[0]
    path.write_bytes(content)
    assert main(["convert", str(path), str(tmp_path / names[1])]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"error: {path} ")
    assert err.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == [names[0]]


def test_every_option_arrives(source, tmp_path, capsys):
    arguments = ["convert", source, tmp_path / "n.safetensors", "--to", "mindspore"]
    options = ["--network", f"{__name__}:dense", "--arguments", "inputs=3", "kind=Dense"]
    options += ["--rename", "layer=fc", "--drop", "fc.bias", "--layout", "hwio", "--force"]
    (tmp_path / "n.safetensors").write_bytes(b"before")
    assert main([*map(str, arguments), *options]) == 0
    out = capsys.readouterr().out
    assert "  fc.weight  layer.weight  float32 (3, 2)\n" in out
    assert "fc.bias: dropped, as told\n" in out


def dense(inputs, kind):
    """From TensorFlow's two inputs to three outputs."""
    from mindspore import nn

    assert (inputs, kind) == (3, "Dense")

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layer = nn.Dense(2, inputs, has_bias=False)

    return Net()


def test_the_options_of_an_optimiser_arrive(tmp_path, capsys):
    parameter = torch.nn.Parameter(torch.ones(2, 3))
    parameter.grad = torch.ones(2, 3)
    optimizer = torch.optim.SGD([parameter], lr=0.1, momentum=0.5)
    optimizer.step()
    whole = {"model": {"weight": parameter.data}, "optimizer": optimizer.state_dict()}
    torch.save(whole, tmp_path / "n.pth")
    command = ["convert", str(tmp_path / "n.pth"), str(tmp_path / "n.ckpt")]
    network = ["--network", "mindspore.nn:Dense", "--arguments", "in_channels=3", "out_channels=2"]
    options = ["has_bias=False", "--optimizer", f"{__name__}:momentum", "--steps", "7"]
    assert main([*command, *network, *options]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["momentum_buffer", "of", "weight", "moments.weight", "float32", "(2,", "3)"] in lines
    assert ["(7", "steps)", "global_step", "int32", "(1,)"] in lines
    assert main([*command, "--force"]) == 2
    assert "leave it behind with --drop optimizer" in capsys.readouterr().err
    assert main([*command, "--force", "--drop", "optimizer", *network, options[0]]) == 0


def momentum(network):
    from mindspore import nn

    return nn.Momentum(network.trainable_params(), [0.1] * 9, 0.5)


@pytest.mark.parametrize(
    "extra",
    [
        ["--rename", "a"],
        ["--arguments", "=3"],
        ["--to", "jax"],
        ["--layout", "oihw"],
        ["--steps", "x"],
    ],
)
def test_options_that_make_no_sense_are_mistakes(source, tmp_path, capsys, extra):
    with pytest.raises(SystemExit) as ended:
        main(["convert", str(source), str(tmp_path / "n.ckpt"), *extra])
    assert ended.value.code == 2
    assert "error: argument" in capsys.readouterr().err


def test_a_mistake_has_exit_code_2(source, tmp_path, capsys):
    assert main(["convert", str(source), str(tmp_path / "n.pt")]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_an_interruption_is_no_traceback(source, tmp_path, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(mindspore_files, "write_ckpt", interrupt)
    assert main(["convert", str(source), str(tmp_path / "n.ckpt")]) == 130
    assert capsys.readouterr().err == f"interrupted: {tmp_path}/n.ckpt was not written\n"
    assert os.listdir(tmp_path) == ["n.pth"]


def test_what_nobody_reads_on_is_no_traceback():
    command = [sys.executable, "-m", "equivalence", "findings", "list"]
    with subprocess.Popen(command, cwd=ROOT, stdout=-1, stderr=-1, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


SLOW = """
import runpy, sys, time
from equivalence.checkpoints import torch_files as checkpoint_torch
def slow(draft, *_):
    draft.write_bytes(b"half")
    time.sleep(60)
checkpoint_torch.write_torch = slow
sys.argv = ["equivalence", "convert", *sys.argv[1:]]
runpy.run_module("equivalence", run_name="__main__", alter_sys=True)
"""


def test_a_process_that_is_ended_leaves_no_draft(source, tmp_path):
    weights = tmp_path / "n.safetensors"
    assert main(["convert", str(source), str(weights), "--to", "mindspore"]) == 0
    command = [sys.executable, "-c", SLOW, str(weights), str(tmp_path / "out.pth")]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.glob(".out.pth.*/out.pth")) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        text = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert text == f"interrupted: {tmp_path}/out.pth was not written\n"
    assert sorted(os.listdir(tmp_path)) == ["n.pth", "n.safetensors"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_command_shows_two_examples_that_it_takes(name, capsys):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    told = capsys.readouterr().out
    assert len(EXAMPLES[name]) == 2
    for example in EXAMPLES[name]:
        assert f"  equivalence {example}\n" in told
        assert parser().parse_args(shlex.split(example)).run


def test_what_is_said_of_all_commands_is_for_users(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "Is a MindSpore network the same network as its PyTorch original?" in told
    assert "a parser and what it runs" not in told
