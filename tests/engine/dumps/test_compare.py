"""Two dumps beside each other: what is told, the exit code, and the document."""

import json

import numpy as np
import pytest

from equivalence.__main__ import main
from equivalence.dumps.compare import ROWS, command, compare, document, lines
from equivalence.errors import EquivalenceError

X = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)


@pytest.fixture
def sides(tmp_path):
    """Two folders, and what writes an array into one of them."""

    def save(side, name, values):
        (tmp_path / side).mkdir(exist_ok=True)
        np.save(tmp_path / side / f"{name}.npy", values)

    return tmp_path / "a", tmp_path / "b", save


def test_the_same_arrays_are_equal(sides, capsys):
    reference, candidate, save = sides
    for side in "ab":
        save(side, "out", X)
    save("a", "mean", X.mean(0))
    save("b", "mean", X.mean(0).astype(np.float16))
    assert command(str(reference), str(candidate), {}, None) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"EQUAL AS STORED: 2 pairs of arrays in {reference} and {candidate}"
    assert told[1] == "1 equal as stored; 1 equal to the bit"


def test_a_difference_is_shown_and_what_files_cannot_tell_is_said(sides, capsys, tmp_path):
    reference, candidate, save = sides
    for side, factor in (("a", 1.0), ("b", 2.0)):
        save(side, "conv", X)
        save(side, "norm", (X * factor).astype(np.float32))
    save("a", "out", X)
    save("b", "out", (X * np.float32(1 + 1e-6)).astype(np.float32))
    json_file = tmp_path / "found.json"
    assert command(str(reference), str(candidate), {}, json_file) == 1
    told = capsys.readouterr().out
    assert told.startswith("DIFFERENT: 3 pairs")
    assert "the first that differs, by name: norm" in told
    assert "a constant factor of 2" in told
    assert "Files alone do not tell whether rounding explains a difference" in told
    written = json.loads(json_file.read_text())
    assert [each["kind"] for each in written["pairs"]] == [
        "equal to the bit",
        "different",
        "different",
    ]


def test_what_has_no_partner_is_named_and_red(sides):
    reference, candidate, save = sides
    for side in "ab":
        save(side, "out", X)
    save("a", "aux", X)
    save("b", "extra", X)
    found = compare(reference, candidate)
    assert (found.missing, found.extra, found.equal) == (("aux",), ("extra",), False)
    assert f"only in {reference}: 1: aux" in lines(found)
    assert document(found)["only_candidate"] == ["extra"]


def test_nothing_to_compare_is_an_error(sides):
    reference, candidate, save = sides
    save("a", "out", X)
    save("a", "loss", X)
    save("b", "result", X)
    with pytest.raises(EquivalenceError, match=r"no name in .* belongs to one in .*--rename"):
        compare(reference, candidate)
    assert compare(reference, candidate, {"result": "out"}).pairs[0].reference == "out"


def test_a_long_table_is_cut(sides):
    reference, candidate, save = sides
    for number in range(ROWS + 5):
        save("a", f"x{number:02}", X)
        save("b", f"x{number:02}", X + 1)
    assert "and 5 more" in lines(compare(reference, candidate))


# By the command line.


def test_compare_takes_what_is_on_disk(sides, capsys):
    reference, candidate, save = sides
    save("a", "out", X)
    save("b", "out", X * 2)
    assert main(["compare", str(reference), str(candidate)]) == 1
    assert "a constant factor of 2" in capsys.readouterr().out
    one, two = reference / "out.npy", candidate / "out.npy"
    assert main(["compare", str(one), str(two)]) == 1
    assert main(["compare", str(one), str(one)]) == 0


def test_what_it_cannot_compare_is_told_in_a_sentence(sides, capsys):
    reference, candidate, save = sides
    save("a", "out", X)
    save("b", "out", X)
    for arguments, words in (
        ([reference, "models:Net"], "name arrays for both, or MODULE:ATTRIBUTE for both"),
        ([reference, candidate, "--input", "normal(2)"], "--input is for networks"),
        ([reference, candidate / "gone.npy"], "gone.npy is not there"),
        ([reference, candidate, "--rename", "x=y"], "'x' is in no name"),
    ):
        assert main(["compare", *map(str, arguments)]) == 2
        assert words in capsys.readouterr().err
