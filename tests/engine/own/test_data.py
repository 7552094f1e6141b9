"""`equivalence data`: loaders as they stand, right ones and fifteen mistakes, each by its stage."""

import json

import numpy as np
import pytest
from PIL import Image

from equivalence.__main__ import main
from equivalence.timing import loaders as timing
from tests.engine.parts import files_data_ms, record_files

HERE = "tests.engine.parts.loaders:"


def _target(name):
    return f"{HERE.rpartition('.')[0]}.{name}" if ":" in name else HERE + name


def data(capsys, reference, candidate, *more):
    """The exit code and what is printed."""
    code = main(["data", _target(reference), _target(candidate), *more])
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
        ("torch_loader", "ms_alone", "has 2 columns, and the other side's has image; give both"),
        ("torch_loadr", "ms_loader", "nearest: torch_loader"),
        ("texts_pt:ragged", "texts_ms:loader", "rows of several shapes, such as (9,) and (10,)"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(capsys, reference, candidate, complaint):
    assert main(["data", _target(reference), _target(candidate)]) == 2
    error = capsys.readouterr().err
    assert complaint in error.splitlines()[-1]
    assert "Traceback" not in error


# Pictures of other kinds.

KINDS = "files_data_pt:loader", "files_data_ms:{}"


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """A folder of four square RGB photos, which the loaders of `files_data_*` read."""
    levels = np.random.default_rng(0).integers(256, size=(4, 32, 32, 3), dtype=np.uint8)
    (tmp_path / "cat").mkdir()
    for number, each in enumerate(levels):
        Image.fromarray(each).save(tmp_path / "cat" / f"{number}.png")
    monkeypatch.setattr(files_data_ms, "ROOT", str(tmp_path))
    return ["--arguments", f"root={tmp_path}"]


@pytest.mark.parametrize(
    ("candidate", "more", "code", "told"),
    [
        (
            "loader",
            [],
            0,
            "11 kinds of other pictures were compared\nnot tried: deep, cmyk: Mind",
        ),
        ("loader", ["--pictures", "deep"], 0, "1 kind of other pictures were compared"),
        ("native", ["--pictures", "deep"], 1, "pictures:deep: pictures that are grey in 16 bits"),
        (
            "upright",
            ["--pictures", "turned"],
            1,
            "pictures:turned: pictures that EXIF turns, 1 x 2",
        ),
        ("upright", ["--pictures", "own"], 0, "EQUAL. "),
        ("rounded", ["--pictures", "odd"], 1, "; its own pictures are equal"),
    ],
)
def test_a_folder_of_ones_own_meets_pictures_of_other_kinds(
    capsys, photos, candidate, more, code, told
):
    targets = KINDS[0], KINDS[1].format(candidate)
    got, out = data(capsys, *targets, *photos, *more)
    assert got == code, out
    assert told in out
    assert ("other pictures" in out) == (more != ["--pictures", "own"])


def test_a_kind_of_pictures_that_is_not_known_is_one_sentence(capsys):
    assert main(["data", HERE + "torch_loader", HERE + "ms_loader", "--pictures", "sepia"]) == 2
    assert "--pictures sepia is not among grey, " in capsys.readouterr().err


# Text.


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("loader", "loader"),
        ("loader", "operators"),
        ("nested", "loader"),
        ("shuffled", "shuffled"),
        ("weighted", "weighted"),
        ("subset", "subset"),
    ],
)
def test_text_is_equal_as_it_stands(capsys, reference, candidate):
    code, out = data(capsys, f"texts_pt:{reference}", f"texts_ms:{candidate}")
    assert (code, out[:7]) == (0, "EQUAL. "), out


TEXTS = {
    "broken_left": "batch: ids[0]: row 0 is padded on the left: 0 0 0 2 ",
    "broken_value": "batch: ids[0]: rows are padded with 1 for 0: ",
    "broken_cut": "batch: ids[0]: rows have their first 9 tokens alone, of up to 12",
    "broken_fixed": "batch: ids[0]: rows are padded to 16 tokens for 12: ",
    "broken_lengths": "batch: lengths[0]: 2 less in each row",
    "broken_mask": "batch: mask[0]: it is inverted",
    "broken_line": "batch: line[0]: row 0 is 'THE RED CAT SAT ON THE MAT' for 'the red",
    "broken_end": "without_end: 8 of 8 samples are none of the original's; lacks the last token, 3",
    "broken_ends": "lacks the tokens at both ends, 2 and 3",
    "broken_shift": "shifted: 8 of 8 samples are none of the original's; has tokens of other num",
    "broken_case": "in_capitals: 8 of 8 samples are none of the original's; has the token 1 for 1",
    "broken_shuffled": "order: the port shuffles, and the original does not",
    "without_line": "batch: line[0]: the port has no text there",
}


