"""Files that MindSpore reads by its own sources, beside readers of PyTorch: the stage is named."""

import numpy as np
import pytest
from PIL import Image

from equivalence.__main__ import main

PARTS = "tests.engine.parts.files_"


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    for kind in ("cat", "dog"):
        (tmp_path / "images" / kind).mkdir(parents=True)
        for number in range(4):
            pixels = generator.integers(0, 256, (20 + number, 26, 3), np.uint8)
            Image.fromarray(pixels).save(tmp_path / "images" / kind / f"{number}.png")
    (tmp_path / "lines.txt").write_text("".join(f"line {n}\n" for n in range(7)))


def told(reference, candidate, capsys):
    code = main(["data", f"{PARTS}pt:{reference}", f"{PARTS}ms:{candidate}"])
    return code, capsys.readouterr().out


def test_text_without_a_character_tells_nothing(tmp_path, capsys):
    (tmp_path / "lines.txt").write_text("\n" * 7)
    code, out = told("text", "text", capsys)
    assert (code, out.startswith("EQUAL.")) != (0, True)


@pytest.mark.parametrize("name", ["text", "images"])
def test_the_same_files_are_the_same_data(name, capsys):
    code, out = told(name, name, capsys)
    assert (code, out.startswith("EQUAL.")) == (0, True)
    assert "Shapes alone" not in out


@pytest.mark.parametrize(
    ("reference", "candidate", "place"),
    [
        ("text", "text_in_another_order", "order: the port shuffles, and the original does not"),
        ("text", "text_in_other_letters", "'LINE 0' for 'line 0'"),
        ("images", "images_by_another_resize", "\n  Resize: off by"),
        ("images", "images_in_bgr", "reverse: the original has no such stage; the channels are"),
        ("images", "images_of_other_classes", "\n  label: other numbers of the classes"),
    ],
)
def test_other_data_is_refused_with_its_stage(reference, candidate, place, capsys):
    code, out = told(reference, candidate, capsys)
    assert code == 1
    assert place in out
