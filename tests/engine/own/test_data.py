"""`equivalence data`: loaders as they stand, right ones and fifteen mistakes, each by its stage."""

import json

import pytest

from equivalence.__main__ import main

HERE = "tests.engine.parts.loaders:"


def data(capsys, reference, candidate, *more):
    """The exit code and what is printed."""
    code = main(["data", HERE + reference, HERE + candidate, *more])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("reference", "candidate", "arguments"),
    [
        ("torch_loader", "ms_loader", []),
        ("torch_loader", "ms_loader", ["train=True", "shuffle=True"]),
        ("torch_arrays", "ms_arrays", []),
        ("torch_stream", "ms_stream", []),
        ("torch_data", "ms_samples", []),
        ("torch_rank", "ms_rank", ["num_shards=2"]),
    ],
)
def test_right_pipelines_are_equal_as_they_stand(capsys, reference, candidate, arguments):
    more = ["--arguments", *arguments] if arguments else []
    code, out = data(capsys, reference, candidate, *more)
    assert code == 0, out
    assert out.startswith("EQUAL. ")
    assert "original: " in out


MISTAKES = {
    "no pil": ("ToPIL", "the port has no such stage"),
    "size": ("Resize", "shape (25, 25, 3) for (24, 24, 3)"),
    "nearest": ("Resize", "off by up to"),
    "mean": ("Normalize", "by mean 0.45 0.48 0.49"),
    "variance": ("Normalize", "the variance stands for the standard deviation"),
    "no normalize": ("Normalize", "the port has no such stage"),
    "levels": ("ToTensor", "the port has no such stage; the picture is not divided by 255"),
    "bgr": ("read", "the channels are reversed: BGR for RGB"),
    "labels": ("label", "1 more than the original's"),
    "shuffled": ("order", "the port shuffles, and the original does not"),
    "fewer": ("batch", "10 in an epoch, expected 14"),
    "batch": ("batch", "5 in an epoch, expected 4"),
    "dropped": ("batch", "3 in an epoch, expected 4"),
    "padding": ("RandomCrop", "in the original"),
    "chance": ("RandomHorizontalFlip", "of its draws, and in 5"),
    "no flip": ("RandomHorizontalFlip", "the port has no such stage"),
    "no crop": ("RandomCrop", "the port has no such stage"),
    "extra": ("RandomVerticalFlip", "the original has no such stage"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_its_stage(capsys, mistake):
    stage, cause = MISTAKES[mistake]
    drawn = mistake in ("padding", "chance", "no flip", "no crop", "extra")
    more = ["train=True"] if drawn else []
    target = f"broken_{mistake.replace(' ', '_')}"
    code, out = data(capsys, "torch_loader", target, *(["--arguments", *more] if more else []))
    assert code == 1, out
    answer = out.partition("details:")[0]
    assert f"  {stage}: " in answer
    assert cause in answer


def test_columns_without_names_take_those_of_the_other_side(capsys, tmp_path):
    file = tmp_path / "r.json"
    code, _ = data(capsys, "torch_loader", "ms_renamed", "--json", str(file))
    document = json.loads(file.read_text())
    assert (code, document["equal"]) == (0, True)
    named = {each["tensor"] for each in document["results"] if "tensor" in each}
    assert {"pixels[0]", "class[0]", "pixels[1]", "class[1]"} <= named


@pytest.mark.parametrize(
    ("reference", "candidate", "complaint"),
    [
        ("nothing", "ms_loader", "it is list, and no data set; give a DataLoader"),
        ("torch_loader", "ms_alone", "has 2 values, and the other side's has the columns image"),
        ("torch_loadr", "ms_loader", "nearest: torch_loader"),
        ("torch_unsteady", "ms_arrays", "gives another sample each time"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(capsys, reference, candidate, complaint):
    assert main(["data", HERE + reference, HERE + candidate]) == 2
    error = capsys.readouterr().err
    assert complaint in error.splitlines()[-1]
    assert "Traceback" not in error