@pytest.mark.parametrize("mistake", TEXTS)
def test_a_mistake_in_text_is_told_with_its_row_and_tokens(capsys, mistake):
    code, out = data(capsys, "texts_pt:loader", f"texts_ms:{mistake}")
    assert code == 1, out
    assert TEXTS[mistake] in out.partition("details:")[0], out


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        ([], 0, "EQUAL. "),
        (["capitals=[1]"], 1, "read: 1 of 8 samples are none of the original's; is 'THE RED CAT"),
    ],
)
def test_text_of_tensorflow_s_records_is_compared_beside_its_label(
    capsys, tmp_path, more, code, told
):
    sides = ["texts_pt:sentences", "texts_ms:sentences"]
    found, out = data(capsys, *sides, "--arguments", f"home={tmp_path}", *more)
    assert (found, told in out.partition("details:")[0]) == (code, True), out


def test_records_without_a_schema_have_the_bytes_of_a_text(tmp_path):
    (_, line), *_ = record_files.sentences(tmp_path, ["ab"], [1], typed=False)
    assert bytes(line.asnumpy()) == b"ab"


@pytest.mark.parametrize(
    ("reference", "candidate", "told"),
    [
        ("shuffled", "buffered", "draws the next sample among 4 samples, the original among all"),
        ("weighted", "shuffled", "the original draws with replacement, and the port without"),
        (
            "weighted",
            "weighted_otherwise",
            "sample 2 is drawn with the probability 0.03175 for 0.0",
        ),
    ],
)
def test_an_order_of_another_law_is_told(capsys, reference, candidate, told):
    code, out = data(capsys, f"texts_pt:{reference}", f"texts_ms:{candidate}")
    assert code == 1
    assert told in out.partition("details:")[0], out


def test_an_order_that_one_side_alone_repeats_is_told(capsys):
    code, out = data(capsys, "torch_repeating", "ms_rank")
    assert code == 1
    told = "order: of epoch 2 is drawn anew, and in the original it is that of epoch 1"
    assert told in out.partition("details:")[0], out


# What draws beside the transforms.


@pytest.mark.parametrize(
    ("reference", "candidate", "drawn"),
    [
        ("mix", "mix", "mixed draws, so batches are compared by their law"),
        ("mix", "mix_operator", "MixUpBatch draws, so batches"),
        ("cutmix", "cutmix", "cut draws, so batches"),
        ("language", "language", "masked draws, so batches"),
        ("mosaic", "mosaic", "Mosaic.__getitem__ draws, so samples are compared by their law"),
    ],
)
def test_what_draws_by_itself_is_compared_by_its_law_and_named(capsys, reference, candidate, drawn):
    code, out = data(capsys, f"mixed_pt:{reference}", f"mixed_ms:{candidate}")
    assert (code, out[:7]) == (0, "EQUAL. "), out
    assert drawn in out


MIXED = {
    "mix_alpha": "mixed: the squares of image is 0.",
    "mix_shares": "mixed: image and label do not go together as they do in the original",
    "mix_orders": "mixed: image and label do not go together as they do in the original",
    "mix_largest": "mixed: the ",
    "mix_lost": "mixed: it draws in the original, and the port draws nothing there",
    "cutmix_share": "cut: ",
    "mosaic_fixed": "Fixed: ",
    "language_all": "masked: the ",
    "language_chance": "masked: the ",
}


@pytest.mark.parametrize("mistake", MIXED)
def test_a_mistake_in_what_is_mixed_is_told(capsys, mistake):
    reference = mistake.partition("_")[0]
    code, out = data(capsys, f"mixed_pt:{reference}", f"mixed_ms:broken_{mistake}")
    assert code == 1, out
    assert MIXED[mistake] in out.partition("details:")[0], out


def test_one_side_that_draws_alone_is_told(capsys):
    code, out = data(capsys, "mixed_pt:plain", "mixed_ms:mix")
    assert code == 1
    assert "mixed: it draws in the port, and the original draws nothing there" in out


def test_workers_that_draw_the_same_numbers_are_told(capsys):
    more = ["--arguments", "workers=2"]
    code, out = data(capsys, "mixed_pt:mosaic", "mixed_ms:mosaic", *more)
    assert code == 1
    assert "workers: the 2 workers of the port draw the same numbers" in out


# Time.


def test_rows_per_second_are_told_beside_the_verdict(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(timing, "PATIENCE", 0.05)
    file = tmp_path / "r.json"
    code, out = data(capsys, "texts_pt:loader", "texts_ms:loader", "--time", "--json", str(file))
    assert code == 0
    assert "| rows per second: | median (quartiles)" in out
    rates = json.loads(file.read_text())["rows_per_second"]
    assert {name: len(each) for name, each in rates.items()} == {"PyTorch": 5, "MindSpore": 5}
    assert min(map(min, rates.values())) > 0
