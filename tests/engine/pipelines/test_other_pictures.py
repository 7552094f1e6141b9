"""Pictures of other kinds: how they are drawn, which are compared, and what is told of them."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from equivalence.declare.pipeline import PICTURES, Pictures, Pipeline, cases
from equivalence.errors import DeclarationError
from equivalence.kinds import check, diagnose
from equivalence.pipelines.check import EVERY, tried
from equivalence.pipelines.compare import PipelineSides, compare
from equivalence.pipelines.encoded import LARGEST, encode
from equivalence.pipelines.mirrored import MOST, POOL, Mirrors, UnmirroredError, mirror, places
from equivalence.report import text as report
from tests.defects.data import OTHER_PICTURES
from tests.defects.mutants import right_case, with_defect
from tests.engine.parts import pictures_pil

HERE = "tests.engine.parts.pictures_pil:"
MODES = {
    "grey": "L",
    "grey_alpha": "LA",
    "alpha": "RGBA",
    "palette": "P",
    "palette_alpha": "P",
    "bits": "1",
    "deep": "I;16",
    "cmyk": "CMYK",
}


def case(reference="Read", candidate="Read", files="files", **options):
    pipeline = Pipeline("small", HERE + reference, HERE + candidate, HERE + files, **options)
    return next(cases(pipeline))


def others(made, *kinds):
    return tried(made, 0, PipelineSides(made, 0), kinds or tuple(PICTURES))


def problems(made, *kinds):
    return {each.name: each.problem for each in others(made, *kinds).verdicts if each.problem}


def opened(kind, number=0, size=(24, 31)):
    return Image.open(io.BytesIO(encode(Pictures(kind), number, size, 0)))


# How they are drawn.


@pytest.mark.parametrize("kind", PICTURES)
def test_each_kind_is_what_it_says(kind):
    image = opened(kind)
    assert image.mode == MODES.get(kind, "RGB")
    assert (0x112 in image.getexif()) == (kind == "turned")
    assert ("transparency" in image.info) == (kind == "palette_alpha")
    sizes = {opened(kind, number).size for number in range(POOL)}
    if kind in ("odd", "wide", "tall"):
        assert len(sizes) > 3
        assert all(width % 2 and height % 2 for width, height in sizes) or kind != "odd"
        shapes = {"wide": lambda w, h: w > 9 * h, "tall": lambda w, h: h > 9 * w}
        assert all(shapes.get(kind, lambda *_: True)(*size) for size in sizes)
    else:
        assert sizes == {(1, 1) if kind == "pixel" else (31, 24)}


def test_drawn_pictures_are_those_of_the_seed_and_not_larger_than_needed():
    one = encode(Pictures("grey"), 0, (24, 31), 0)
    assert one == encode(Pictures("grey"), 0, (24, 31), 0)
    assert one != encode(Pictures("grey"), 1, (24, 31), 0)
    assert one != encode(Pictures("grey"), 0, (24, 31), 1)
    assert max(opened("grey", size=(3000, 2000)).size) == LARGEST
    assert Image.open(io.BytesIO(encode(Pictures("odd", (5, 7)), 0, (24, 31), 0))).size == (7, 5)


def test_sixteen_bits_use_all_of_them_and_alpha_reaches_both_ends():
    assert np.unique(np.array(opened("deep")) % 256).size > 100
    alpha = np.array(opened("alpha", size=(64, 64)))[..., 3]
    assert (alpha.min(), alpha.max()) == (0, 255)


@pytest.mark.parametrize("text", ["sepia", "grey(3)", "grey(0x3, 4)", ""])
def test_a_kind_that_is_not_known_is_refused(text):
    with pytest.raises(DeclarationError, match="are not among grey, grey_alpha"):
        Pictures.read(text)
    assert str(Pictures.read("grey(3, 4)")) == "grey(3, 4)"


def test_a_pipeline_is_not_without_a_kind_that_is_not_known():
    with pytest.raises(DeclarationError, match="without 'sepia' is not among grey"):
        case(without={"sepia": "it is brown"})


# The folder.


def test_a_mirrored_folder_has_all_files_and_leaves_the_other_as_it_is(tmp_path):
    original, into = tmp_path / "original", tmp_path / "into"
    original.mkdir()
    into.mkdir()
    pictures_pil.files(original, 0)
    before = {each: each.read_bytes() for each in original.rglob("*") if each.is_file()}
    mirror(original, Pictures("grey"), 0, into)
    names = [
        sorted(str(each.relative_to(at)) for each in at.rglob("*"))
        for at in (original, into / "whole")
    ]
    assert names[0] == names[1]
    assert (into / "whole" / "list.txt").read_text() == "0 1 2"
    contents = [(into / "whole" / "inner" / f"{number}.png").read_bytes() for number in range(3)]
    made = [Image.open(io.BytesIO(each)) for each in contents]
    assert {(each.mode, each.size) for each in made} == {("L", (16, 12))}
    assert len({each.tobytes() for each in made}) == 3
    assert before == {each: each.read_bytes() for each in original.rglob("*") if each.is_file()}


def test_a_folder_without_pictures_or_with_too_many_files_is_told(monkeypatch):
    found = others(case(files="no_pictures"))
    assert found.untried == {EVERY: "the folder has no picture files"}
    monkeypatch.setattr("equivalence.pipelines.mirrored.MOST", 2)
    assert MOST == 100_000
    found = others(case())
    assert found.untried == {EVERY: "the folder has more than 2 files"}
    assert not found.verdicts
    expected = ["no pictures of other kinds were tried: the folder has more than 2 files"]
    assert found.lines() == expected


@pytest.mark.parametrize(
    ("side", "arguments", "found"),
    [
        ("by_default", {"root": True}, (["root"], ["ROOT"])),
        ("by_default", {}, ([], ["ROOT"])),
        ("by_name", {}, ([], ["ROOT"])),
    ],
)
def test_a_side_as_it_stands_reads_other_pictures(monkeypatch, tmp_path, side, arguments, found):
    pictures_pil.files(tmp_path, 0)
    monkeypatch.setattr(pictures_pil, "ROOT", str(tmp_path))
    given = {name: str(tmp_path) for name in arguments}
    held = places(HERE + side, given)
    assert ([*held.arguments], [*held.names]) == found
    mirrors = Mirrors({"reference": held, "candidate": held}, Pictures("grey"), 0)
    with mirrors.reading():
        read = mirrors.arguments("reference").get("root", pictures_pil.ROOT)
        with Image.open(Path(read, "inner", "0.png")) as image:
            assert image.mode == "L"
    assert str(tmp_path) == pictures_pil.ROOT


def test_a_side_that_holds_no_folder_is_told(monkeypatch):
    monkeypatch.setattr(pictures_pil, "ROOT", "/")  # holds pictures somewhere, and is no data set
    held = places(HERE + "by_name", {})
    with pytest.raises(UnmirroredError, match="the candidate takes no folder of pictures"):
        Mirrors({"candidate": held}, Pictures("grey"), 0)


# What is compared.


def test_equal_sides_meet_each_kind():
    outcome = check(case(), 0)
    assert outcome.passed
    names = [each.name for each in outcome.judged.verdicts if each.name.startswith("pictures:")]
    assert names == [f"pictures:{kind}" for kind in PICTURES]
    assert outcome.untried == ()


def test_a_difference_is_told_by_its_kind_and_the_smallest_picture():
    found = problems(case(candidate="Upright"))
    assert [*found] == ["pictures:turned"]
    assert found["pictures:turned"].startswith("pictures that EXIF turns, 1 x 2: image[0]: ")
    wide = others(case(candidate="Wide"), "wide")
    height, width = Pictures.read(wide.shown.pictures).size
    assert height == 1
    assert 9 <= width < 18
    outcome = check(case(candidate="Upright"), 0)
    assert not outcome.passed
    told = "\n".join(diagnose(case(candidate="Upright"), 0).brief)
    assert "culprit: read" in told
    assert "of pictures that EXIF turns, 1 x 2; its own pictures are equal" in told


def test_what_the_reference_refuses_is_told_and_no_evidence():
    found = others(case(reference="Strict"))
    assert {*found.untried} == {*MODES}
    assert found.untried["grey"] == "the reference refuses them: ValueError: mode L, expected RGB"
    assert found.shown is None
    assert len(found.verdicts) == len(PICTURES) - len(MODES)
    assert "not tried: grey: the reference refuses them: ValueError: mode L" in found.lines()[1]
    line = report.lines(check(case(reference="Strict"), 0))[0]
    assert '"untried": {"grey": "the reference refuses them' in line


def test_a_candidate_that_refuses_what_the_reference_takes_is_wrong():
    found = problems(case(candidate="Strict"), "grey", "odd")
    assert found == {
        "pictures:grey": "pictures that are grey, 1 x 1: the candidate raises ValueError: mode L, "
        "expected RGB"
    }
    told = diagnose(case(candidate="Strict"), 0).brief
    assert "  the candidate raises ValueError: mode L, expected RGB" in told


def test_pictures_of_one_size_are_tried_where_several_are_refused():
    assert not problems(case("Even", "Even"))
    assert others(case("Even", "Upright"), "odd").untried == {}
    found = others(case("Even", "Wide"), "wide")
    assert not found.verdicts[0].equal or found.untried


def test_a_kind_that_is_declared_to_be_read_otherwise_is_a_limit():
    made = case(candidate="Upright", without={"turned": "as OpenCV does"})
    outcome = check(made, 0)
    assert outcome.passed
    assert outcome.excuses == ("limit",)
    assert outcome.untried == (("turned", "as OpenCV does"),)


def test_the_first_configuration_alone_meets_other_pictures():
    sides = [HERE + each for each in ("Named", "Named", "files")]
    pipeline = Pipeline("small", *sides, configs=({"mode": "RGB"}, {"mode": "L"}))
    counts = [
        sum(each.name.startswith("pictures:") for each in check(one, 0).judged.verdicts)
        for one in cases(pipeline)
    ]
    assert counts == [len(PICTURES), 0]


# The mistakes of the kill matrix.


@pytest.mark.parametrize("defect", OTHER_PICTURES, ids=[each.name for each in OTHER_PICTURES])
def test_own_pictures_let_the_mistakes_of_the_matrix_pass(defect):
    wrong = with_defect(right_case(defect), defect)
    assert compare(replace(wrong, pictures=None), 0).judgement.equal
    assert not compare(wrong, 0).judgement.equal


def test_a_right_port_that_decodes_by_hand_is_equal_on_each_kind():
    made = right_case(OTHER_PICTURES[0])
    twin = replace(made.twin, candidate="tests.defects.picture_candidates:right_evaluation")
    made = replace(made, twin=twin, pictures=None)
    found = others(made)
    assert len(found.verdicts) == len(PICTURES)
    assert all(each.equal for each in found.verdicts), problems(made)
